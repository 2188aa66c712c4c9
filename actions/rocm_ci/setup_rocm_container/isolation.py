"""Which GPUs this job may use: the visibility variables, and what a pod was given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rocm_ci.gpu.model import Gpu
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown
from rocm_ci.gpu.visibility import HIP, ROCR, Selection
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn

RENDER_FILE, SETTINGS_FILE = "etc/podinfo/gha-render-devices", "etc/podinfo/gha-gpu-isolation-settings"
"""Files that Kubernetes' downward API puts into the pods of AMD's runners.

The first holds `--device` options for the job's container, the second an `--env-file` with ROCR_VISIBLE_DEVICES
(PyTorch's .github/actions/setup-rocm, SGLang's amd_ci_start_container.sh; TheRock's container options).
"""


def check_variables(selection: Selection, usable: Sequence[Gpu]) -> Check:
    """Whether the visibility variables choose GPUs that are there, and only one of them does.

    Args:
        selection: what the variables leave of the node's GPUs.
        usable: the GPUs of the container.
    """
    given = {name: value for name, value in selection.variables.items() if value or name == ROCR}
    if selection.problems:
        numbers = ",".join(map(str, range(len(usable)))) or "0"
        others = [name for name in given if name != (HIP if HIP in given else ROCR)]
        fix = f"unset {' '.join(others)}" if others else f"export {next(iter(given), HIP)}={numbers}"
        return fail("visible-devices", "; ".join(selection.problems), fix)
    if not given:
        return ok("visible-devices", "no visibility variable is set: all GPUs of the container")
    text = " ".join(f"{name}={value}" for name, value in given.items())
    return ok("visible-devices", f"{text}: {sum(gpu.selected for gpu in usable)} of {len(usable)} GPUs")


def check_override(environ: Mapping[str, str]) -> Check | None:
    """A warning when the runtime is told to take the GPUs for others."""
    value = environ.get("HSA_OVERRIDE_GFX_VERSION")
    if not value:
        return None
    return warn(
        "gfx-override",
        f"HSA_OVERRIDE_GFX_VERSION={value}: the runtime takes every GPU for another one",
        "unset HSA_OVERRIDE_GFX_VERSION",
    )


def check_podinfo(tree: Tree, environ: Mapping[str, str], gpus: Sequence[Gpu], chosen: Sequence[Gpu]) -> Check:
    """Whether this container has the GPUs that its pod was given, and no others.

    Args:
        tree: where etc/ is read.
        environ: the job's environment.
        gpus: those of the container.
        chosen: those that the visibility variables leave.
    """
    text, settings = tree.text(RENDER_FILE, 65536), tree.text(SETTINGS_FILE, 65536)
    there = [name for name in (RENDER_FILE, SETTINGS_FILE) if tree.exists(name) is True]
    if not there:
        return skip("podinfo", "no podinfo files: the job does not run in a pod of a shared runner")
    told: list[str] = []
    if isinstance(text, str):
        given = set(re.findall(r"renderD[0-9]+", text))
        have = _nodes(gpus)
        mine = _nodes(chosen)
        missing = sorted(given - have)
        if given and missing and have:
            text = f"the pod was given {', '.join(missing)}, which this container does not have"
            return fail("podinfo", text, f"container option: $(cat /{RENDER_FILE}) instead of --device /dev/dri")
        foreign = sorted(mine - given)
        if given and foreign:
            text = (
                f"the container also has {', '.join(foreign)}, which the pod was not given: another job may be using it"
            )
            return warn("podinfo", text, f"container option: $(cat /{RENDER_FILE}) instead of --device /dev/dri")
        told.append(f"{len(given)} render nodes" if given else "no render node named")
    elif RENDER_FILE in there:
        # The downward API makes the file also where the annotation is empty: then no device reaches the container.
        text = f"/{RENDER_FILE} {'cannot be read' if text.errno else 'is empty'}: the runner was given no render node"
        return (
            fail("podinfo", text, "wait until the pod's annotation is set, or: kubectl describe pod POD")
            if not gpus
            else warn("podinfo", text, "kubectl describe pod POD   # the runner's annotation for its render devices")
        )
    if isinstance(settings, str):
        for name, value in re.findall(
            r"^\s*(ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES)\s*=\s*(\S+)\s*$", settings, re.MULTILINE
        ):
            if environ.get(name) != value:
                current = environ.get(name) or "none"
                text = f"the pod asks for {name}={value}, the job has {current}: it may use another job's GPUs"
                return warn("podinfo", text, f"container option --env-file /{SETTINGS_FILE}")
            told.append(f"{name}={value}")
    elif isinstance(settings, Unknown) and SETTINGS_FILE in there and not told:
        return skip("podinfo", settings.reason)
    return ok("podinfo", f"as the pod was given: {', '.join(told) or 'nothing'}")


def _nodes(gpus: Sequence[Gpu]) -> set[str]:
    return {gpu.render_node.rpartition("/")[2] for gpu in gpus if gpu.render_node}
