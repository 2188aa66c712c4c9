"""Which files to check, and their bytes. Everything that cannot be checked is told, never dropped."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import globs
from rocm_ci.hipify_check.kinds import Kind, kind_of
from rocm_ci.hipify_check.model import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import FileIO

SIZE_LIMIT = 32 * 1024 * 1024
"""Bytes; a larger file is data or generated, and is told as not checked."""

_SNIFF = 8192
_NEVER = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
_WIDE = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_GIT_SECONDS = 120


class MissingPathError(Exception):
    """A path that the user named does not exist; the argument is the path."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to check: ``name`` is how it is shown, ``size`` its bytes."""

    name: str
    kind: Kind
    size: int
    location: str


@dataclass(slots=True)
class Found:
    """What the given paths hold.

    Attributes:
        files: To check, sorted by name.
        skipped: Files of a known kind that cannot be checked, and links that are not followed.
        ignored: How many files have no kind that a rule could read.
    """

    files: list[SourceFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ignored: int = 0


def discover(paths: Sequence[str], exclude: Sequence[str] = ()) -> Found:
    """List the files under ``paths``, by git where it can be asked (so ``.gitignore`` holds), else by walking.

    Raises:
        MissingPathError: A path does not exist.
    """
    found = Found()
    seen: set[object] = set()
    for given in paths:
        if not os.path.lexists(given):
            raise MissingPathError(given)
        if os.path.isdir(given):
            unread: list[Skipped] = []
            prefix = _prefix(given)
            for inner in list_tree(Path(given), unread):
                _consider(found, seen, prefix + inner, inner, exclude)
            found.skipped += [Skipped(prefix + one.path, one.reason) for one in unread]
        else:
            name = str(PurePosixPath(given))
            _consider(found, seen, name, name.rpartition("/")[2], exclude)
    found.files.sort(key=lambda file: file.name)
    found.skipped.sort(key=lambda skipped: skipped.path)
    return found


def read(location: str) -> bytes | str:
    """A file's bytes, UTF-16 and UTF-32 as UTF-8; or, as text, why it cannot be checked."""
    try:
        with open(location, "rb", buffering=0) as stream:
            data = _read_all(stream, os.fstat(stream.fileno()).st_size)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if len(data) > SIZE_LIMIT:
        return f"larger than {SIZE_LIMIT // 1024 // 1024} MiB"
    for mark, encoding in _WIDE.items():
        if data.startswith(mark):
            try:
                return data.decode(encoding).encode()
            except UnicodeDecodeError:
                break
    if b"\0" in data[:_SNIFF]:
        return "binary content"
    return data


def _read_all(stream: FileIO, size: int) -> bytes:
    """All bytes up to one more than ``SIZE_LIMIT``; ``size`` is what the file should have, and saves memory."""
    data = stream.read(min(size, SIZE_LIMIT) + 1)
    if len(data) == size:
        return data
    parts = [data]
    room = SIZE_LIMIT + 1 - len(data)
    while data and room > 0:
        data = stream.read(min(room, _SNIFF))
        parts.append(data)
        room -= len(data)
    return b"".join(parts)


def _consider(found: Found, seen: set[object], name: str, inner: str, exclude: Sequence[str]) -> None:
    if exclude and (globs.any_match(inner, exclude) or globs.any_match(name, exclude)):
        return
    kind = kind_of(name)
    try:
        status = os.stat(name)
    except OSError as error:
        if os.path.islink(name) and (kind or "." not in inner.rpartition("/")[2]):
            found.skipped.append(Skipped(name, f"symbolic link that leads nowhere: {error.strerror or error}"))
        elif kind and os.path.lexists(name):
            found.skipped.append(Skipped(name, f"cannot be read: {error.strerror or error}"))
        return
    if stat.S_ISDIR(status.st_mode):
        if os.path.islink(name):
            found.skipped.append(Skipped(name, "symbolic link to a directory, not followed"))
        else:  # a submodule: git names it, and lists nothing of it
            for deeper in list_tree(Path(name)):
                _consider(found, seen, f"{name}/{deeper}", f"{inner}/{deeper}", exclude)
        return
    if kind is None:
        found.ignored += 1
        return
    if not stat.S_ISREG(status.st_mode):
        found.skipped.append(Skipped(name, "no regular file"))
        return
    if status.st_size > SIZE_LIMIT:
        found.skipped.append(Skipped(name, f"larger than {SIZE_LIMIT // 1024 // 1024} MiB"))
        return
    # A file that two paths lead to counts once. Hard links are files of their own, and have the same inode.
    one = os.path.realpath(name) if status.st_nlink > 1 else (status.st_dev, status.st_ino)
    if one not in seen:
        seen.add(one)
        found.files.append(SourceFile(name, kind, status.st_size, name))


def list_tree(root: Path, unread: list[Skipped] | None = None) -> list[str]:
    """Paths below a directory: those that git knows or does not ignore, else all; `unread` gets unreadable folders."""
    listed = _ask_git(root)
    # A directory that git ignores as a whole was still named by the user.
    return listed or sorted(_walk(root, [] if unread is None else unread))


def _ask_git(root: Path) -> list[str]:
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "-C",
        str(root),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0:
        return []
    return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})


def _walk(root: Path, unread: list[Skipped]) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        where = os.path.relpath(os.fsdecode(error.filename), root).replace(os.sep, "/")
        unread.append(Skipped(where, f"folder cannot be read: {error.strerror or error}"))

    for directory, folders, names in os.walk(root, onerror=refuse):
        inside = os.path.relpath(directory, root).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        kept = []
        for folder in folders:
            if folder in _NEVER:
                continue
            if os.path.islink(os.path.join(directory, folder)):
                yield prefix + folder
            else:
                kept.append(folder)
        folders[:] = kept
        for name in names:
            yield prefix + name


def _prefix(given: str) -> str:
    """What stands before the names of the files in a folder that the user gave: ``src/``; nothing for ``.``."""
    name = str(PurePosixPath(given))
    return "" if name == "." else name if name.endswith("/") else f"{name}/"
