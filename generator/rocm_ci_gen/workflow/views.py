"""The workflow as data: what the templates lay out, with every decision already made.

Field by field this is the document that GitHub reads; tests load a rendered workflow and compare it with these. `None`
and empty mean that the key is left out, except `permissions`, where empty means no right at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci_gen.workflow.expressions import Expression
from rocm_ci_gen.workflow.quoting import Scalar


@dataclass(frozen=True)
class Uses:
    """What `uses:` names; `comment` is the version that its commit stands for."""

    reference: str
    comment: str = ""


@dataclass(frozen=True)
class StepView:
    """One step; either `uses` or `run` is set. A multi-line value of `with_` is a list, a line an entry."""

    name: str | None = None
    id: str | None = None
    condition: Expression | None = None
    uses: Uses | None = None
    run: str | None = None
    shell: str | None = None
    working_directory: str | None = None
    with_: Mapping[str, Scalar] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunsOn:
    """What the runner must have: a label, several, or an expression that gives them; and the group it must be in."""

    labels: str | tuple[str, ...]
    group: str | None = None


@dataclass(frozen=True)
class ContainerView:
    """The job container. `options` is a list of `--name=value` for `docker create`, joined by blanks."""

    image: str
    options: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()
    credentials: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class Permission:
    """A right of the job's token; `why` is a comment, for every right beyond reading the contents."""

    name: str
    level: str
    why: str = ""


@dataclass(frozen=True)
class JobView:
    """A job: with `steps`, or one that `calls` a reusable workflow. `matrix` holds one entry an instance."""

    id: str
    name: str
    comment: str
    needs: tuple[str, ...] = ()
    condition: Expression | None = None
    permissions: tuple[Permission, ...] = ()
    outputs: Mapping[str, Expression] = field(default_factory=dict)
    runs_on: RunsOn | None = None
    timeout_minutes: int | None = None
    matrix: tuple[Mapping[str, object], ...] = ()
    container: ContainerView | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[StepView, ...] = ()
    calls: Uses | None = None
    with_: Mapping[str, Scalar] = field(default_factory=dict)
    secrets: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True)
class EventView:
    """An event that starts the workflow; filters and types in GitHub's words, such as `branches-ignore`."""

    name: str
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkflowView:
    """The whole workflow. `manifest` and `command` stand in the header."""

    manifest: str
    command: str
    name: str
    events: tuple[EventView, ...]
    schedule: tuple[str, ...]
    concurrency_group: Expression
    cancel_in_progress: Expression | bool
    jobs: tuple[JobView, ...]
