"""Writing files so that a reader never sees half of one, and saying clearly why one could not be written."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from rocm_ci.runner.errors import InfraError


def write_atomic(path: Path, text: str) -> None:
    """Write `text` as UTF-8; a reader sees the old file or the new one, never a part.

    A device or a pipe (`/dev/stdout`, `/dev/null`) is written to, not replaced.

    Raises:
        InfraError: the file cannot be written; the message names it and the reason.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        if _is_special(path):
            path.write_bytes(data)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise cannot_write(path, error) from error


def append_whole(path: Path, data: bytes) -> None:
    """Append `data` to `path`, all of it or nothing, starting on a line of its own.

    Raises:
        InfraError: the file cannot be written; what was there before is left as it was.
    """
    try:
        with path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    data = b"\n" + data
            try:
                file.write(data)
                file.flush()
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
    except OSError as error:
        raise cannot_write(path, error) from error


def ensure_directory(path: Path, *, private: bool = False) -> None:
    """Make a folder; a `private` one must belong to this user and be closed to others.

    Raises:
        InfraError: the folder cannot be made, or someone else made it before us.
    """
    try:
        if not private:
            path.mkdir(parents=True, exist_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        # lstat: in a shared temporary folder another user may have laid a link in our place.
        found = path.lstat()
    except OSError as error:
        raise cannot_write(path, error) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise InfraError(
            f"{path} is not a private folder of this user (uid {os.getuid()}), so reports cannot be kept there",
            help="remove it, or set TMPDIR to a folder of your own",
        )


def cannot_write(path: Path, error: OSError) -> InfraError:
    """The error to raise when `path` cannot be written, with the reason and what to do in plain English."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return InfraError(
            f"cannot write {path}: no space left on its file system",
            help=f"free space on the file system that holds {path.parent} (df -h {path.parent})",
        )
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return InfraError(
            f"cannot write {path}: {_reason(error)} (this process runs as uid {os.geteuid()})",
            help=f"give this user the right to write in {path.parent}, or name another place",
        )
    return InfraError(f"cannot write {path}: {_reason(error)}", help="name another place, or remove what is in the way")


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return not stat.S_ISREG(mode)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
