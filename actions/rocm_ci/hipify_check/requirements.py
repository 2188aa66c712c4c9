"""Requirements, constraints and lock files: one package a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import packages, words
from rocm_ci.hipify_check.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_ci.hipify_check.versions import Version

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_LOCAL = re.compile(r"\+(cu\d{2,3})\b")
_MARKER = re.compile(r";(.*)")
_PINNED = re.compile(r"===?|~=|@")


def scan(text: str, version: Version, *, explicit: bool = False, rocm: bool = False) -> list[Hit]:
    """Find packages, wheels and indexes of CUDA.

    Args:
        text: A requirements file.
        version: ROCm release to hold it against.
        explicit: Whether the user named that release; only then an index is proposed for it.
        rocm: Whether the file is the one for ROCm: then a version that is left open is told as well.
    """
    hits: list[Hit] = []
    offset = 0
    for line in text.split("\n"):
        code = _COMMENT.sub("", line)
        hits += [moved(hit, offset) for hit in _line(code, version, explicit=explicit, rocm=rocm)]
        offset += len(line) + 1
    return hits


def moved(hit: Hit, by: int) -> Hit:
    """The same hit further on."""
    return hit._replace(offset=hit.offset + by)


def requirement(text: str, version: Version) -> Iterator[Hit]:
    """One requirement specifier (PEP 508), as in a line or in a list of dependencies."""
    match = _NAME.match(text)
    if match is None:
        return
    package = packages.find(match[1], version)
    if package is not None:
        yield packages.hit(match[1], package, match.start(1))
        return
    if match[2] and "cuda" in match[2].lower():
        name = match[1] + match[2].replace(" ", "")
        yield Hit(match.start(1), "py-package", "manual", name, "", "the extra brings CUDA wheels", "python packages")
        return
    local = _LOCAL.search(match[3])
    if local:
        yield Hit(
            match.start(3) + local.start(),
            "py-package",
            "manual",
            local[0],
            "",
            "a wheel for CUDA; take the version of the ROCm index",
            "python packages",
        )


def _line(code: str, version: Version, *, explicit: bool, rocm: bool) -> Iterator[Hit]:
    release = f"{version[0]}.{version[1]}" if explicit else ""
    if code.lstrip().startswith(("-", "--")):
        yield from words.indexes(code, release)
        return
    stripped = code.strip()
    if not stripped:
        return
    found = list(requirement(code, version))
    yield from found
    indexes = list(words.indexes(code, release))
    yield from indexes
    match = _NAME.match(code)
    if rocm and not found and match and not stripped.startswith(("http:", "https:", "git+", ".", "/")):
        rest = _MARKER.sub("", match[3]).strip()
        if not _PINNED.search(rest):
            yield Hit(
                match.start(1),
                "unpinned",
                "note",
                match[1],
                "",
                "an unpinned package can bring CUDA wheels back, or a release that was never tried on ROCm",
                "python packages",
            )
