"""Versions as tuples of numbers: 6.10 is newer than 6.2, and 10.0 newer than 7.14."""

from __future__ import annotations

import re

Version = tuple[int, ...]
_VERSION = re.compile(r"\A\s*v?([0-9]{1,9}(?:\.[0-9]{1,9})*)(?![0-9.]*[0-9])")
FIRST_PREVIEW, LAST_PREVIEW = (7, 9), (7, 13)
"""ROCm 7.9 to 7.13 were previews beside the 7.0 to 7.2 line; 7.14 is a release again (release notes of ROCm 7.14)."""


def parse(text: str) -> Version | None:
    """The numbers that `text` begins with (`6.10.5-2095006.22.04` → `(6, 10, 5)`), or None."""
    found = _VERSION.match(text)
    return tuple(int(part) for part in found.group(1).split(".")) if found else None


def show(version: Version) -> str:
    """The version as people write it."""
    return ".".join(map(str, version))


def covers(line: Version, version: Version) -> bool:
    """Whether `version` belongs to `line`: 6.2.4 to 6.2, and 6.2 to 6.2."""
    return version[: len(line)] == line


def release(version: Version) -> Version:
    """Major and minor number, which ROCm's compatibility is spoken of in."""
    return (*version, 0)[:2]


def is_preview(version: Version) -> bool:
    """Whether it is one of ROCm's technology previews."""
    return FIRST_PREVIEW <= release(version) <= LAST_PREVIEW
