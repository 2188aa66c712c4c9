"""A requirements file before anything is installed: is it pinned, and does it bring CUDA."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from rocm_ci import python_packages
from rocm_ci.python_packages import Package, normalise
from rocm_ci.runner.errors import Code
from rocm_ci.runner.text import one_line, plural
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn

TORCH_FAMILY = ("torch", "torchvision", "torchaudio", "triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton")
"""Distributions that the container's PyTorch stands or falls with; no requirement replaces one that is installed."""

_LONGEST = 4 * 1024 * 1024
_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)", re.DOTALL)
_OPTION = re.compile(r"(-r|--requirement|-c|--constraint|-e|--editable)[\s=]*(.*)", re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_HASH = re.compile(r"\s--(?:hash|config-settings?|global-option)\b.*", re.DOTALL)
_EXACT = re.compile(r"===?\s*([^,\s*]+)$")
_COMPATIBLE = re.compile(r"~=\s*[^,\s]+$")
_CUDA_LOCAL = re.compile(r"\+cu(?:da)?\d{2,3}\b")
_CUDA_INDEX = re.compile(r"/whl/(?:nightly/|test/)?cu\d{2,3}\b|pypi(?:\.ngc)?\.nvidia\.com")
_OTHER_SYSTEM = re.compile(
    r"(?:sys_platform|platform_system|os_name)\s*==\s*['\"](?:win32|Windows|darwin|Darwin|nt)['\"]"
)


_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]+")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")
_LOCATION = re.compile(r"(?:[a-z+]+://|\.{0,2}/|\.$)")
_WHEEL = re.compile(r"/([A-Za-z0-9_.]+)-([^-/]+)(?:-[^-/]+)?-[^-/]+-[^-/]+-[^-/]+\.whl")
_ROCM_INDEX = re.compile(r"^-.*(?:/whl/(?:nightly/|test/)?rocm|repo\.radeon\.com)")
_PYTORCH = frozenset({"torch", "torchvision", "torchaudio"})


@dataclass(frozen=True)
class Requirement:
    """One line of a requirements file.

    Attributes:
        place: `file:line`.
        text: the line, without comment and hashes.
        name: normalised name of the distribution (PEP 503); empty for an option, a bare path or a bare URL.
        extras: in brackets, or empty.
        specifier: what follows the name, without the marker.
        constraint: it stands in a constraints file: it pins, and asks for nothing.
    """

    place: str
    text: str
    name: str = ""
    extras: str = ""
    specifier: str = ""
    constraint: bool = False


class RequirementsError(Exception):
    """A requirements file that cannot be read; the text says which and why."""


def load(path: Path, *, constraint: bool = False, _seen: frozenset[Path] = frozenset()) -> tuple[Requirement, ...]:
    """Read a requirements file and those that it includes.

    Raises:
        RequirementsError: one cannot be read.
    """
    found: list[Requirement] = []
    for place, line in _lines(path):
        option = _OPTION.fullmatch(line)
        if option and option[1] in {"-r", "--requirement", "-c", "--constraint"}:
            if "://" in option[2]:
                found.append(Requirement(place, line))  # what stands behind a URL cannot be known before pip asks
                continue
            inner = path.parent / option[2].strip()
            if inner.resolve() not in _seen | {path.resolve()}:
                is_constraint = constraint or option[1] in {"-c", "--constraint"}
                found += load(inner, constraint=is_constraint, _seen=_seen | {path.resolve()})
            continue
        found.append(_requirement(place, line, constraint=constraint))
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        if path.exists() and not path.is_file():  # a FIFO would be waited for
            raise RequirementsError(f"{path} is no regular file")
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
    except OSError as error:
        raise RequirementsError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a null byte in the name
        raise RequirementsError(f"{str(path)!r} is no name of a file") from error
    if len(data) > _LONGEST:
        raise RequirementsError(f"{path} is larger than {_LONGEST // 1024 // 1024} MiB; this is no requirements file")
    held, start = "", 0
    for number, raw in enumerate(_decoded(path, data).splitlines(), 1):
        start = start or number
        line = _COMMENT.sub("", raw).rstrip()
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        whole = (held + line).strip()
        if whole:
            yield f"{path}:{start}", whole
        held, start = "", 0
    if held.strip():
        yield f"{path}:{start}", held.strip()


