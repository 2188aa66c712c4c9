"""What happened: the event that a plan is made for, from the runner's environment, a payload, or options.

`Event.from_environ` is the only door to the environment. A payload that cannot be read never stops a plan: what is
missing becomes `None` and `doubt` says why, so that everything runs. Only where strangers' code could reach a
self-hosted runner is the unknown answered the other way round: `fork` None counts as a fork.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocm_ci_gen.workflow import WORKFLOW_PATH

_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_ZERO = re.compile(r"0{40}(?:0{24})?\Z")
_MAX_PAYLOAD = 32 * 1024 * 1024
_NEVER_FROM_A_FORK = frozenset(
    {"push", "merge_group", "schedule", "workflow_dispatch", "repository_dispatch", "create", "release"}
)
"""Events that only people or apps with write access to the repository itself can cause (GitHub's documentation,
"Events that trigger workflows"). For any other one the payload has to say where the code comes from."""


@dataclass(frozen=True)
class Event:
    """One event, as far as it is known.

    Attributes:
        name: `pull_request`, `push`, … as in `$GITHUB_EVENT_NAME`.
        action: activity of the event, such as `synchronize` or `labeled`.
        ref: full name of the ref that was pushed, or `$GITHUB_REF`.
        base: commit or ref to compare with: the pull request's base, the merge group's base, a push's `before`.
        head: commit or ref whose changes count.
        base_branch: name of the branch that a pull request or a merge group goes to.
        number: number of the pull request.
        fork: the code comes from a fork; None where that is not known, and then it counts as one.
        label: label that this very event added to the pull request.
        repository: `owner/name`.
        default_branch: name of the repository's default branch.
        run_id: id of this run.
        workflow: name of this workflow.
        rendered_workflow: the run is one of the workflow that this project renders, not of one that a person wrote.
        started: GitHub has started a run for the event, so it does trigger, whatever a filter says.
        doubt: why the event is not fully known; everything runs then.
    """

    name: str
    action: str | None = None
    ref: str | None = None
    base: str | None = None
    head: str | None = None
    base_branch: str | None = None
    number: int | None = None
    fork: bool | None = False
    label: str | None = None
    repository: str | None = None
    default_branch: str | None = None
    run_id: str | None = None
    workflow: str | None = None
    rendered_workflow: bool = True
    started: bool = False
    doubt: str | None = None

    @property
    def branch(self) -> str | None:
        """The branch of `ref`, if it is one."""
        return _after(self.ref, "refs/heads/")

    @property
    def tag(self) -> str | None:
        """The tag of `ref`, if it is one."""
        return _after(self.ref, "refs/tags/")

    @property
    def counts_as_fork(self) -> bool:
        """Whether the code has to be treated as a stranger's."""
        return self.fork is not False

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Event:
        """The event that started this run, from `GITHUB_EVENT_NAME`, `GITHUB_EVENT_PATH`, `GITHUB_REF`, …."""
        name = environ.get("GITHUB_EVENT_NAME", "")
        path = environ.get("GITHUB_EVENT_PATH", "")
        payload, doubt = read_payload(Path(path)) if path else (None, "GITHUB_EVENT_PATH is not set")
        event = from_payload(name, payload, doubt=doubt)
        head = event.head
        if head is None and name in ("push", "merge_group"):
            # On these events GITHUB_SHA is the head itself; on pull_request it is a merge commit made by GitHub.
            head = _sha(environ.get("GITHUB_SHA"))
        return replace(
            event,
            ref=event.ref or environ.get("GITHUB_REF") or None,
            head=head,
            base_branch=event.base_branch or environ.get("GITHUB_BASE_REF") or None,
            repository=environ.get("GITHUB_REPOSITORY") or event.repository,
            run_id=environ.get("GITHUB_RUN_ID") or None,
            workflow=environ.get("GITHUB_WORKFLOW") or None,
            rendered_workflow=f"/{WORKFLOW_PATH}@" in environ.get("GITHUB_WORKFLOW_REF", ""),
            started=True,
        )


