"""No GPU that can be used: the one sentence that says why, and what to do."""

from __future__ import annotations

from pathlib import Path

from rocm_ci.gpu.model import Node
from rocm_ci.setup_rocm_container.model import Check, fail
from rocm_ci.setup_rocm_container.place import Place


def explain(node: Node, place: Place) -> Check:
    """The one row for a node without a usable GPU: what was found instead, and the remedy for this place."""
    amd = [card for card in node.others if (card.pci_id or "").startswith("1002")]
    others = "; ".join(f"{card.name}: {card.reason}" for card in amd)
    map_devices = place.advice(
        "check that the card is in the machine: lspci -d 1002: -nn",
        "start the container with --device /dev/kfd --device /dev/dri (.rocm-ci.yml: devices: [/dev/kfd, /dev/dri]), "
        "and check on the node that `lspci -d 1002:` lists a GPU",
        "ask for a GPU in the pod's template (resources: {limits: {amd.com/gpu: 1}}), on a node of a GPU pool",
    )
    if node.hidden_nodes:
        return fail(
            "gpu",
            f"no AMD GPU can be used here: {node.hidden_nodes} are hidden from this container by its device cgroup",
            map_devices,
        )
    if node.gpus and node.kfd_problem:
        gpu = node.gpus[0]
        return fail(
            "gpu",
            f"no AMD GPU can be used here: {gpu.key} is there, and the kernel has no KFD for it ({node.kfd_problem})",
            "on the node: sudo modprobe amdgpu; sudo dmesg | grep -iE 'amdgpu|kfd' | tail -20",
        )
    if others:
        return fail(
            "gpu",
            f"no AMD GPU can be used here: {others}",
            "run on a machine with a GPU that ROCm supports: https://rocm.docs.amd.com/projects/install-on-linux",
        )
    if node.driver.loaded is True:
        return fail(
            "gpu",
            "no AMD GPU was found: the amdgpu driver is loaded, and it drives no card",
            "on the node: lspci -d 1002: -nn; sudo dmesg | grep -i amdgpu | tail -20",
        )
    where = "" if place.root.resolve() == Path("/") else f" below {place.root}"
    return fail(
        "gpu", f"no AMD GPU was found{where}: the kernel has neither the amdgpu driver nor a card of AMD", map_devices
    )
