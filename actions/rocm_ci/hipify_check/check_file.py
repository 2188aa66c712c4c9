"""Check one file: bytes in, findings out. Runs in the worker processes as well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import files, rules, suppress
from rocm_ci.hipify_check.model import Finding, Hit, Scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm_ci.hipify_check.files import SourceFile
    from rocm_ci.hipify_check.kinds import Kind
    from rocm_ci.hipify_check.versions import Version

SOURCE_LIMIT = 240
"""Characters of a source line that are kept to show it."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the sources are held against.

    Attributes:
        version: ROCm release.
        explicit: Whether the user named it; see ``cfamily.scan.scan``.
        hipify: Whether the build converts the sources first (``--mode hipify``).
    """

    version: Version
    explicit: bool = False
    hipify: bool = False


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file gave.

    Attributes:
        name: As in ``SourceFile``.
        size: Bytes.
        lines: How many.
        findings: In order of place.
        owners: For each finding the name that makes it none when the tree defines it; empty = none does.
        defines: Names that the file defines; see ``model.Scan``.
        includes: Header names that it includes.
        early: See ``model.Scan``.
        suppressed: How many findings an inline exception took away.
        skipped: Why the file could not be checked; empty = it was.
    """

    name: str
    size: int = 0
    lines: int = 0
    findings: tuple[Finding, ...] = ()
    owners: tuple[str, ...] = ()
    defines: frozenset[str] = frozenset()
    includes: tuple[str, ...] = ()
    early: frozenset[str] = frozenset()
    suppressed: int = 0
    skipped: str = ""


def check(file: SourceFile, target: Target) -> FileResult:
    """Read and check one file."""
    raw = files.read(file.location)
    if isinstance(raw, str):
        return FileResult(file.name, skipped=raw)
    return check_text(file.name, file.kind, raw, target)


def check_text(name: str, kind: Kind, raw: bytes, target: Target) -> FileResult:
    """Check one text that goes by ``name``."""
    lines = raw.count(b"\n") + (not raw.endswith(b"\n") and raw != b"")
    scan = _scan(name, kind, raw, target)
    if "/nvtx3/" in f"/{name}":
        # The headers of NVTX itself, which a tree may carry: header-only, and without effect where no tool listens.
        scan = replace(scan, hits=[hit for hit in scan.hits if hit.library != "nvtx"])
    findings, owners, suppressed = _place(name, raw, scan.hits)
    return FileResult(name, len(raw), lines, findings, owners, scan.defines, scan.includes, scan.early, suppressed)


def _scan(name: str, kind: Kind, raw: bytes, target: Target) -> Scan:
    """Hand the text to the scanner of its kind. Each is imported when a file is for it: a third of the start."""
    version, explicit = target.version, target.explicit
    if kind == "c":
        from rocm_ci.hipify_check.cfamily import scan as cfamily

        return cfamily.scan(raw, version, explicit=explicit, hipify=target.hipify)
    if kind == "python":
        from rocm_ci.hipify_check import python_source

        return Scan(python_source.scan(raw, name, version, explicit=explicit))
    # One character a byte, so that an index in the text is an offset in the file.
    text = raw.decode("latin-1")
    if kind == "cmake":
        from rocm_ci.hipify_check import cmake

        return Scan(cmake.scan(text))
    if kind == "requirements":
        from rocm_ci.hipify_check import requirements

        rocm = "rocm" in name.rpartition("/")[2].lower()
        return Scan(requirements.scan(text, version, explicit=explicit, rocm=rocm))
    from rocm_ci.hipify_check import scripts

    return Scan(scripts.scan(text, kind, name, version, explicit=explicit))


def _place(name: str, raw: bytes, hits: Sequence[Hit]) -> tuple[tuple[Finding, ...], tuple[str, ...], int]:
    """Turn offsets into lines and columns, and leave out what an inline exception covers."""
    if not hits:
        return (), (), 0
    excepted = suppress.exceptions(raw.decode("utf-8", "replace")) if suppress.may_have(raw) else {}
    by_slug = rules.by_slug()
    findings: list[Finding] = []
    owners: list[str] = []
    suppressed = 0
    line, start = 1, 0  # of the line that holds the previous hit
    text, at = "", -1
    for hit in sorted(hits, key=_by_offset):
        offset = hit.offset
        newlines = raw.count(b"\n", start, offset)
        if newlines:
            line += newlines
            start = raw.rfind(b"\n", 0, offset) + 1
        if start != at:
            end = raw.find(b"\n", offset)
            text, at = _characters(raw[start : len(raw) if end < 0 else end]).rstrip("\r")[:SOURCE_LIMIT], start
        rule = by_slug[hit.slug].id
        exception = excepted.get(line, frozenset())
        if exception is None or rule in exception:
            suppressed += 1
            continue
        before = raw[start:offset]
        column = len(before if before.isascii() else _characters(before)) + 1
        message = rules.message(hit.slug, hit.verdict, hit.name, hit.hip, hit.note)
        findings.append(Finding(name, line, column, rule, hit.verdict, hit.name, hit.hip, message, hit.library, text))
        owners.append(hit.owned_by)
    return tuple(findings), tuple(owners), suppressed


def _characters(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").removeprefix("\ufeff")


def _by_offset(hit: Hit) -> tuple[int, str]:
    return hit.offset, hit.slug
