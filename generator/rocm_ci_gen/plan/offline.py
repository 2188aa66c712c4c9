"""A plan from options instead of a runner's environment: what would GitHub do?

Unlike in CI, a name that does not exist is a mistake of the person who typed it, so it is an error and no doubt.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.plan.changes import Changes
from rocm_ci_gen.plan.collect import COMPARED, collect
from rocm_ci_gen.plan.event import Event, from_payload, is_zero, read_payload
from rocm_ci_gen.plan.git import Git, GitError
from rocm_ci_gen.plan.triggers import KNOWN_EVENTS, is_mirror
from rocm_ci_gen.resources import data_text

_NOT_A_BRANCH = re.compile(r"HEAD|FETCH_HEAD|.*[~^@{:].*|[0-9a-f]{7,64}")


@dataclass(frozen=True)
class Request:
    """The options of `rocm-ci-gen plan`, as they were given.

    Attributes:
        event: name of the event.
        base: commit or branch to compare with.
        head: commit or branch whose changes count.
        ref: the pushed ref; a bare name is a branch.
        number: number of the pull request.
        changed: the changed paths, or None to ask git.
        labels: labels that the event adds; an event of GitHub adds one.
        fork: the pull request comes from a fork.
        payload: file with the webhook payload of the event.
    """

    event: str
    base: str | None = None
    head: str | None = None
    ref: str | None = None
    number: int | None = None
    changed: tuple[str, ...] | None = None
    labels: tuple[str, ...] = ()
    fork: bool = False
    payload: Path | None = None


def answer(manifest: Manifest, request: Request, git: Git) -> tuple[Event, Changes]:
    """The event that the options describe, and what it changes.

    Raises:
        UsageError: an option is missing or names something that does not exist.
    """
    event = _event(manifest, request, git)
    if request.changed is not None:
        return event, Changes(tuple(dict.fromkeys(map(_changed_path, request.changed))), source="given")
    mirror = is_mirror(manifest, event)
    if request.payload is None and event.name in COMPARED and event.tag is None:
        event = _resolved(event, git)
    return event, collect(event, git, mirror=mirror)


def check_event_name(name: str) -> None:
    """Refuse a name that no event of GitHub has.

    Raises:
        UsageError: with the name that was probably meant.
    """
    known = json.loads(data_text("plan/data/events.json"))["events"]
    if name not in known:
        close = difflib.get_close_matches(name.lower().replace("-", "_"), [*KNOWN_EVENTS, *known], 1)
        guess = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"there is no event {name!r}", help=f"{guess}a manifest knows {', '.join(KNOWN_EVENTS)}")


def _changed_path(given: str) -> str:
    """A path of `--changed` as git names it.

    Raises:
        UsageError: no file of the repository has such a path.
    """
    path = given.removeprefix("./")
    if path in ("", "."):
        raise UsageError(f"--changed {given!r} names no file", help="for example --changed src/a.cu")
    if path.startswith("/") or ".." in path.split("/"):
        raise UsageError(
            f"--changed {given}: a change has only files of the repository",
            help="write the path from the top of the repository, for example --changed src/a.cu",
        )
    return path


def _event(manifest: Manifest, request: Request, git: Git) -> Event:
    event = Event(request.event, fork=request.fork)
    if request.payload is not None:
        payload, doubt = read_payload(request.payload)
        event = from_payload(request.event, payload, doubt=doubt)
        if request.fork:
            event = replace(event, fork=True)
    event = replace(
        event,
        base=request.base or event.base,
        head=request.head or event.head,
        ref=_full_ref(request.ref) or event.ref,
        number=request.number or event.number,
    )
    if event.name in ("pull_request", "merge_group") and request.base is not None:
        event = replace(event, base_branch=_branch(request.base, git))
    if request.labels:
        ours = [label for label in request.labels if label.lower() == manifest.forks.label.lower()]
        event = replace(event, action="labeled", label=(ours or request.labels)[0])
    return event


def _resolved(event: Event, git: Git) -> Event:
    if event.base is None:
        raise UsageError(
            f"what does the {event.name} change?",
            help="name the commit or branch to compare with (--base REF), or the changed files (--changed PATH)",
        )
    head = event.head or "HEAD"
    return replace(event, base=_commit(event.base, git, "--base"), head=_commit(head, git, "--head"))


def _commit(ref: str, git: Git, option: str) -> str:
    if is_zero(ref):
        return ref
    try:
        # In a fresh clone only the default branch has a local name.
        commit = git.commit(ref) or git.commit(f"origin/{ref}")
    except GitError as error:
        raise UsageError(
            f"{option} {ref}: {error}",
            help="run it inside the repository, or name the changed files with --changed PATH",
        ) from error
    if commit is None:
        if git.is_shallow():
            raise UsageError(
                f"{option} {ref}: there is no such commit here, and the clone is shallow",
                help="`git fetch --unshallow` gets the whole history",
            )
        raise UsageError(f"{option} {ref}: there is no such commit here", help="fetch it, or name another one")
    return commit


def _branch(base: str, git: Git) -> str | None:
    """Name of the branch that `base` is, or None where it is another way to name a commit."""
    name = base.removeprefix("refs/heads/").removeprefix("refs/remotes/").removeprefix("origin/")
    if _NOT_A_BRANCH.fullmatch(name):
        return None
    try:
        if not git.is_branch(name) and git.commit(name) is not None:
            return None  # a tag
    except GitError:
        pass  # no repository here: the name is all there is
    return name


def _full_ref(ref: str | None) -> str | None:
    return ref if ref is None or ref.startswith("refs/") else f"refs/heads/{ref}"
