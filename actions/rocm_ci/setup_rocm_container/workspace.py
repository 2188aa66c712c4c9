"""The job's workspace: files that an earlier container left behind as root make the next checkout fail.

Known since actions/runner issue 434: a container job runs as root in a folder that the runner's user owns.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.text import plural
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn

SECONDS = 5.0
"""How long the workspace is walked; a dataset of a million files is not worth more."""


@dataclass(frozen=True)
class Owner:
    """A user and group by number."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Leftovers:
    """Files of root in the workspace: how many, the first, and whether the whole of it was looked at."""

    count: int
    first: Path | None
    complete: bool


Chown = Callable[[Path, int, int], None]


def check(
    workspace: Path | None, *, on_github: bool, uid: int, chown: Chown | None = None, seconds: float = SECONDS
) -> Check:
    """Look for root's files in the workspace; give them back where that is possible.

    Ownership is changed only on GitHub, as root, and below the workspace: elsewhere it is somebody's checkout.

    Args:
        workspace: `$GITHUB_WORKSPACE`.
        on_github: a runner's workspace, not a person's.
        uid: the user of this process.
        chown: changes the owner of one file, not following links; os.lchown by default.
        seconds: time limit of the walk.
    """
    if workspace is None:
        return skip("workspace", "GITHUB_WORKSPACE is not set: this is no runner's workspace")
    if not workspace.is_dir():
        return skip("workspace", f"{workspace} is no folder")
    if uid == 0:
        return _as_root(workspace, on_github=on_github, chown=chown or os.lchown, seconds=seconds)
    quoted = shlex.quote(str(workspace))
    fix = f'sudo chown -R "$(id -u):$(id -g)" {quoted}   # before the checkout, in a step on the host'
    if not os.access(workspace, os.W_OK | os.X_OK):
        return fail("workspace", f"{workspace} cannot be written by uid {uid}", fix)
    left = _find(workspace, seconds)
    if left.count:
        return warn(
            "workspace", f"{plural(left.count, 'entries')} of root in {workspace}, the first is {left.first}", fix
        )
    return ok(
        "workspace", f"{workspace} belongs to uid {uid}" + ("" if left.complete else "; only a part was looked at")
    )


def _as_root(workspace: Path, *, on_github: bool, chown: Chown, seconds: float) -> Check:
    owner = _rightful(workspace)
    if owner is None:
        return ok("workspace", f"{workspace}: root's own, as everything of this runner")
    left = _find(workspace, seconds)
    if not left.count:
        return ok("workspace", f"{workspace} belongs to uid {owner.uid}, and nothing in it to root")
    command = f"chown -R --no-dereference {owner.uid}:{owner.gid} {shlex.quote(str(workspace))}"
    if not on_github:
        text = f"{plural(left.count, 'entries')} of root in {workspace}, which belongs to uid {owner.uid}"
        return warn("workspace", text, command)
    done = 0
    for path in _entries(workspace, seconds):
        try:
            chown(path, owner.uid, owner.gid)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            return warn("workspace", f"{path} stays root's: {why}", f"on the node: sudo {command}")
        done += 1
    return ok("workspace", f"gave {plural(done, 'entries')} of root in {workspace} back to uid {owner.uid}")


def _rightful(workspace: Path) -> Owner | None:
    """Whose the workspace is: the owner of it, or of the nearest folder above that is not root's; None: root's."""
    for folder in (workspace, *list(workspace.parents)[:2]):
        try:
            found = folder.stat()
        except OSError:
            return None
        if found.st_uid != 0:
            return Owner(found.st_uid, found.st_gid)
    return None


def _find(workspace: Path, seconds: float) -> Leftovers:
    count, first = 0, None
    started = time.monotonic()
    for path in _entries(workspace, seconds):
        first = first or path
        count += 1
    return Leftovers(count, first, time.monotonic() - started < seconds)


def _entries(workspace: Path, seconds: float) -> Iterator[Path]:
    """The workspace's entries that belong to root, without those of other file systems that are mounted inside."""
    deadline = time.monotonic() + seconds
    try:
        top = workspace.lstat()
    except OSError:
        return
    if top.st_uid == 0:
        yield workspace
    stack = [workspace]
    while stack and time.monotonic() < deadline:
        try:
            entries = list(os.scandir(stack.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if found.st_dev != top.st_dev:
                continue
            if found.st_uid == 0:
                yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                stack.append(Path(entry.path))
