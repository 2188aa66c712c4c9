"""The manifest after defaults: frozen dataclasses that the rest of the generator reads.

Nothing here reads a file or checks anything; `rocm_ci_gen.manifest.resolve` builds these from a document that
`rocm_ci_gen.manifest.validate` has accepted, and takes every default from `schema.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["docker", "kubernetes", "none"]
Policy = Literal["never", "label", "mirror"]


@dataclass(frozen=True)
class Source:
    """Where the actions come from: `repository@ref`, or the commit `pin` of that ref."""

    repository: str
    ref: str
    pin: str | None = None


@dataclass(frozen=True)
class Runner:
    """A machine or pool: what `runs-on` asks for and what the node must then turn out to be."""

    name: str
    labels: tuple[str, ...]
    group: str | None = None
    gfx: tuple[str, ...] = ()
    gpus: int | None = None
    partition: str | None = None
    groups: tuple[str, ...] = ("video",)
    mode: Mode = "docker"
    env_file: str | None = None


@dataclass(frozen=True)
class Container:
    """The container of every job that is not on the runner `cpu`. `env` and `ulimits` keep the manifest's order."""

    image: str
    devices: tuple[str, ...]
    ipc: str | None = None
    shm_size: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()
    user: str | None = None
    cap_add: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ()
    ulimits: Mapping[str, str] = field(default_factory=dict)
    username_secret: str | None = None
    password_secret: str | None = None


@dataclass(frozen=True)
class Step:
    """An extra step of a stage: either `run` or `uses` is set, never both."""

    name: str | None = None
    run: str | None = None
    shell: str = "bash"
    uses: str | None = None
    version: str | None = None
    with_: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    working_directory: str | None = None


@dataclass(frozen=True)
class Stage:
    """A check that is a job. `options` are the inputs of its action as text, where the manifest sets them.

    A list in the manifest is one input with a line an entry; a boolean is `true` or `false`.
    """

    name: str
    runners: tuple[Runner, ...]
    gpu: bool
    paths: tuple[str, ...]
    timeout: str
    needs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    shards: int = 1
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def instances(self) -> int:
        """How many jobs the stage becomes: runners x shards."""
        return len(self.runners) * self.shards

    @property
    def contained(self) -> bool:
        """Whether its job runs in the manifest's container: on every runner but `cpu`, which may be GitHub's own."""
        return all(runner.name != "cpu" for runner in self.runners)


@dataclass(frozen=True)
class UserJob:
    """A reusable workflow of the user's that `gate` also waits for."""

    name: str
    uses: str
    version: str | None = None
    with_: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ("**",)
    permissions: Mapping[str, str] = field(default_factory=dict)
    self_hosted: bool = False


@dataclass(frozen=True)
class RefFilter:
    """Which branches and tags of an event count, as GitHub reads them.

    None means "no such filter". With only branch filters a tag push does not count, and the other way round.
    """

    branches: tuple[str, ...] | None = None
    branches_ignore: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    tags_ignore: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Triggers:
    """What starts the workflow. None or False: that event does not."""

    push: RefFilter | None
    pull_request: RefFilter | None
    merge_group: bool
    schedule: tuple[str, ...]
    manual: bool


@dataclass(frozen=True)
class Forks:
    """How pull requests from forks meet self-hosted runners."""

    policy: Policy = "never"
    label: str = "ok-to-test"
    withheld: Literal["fail", "pass"] = "fail"


@dataclass(frozen=True)
class Manifest:
    """The whole manifest. `stages` and `jobs` keep the order of the file."""

    version: int
    uses: Source
    runners: Mapping[str, Runner]
    container: Container | None
    requirements: str | None
    triggers: Triggers
    cancel_in_progress: bool
    forks: Forks
    unowned: Literal["notice", "run"]
    ignore: tuple[str, ...]
    stages: tuple[Stage, ...]
    probe: Mapping[str, str] | None
    jobs: tuple[UserJob, ...]
    node: Mapping[str, str] = field(default_factory=dict)
    retention_days: int | None = None

    @property
    def cpu(self) -> Runner:
        """The runner of plan, hipify-check and gate."""
        return self.runners["cpu"]
