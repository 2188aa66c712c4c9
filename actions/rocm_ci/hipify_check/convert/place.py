"""The folder that a conversion makes: what it may replace, and how it appears all at once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from rocm_ci.hipify_check import globs
from rocm_ci.runner.errors import InfraError, UsageError
from rocm_ci.runner.files import cannot_write, write_atomic

MARKER = ".rocm-ci-converted.json"
"""Written into the folder: each file that the conversion made and its SHA-256, so that hand work is never lost."""

_GIT_SECONDS = 120


def check(out: Path, sources: Sequence[str], exclude: Sequence[str]) -> Path:
    """The absolute path of ``out``, if a conversion may write there.

    Raises:
        UsageError: It is or holds a source, lies within one that does not exclude it, or holds what we did not make.
    """
    if out.is_symlink():
        raise UsageError(f"--convert: {out} is a symbolic link", help="name the folder itself")
    absolute = out.absolute().parent.resolve() / out.name if out.name not in {"", ".."} else out.resolve()
    for source in sources:
        root = Path(source).resolve()
        if absolute == root or absolute in root.parents:
            raise UsageError(
                f"--convert: {out} would replace the sources in {source}",
                help="name a folder beside them; to change the sources themselves there is in-place conversion",
            )
        if root in absolute.parents and not _excluded(absolute, root, exclude):
            raise UsageError(
                f"--convert: {out} lies within the sources in {source}, so the next check would read it as one",
                help=f"name a folder outside, or exclude it: --exclude '{absolute.relative_to(root)}'",
            )
    _refuse_foreign(absolute)
    return absolute


@contextlib.contextmanager
def staging(out: Path) -> Iterator[Path]:
    """A new, empty folder beside ``out``, which is gone afterwards unless ``publish`` moved it away.

    Raises:
        InfraError: It cannot be made.
    """
    folder = out.with_name(f".{out.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, out: Path) -> None:
    """Mark the finished ``folder`` and put it in the place of ``out`` by renames.

    Raises:
        InfraError: The file system refuses; ``out`` is then as it was.
        UsageError: Someone else has put something there meanwhile.
    """
    made = {
        str(path.relative_to(folder)): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }
    document = {"schema": 1, "made_by": "rocm-ci hipify-check --convert", "files": made}
    write_atomic(folder / MARKER, json.dumps(document, indent=1, sort_keys=True) + "\n")
    _refuse_foreign(out)
    old = folder.with_name(folder.name + ".old")
    try:
        if out.exists():
            out.rename(old)
        try:
            folder.rename(out)
        except OSError:
            if old.exists():
                old.rename(out)
            raise
    except OSError as error:
        raise InfraError(
            f"cannot put the converted tree in the place of {out}: {(error.strerror or str(error)).lower()}",
            help="name a folder that does not exist yet, on the same file system as the one above it",
        ) from error
    shutil.rmtree(old, ignore_errors=True)


def refuse_dirty(sources: Sequence[str]) -> None:
    """See that git could bring each source back, before it is changed in place.

    Raises:
        UsageError: A source is not under git, or there are changes that are not committed.
    """
    for source in sources:
        root = Path(source)
        folder = root if root.is_dir() else root.parent
        status = _git(
            folder, "status", "--porcelain", "--untracked-files=all", "--ignored=no", "--", str(root.resolve())
        )
        if status is None:
            raise UsageError(
                f"{source} is not under git, so nothing could bring the sources back",
                help="convert to a folder of its own: --convert DIR",
            )
        if status:
            first = status.splitlines()[0][3:]
            raise UsageError(
                f"{source} has changes that are not committed, first {first}",
                help="commit or stash them, so that the conversion can be seen and undone by git; or --convert DIR",
            )


def _excluded(out: Path, root: Path, exclude: Sequence[str]) -> bool:
    inner = str(out.relative_to(root))
    return globs.any_match(inner, exclude) or _git(root, "check-ignore", "--quiet", "--", inner) is not None


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints; ``None`` where it fails."""
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL, text=True
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout if done.returncode == 0 else None


def _refuse_foreign(out: Path) -> None:
    """Refuse a folder with anything in it that a conversion did not make, or that was worked on since."""
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise UsageError(f"--convert: {out} is no folder", help="name a folder that does not exist yet")
    present = {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_symlink() or not path.is_dir()}
    if not present:
        return
    made = _made(out)
    if made is None:
        raise UsageError(
            f"--convert: {out} is not empty, and no conversion made it", help="name a folder that does not exist yet"
        )
    present.pop(MARKER, None)
    changed = sorted(name for name, path in present.items() if made.get(name) != _digest(path))
    if changed:
        others = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        raise UsageError(
            f"--convert: {out} was worked on since it was converted ({changed[0]}{others}), and that would be lost",
            help="convert to another folder, or remove this one",
        )


def _made(out: Path) -> dict[str, str] | None:
    try:
        document = json.loads((out / MARKER).read_text(encoding="utf-8"))
        files = document["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return files if isinstance(files, dict) else None


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"link:{path.readlink()}"
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError:
        return "unreadable"
    return digest.hexdigest()