def _decoded(path: Path, data: bytes) -> str:
    # pip reads what a byte-order mark says; a file of Windows' Notepad is UTF-16.
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequirementsError(f"{path} is no text in UTF-8") from error
    if "\0" in text:
        raise RequirementsError(f"{path} is no text: it holds null bytes")
    return text


def _requirement(place: str, line: str, *, constraint: bool) -> Requirement:
    text = _HASH.sub("", line).strip()
    address = _EDITABLE.sub("", text)
    if _ADDRESS.match(address):
        # A file or a repository by its address is asked for like any other; a wheel's file name has its name.
        wheel = _WHEEL.search(address)
        name = wheel[1] if wheel else address.partition("#egg=")[2].partition("&")[0] or address
        return Requirement(place, text, normalise(name), "", f"@ {address}", constraint)
    if text.startswith("-") or _LOCATION.match(text):
        return Requirement(place, text, constraint=constraint)
    match = _NAME.fullmatch(text)
    if match is None:
        return Requirement(place, text, constraint=constraint)
    specifier = match[3]
    if not specifier.startswith("@"):
        specifier = specifier.partition(";")[0]
    return Requirement(place, text, normalise(match[1]), (match[2] or "").lower(), specifier.strip(), constraint)


def check(requirements: tuple[Requirement, ...], installed: Mapping[str, str]) -> Check:
    """Whether a requirements file may be installed into a ROCm container.

    Args:
        requirements: the file.
        installed: versions of the container's own PyTorch and what belongs to it.
    """
    here = [r for r in requirements if not _OTHER_SYSTEM.search(r.text)]
    asked = [r for r in here if r.name and not r.constraint]
    bad = [problem for r in here for problem in (*_nonsense(r), *_cuda(r))]
    from_rocm = any(_ROCM_INDEX.search(r.text) for r in here)
    risky = [problem for r in here for problem in (*_manual(r), *_open(r), *_from_pypi(r, installed, from_rocm))]
    if bad:
        first_fix = next((fix for _, fix in bad if fix), "remove the line")
        return fail("requirements", _join([text for text, _ in bad]), first_fix, Code.FAILED)
    clash = [text for r in here for text in _against_container(r, installed)]
    if clash:
        versions = " ".join(f"{name}=={installed[name]}" for name in TORCH_FAMILY if name in installed)
        return fail(
            "requirements", _join(clash), f"leave these to the image ({versions}), or use another image", Code.FAILED
        )
    pins = {r.name for r in here if r.constraint and _EXACT.search(r.specifier)} | set(installed)
    loose = [r for r in asked if not _pinned(r) and r.name not in pins]
    unpinned = [r for r in loose if not _COMPATIBLE.search(r.specifier)]
    if unpinned:
        text = _join([f"{r.place}: {r.text} is not pinned" for r in unpinned])
        fix = f"write {unpinned[0].name}==VERSION; `pip freeze` in a container that was tried lists them all"
        return fail("requirements", text, fix, Code.FAILED)
    if loose:
        text = _join([f"{r.place}: {r.text} leaves the last part of the version open" for r in loose])
        return warn("requirements", text, f"write {loose[0].name}==VERSION")
    if risky:
        return warn("requirements", _join([text for text, _ in risky]), risky[0][1])
    if not asked:
        return skip("requirements", "the file asks for nothing")
    return ok("requirements", f"{plural(len(asked), 'requirements')}, all pinned, none for CUDA only")


def _pinned(requirement: Requirement) -> bool:
    if requirement.specifier.startswith("@"):
        # A direct reference names one file or commit; a branch name may move.
        return not requirement.specifier.startswith(("@ git+", "@git+")) or bool(
            re.search(r"@(?:[0-9a-f]{40}|v?\d[\w.]*)(?:[#;\s]|$)", requirement.specifier[1:])
        )
    return bool(_EXACT.search(requirement.specifier))


