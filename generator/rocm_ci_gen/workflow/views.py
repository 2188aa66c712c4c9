"""The workflow as data: what the templates lay out, with every decision already made.

Field by field this is the document that GitHub reads; tests load a rendered workflow and compare it with these. `None`
and empty mean that the key is left out, except `permissions`, where empty means no right at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci_gen.workflow.expressions import Expression

Scalar = str | int | float | bool
"""A value of the workflow; an `Expression` is a `str`."""

RunsOn = str | tuple[str, ...] | Mapping[str, object]
"""A label (or an expression), several labels, or `{group: …, labels: …}`."""


@dataclass(frozen=True)
class Noted:
    """A name or reference with a comment behind it: an action's version, the reason of a right."""

    text: str
    comment: str = ""


@dataclass(frozen=True)
class StepView:
    """One step; either `uses` or `run` is set. A multi-line value of `with_` is a list, a line an entry."""

    name: str | None = None
    id: str | None = None
    condition: Expression | None = None
    uses: Noted | None = None
    run: str | None = None
    shell: str | None = None
    working_directory: str | None = None
    with_: Mapping[str, Scalar] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ContainerView:
    """The job container. `options` is a list of `--name=value` for `docker create`, joined by blanks."""

    image: str
    options: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()
    credentials: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class JobView:
    """A job: with `steps`, or one that `calls` a reusable workflow. `matrix` holds one entry an instance.

    `permissions` gives each right of the job's token its level, with the reason as a comment for every right beyond
    reading the contents.
    """

    id: str
    name: str
    comment: str
    needs: tuple[str, ...] = ()
    condition: Expression | None = None
    permissions: Mapping[str, Noted] = field(default_factory=dict)
    outputs: Mapping[str, Expression] = field(default_factory=dict)
    runs_on: RunsOn | None = None
    timeout_minutes: int | None = None
    matrix: tuple[Mapping[str, object], ...] = ()
    container: ContainerView | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[StepView, ...] = ()
    calls: Noted | None = None
    with_: Mapping[str, Scalar] = field(default_factory=dict)
    secrets: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkflowView:
    """The whole workflow. `manifest` and `command` stand in the header.

    `events` gives each event its filters in GitHub's words, such as `branches-ignore`; the schedule stands apart.
    """

    manifest: str
    command: str
    name: str
    events: Mapping[str, Mapping[str, tuple[str, ...]]]
    schedule: tuple[str, ...]
    concurrency_group: Expression
    cancel_in_progress: Expression | bool
    jobs: tuple[JobView, ...]
