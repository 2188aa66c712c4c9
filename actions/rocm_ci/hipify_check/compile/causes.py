"""Why a unit does not compile, and whose fault that is."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, cast

from rocm_ci.hipify_check import mapping
from rocm_ci.hipify_check.compile.model import NOT_JUDGED, Cause, CompileError
from rocm_ci.hipify_check.versions import Version, parse, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocm_ci.hipify_check.compile.diagnostics import Diagnostic


class Judged(NamedTuple):
    """One error with its cause; ``certain`` = no earlier error can have brought it about."""

    cause: Cause
    error: CompileError
    certain: bool


def judge(errors: Sequence[Diagnostic], *, hip: Version | None, target: Version) -> tuple[Cause, CompileError] | None:
    """The cause of a failed unit, and the error that shows it.

    A certain fault of the code decides, wherever it stands. Otherwise the first error does: what follows a header
    or a name that is missing here may follow from that.

    Args:
        errors: Of one unit, in order.
        hip: Installed release; ``None`` = unknown.
        target: Release that the code is meant for.

    Returns:
        ``None`` where there is no error.
    """
    judged = [_one(error, hip, target) for error in errors]
    if not judged:
        return None
    certain = next((one for one in judged if one.certain and one.cause not in NOT_JUDGED), None)
    decisive = certain or judged[0]
    return decisive.cause, decisive.error


def _one(error: Diagnostic, hip: Version | None, target: Version) -> Judged:
    cause, name = _signature(error)
    if cause == "header-missing":
        cause, certain, advice = _header(name, hip, target)
    elif cause == "unknown-name":
        cause, certain, advice = _name(name, error.text, hip, target)
    elif cause == "ptx":
        certain, advice = True, "PTX is NVIDIA's assembly: use a HIP builtin, or AMD's assembly for this gfx"
    else:
        certain, advice = cause == "unsupported-arch", ""
    return Judged(cause, CompileError(error.path, error.line, error.column, error.text, name, advice), certain)


def _signature(error: Diagnostic) -> tuple[Cause, str]:
    for cause, pattern in _signatures():
        match = pattern.search(error.text)
        if match is None:
            continue
        groups = match.groupdict()
        if "assembly" in groups and not error.assembly:
            continue
        return cause, groups.get("name") or ""
    return ("ptx", "") if error.assembly else ("other", "")


def _header(name: str, hip: Version | None, target: Version) -> tuple[Cause, bool, str]:
    """A header that is not found: NVIDIA's is the code's fault, any other is missing here."""
    entry = mapping.header(name, target)
    if entry is not None and entry.verdict != "note":
        advice = f"use {entry.hip}" if entry.hip else "ROCm has no such header"
        return "unknown-name", True, f"{name} belongs to the CUDA toolkit: {advice}"
    if name.startswith("hip/"):
        here = f" {show(hip)}" if hip else ""
        return "hip-too-old", False, f"the HIP{here} that is installed here has no {name}; compile with a newer ROCm"
    package = _package(name)
    if package is None:
        return (
            "header-missing",
            False,
            f"{name} is neither in the tree nor installed here: install the library it is of",
        )
    amd, debian = package
    also = f"; Debian 12: {debian}" if debian != "-" else ""
    return "header-missing", False, f"install {amd} ({name} is not on this machine{also})"


def _name(name: str, text: str, hip: Version | None, target: Version) -> tuple[Cause, bool, str]:
    """An unknown name: CUDA's, one of a newer HIP, or anything."""
    word = name.rpartition("::")[2]
    since = hip_since().get(word)
    if since and hip and hip < since:
        if since <= target:
            return "hip-too-old", False, f"HIP has {word} from {show(since)} on, and here is {show(hip)}"
        return "unknown-name", True, f"HIP has {word} from {show(since)} on, and the code is meant for {show(target)}"
    entry = mapping.names(target).get(word.encode())
    if entry is None or entry.verdict == "note":
        return ("other" if "no matching function" in text or "in '" in text else "unknown-name"), False, ""
    advice = f"{word} is {entry.hip} on ROCm" if entry.verdict == "convertible" else entry.note
    return "unknown-name", True, advice or f"ROCm has no {word}"


@lru_cache(maxsize=1)
def hip_since() -> dict[str, Version]:
    """HIP names and the release that brought them, as far as the tables tell; builtins of CUDA's names as well."""
    found: dict[str, Version] = {}

    def note(name: str, since: str) -> None:
        version = parse(since)
        found[name] = min(version, found.get(name, version))

    for _name, kind, _library, older, newer, _roc in mapping.rows("names.tsv"):
        for cell in (older, newer):
            parts = cell.split("@")
            if kind != "h" and len(parts) > 1 and parts[1]:
                note(parts[0], parts[1])
    for name, kind, _library, _verdict, hip, since, _note, _source in mapping.rows("extra_names.tsv"):
        if since:
            note(name if kind == "i" else hip, since)
    return found


@lru_cache(maxsize=1)
def _signatures() -> tuple[tuple[Cause, re.Pattern[str]], ...]:
    return tuple((cast("Cause", cause), re.compile(pattern)) for cause, pattern, _source in _rows("causes.tsv"))


@lru_cache(maxsize=1)
def _packages() -> tuple[tuple[str, str, str], ...]:
    return tuple((pattern, amd, debian) for pattern, amd, debian, _source in _rows("headers.tsv"))


def _package(header: str) -> tuple[str, str] | None:
    for pattern, amd, debian in _packages():
        if header == pattern or (pattern.endswith("*") and header.startswith(pattern[:-1])):
            return amd, debian
    return None


def _rows(name: str) -> Iterator[list[str]]:
    text = (resources.files("rocm_ci.hipify_check.compile") / "data" / name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")
