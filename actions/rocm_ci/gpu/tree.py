"""The one place where files are read: below a root, bounded, never blocking, with the reason when it fails.

A root other than `/` is a container's view of a host, or a recorded machine. There, links are followed by hand, so
that an
absolute one stays below the root; and a small text file that stands where a folder should, and holds a relative
path, is
taken as the link that a recorder wrote down.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from pathlib import Path

from rocm_ci.gpu.unknown import Unknown, count

LIMIT = 65536
"""Bytes that a file of sysfs or procfs may have; the largest real one has some 4 KiB."""
_LINKS = 40
_LINK_TEXT = 1024


class Tree:
    """Files below `root`; every path is relative to it, with `/` between its parts."""

    def __init__(self, root: Path | str = "/") -> None:
        self.root = os.path.realpath(root)
        self._whole = self.root == "/"

    def path(self, path: str, *, folder: bool = False) -> str | Unknown:
        """Where `path`, a file or a folder, really is on this machine, all links followed inside the root."""
        if self._whole:
            return "/" + path.lstrip("/")
        try:
            return self._follow(path, folder=folder)
        except (OSError, ValueError) as error:
            return _failed(path, error)

    def read(self, path: str, limit: int = LIMIT) -> bytes | Unknown:
        """The bytes of a plain file of at most `limit` bytes."""
        real = self.path(path)
        if isinstance(real, Unknown):
            return real
        try:
            handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            return _failed(path, error)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return Unknown(f"{path} is no plain file")
            parts: list[bytes] = []
            room = limit + 1
            while room > 0 and (part := os.read(handle, room)):
                parts.append(part)
                room -= len(part)
        except OSError as error:
            return _failed(path, error)
        finally:
            os.close(handle)
        return b"".join(parts) if room > 0 else Unknown(f"{path} is larger than {limit:,} bytes")

    def text(self, path: str, limit: int = LIMIT) -> str | Unknown:
        """The text of a file without white space and NUL bytes around it; an empty or binary file is unknown."""
        data = self.read(path, limit)
        if isinstance(data, Unknown):
            return data
        data = data.strip(b"\0 \t\r\n")
        if not data:
            return Unknown(f"{path} is empty")
        if b"\0" in data:
            return Unknown(f"{path} is binary")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return Unknown(f"{path} is no text")

    def count(self, path: str) -> int | Unknown:
        """The unsigned decimal number that a file holds."""
        text = self.text(path)
        return text if isinstance(text, Unknown) else count(text, path)

    def names(self, path: str) -> tuple[str, ...] | Unknown:
        """Names in a folder, sorted, numbers by value."""
        real = self.path(path, folder=True)
        if isinstance(real, Unknown):
            return real
        try:
            return tuple(sorted(os.listdir(real), key=_natural))  # noqa: PTH208 - names are wanted, and quickly
        except (OSError, ValueError) as error:
            return _failed(path, error)

    def exists(self, path: str) -> bool | Unknown:
        """Whether there is anything at `path`; unknown where a folder on the way may not be looked into."""
        real = self.path(path)
        if isinstance(real, Unknown):
            return False if real.errno in (errno.ENOENT, errno.ENOTDIR) else real
        try:
            os.stat(real)  # noqa: PTH116 - a Path costs more than the call
        except OSError as error:
            return False if error.errno in (errno.ENOENT, errno.ENOTDIR) else _failed(path, error)
        return True

    def link(self, path: str) -> str | Unknown:
        """What the link at `path` says, unresolved; the links of /proc/<pid>/fd are no paths to follow."""
        folder, _, name = path.rpartition("/")
        real = self.path(folder, folder=True)
        if isinstance(real, Unknown):
            return real
        try:
            return os.readlink(f"{real}/{name}")  # noqa: PTH115
        except (OSError, ValueError) as error:
            return _failed(path, error)

    def _follow(self, path: str, *, folder: bool) -> str:
        """Walk `path` part by part; what is no link is left to the caller to find missing."""
        waiting = deque(part for part in path.split("/") if part not in ("", "."))
        walked: list[str] = []
        links = 0
        while waiting:
            part = waiting.popleft()
            if part == "..":
                del walked[-1:]
                continue
            here = "/".join((self.root, *walked, part))
            target = _target(here, text=folder or bool(waiting))
            if target is None:
                walked.append(part)
                continue
            links += 1
            if links > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if target.startswith("/"):
                walked.clear()
            waiting.extendleft(reversed([part for part in target.split("/") if part not in ("", ".")]))
        return "/".join((self.root, *walked))


def _target(path: str, *, text: bool) -> str | None:
    """What the link at `path` points to: a real one or, where a folder is wanted, one that was written down as text."""
    mode = os.lstat(path)
    if stat.S_ISLNK(mode.st_mode):
        return os.readlink(path)  # noqa: PTH115
    if text and stat.S_ISREG(mode.st_mode) and 3 < mode.st_size <= _LINK_TEXT:
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read(_LINK_TEXT)
        written = data.decode("utf-8", "replace").strip()
        if written.startswith("../") and "\n" not in written and "\0" not in written:
            return written
    return None


def _failed(path: str, error: OSError | ValueError) -> Unknown:
    if isinstance(error, OSError) and error.errno is not None:
        return Unknown(
            f"{path}: {os.strerror(error.errno)} ({errno.errorcode.get(error.errno, error.errno)})", error.errno
        )
    return Unknown(f"{path}: {error}")


def _natural(name: str) -> tuple[str, int, str]:
    stem = name.rstrip("0123456789")
    digits = name[len(stem) :]
    return (stem, int(digits) if digits.isascii() and 0 < len(digits) < 20 else -1, name)
