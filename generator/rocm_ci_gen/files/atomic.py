"""Files read and written at the edge: whole, and with an error that names the file and what to do.

Not `rocm_ci.runner.files.write_atomic`: what is written here is a file of the user's repository, so its permissions are
kept, and the reasons are those of a working tree.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from rocm_ci.runner.errors import InfraError, RocmCiError, UsageError

_HELP = {
    errno.EACCES: "You have no permission there: look at the owner of the folder.",
    errno.EPERM: "You have no permission there: look at the owner of the folder.",
    errno.EROFS: "The file system is read-only.",
    errno.ENOSPC: "The disk is full.",
    errno.EDQUOT: "Your quota on this disk is used up.",
    errno.ENOTDIR: "A file stands where a folder is needed: move it away.",
    errno.EEXIST: "A file stands where a folder is needed: move it away.",
    errno.EISDIR: "A folder stands where the file belongs: move it away.",
}
_DISK = {errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO}


def read(path: Path) -> bytes | None:
    """Content of a file; None if there is none.

    Raises:
        RocmCiError: something else than a readable file stands there.
    """
    try:
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{path} is a folder.", help=_HELP[errno.EISDIR])
        if not stat.S_ISREG(mode):  # a pipe could keep us reading for ever
            raise UsageError(f"{path} is no regular file.", help="Move it away.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None  # a file stands in the way; writing says so, and there is nothing to compare with
    except OSError as error:
        raise _failed("read", path, error) from error


def write(path: Path, text: str) -> None:
    """Write `text` as UTF-8 with the line ends it has; readers see the old file or the new one, never a part.

    The permissions of a file that is replaced stay; a new one gets the usual ones.

    Raises:
        RocmCiError: it could not be written; what was there before is unharmed.
    """
    temporary = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(path)
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise _failed("write", path, error) from error
    _sync_folder(path.parent)


def remove(path: Path) -> None:
    """Delete a file.

    Raises:
        RocmCiError: it could not be deleted.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _failed("remove", path, error) from error


def is_read_only(path: Path) -> bool:
    """Whether somebody has taken the right to write the file from everybody; replacing it would not ask."""
    mode = _mode(path)
    return mode is not None and not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _sync_folder(folder: Path) -> None:
    # The file is there and whole; that its name survives a power cut is an extra that not every file system has.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _failed(what: str, path: Path, error: OSError) -> RocmCiError:
    reason = error.strerror or type(error).__name__
    kind = InfraError if error.errno in _DISK else UsageError
    return kind(f"cannot {what} {path}: {reason}.", help=_HELP.get(error.errno or 0, ""))
