"""The instances of a stage (its runners x its shards) and how each finds its place in the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocm_ci_gen.manifest.model import Container, Runner, Stage
from rocm_ci_gen.workflow import container as containers
from rocm_ci_gen.workflow import expressions
from rocm_ci_gen.workflow.views import ContainerView, RunsOn

Instance = tuple[int, Runner, str | None]
"""One job of a stage: its number, counted from 1; its runner; its shard, such as `1/2`, or None without shards."""


def instances(stage: Stage) -> Iterator[Instance]:
    """The instances of a stage, in the order of their numbers: runner by runner, and shard by shard in each."""
    number = 0
    for runner in stage.runners:
        for shard in range(1, stage.shards + 1):
            number += 1
            yield number, runner, f"{shard}/{stage.shards}" if stage.shards > 1 else None


@dataclass(frozen=True, eq=False)
class Placement:
    """What differs between instances: read from the matrix, or written out where there is only one instance."""

    matrix: tuple[Mapping[str, object], ...]
    name: str
    runs_on: RunsOn
    container: ContainerView | None
    expectations: Mapping[str, str | int]
    shard: str | None


def place(stage: Stage, container: Container | None) -> Placement:
    """Where the instances of a stage run, and in which container.

    `expectations` are inputs of setup-rocm-container: what the manifest promises of the node.
    """
    used = container if stage.contained else None
    view = containers.view(used, stage.runners) if used is not None else None
    if stage.instances == 1:
        runner = stage.runners[0]
        return Placement((), stage.name, runs_on(runner), view, _expectations(runner), None)
    entries = tuple(_entry(instance, stage, used, view) for instance in instances(stage))
    title = "${{ matrix.runner }}" + (", shard ${{ matrix.shard }}" if stage.shards > 1 else "")
    return Placement(
        matrix=entries,
        name=expressions.Expression(f"{stage.name} ({title})"),
        runs_on=expressions.matrix("labels"),
        container=view,
        expectations={_INPUTS[key]: expressions.matrix(key) for key in _INPUTS if key in entries[0]},
        shard=expressions.matrix("shard") if stage.shards > 1 else None,
    )


def runs_on(runner: Runner) -> RunsOn:
    """What `runs-on` asks for."""
    if runner.group is not None:
        return {"group": runner.group, "labels": runner.labels}
    return runner.labels[0] if len(runner.labels) == 1 else runner.labels


_INPUTS = {"gfx": "expect-gfx", "gpus": "expect-gpus", "partition": "partition"}


def _expectations(runner: Runner) -> dict[str, str | int]:
    promised: dict[str, str | int | None] = {
        "expect-gfx": ",".join(runner.gfx),
        "expect-gpus": runner.gpus,
        "partition": runner.partition,
    }
    return {name: value for name, value in promised.items() if value}


def _entry(
    instance: Instance, stage: Stage, container: Container | None, view: ContainerView | None
) -> dict[str, object]:
    """Matrix entry of an instance; a key that any entry has, all have, so that no expression reads a missing one."""
    number, runner, shard = instance
    entry: dict[str, object] = {"instance": number, "runner": runner.name}
    if shard is not None:
        entry["shard"] = shard
    # What `runs-on` takes as a whole: a list, or a mapping with a group.
    entry["labels"] = runner.labels if runner.group is None else runs_on(runner)
    if stage.gpu and any(other.gfx for other in stage.runners):
        entry["gfx"] = ",".join(runner.gfx)
    if stage.gpu and any(other.gpus for other in stage.runners):
        entry["gpus"] = runner.gpus or ""
    if stage.gpu and any(other.partition for other in stage.runners):
        entry["partition"] = runner.partition or ""
    if container is not None and view is not None:
        modes = [other.mode for other in stage.runners]
        if isinstance(view.image, expressions.Expression):
            entry["image"] = "" if runner.mode == "none" else container.image
        if isinstance(view.options, expressions.Expression):
            entry["options"] = containers.options_of(container, runner, modes)
    return entry
