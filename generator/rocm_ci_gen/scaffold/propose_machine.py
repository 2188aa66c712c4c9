"""The GPU machine and its image: labels, gfx target, GPUs, container image, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rocm_ci_gen.scaffold import gpus
from rocm_ci_gen.scaffold.facts import Facts, Found
from rocm_ci_gen.scaffold.forms import accepts
from rocm_ci_gen.scaffold.proposal import Answers, Choice, GpuRunner, OtherRunner
from rocm_ci_gen.scaffold.workflows import RunnerUse

DEFAULT_LABELS = ("self-hosted", "rocm")
"""The convention for a machine that no workflow names yet: its runner is registered with the label `rocm`."""
_MOST_OTHERS = 3
_MOVING_TAGS = ("latest", "nightly", "main", "master", "dev")


def propose_runner(facts: Facts, answers: Answers) -> GpuRunner:
    """The machine that existing workflows use most, or the one that the user names."""
    uses = Counter(use.labels for use in facts.runners)
    ranked = sorted(uses, key=lambda labels: (-uses[labels], gpus_of(labels) or 0, labels))
    if answers.labels is not None:
        also = f"; {_files(answers.labels, facts.runners)} uses them too" if answers.labels in uses else ""
        labels = Choice(answers.labels, f"as you said{also}", answered=True)
    elif ranked:
        labels = Choice(ranked[0], f"{_files(ranked[0], facts.runners)} uses them")
    else:
        labels = Choice(
            DEFAULT_LABELS, "a guess, no workflow here names an AMD machine: give your runner the label `rocm`, or edit"
        )
    return GpuRunner(
        name=runner_name(labels.value),
        labels=labels,
        gfx=_gfx(facts, answers, labels.value),
        gpus=_gpu_count(answers, labels.value),
        others=_others(labels.value, ranked, facts.runners),
    )


def propose_image(facts: Facts, answers: Answers, gfx: tuple[str, ...]) -> Choice[str]:
    """The ROCm image that the repository itself names, or the first default whose ROCm has the gfx target."""
    if answers.image is not None:
        return Choice(answers.image, "as you said", answered=True)
    fitting = [found for found in facts.images if _fits(found.value, gfx) and accepts("image", found.value)]
    if fitting:
        best = _best_image(fitting)
        return Choice(best.value, f"{best.where} names it")
    first = gfx[0] if gfx else None
    why = "the default"
    if first and (needed := gpus.min_rocm(first)):
        why = f"the default for {first}, which needs ROCm {'.'.join(map(str, needed))}"
    elif facts.images and gfx:
        why = f"the default: the images named here are too old for {first}"
    return Choice(gpus.default_image(first), why)


def image_warnings(image: str, gfx: tuple[str, ...]) -> list[str]:
    """What is doubtful about an image for a gfx target."""
    found = []
    rocm = gpus.rocm_of_image(image)
    for target in gfx:
        needed = gpus.min_rocm(target)
        if rocm and needed and rocm < needed:
            found.append(f"{target} needs ROCm {'.'.join(map(str, needed))}; {image} has {'.'.join(map(str, rocm))}")
    return found


def runner_name(labels: Sequence[str]) -> str:
    """A name for the machine: what its labels call the GPU, else `gpu`."""
    word = next((found[0] for label in labels if (found := gpus.gpu_word(label))), "gpu")
    return word if accepts("name", word) else f"gpu-{word}"


def gfx_of(labels: Sequence[str]) -> str | None:
    """The gfx target that the labels name."""
    return next((gfx for label in labels if (gfx := gpus.gfx_of_label(label))), None)


def gpus_of(labels: Sequence[str]) -> int | None:
    """The number of GPUs that the labels name."""
    return next((count for label in labels if (count := gpus.gpus_of_label(label))), None)


def _files(labels: tuple[str, ...], runners: Sequence[RunnerUse]) -> str:
    files = list(dict.fromkeys(use.where for use in runners if use.labels == labels))
    return files[0] if len(files) == 1 else f"{files[0]} (and {len(files) - 1} more)"


def _gfx(facts: Facts, answers: Answers, labels: tuple[str, ...]) -> Choice[tuple[str, ...]]:
    if answers.gfx is not None:
        return Choice(answers.gfx, "as you said", answered=True)
    named = gfx_of(labels)
    if named:
        word = next(found[0] for label in labels if (found := gpus.gpu_word(label)))
        return Choice((named,), "the label says so" if word == named else f"what a label with {word} means")
    targets: Mapping[str, str] = {found.value: found.where for found in reversed(facts.gfx_targets)}
    if len(targets) == 1:
        ((target, where),) = targets.items()
        return Choice((target,), f"the only target that {where} builds for")
    if targets:
        listed = ", ".join(sorted(targets)[:6]) + (", ..." if len(targets) > 6 else "")
        return Choice((), f"not known: the build names {listed}")
    return Choice((), "not known; without it nobody checks which GPU the job got")


def _gpu_count(answers: Answers, labels: tuple[str, ...]) -> Choice[int | None]:
    if answers.gpus is not None:
        return Choice(answers.gpus or None, "as you said", answered=True)
    count = gpus_of(labels)
    return Choice(count, "the label says so") if count else Choice(None, "not known")


def _others(
    chosen: tuple[str, ...], ranked: Sequence[tuple[str, ...]], runners: Sequence[RunnerUse]
) -> tuple[OtherRunner, ...]:
    """Further machines, one a gfx target and number of GPUs, under names of their own."""
    names = {runner_name(chosen)}
    kinds = {(gfx_of(chosen), gpus_of(chosen))}
    found: list[OtherRunner] = []
    for labels in ranked:
        kind = (gfx_of(labels), gpus_of(labels))
        if labels == chosen or kind in kinds:
            continue
        kinds.add(kind)
        name = runner_name(labels)
        if name in names and kind[1]:
            name = f"{name}-{kind[1]}gpu"
        if name in names:
            continue
        names.add(name)
        found.append(OtherRunner(name, labels, (kind[0],) if kind[0] else (), kind[1], _files(labels, runners)))
    return tuple(found[:_MOST_OTHERS])


def _fits(image: str, gfx: tuple[str, ...]) -> bool:
    rocm = gpus.rocm_of_image(image)
    return all(rocm is None or (needed := gpus.min_rocm(target)) is None or rocm >= needed for target in gfx)


def _best_image(images: Sequence[Found]) -> Found:
    """Prefer a tag that stands still, then PyTorch images, then the newest ROCm, then the most named one."""
    counts = Counter(found.value for found in images)

    def key(found: Found) -> tuple[bool, bool, tuple[int, ...], int]:
        name, _, tag = found.value.rpartition(":")
        moving = any(tag.lower() == word or tag.lower().startswith(f"{word}-") for word in _MOVING_TAGS)
        return not moving, "pytorch" in name, gpus.rocm_of_image(found.value) or (), counts[found.value]

    return max(images, key=key)
