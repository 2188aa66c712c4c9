"""The files of a folder without git: a bounded walk that follows no link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache"}
)


def walk(root: Path, most: int) -> Iterator[str]:
    """Yield the `/`-separated paths of the files below `root`, folder by folder, at most `most`."""
    count = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        relative = Path(folder).relative_to(root)
        for name in sorted(names):
            if count == most:
                return
            count += 1
            yield (relative / name).as_posix()
