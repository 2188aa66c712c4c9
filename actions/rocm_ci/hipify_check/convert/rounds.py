"""Check, edit, check again, until nothing convertible is left: what one edit makes visible, the next round converts.

``#ifdef __CUDACC__`` is the case that needs more than one round: once it reads ``__HIPCC__``, AMD compiles what it
encloses.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import ownership, parallel
from rocm_ci.hipify_check.cfamily import lexer
from rocm_ci.hipify_check.convert import edits
from rocm_ci.runner.files import cannot_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocm_ci.hipify_check.check_file import FileResult, Target
    from rocm_ci.hipify_check.files import SourceFile
    from rocm_ci.hipify_check.model import Finding

HIP_RUNTIME = "hip/hip_runtime.h"
_ROUNDS = 8
_CONVERTED_KIND = "c"
_WIDE = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
# What nvcc brings into each .cu file without an #include, and hipcc does not.
_NEEDS_RUNTIME = (b"__global__", b"__device__", b"__shared__", b"<<<", b"hip")


@dataclass(slots=True)
class Converted:
    """What the rounds did.

    Attributes:
        results: The last check of each file, without the findings about names of the tree's own.
        findings: How many were converted, by the file's name.
        added: Headers that were added, by the file's name.
    """

    results: list[tuple[FileResult, tuple[Finding, ...]]]
    findings: Counter[str] = field(default_factory=Counter)
    added: dict[str, tuple[str, ...]] = field(default_factory=dict)


def run(
    files: Sequence[SourceFile],
    target: Target,
    jobs: int,
    first: Callable[[SourceFile], bool] | None = None,
) -> Converted:
    """Convert the files in place.

    Args:
        files: To convert; their locations are written to.
        target: What to hold them against.
        jobs: Processes for the first check; later ones read only what changed.
        first: A tool that may convert a file before we do; returns whether it wrote the file.

    Raises:
        InfraError: A file cannot be written.
    """
    by_name = {file.name: file for file in files}
    results = {result.name: result for result in parallel.check_all(files, target, jobs)}
    done = Converted(ownership.drop_owned(list(results.values())))
    if first is not None:
        for result, findings in done.results:
            open_places = len(_convertible(by_name[result.name], findings))
            if open_places and first(by_name[result.name]):
                results[result.name] = parallel.check_one(by_name[result.name], target)
                done.findings[result.name] += open_places
        done.results = ownership.drop_owned(list(results.values()))
        for result, findings in done.results:
            if result.name in done.findings:
                done.findings[result.name] -= len(_convertible(by_name[result.name], findings))
    for _ in range(_ROUNDS):
        if not _round(by_name, results, done, target):
            break
    if _add_runtime(by_name, results, done, target):
        done.results = ownership.drop_owned(list(results.values()))
    return done


def _round(by_name: dict[str, SourceFile], results: dict[str, FileResult], done: Converted, target: Target) -> bool:
    changed = False
    for result, findings in done.results:
        file = by_name[result.name]
        todo = _convertible(file, findings)
        if not todo:
            continue
        text, wide = read(file.location)
        applied = edits.apply(text, todo)
        if applied.text != text:
            write(file.location, applied.text, wide)
            results[file.name] = parallel.check_one(file, target)
            done.findings[file.name] += applied.findings
            changed = True
    if changed:
        done.results = ownership.drop_owned(list(results.values()))
    return changed


def _convertible(file: SourceFile, findings: Sequence[Finding]) -> list[Finding]:
    if file.kind != _CONVERTED_KIND:
        return []
    return [finding for finding in findings if finding.verdict == "convertible" and finding.line]


def _add_runtime(
    by_name: dict[str, SourceFile], results: dict[str, FileResult], done: Converted, target: Target
) -> bool:
    tree = ownership.Tree(list(results.values()))
    changed = False
    for name in sorted(results):
        file = by_name[name]
        if not name.lower().endswith(".cu") or results[name].skipped:
            continue
        text, wide = read(file.location)
        if _sees(name, HIP_RUNTIME, results, tree) or not _is_device_source(text):
            continue
        write(file.location, edits.insert_include(text, HIP_RUNTIME), wide)
        results[name] = parallel.check_one(file, target)
        done.added[name] = (HIP_RUNTIME,)
        changed = True
    return changed


def _is_device_source(text: bytes) -> bool:
    code = lexer.read(text).code
    return any(word in code for word in _NEEDS_RUNTIME)


def _sees(name: str, header: str, results: dict[str, FileResult], tree: ownership.Tree) -> bool:
    """Does the file include ``header``, itself or by files of the tree?"""
    seen = {name}
    stack = [name]
    while stack:
        current = stack.pop()
        for include in results[current].includes:
            if include == header:
                return True
            target = tree.resolve(current, include)
            if target and target not in seen and target in results:
                seen.add(target)
                stack.append(target)
    return False


def read(location: str) -> tuple[bytes, tuple[bytes, str] | None]:
    """A file as the check reads it, and how to write it back: its byte-order mark and encoding if it is UTF-16 or 32.

    Raises:
        InfraError: It cannot be read, although the check could.
    """
    try:
        data = Path(location).read_bytes()
    except OSError as error:
        raise cannot_write(Path(location), error) from error
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding).encode(), (mark, encoding)
    return data, None


def write(location: str, text: bytes, wide: tuple[bytes, str] | None) -> None:
    """Replace a file's content; its mode stays, and a link to it still leads to it.

    Raises:
        InfraError: It cannot be written.
    """
    data = wide[0] + text.decode().encode(wide[1]) if wide else text
    path = Path(os.path.realpath(location))
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise cannot_write(path, error) from error