def _against_container(requirement: Requirement, installed: Mapping[str, str]) -> Iterator[str]:
    have = installed.get(requirement.name)
    if requirement.name not in TORCH_FAMILY or have is None:
        return
    wheel = _WHEEL.search(requirement.specifier) if requirement.specifier.startswith("@") else None
    if wheel and unquote(wheel[2]) != have:
        yield f"{requirement.place}: {requirement.text} would replace the container's {requirement.name} {have}"
    exact = _EXACT.search(requirement.specifier)
    # PEP 440: `==2.3.0` takes every local version of 2.3.0; `==2.3.0+rocm6.2` only that one.
    if exact and exact[1] not in {have, have.partition("+")[0]}:
        yield f"{requirement.place}: {requirement.text} would replace the container's {requirement.name} {have}"


def _cuda(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """What of a line is for CUDA only, with what to write instead."""
    where = requirement.place
    if _CUDA_INDEX.search(requirement.text):
        yield (
            f"{where}: {requirement.text} is an index or a file of CUDA wheels",
            "name the index of ROCm: https://download.pytorch.org/whl/rocmX.Y",
        )
        return
    if _CUDA_LOCAL.search(requirement.text):
        yield (
            f"{where}: {requirement.text} is a wheel for CUDA",
            f"write {requirement.name or 'the package'} without +cu…, or the version of the ROCm index",
        )
        return
    if "cuda" in requirement.extras:
        yield (
            f"{where}: {requirement.text}: the extra brings CUDA wheels",
            f"write {requirement.name} without that extra",
        )
        return
    row = _row(requirement)
    if row and row.verdict != "manual":
        _, instead, note = row
        fix = f"write {instead} instead" if instead else f"remove {requirement.name}"
        yield f"{where}: {requirement.name} works with CUDA only" + (f" ({note})" if note else ""), fix


def _nonsense(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """A line that no installer understands."""
    if not requirement.name and not requirement.text.startswith("-") and not _LOCATION.match(requirement.text):
        text = f"{requirement.place}: {one_line(ascii(requirement.text), 80)} is no requirement"
        yield text, "write NAME==VERSION, or remove the line"


def _open(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """A folder, whose own requirements are not in this file."""
    editable = _EDITABLE.match(requirement.text)
    folder = _LOCATION.match(requirement.text) and not requirement.text.endswith(".whl")
    if (editable or folder) and not requirement.name and not requirement.constraint:
        text = f"{requirement.place}: {requirement.text} has requirements of its own, which this file does not pin"
        yield text, "pin them in this file, or install the folder in a step of the job with --no-deps"


def _from_pypi(requirement: Requirement, installed: Mapping[str, str], from_rocm: bool) -> Iterator[tuple[str, str]]:
    """PyTorch's own packages, whose wheels on PyPI are built for CUDA."""
    name = requirement.name
    if name not in _PYTORCH or name in installed or from_rocm or requirement.constraint:
        return
    if "rocm" not in requirement.specifier:
        text = f"{requirement.place}: {requirement.text}: the wheel on PyPI is built for CUDA"
        yield text, "add to the file: --index-url https://download.pytorch.org/whl/rocmX.Y"


def _manual(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """A package whose wheels on PyPI are CUDA's, and which can be had for ROCm in another way."""
    row = _row(requirement)
    if row and row.verdict == "manual":
        _, instead, note = row
        fix = f"write {instead} instead" if instead else f"take {requirement.name} from a wheel or a commit for ROCm"
        yield (
            f"{requirement.place}: {requirement.name} from PyPI is made for CUDA" + (f" ({note})" if note else ""),
            fix,
        )


def _row(requirement: Requirement) -> Package | None:
    """What to do about a package that is asked for."""
    name = requirement.name
    if not name or requirement.constraint or requirement.specifier.startswith("@"):
        return None  # a file or commit that the user chose is not PyPI's wheel
    return python_packages.find(name)


def _join(texts: list[str], limit: int = 3) -> str:
    more = len(texts) - limit
    return "; ".join(texts[:limit]) + (f"; and {more} more" if more > 0 else "")
