"""The data files of this package.

Tab-separated rows under one row of names; `#` lines explain, the last column is the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=8)
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a data file, each a mapping from column name to cell."""
    text = (resources.files("rocm_ci.gpu") / "data" / name).read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    heading, *cells = lines
    return tuple(dict(zip(heading, row, strict=True)) for row in cells)
