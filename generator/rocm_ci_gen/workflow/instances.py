"""The instances of a stage (its runners x its shards) and how each finds its place in the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocm_ci_gen.manifest.model import Container, Runner, Stage
from rocm_ci_gen.workflow import container as containers
from rocm_ci_gen.workflow import expressions
from rocm_ci_gen.workflow.views import ContainerView, RunsOn


@dataclass(frozen=True)
class Instance:
    """One job of a stage; `number` counts from 1, `shard` is `1/2` or None without shards."""

    number: int
    runner: Runner
    shard: str | None


def instances(stage: Stage) -> Iterator[Instance]:
    """The instances of a stage, in the order of their numbers: runner by runner, and shard by shard in each."""
    number = 0
    for runner in stage.runners:
        for shard in range(1, stage.shards + 1):
            number += 1
            yield Instance(number, runner, f"{shard}/{stage.shards}" if stage.shards > 1 else None)


@dataclass(frozen=True)
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
    all_instances = list(instances(stage))
    used = container if stage.gpu else None
    view = containers.view(used, stage.runners) if used is not None else None
    if len(all_instances) == 1:
        runner = stage.runners[0]
        return Placement((), stage.name, runs_on(runner), view, _expectations(runner), all_instances[0].shard)
    entries = tuple(_entry(instance, stage, used, view) for instance in all_instances)
    title = "${{ matrix.runner }}" + (", shard ${{ matrix.shard }}" if stage.shards > 1 else "")
    return Placement(
        matrix=entries,
        name=expressions.Expression(f"{stage.name} ({title})"),
        runs_on=RunsOn(expressions.matrix("labels")),
        container=view,
        expectations={_INPUTS[key]: expressions.matrix(key) for key in _INPUTS if key in entries[0]},
        shard=expressions.matrix("shard") if stage.shards > 1 else None,
    )


def runs_on(runner: Runner) -> RunsOn:
    """What `runs-on` asks for."""
    return RunsOn(runner.labels[0] if len(runner.labels) == 1 else runner.labels, runner.group)


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
    runner = instance.runner
    # In a matrix, `labels` is what `runs-on` takes as a whole: a list, or a mapping with a group.
    labels = list(runner.labels)
    entry: dict[str, object] = {"instance": instance.number, "runner": runner.name}
    if instance.shard is not None:
        entry["shard"] = instance.shard
    entry["labels"] = labels if runner.group is None else {"group": runner.group, "labels": labels}
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
