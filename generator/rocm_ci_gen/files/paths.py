"""Paths inside a repository, from sources that are not trusted."""

from __future__ import annotations

import stat
from pathlib import Path

from rocm_ci.runner.errors import UsageError

_LONGEST = 1024
# What Windows splits at or forbids: backslashes, the colon of a drive.
_FORBIDDEN = frozenset('\\:*?"<>|')


class OutsideError(UsageError):
    """A path that is not, or may not be, one of a file in the repository."""


def inside(root: Path, name: str) -> Path:
    """The file `name` of the repository at `root`.

    Args:
        root: the repository's folder; it may itself be reached by a symbolic link.
        name: `/`-separated and relative.

    Raises:
        OutsideError: `name` is absolute, has `..` or a Windows form, is in `.git`, or leads over a symbolic link.
    """
    problem = _problem(name)
    if problem:
        raise OutsideError(f"{name!r} is no path of a generated file: {problem}.")
    path = root
    for part in name.split("/"):
        path = path / part
        if _is_link(path):
            raise OutsideError(
                f"{path} is a symbolic link.",
                help="Generated files are written inside the repository only; replace the link by a folder or a file.",
            )
    return path


def repository_root(manifest: Path) -> Path:
    """The repository that a manifest is in: the nearest folder above it with `.git`, else the manifest's own folder."""
    folder = manifest.parent.resolve()  # of the name that was given, also where that is a link
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def _problem(name: str) -> str | None:
    if not name or len(name) > _LONGEST:
        return "it is empty" if not name else "it is too long"
    if any(char in _FORBIDDEN or char < " " or char == "\x7f" or "\ud800" <= char <= "\udfff" for char in name):
        return "it has characters that paths of a repository do not have"
    if name.startswith("/"):
        return "it is absolute"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "it has an empty part, `.` or `..`"
    if any(part != part.rstrip(" .") for part in parts):
        return "a part ends in a dot or a blank, which Windows drops"
    if any(part.lower() == ".git" for part in parts):
        return "it is in git's own folder"
    return None


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except OSError:  # not there yet, or a file where a folder should be: the writing says so
        return False
