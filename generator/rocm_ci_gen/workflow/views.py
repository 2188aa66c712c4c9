"""The workflow as data: what the templates lay out, with every decision already made.

Field by field this is the document that GitHub reads; tests load a rendered workflow and compare it with these. `None`
and empty mean that the key is left out, except `permissions`, where empty means no right at all.

Views are not compared (`eq=False`): they hold mappings, and each method that `dataclass` makes costs every render time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci_gen.workflow.expressions import Expression

Scalar = str | int | float | bool
"""A value of the workflow; an `Expression` is a `str`."""

RunsOn = str | tuple[str, ...] | Mapping[str, object]
"""A label (or an expression), several labels, or `{group: …, labels: …}`."""


class Names(tuple[str, ...]):
    """Names of jobs, which are written without quotes where that is safe."""

    __slots__ = ()


@dataclass(frozen=True)
class Noted:
    """A name or reference with a comment behind it: an action's version, the reason of a right."""

    text: str
    comment: str = ""


@dataclass(frozen=True, eq=False)
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

    def __getitem__(self, key: str) -> object:
        """The value of a key in GitHub's words; None where it is left out."""
        return getattr(self, _ATTRIBUTES.get(key, key)) or None


@dataclass(frozen=True, eq=False)
class ContainerView:
    """The job container. `options` is a list of `--name=value` for `docker create`, joined by blanks."""

    image: str
    options: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()
    credentials: Mapping[str, Expression] = field(default_factory=dict)

    def mapping(self) -> dict[str, object]:
        """The container as GitHub's mapping."""
        keys = {
            "image": self.image,
            "options": self.options,
            "env": self.env,
            "volumes": list(self.volumes),
            "credentials": self.credentials,
        }
        return {key: value for key, value in keys.items() if value}


@dataclass(frozen=True, eq=False)
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

    def __getitem__(self, key: str) -> object:
        """The value of a key in GitHub's words; None where it is left out."""
        if key == "permissions":
            return self.permissions  # none at all is a statement
        if key == "needs":
            return Names(self.needs) if self.needs else None
        if key == "strategy":
            return {"fail-fast": False, "matrix": {"include": list(self.matrix)}} if self.matrix else None
        if key == "container":
            return self.container.mapping() if self.container else None
        if key == "uses":
            return self.calls
        return getattr(self, _ATTRIBUTES.get(key, key)) or None


_ATTRIBUTES = {
    "if": "condition",
    "runs-on": "runs_on",
    "timeout-minutes": "timeout_minutes",
    "with": "with_",
    "working-directory": "working_directory",
}


@dataclass(frozen=True, eq=False)
class WorkflowView:
    """The whole workflow. `manifest` and `command` stand in the header.

    `events` is the mapping `on:`, with filters in GitHub's words, such as `branches-ignore`.
    """

    manifest: str
    command: str
    name: str
    events: Mapping[str, object]
    concurrency: Mapping[str, Expression | bool]
    jobs: tuple[JobView, ...]
