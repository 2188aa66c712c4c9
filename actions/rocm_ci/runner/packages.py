"""The locked packages in the runner's tool cache: installed once, used by every later job, never used half-made."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.installer import TIME_LIMIT, run_installer, say

WAYS_OUT = (
    "one of these helps: (1) install python3-pip in the image, if pip is missing; (2) on a node without network, put "
    "the wheels of actions/requirements.lock into a folder, set PIP_FIND_LINKS to it and PIP_NO_INDEX=1; "
    "(3) install click and requests in the image, so that nothing has to be installed"
)
_MARKER = ".complete.json"
_LOCK_SECONDS = 2 * TIME_LIMIT


def provide_packages(lock: Path, environ: Mapping[str, str]) -> Path:
    """The folder that holds the packages of a lock file, for this interpreter; installed now if it is not there.

    Args:
        lock: requirements with hashes.
        environ: names the folders for it, and has the user's settings for pip.

    Raises:
        InfraError: it cannot be made.
    """
    digest = lock_digest(lock)
    target = cache_folder(environ) / f"{digest[:16]}-{interpreter_tag()}"
    if is_complete(target, digest):
        return target
    with _locked(target.with_name(f".{target.name}.lock")):
        # Another job may have made it while this one waited.
        if not is_complete(target, digest):
            _remove_leftovers(target)
            _install(lock, digest, target, environ)
    return target


def lock_digest(lock: Path) -> str:
    """What tells one lock file from another."""
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def interpreter_tag() -> str:
    """What compiled wheels depend on: Python, machine and C library."""
    parts = [sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag, sysconfig.get_platform()]
    with contextlib.suppress(AttributeError, OSError, ValueError):  # musl has no such name
        parts.append(os.confstr("CS_GNU_LIBC_VERSION"))
    return re.sub(r"[^A-Za-z0-9_.]+", "-", "-".join(part for part in parts if part))


def cache_folder(environ: Mapping[str, str]) -> Path:
    """The first of the usual folders that can be written: tool cache, the user's cache, the runner's temporary folder.

    Raises:
        InfraError: there is none.
    """
    bases = [environ.get("RUNNER_TOOL_CACHE"), environ.get("XDG_CACHE_HOME")]
    bases.append(f"{environ['HOME']}/.cache" if environ.get("HOME") else None)
    candidates = [Path(base) / "rocm-ci" for base in bases if base]
    if environ.get("RUNNER_TEMP"):
        candidates.append(Path(environ["RUNNER_TEMP"]) / "rocm-ci" / "packages")
    tried = []
    for folder in candidates:
        if not folder.is_absolute():
            continue
        problem = _cannot_write(folder)
        if problem is None:
            return folder
        tried.append(f"{folder}: {problem.strerror}")
    raise InfraError(
        f"there is no folder to install packages into ({'; '.join(tried) or 'HOME is not set'})",
        help=f"set RUNNER_TOOL_CACHE to a folder that this user may write; or {WAYS_OUT}",
    )


def is_complete(target: Path, digest: str) -> bool:
    """Whether a folder holds a whole installation of this lock: every file is there and has its size."""
    try:
        marker = json.loads((target / _MARKER).read_text("utf-8"))
        if marker["lock"] != digest or not marker["files"]:
            return False
        return all((target / path).stat().st_size == size for path, size in marker["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _cannot_write(folder: Path) -> OSError | None:
    probe = folder / f".probe-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        return error
    return None


def _install(lock: Path, digest: str, target: Path, environ: Mapping[str, str]) -> None:
    """Install into a folder beside `target` and rename it, so that nobody ever imports from a half."""
    work = target.with_name(f"{target.name}.{secrets.token_hex(8)}.tmp")
    old = work.with_suffix(".old")
    say(f"rocm-ci: installing its packages into {target}")
    try:
        work.mkdir(parents=True)
        failure = run_installer(lock, work, environ)
        if failure:
            raise InfraError(failure, help=WAYS_OUT)
        marker = json.dumps({"lock": digest, "files": dict(_sizes(work))})
        (work / _MARKER).write_text(marker, encoding="utf-8")
        with contextlib.suppress(FileNotFoundError):
            target.rename(old)
        try:
            work.rename(target)
        except OSError:
            # Where files cannot be locked (some network file systems) another job may have been quicker.
            if not is_complete(target, digest):
                raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise InfraError(f"cannot install packages into {target}: {reason}", help=WAYS_OUT) from error
    finally:
        _remove(work)
        _remove(old)


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """Each file below a folder with its size in bytes; compiled files are left out, for Python writes them anew."""
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            yield str(path.relative_to(folder)), path.stat().st_size


def _remove_leftovers(target: Path) -> None:
    """Remove the folders of installations that died; a young one may be in use where files cannot be locked."""
    for path in target.parent.glob(f"{target.name}.*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > TIME_LIMIT:
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that other jobs on this node respect; no lock where the file system knows none."""
    try:
        file = path.open("ab")
    except OSError as error:
        raise InfraError(f"cannot open {path}: {error.strerror}", help=WAYS_OUT) from error
    with file:
        started = told = time.monotonic()
        while not _try_lock(file.fileno()):
            now = time.monotonic()
            if now - started > _LOCK_SECONDS:
                raise InfraError(
                    f"another job has been installing packages into {path.parent} for {now - started:.0f} s",
                    help=f"end it, or remove {path}",
                )
            if now - told > 30:
                told = now
                say("rocm-ci: another job is installing the same packages; waiting for it")
            time.sleep(0.1)
        yield


def _try_lock(descriptor: int) -> bool:
    """Whether the lock was got, or there are no locks here and none has to be waited for."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in {errno.EAGAIN, errno.EACCES, errno.EINTR}
    return True
