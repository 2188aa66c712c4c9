"""Does every stage have a machine, and is it one that can do the work?"""

from __future__ import annotations

from collections.abc import Iterator

from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.hosted import hosted_label
from rocm_ci_gen.manifest.semantics.document import CPU, Document, StageView
from rocm_ci_gen.manifest.words import closest, did_you_mean, names, show

_NUMERIC = "`getent group {} | cut -d: -f3` on the runner prints it"


def check(doc: Document) -> Iterator[Finding]:
    """All findings about runners."""
    for stage in doc.stages():
        yield from _named_runners(doc, stage)
        if stage.gpu:
            yield from _gpu_stage(doc, stage)
    for name in doc.keys("runners"):
        yield from _groups(doc, name)
        yield from _env_file(doc, name)


def _named_runners(doc: Document, stage: StageView) -> Iterator[Finding]:
    known = doc.all_runners()
    for path, name in stage.runners:
        if name in known or name == CPU:
            continue
        yield Finding(
            "unknown-runner",
            path,
            f"there is no runner {show(name)}{did_you_mean(name, known)}",
            fix=f"write {show(closest(name, known) or '')}"
            if closest(name, known)
            else f"`runners` has {names(known)}",
        )


def _gpu_stage(doc: Document, stage: StageView) -> Iterator[Finding]:
    on_cpu = False
    for path, name in stage.runners:
        label = hosted_label(doc.runner_labels(name))
        if name != CPU and label is None:
            continue
        on_cpu = True
        why = (
            f"asks for {show(label)}, a machine of GitHub's without an AMD GPU"
            if label
            else "is for stages without a GPU"
        )
        yield Finding(
            "gpu-stage-without-gpu",
            path,
            f"{show(stage.name)} needs a GPU, and the runner {show(name)} {why}",
            fix=_gpu_runner_fix(doc),
        )
    if not stage.runners and not doc.has(*stage.path, "runner") and doc.intact(*stage.path) and doc.intact("runners"):
        yield from _default_runner(doc, stage)
    if not on_cpu:
        yield from _modes(doc, stage)
        yield from _instances(doc, stage)
        yield from _device_indices(doc, stage)


def _gpu_runner_fix(doc: Document) -> str:
    candidates = doc.gpu_runners()
    if candidates:
        return f"write `runner: {candidates[0]}`"
    return "add a GPU machine to `runners`, such as `mi300x: {labels: [self-hosted, LABEL], gfx: gfx942}`"


def _default_runner(doc: Document, stage: StageView) -> Iterator[Finding]:
    candidates = doc.gpu_runners()
    if not candidates:
        yield Finding(
            "no-gpu-runner",
            stage.path,
            f"{show(stage.name)} needs a GPU, and `runners` has no GPU machine",
            fix=_gpu_runner_fix(doc),
            on_key=True,
        )
    elif len(candidates) > 1:
        yield Finding(
            "ambiguous-runner",
            stage.path,
            f"{show(stage.name)} names no runner, and there are several: {names(candidates)}",
            fix=f"add `runner: {candidates[0]}`, or `runner: [{', '.join(candidates)}]` for a run on each",
            on_key=True,
        )


def _modes(doc: Document, stage: StageView) -> Iterator[Finding]:
    modes = {doc.runner_mode(name): name for name in doc.runners_of(stage)}
    if len(modes) > 1:
        told = names([f"{name} ({mode})" for mode, name in modes.items()])
        yield Finding(
            "mixed-modes",
            (*stage.path, "runner"),
            f"{show(stage.name)} runs on runners of different modes: {told}",
            fix="a job has one container for all of them: use runners of one mode",
        )


def _instances(doc: Document, stage: StageView) -> Iterator[Finding]:
    shards = doc.value(*stage.path, "shards")
    runners = len(doc.runners_of(stage))
    most = facts()["limits"]["matrix_jobs"]
    if isinstance(shards, int) and shards * runners > most:
        yield Finding(
            "matrix-too-large",
            (*stage.path, "shards"),
            f"{shards} shards on {runners} runners are {shards * runners} jobs; GitHub takes at most {most}",
            fix=f"at most {most // runners} shards",
        )


def _device_indices(doc: Document, stage: StageView) -> Iterator[Finding]:
    device = doc.text(*stage.path, "device")
    if device is None or not device[0].isdigit():
        return
    highest = max(int(index) for index in device.split(","))
    for name in doc.runners_of(stage):
        gpus = doc.value("runners", name, "gpus")
        if isinstance(gpus, int) and highest >= gpus:
            yield Finding(
                "device-index",
                (*stage.path, "device"),
                f"there is no GPU {highest} on {show(name)}: its `gpus` is {gpus}, and indices start at 0",
                fix=f"indices from 0 to {gpus - 1}, or `all`",
            )
            return


def _groups(doc: Document, name: str) -> Iterator[Finding]:
    for path, group in doc.texts("runners", name, "groups"):
        if group == "video" or group.isdigit():
            continue
        yield Finding(
            "group-name",
            path,
            f"the group {show(group)} must exist by that name in the image; many ROCm images have only `video`",
            fix=f"give the runner's numeric gid: {_NUMERIC.format(group)}",
        )


def _env_file(doc: Document, name: str) -> Iterator[Finding]:
    path: Path = ("runners", name, "env-file")
    if not doc.has(*path):
        return
    if doc.runner_mode(name) == "none" or (doc.runner_mode(name) == "docker" and not doc.has("container")):
        yield Finding(
            "no-effect",
            path,
            f"{show('env-file')} has no effect: jobs on {show(name)} run without a container",
            fix="remove it, or add `container:`",
            on_key=True,
        )
