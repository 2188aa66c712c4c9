"""/sys/class/drm: the cards that the kernel has, whatever their driver, with the memory counters of amdgpu.

The counters are of the PCI function: all processes, graphics included, and of the whole socket when it is
partitioned. These
files are not namespaced: a container sees the cards of the whole host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocm_ci.gpu import pci
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown, hexadecimal, known

DRM = "sys/class/drm"
COMPUTE_MODES = frozenset({"spx", "dpx", "tpx", "qpx", "cpx"})
_CARD = re.compile(r"\Acard([0-9]{1,6})\Z")
_RENDER = re.compile(r"\ArenderD([0-9]{1,6})\Z")
_MEMORY_MODE = re.compile(r"\Anps[1-9][0-9]?\Z")


@dataclass(frozen=True, slots=True)
class DrmCard:
    """One card.

    Attributes:
        name: its number, as in `card0`, which changes from boot to boot.
        folder: its device's folder below the root.
        bdf: PCI address.
        driver: kernel driver that has it.
        vendor: PCI vendor; AMD is 0x1002.
        device: PCI device.
        revision: PCI revision.
        render_minor: number of its render node.
        vram_total: bytes of VRAM; an APU's is only what the firmware set aside.
        vram_used: bytes of it in use by anything.
        gtt_total: bytes of host memory that the GPU may map.
        gtt_used: bytes of it in use.
        compute_mode: `spx`, `dpx`, `tpx`, `qpx` or `cpx`.
        memory_mode: `nps1`, `nps2`, …
        product_name: what the board's own memory says.
        unique_id: the chip's serial number.
        runtime_status: `active`, `suspended`: a card that sleeps may give old or empty figures.
    """

    name: str
    folder: str
    bdf: str | Unknown
    driver: str | Unknown
    vendor: int | Unknown
    device: int | Unknown
    revision: int | Unknown
    render_minor: int | Unknown
    vram_total: int | Unknown
    vram_used: int | Unknown
    gtt_total: int | Unknown
    gtt_used: int | Unknown
    compute_mode: str | Unknown
    memory_mode: str | Unknown
    product_name: str | Unknown
    unique_id: int | Unknown
    runtime_status: str | Unknown


def read_cards(tree: Tree) -> tuple[DrmCard, ...] | Unknown:
    """All cards by number; no connectors (`card0-DP-1`), no render nodes of partitions (amdgpu_xcp)."""
    names = tree.names(DRM)
    if isinstance(names, Unknown):
        return names
    cards = (_card(tree, name) for name in names if _CARD.match(name))
    return tuple(card for card in cards if card is not None)


def _card(tree: Tree, name: str) -> DrmCard | None:
    folder = f"{DRM}/{name}/device"
    uevent = _uevent(tree, folder)
    place = tree.path(folder, folder=True)
    where = "" if isinstance(place, Unknown) else place.rpartition("/")[2]
    if tree.root == "/":
        link = tree.link(folder)
        where = "" if isinstance(link, Unknown) else link.rpartition("/")[2]
    if where.startswith("amdgpu_xcp") or uevent.get("MODALIAS", "").startswith("platform:amdgpu_xcp"):
        return None
    bdf = pci.address(uevent.get("PCI_SLOT_NAME", "")) or pci.address(where)
    vendor_id, _, device_id = uevent.get("PCI_ID", "").partition(":")
    return DrmCard(
        name=name,
        folder=folder,
        bdf=bdf or Unknown(f"{folder} is no PCI device, or {folder}/uevent cannot be read"),
        driver=_driver(tree, folder, uevent),
        vendor=_hex(tree, f"{folder}/vendor", vendor_id),
        device=_hex(tree, f"{folder}/device", device_id),
        revision=_hex(tree, f"{folder}/revision", ""),
        render_minor=_render_minor(tree, folder),
        vram_total=tree.count(f"{folder}/mem_info_vram_total"),
        vram_used=tree.count(f"{folder}/mem_info_vram_used"),
        gtt_total=tree.count(f"{folder}/mem_info_gtt_total"),
        gtt_used=tree.count(f"{folder}/mem_info_gtt_used"),
        compute_mode=_compute_mode(tree, f"{folder}/current_compute_partition"),
        memory_mode=_memory_mode(tree, f"{folder}/current_memory_partition"),
        product_name=_word(tree, f"{folder}/product_name"),
        unique_id=_hex(tree, f"{folder}/unique_id", ""),
        runtime_status=_word(tree, f"{folder}/power/runtime_status"),
    )


def _uevent(tree: Tree, folder: str) -> dict[str, str]:
    text = tree.text(f"{folder}/uevent")
    if isinstance(text, Unknown):
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value.strip() for key, equals, value in pairs if equals}


def _driver(tree: Tree, folder: str, uevent: dict[str, str]) -> str | Unknown:
    if driver := uevent.get("DRIVER"):
        return driver
    link = tree.link(f"{folder}/driver")
    return link if isinstance(link, Unknown) else link.rpartition("/")[2]


def _hex(tree: Tree, path: str, otherwise: str) -> int | Unknown:
    text = tree.text(path)
    if not isinstance(text, Unknown):
        value = hexadecimal(text, path)
        if not isinstance(value, Unknown):
            return value
    elif otherwise:
        return hexadecimal(otherwise, path)
    else:
        return text
    return hexadecimal(otherwise, path) if otherwise else value


def _render_minor(tree: Tree, folder: str) -> int | Unknown:
    names = tree.names(f"{folder}/drm")
    if isinstance(names, Unknown):
        return names
    minors = [int(found.group(1)) for name in names if (found := _RENDER.match(name))]
    return minors[0] if minors else Unknown(f"{folder}/drm has no render node")


def _word(tree: Tree, path: str) -> str | Unknown:
    text = tree.text(path)
    return text if isinstance(text, Unknown) else known(text, path)


def _compute_mode(tree: Tree, path: str) -> str | Unknown:
    mode = _word(tree, path)
    if isinstance(mode, Unknown):
        return mode
    return mode.lower() if mode.lower() in COMPUTE_MODES else Unknown(f"{path} names no mode that is known")


def _memory_mode(tree: Tree, path: str) -> str | Unknown:
    mode = _word(tree, path)
    if isinstance(mode, Unknown):
        return mode
    return mode.lower() if _MEMORY_MODE.match(mode.lower()) else Unknown(f"{path} names no mode that is known")
