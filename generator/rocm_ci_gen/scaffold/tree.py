"""The files of a repository: which there are, and the first bytes of each, both within bounds."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocm_ci_gen.files.listing import walk
from rocm_ci_gen.scaffold.repository import Repository

MAX_FILES = 100_000
"""More entries than this are not listed; the largest public GPU repositories have about 30,000."""
HEAD_BYTES = 64 * 1024
"""How much of a source file is read. Includes, imports and decorators stand at its top."""
WHOLE_BYTES = 1024 * 1024
"""How much of a file is read that makes sense only as a whole, such as a workflow."""
MAX_BYTES = 256 * 1024 * 1024
"""How much is read in all."""

# A home folder, a drive, a Windows path, a pytest node, an expression of GitHub's.
_MORE_THAN_A_PATH = re.compile(r"^~|^[A-Za-z]:|\\|::|\$\{\{")


@dataclass(frozen=True)
class Tree:
    """A repository as far as it was looked at.

    Attributes:
        paths: `/`-separated paths of regular files below the root, sorted.
        read: The first bytes of a file as text, at most as many as the second argument says; empty where the file
            is binary or cannot be read.
        repository: What git says of it.
        notes: What was not looked at, and why.
    """

    paths: tuple[str, ...]
    read: Callable[[str, int], str]
    repository: Repository
    notes: tuple[str, ...] = ()

    def head(self, path: str) -> str:
        """The top of a source file."""
        return self.read(path, HEAD_BYTES)

    def whole(self, path: str) -> str:
        """A configuration file; cut off where it is longer than any sensible one."""
        return self.read(path, WHOLE_BYTES)


def usable(path: str) -> bool:
    """Tell whether a path can stand in a manifest: printable, really UTF-8, and nothing that a tool reads as more."""
    if not path.isprintable() or _MORE_THAN_A_PATH.search(path):
        return False
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_tree(root: Path, repository: Repository) -> Tree:
    """List a folder: by git inside a work tree (no submodules, nothing ignored), else by walking.

    Never follows a symbolic link. A file that vanishes or cannot be read counts as empty.
    """
    listed = repository.files if repository.files is not None else tuple(walk(root, MAX_FILES + 1))
    notes: list[str] = []
    if len(listed) > MAX_FILES:
        notes.append(f"only the first {MAX_FILES:,} of {len(listed):,} files were looked at")
        listed = listed[:MAX_FILES]
    odd = [path for path in listed if not usable(path)]
    if odd:
        why = "not printable, not UTF-8, or with `\\`, `::`, a leading `~`"
        notes.append(f"{_files(len(odd))} left out because of the name ({why})")
    paths = tuple(sorted(path for path in listed if usable(path) and _is_file(root / path)))
    return Tree(paths, _Reader(root), repository, tuple(notes))


# No link is followed and no pipe waited for, should a file be exchanged after the listing.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


class _Reader:
    """Reads the top of a file; stops reading when the budget of the whole tree is spent."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._left = MAX_BYTES

    def __call__(self, path: str, limit: int) -> str:
        if self._left <= 0:
            return ""
        try:
            descriptor = os.open(self._root / path, _FLAGS)
            with os.fdopen(descriptor, "rb") as file:
                data = file.read(limit)
        except (OSError, ValueError):
            return ""
        self._left -= len(data)
        return "" if b"\0" in data else data.decode("utf-8", errors="replace")
