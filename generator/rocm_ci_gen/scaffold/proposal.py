"""What `init` proposes: every choice with the reason for it, and what the user answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

STAGES = ("hipify-check", "kernel-tests", "sglang-regression", "vram-probe")
"""The stages of a manifest, in the order in which they are written."""
GPU_STAGES = frozenset({"kernel-tests", "sglang-regression"})
"""Those that run on a GPU machine; vram-probe goes with them."""


@dataclass(frozen=True)
class Choice(Generic[T]):
    """A value and why it is proposed; `answered` where the user gave it."""

    value: T
    reason: str
    answered: bool = False


@dataclass(frozen=True)
class Answers:
    """What the user has said, by option or at a prompt; None: nothing yet.

    `gfx` may be the empty tuple and `gpus` zero: "I do not know", which leaves the key out.
    """

    labels: tuple[str, ...] | None = None
    gfx: tuple[str, ...] | None = None
    gpus: int | None = None
    image: str | None = None
    uses: str | None = None
    model: str | None = None
    stages: tuple[str, ...] | None = None


@dataclass(frozen=True)
class OtherRunner:
    """A further AMD machine of the workflows, written as a comment."""

    name: str
    labels: tuple[str, ...]
    gfx: tuple[str, ...]
    gpus: int | None
    where: str


@dataclass(frozen=True)
class GpuRunner:
    """The GPU machine."""

    name: str
    labels: Choice[tuple[str, ...]]
    gfx: Choice[tuple[str, ...]]
    gpus: Choice[int | None]
    others: tuple[OtherRunner, ...] = ()


@dataclass(frozen=True)
class Hipify:
    """The stage hipify-check. `source` (".",) stands for the whole repository.

    `perhaps` is what a name alone says, so that it is looked at until somebody who knows leaves it out.
    """

    source: Choice[tuple[str, ...]]
    mode: Choice[str]
    exclude: Choice[tuple[str, ...]]
    paths: tuple[str, ...]
    perhaps: Choice[tuple[str, ...]] = Choice((), "")


@dataclass(frozen=True)
class KernelTests:
    """The stage kernel-tests; `build` is the command that makes the kernels importable, or empty."""

    tests: Choice[tuple[str, ...]]
    paths: tuple[str, ...]
    build: Choice[str]


@dataclass(frozen=True)
class Serving:
    """The stage sglang-regression; `model` is empty where nothing tells one."""

    engine: Choice[str]
    model: Choice[str]
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """A whole manifest, not yet text.

    Attributes:
        on: Stages that are switched on; the other proposed ones are written as comments.
        pushes: Branches whose pushes start a run.
        warnings: What the user should know before committing this.
    """

    uses: Choice[str]
    runner: GpuRunner
    image: Choice[str]
    requirements: Choice[str]
    pushes: Choice[tuple[str, ...]]
    merge_group: Choice[bool]
    hipify: Hipify
    tests: KernelTests
    serving: Serving | None
    on: frozenset[str]
    warnings: tuple[str, ...] = ()

    @property
    def gpu_stages_on(self) -> bool:
        """Whether a stage that needs a GPU machine is switched on."""
        return bool(self.on & GPU_STAGES)

    def reasons(self) -> list[tuple[str, str, str]]:
        """(what, value, why) for each choice, in the order of the manifest."""
        rows: list[tuple[str, str, str]] = [
            ("uses", self.uses.value, self.uses.reason),
            ("labels", ", ".join(self.runner.labels.value), self.runner.labels.reason),
            ("gfx", ", ".join(self.runner.gfx.value) or "left open", self.runner.gfx.reason),
            ("gpus", str(self.runner.gpus.value or "left open"), self.runner.gpus.reason),
            ("image", self.image.value, self.image.reason),
            ("branches", ", ".join(self.pushes.value), self.pushes.reason),
            ("source", ", ".join(self.hipify.source.value), self.hipify.source.reason),
            ("mode", self.hipify.mode.value, self.hipify.mode.reason),
        ]
        if self.hipify.exclude.value:
            rows.append(("exclude", ", ".join(self.hipify.exclude.value), self.hipify.exclude.reason))
        if self.hipify.perhaps.value:
            rows.append(("not excluded", ", ".join(self.hipify.perhaps.value), self.hipify.perhaps.reason))
        rows.append(("tests", ", ".join(self.tests.tests.value) or "none", self.tests.tests.reason))
        rows.append(("requirements", self.requirements.value, self.requirements.reason))
        if self.serving is not None:
            rows.append(("model", self.serving.model.value or "left open", self.serving.model.reason))
        return rows
