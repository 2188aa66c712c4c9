"""ROCm and HIP release numbers."""

from __future__ import annotations

import re
from functools import lru_cache

Version = tuple[int, int]

NEWEST: Version = (7, 0)
"""The newest release that the mapping tables cover; the default target."""

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
