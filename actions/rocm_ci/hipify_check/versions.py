"""ROCm and HIP release numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

Version = tuple[int, int]

OLDEST: Version = (5, 0)
"""The oldest release that may be named; before it the tables' columns say little."""

_PATTERN = re.compile(r"(\d{1,3})(?:\.(\d{1,3}))?(?:\.\d{1,6})*(?:[-+~].*)?")


@lru_cache(maxsize=1024)
def parse(text: str) -> Version:
    """Read ``6.3``, ``7``, ``6.3.2`` or ``6.3.2-66`` as (major, minor).

    Raises:
        ValueError: The text is no release number.
    """
    match = _PATTERN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no ROCm release; write it as 6.3 or 7.0")
    return int(match[1]), int(match[2] or 0)


def show(version: Version) -> str:
    """Write a release as ``7.0``."""
    return f"{version[0]}.{version[1]}"


def columns(head: str) -> tuple[Version, ...]:
    """The releases that a mapping has a column of targets for, by the ``# Columns:`` line of its header.

    Raises:
        ValueError: The header names no release, or not the oldest first.
    """
    line = re.search(r"^# Columns: .*", head, re.MULTILINE)
    found = tuple(parse(text) for text in re.findall(r"target in ([\d.]+\d)", line[0] if line else ""))
    if not found or list(found) != sorted(set(found)):
        raise ValueError(
            "the header of names.tsv needs `# Columns: ..., target in 6.3, target in 7.0, ...`, oldest first"
        )
    return found


def _covered() -> tuple[Version, ...]:
    with (resources.files("rocm_ci.hipify_check") / "data" / "names.tsv").open(encoding="utf-8") as file:
        return columns(file.read(4096))


COVERED: tuple[Version, ...] = _covered()
"""The releases that ``data/names.tsv`` has a column for, the oldest first."""

NEWEST: Version = COVERED[-1]
"""The newest release that the mapping tables cover; the default target."""
