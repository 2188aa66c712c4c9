"""Runners whose container hooks make a pod: what is ignored there, and what the pool has to provide instead."""

from __future__ import annotations

from collections.abc import Iterator

from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.findings import Finding
from rocm_ci_gen.manifest.semantics.document import CPU, Document
from rocm_ci_gen.manifest.words import names, show


def check(doc: Document) -> Iterator[Finding]:
    """Findings about runners with `mode: kubernetes` or `none`."""
    used = _used(doc)
    has_container = doc.has("container")
    for name in doc.keys("runners"):
        mode = doc.text("runners", name, "mode")
        path = ("runners", name, "mode")
        if mode == "none" and has_container and name in used:
            yield Finding(
                "container-unused",
                path,
                f"jobs on {show(name)} run on the host: `container` does not apply there",
                fix="remove `container`, or write `mode: docker`",
            )
        if mode != "kubernetes" or name == CPU:
            continue
        if not has_container:
            if "container" not in {bad[0] for bad in doc.refused if bad}:
                yield Finding(
                    "kubernetes-without-container",
                    path,
                    "a runner in Kubernetes mode refuses jobs without a container by default",
                    fix="add `container:`; if the runner's own image is the test image, write `mode: none`",
                )
            continue
        given = ignored(doc, name)
        if given:
            yield Finding(
                "kubernetes-ignores",
                path,
                f"in Kubernetes mode the pod is made by container hooks, which ignore {names(given)}",
                fix=provide(given, doc.value("runners", name, "gpus")),
            )


def notes(doc: Document) -> Iterator[str]:
    """What the pools of Kubernetes runners have to provide, where no warning says it."""
    for name in sorted(_used(doc)):
        if doc.runner_mode(name) == "kubernetes" and doc.has("container") and not ignored(doc, name):
            yield f"runner {show(name)}: {provide((), doc.value('runners', name, 'gpus'))}"


def _used(doc: Document) -> set[str]:
    """Runners whose jobs get the container: those of all stages, but `cpu`."""
    return {name for stage in doc.stages() for name in doc.runners_of(stage)} - {CPU}


def ignored(doc: Document, runner: str) -> tuple[str, ...]:
    """Keys that are given, and that a Kubernetes runner does not act on."""
    table = facts()["kubernetes"]["instead"]
    keys = [key for key in table if doc.has("container", key)]
    keys += [key for key in ("groups", "env-file") if doc.has("runners", runner, key)]
    return tuple(keys)


def provide(keys: tuple[str, ...], gpus: object) -> str:
    """What the pool has to provide; the GPUs and the right to open them always."""
    known = facts()["kubernetes"]
    wanted = dict.fromkeys(("devices", "groups", *keys))
    instead = [known["instead"][key].format(gpus=gpus if isinstance(gpus, int) else "N") for key in wanted]
    return f"give the pool's pod template ({known['template']}): {'; '.join(dict.fromkeys(instead))}"
