"""All stages of a manifest one after another on one machine: for people who write their own workflow, and for laptops.

In: the resolved manifest and the wanted stage names. Out: the steps, in an order that respects `needs`, each with the
inputs of its action; and, from the exit codes of the steps, the exit code of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rocm_ci.runner.errors import Code, UsageError
from rocm_ci_gen.manifest.model import Manifest, Stage

NODE_CHECK = "setup-rocm-container"
PROBE = "vram-probe"


@dataclass(frozen=True)
class SequenceStep:
    """One command: `rocm-ci <command>` with `inputs` (input name → text).

    `stage` is the stage that it belongs to; `after` are the steps, by position, without whose success it does not run.
    """

    command: str
    stage: str
    inputs: Mapping[str, str]
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class StepResult:
    """How a step ended; code None: it did not run, because of `reason`."""

    step: SequenceStep
    code: Code | None
    reason: str = ""


def select(manifest: Manifest, wanted: Sequence[str]) -> list[Stage]:
    """Return the wanted stages (all of the manifest when none is named), each after those that it needs.

    Raises:
        UsageError: a name is no stage of the manifest.
    """
    stages = {stage.name: stage for stage in manifest.stages}
    for name in wanted:
        if name not in stages:
            near = get_close_matches(name, stages, n=1)
            advice = f"did you mean '{near[0]}'?" if near else f"the manifest has: {', '.join(stages)}"
            raise UsageError(f"'{name}' is no stage of the manifest", help=advice)
    names = set(wanted or stages)
    ordered: list[Stage] = []

    def add(stage: Stage) -> None:
        if stage in ordered:
            return
        for need in stage.needs:
            if need in names and need in stages:
                add(stages[need])
        ordered.append(stage)

    for stage in manifest.stages:
        if stage.name in names:
            add(stage)
    return ordered


def steps(manifest: Manifest, wanted: Sequence[str]) -> list[SequenceStep]:
    """Lay out the steps; the node is checked once, before the first stage that needs a GPU.

    Raises:
        UsageError: a name is no stage of the manifest.
    """
    laid: list[SequenceStep] = []
    position: dict[str, int] = {}
    for stage in select(manifest, wanted):
        after = tuple(position[need] for need in stage.needs if need in position)
        if stage.gpu:
            if NODE_CHECK not in position:
                laid.append(SequenceStep(NODE_CHECK, stage.name, _node_inputs(manifest, stage)))
                position[NODE_CHECK] = len(laid) - 1
            after = (*after, position[NODE_CHECK])
            if manifest.probe is not None:
                laid.append(SequenceStep(PROBE, stage.name, {**manifest.probe, "phase": "start"}, after))
                after = (*after, len(laid) - 1)
        laid.append(SequenceStep(stage.name, stage.name, stage.options, after))
        position[stage.name] = len(laid) - 1
        if stage.gpu and manifest.probe is not None:
            # The figures count when the stage failed too: a leak may be why.
            laid.append(SequenceStep(PROBE, stage.name, {**manifest.probe, "phase": "stop"}, after))
    return laid


def run(laid: Sequence[SequenceStep], execute: Callable[[SequenceStep], Code]) -> list[StepResult]:
    """Execute the steps in order; one whose `after` did not all pass is not executed."""
    results: list[StepResult] = []
    for step in laid:
        missing = [results[i].step.command for i in step.after if results[i].code is not Code.PASSED]
        if missing:
            results.append(StepResult(step, None, f"{missing[0]} did not pass"))
        else:
            results.append(StepResult(step, execute(step)))
    return results


def overall(results: Sequence[StepResult]) -> Code:
    """Return one code for all: the code's fault before wrong use before the node's; passed when every step passed."""
    codes = [result.code for result in results]
    for code in (Code.FAILED, Code.USAGE, Code.INFRA):
        if code in codes:
            return code
    return Code.PASSED if codes and None not in codes else Code.INFRA


def _node_inputs(manifest: Manifest, stage: Stage) -> dict[str, str]:
    runner = stage.runners[0]
    inputs = {
        "expect-gfx": ",".join(runner.gfx),
        "expect-gpus": str(runner.gpus or ""),
        "partition": runner.partition or "",
        "requirements": manifest.requirements or "",
        **manifest.node,
    }
    return {name: value for name, value in inputs.items() if value}
