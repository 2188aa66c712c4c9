"""The data files of this package: tab-separated rows, `#` lines are their header, the last column is the source."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=8)
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a data file as tuples of cells."""
    text = (resources.files("rocm_ci.setup_rocm_container") / "data" / name).read_text(encoding="utf-8")
    return tuple(tuple(line.split("\t")) for line in text.splitlines() if line and not line.startswith("#"))


@lru_cache(maxsize=1)
def limits() -> dict[str, int]:
    """Figures of `data/limits.tsv` by name: bytes, counts or percent, as the row says."""
    return {row[0]: int(row[1]) for row in rows("limits.tsv")}