def read_payload(path: Path) -> tuple[object, str | None]:
    """Read an event's payload.

    Returns:
        The decoded JSON and None, or None and the reason why there is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_PAYLOAD + 1)
    except OSError as error:
        return None, f"the event's payload cannot be read: {error.strerror or error}"
    if len(data) > _MAX_PAYLOAD:
        return None, f"the event's payload is larger than {_MAX_PAYLOAD // 1024 // 1024} MiB"
    try:
        return json.loads(data), None
    except (ValueError, RecursionError):
        return None, "the event's payload is not valid JSON"


def from_payload(name: str, payload: object, *, doubt: str | None = None) -> Event:
    """The event that a webhook payload describes; never raises, whatever the payload is.

    Args:
        name: the event's name.
        payload: decoded JSON, of any shape.
        doubt: why `payload` is missing, if it is.
    """
    root = _Node(payload)
    event = Event(
        name=name,
        action=root.text("action"),
        ref=root.text("ref"),
        number=root.node("pull_request").integer("number") or root.integer("number"),
        fork=_fork(name, root),
        repository=root.node("repository").text("full_name"),
        default_branch=root.node("repository").text("default_branch"),
        doubt=doubt,
    )
    if event.action == "labeled":
        event = replace(event, label=root.node("label").text("name"))
    if name == "push":
        return _with(event, base=root.sha("before"), head=root.sha("after"))
    if name == "merge_group":
        group = root.node("merge_group")
        branch = _after(group.text("base_ref"), "refs/heads/")
        return _with(event, base=group.sha("base_sha"), head=group.sha("head_sha"), base_branch=branch)
    if name == "pull_request":
        base, head = root.node("pull_request").node("base"), root.node("pull_request").node("head")
        return _with(event, base=base.sha("sha"), head=head.sha("sha"), base_branch=base.text("ref"))
    return event


def is_zero(commit: str | None) -> bool:
    """Whether a commit id is git's "no commit", which a push gives for a ref that did not or does not exist."""
    return commit is not None and _ZERO.match(commit) is not None


def full_id(commit: str | None) -> str | None:
    """`commit` if it is the full id of one, else None."""
    return None if is_zero(commit) else _sha(commit)


def _with(event: Event, *, base: str | None, head: str | None, base_branch: str | None = None) -> Event:
    doubt = event.doubt
    if doubt is None and base is None:
        doubt = f"the payload of {event.name} names no base commit"
    elif doubt is None and head is None:
        doubt = f"the payload of {event.name} names no head commit"
    return replace(event, base=base, head=head, base_branch=base_branch, doubt=doubt)


def _fork(name: str, root: _Node) -> bool | None:
    if name in _NEVER_FROM_A_FORK:
        return False
    pull = root.node("pull_request")
    if not pull.present:
        return None
    head, base = pull.node("head"), pull.node("base").node("repo").text("full_name")
    if head.is_null("repo"):
        return True  # GitHub says null when the fork has been deleted
    source = head.node("repo").text("full_name")
    if source is None or base is None:
        return None
    return source.lower() != base.lower()


@dataclass(frozen=True)
class _Node:
    """A JSON value of unknown shape; asking it for what it does not have gives None."""

    value: object

    @property
    def present(self) -> bool:
        return isinstance(self.value, dict)

    def node(self, key: str) -> _Node:
        return _Node(self._get(key))

    def is_null(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value and self.value[key] is None

    def text(self, key: str) -> str | None:
        value = self._get(key)
        return value if isinstance(value, str) and value and value.isprintable() else None

    def integer(self, key: str) -> int | None:
        value = self._get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    def sha(self, key: str) -> str | None:
        return _sha(self._get(key))

    def _get(self, key: str) -> Any:
        return self.value.get(key) if isinstance(self.value, dict) else None


def _sha(value: object) -> str | None:
    return value if isinstance(value, str) and _SHA.match(value) else None


def _after(ref: str | None, prefix: str) -> str | None:
    if ref is None or not ref.startswith(prefix):
        return None
    return ref[len(prefix) :] or None
