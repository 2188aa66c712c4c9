"""The plan: which jobs run, where, and why. `Plan.to_json` is what the workflow and `gate` read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

SCHEMA = 1
MAX_UNOWNED = 200
"""Paths listed in the JSON at most; `unowned_count` tells how many there are."""
_UNOWNED_BYTES = 16_000
_REASON_LIMIT = 300
"""The plan travels to `gate` in an environment variable, of which Linux takes 128 KiB (MAX_ARG_STRLEN)."""


@dataclass(frozen=True)
class Expect:
    """What one instance of a job has to show: where it runs (labels, group) and which GPUs its node must have."""

    instance: int
    runner: str
    runs_on: tuple[str, ...]
    group: str | None = None
    gfx: tuple[str, ...] = ()
    gpus: int | None = None
    shard: str | None = None

    def to_json(self, *, with_labels: bool) -> dict[str, object]:
        """As in the plan's JSON; labels only where the instances differ in them."""
        body: dict[str, object] = {
            "instance": self.instance,
            "runner": self.runner,
            "gfx": list(self.gfx),
            "gpus": self.gpus,
            "shard": self.shard,
        }
        if with_labels:
            body["runs_on"] = list(self.runs_on)
        if self.group is not None:
            body["group"] = self.group
        return body


@dataclass(frozen=True)
class Job:
    """One job of the workflow and what becomes of it.

    Attributes:
        name: the job's name in the workflow.
        kind: a stage of ours, or a reusable workflow of the user's.
        run: it runs.
        reason: why, or why not, in one short line.
        expect: one entry an instance; empty for a user's job, whose runners are its own business.
        withheld: the changed files call for it and `forks.policy` keeps it from running.
        gpu: it has to show a GPU.
        uses: the reusable workflow of a user's job.
    """

    name: str
    kind: Literal["stage", "user"]
    run: bool
    reason: str
    expect: tuple[Expect, ...] = ()
    withheld: bool = False
    gpu: bool = False
    uses: str | None = None

    @property
    def runs_on(self) -> tuple[str, ...]:
        """Labels of the first, and mostly the only, runner."""
        return self.expect[0].runs_on if self.expect else ()

    @property
    def instances(self) -> int:
        """How many jobs GitHub starts for it."""
        return max(1, len(self.expect))

    def to_json(self) -> dict[str, object]:
        """As in the plan's JSON."""
        differ = len({expect.runs_on for expect in self.expect}) > 1
        return {
            "kind": self.kind,
            "run": self.run,
            "reason": shorten(self.reason, _REASON_LIMIT),
            "runs_on": list(self.runs_on),
            "instances": self.instances,
            "withheld": self.withheld,
            "gpu": self.gpu,
            "expect": [expect.to_json(with_labels=differ) for expect in self.expect],
        }


@dataclass(frozen=True)
class Concurrency:
    """The concurrency group of the run, and whether a newer run of the group cancels it."""

    group: str
    cancel_in_progress: bool


@dataclass(frozen=True)
class Plan:
    """The whole answer.

    Attributes:
        event: the event's name.
        triggered: the manifest asks for this event.
        base: full id of the commit compared with; head: of the one whose changes count.
        changed: number of changed files, None if not known.
        doubt: why everything runs although it is not known to be needed.
        jobs: in the order of the manifest.
        unowned: changed files that no job's `paths` cover.
        forks_withheld: what `gate` says about a withheld job.
        notices: what a person should know besides.
    """

    event: str
    triggered: bool
    base: str | None
    head: str | None
    changed: int | None
    concurrency: Concurrency
    jobs: tuple[Job, ...]
    unowned: tuple[str, ...]
    forks_withheld: Literal["fail", "pass"]
    notices: tuple[str, ...] = ()
    doubt: str | None = None

    @property
    def run(self) -> tuple[str, ...]:
        """Names of the jobs that run."""
        return tuple(job.name for job in self.jobs if job.run)

    @property
    def withheld(self) -> tuple[str, ...]:
        """Names of the jobs that the change needs and the policy withholds."""
        return tuple(job.name for job in self.jobs if job.withheld)

    def to_json(self) -> dict[str, object]:
        """The plan as JSON data, of bounded size however many files changed."""
        return {
            "schema": SCHEMA,
            "event": self.event,
            "triggered": self.triggered,
            "base": self.base,
            "head": self.head,
            "changed": self.changed,
            "doubt": self.doubt and shorten(self.doubt, _REASON_LIMIT),
            "concurrency": {
                "group": self.concurrency.group,
                "cancel_in_progress": self.concurrency.cancel_in_progress,
            },
            "jobs": {job.name: job.to_json() for job in self.jobs},
            "unowned": list(_bounded(self.unowned)),
            "unowned_count": len(self.unowned),
            "forks": {"withheld": self.forks_withheld},
            "notices": [shorten(notice, _REASON_LIMIT) for notice in self.notices],
        }


def shorten(text: str, limit: int) -> str:
    """`text` within `limit` characters, cut in the middle: paths differ at both ends."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def first_few(names: Sequence[str], count: int) -> str:
    """The first `count` names, and how many more there are: `a, b, … (+7)`."""
    shown = ", ".join(names[:count])
    return shown if len(names) <= count else f"{shown}, … (+{len(names) - count:,})"


def _bounded(paths: Iterable[str]) -> Iterable[str]:
    room = _UNOWNED_BYTES
    for number, path in enumerate(paths):
        text = shorten(path, _REASON_LIMIT)
        room -= len(text.encode("utf-8", "replace")) + 4
        if number >= MAX_UNOWNED or room < 0:
            return
        yield text
