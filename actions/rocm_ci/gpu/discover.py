"""From the readers' raw findings to one picture of the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocm_ci.gpu import gfx, kfd, memory, pci, products, visibility
from rocm_ci.gpu.driver import read_driver
from rocm_ci.gpu.kfd import KfdNode
from rocm_ci.gpu.model import Gpu, Node, OtherCard, Partition, Socket
from rocm_ci.gpu.sysfs_drm import DrmCard, read_cards
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown

_ABSENT = Unknown("the kernel shows no card at this address in sys/class/drm")
_NO_NODE = Unknown("KFD has no node for it")
_MI300A = 0x74A0


def discover(root: Tree | Path | str = "/", *, environ: Mapping[str, str] | None = None) -> Node:
    """Everything that this node has.

    Args:
        root: where `sys/`, `proc/`, `dev/`, `etc/`, `opt/` and `usr/` are read; all links stay below it.
        environ: environment of the program that will run, for the variables that select GPUs; none when left out.

    Returns:
        The node; it never fails: what cannot be read is None with a reason.
    """
    tree = root if isinstance(root, Tree) else Tree(root)
    return _Discovery(tree).node(environ or {})


class _Discovery:
    """One look at a node: the raw findings, and what is made of them."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.topology = kfd.read_topology(tree)
        cards = read_cards(tree)
        self.cards_problem = cards.reason if isinstance(cards, Unknown) else ""
        self.cards: tuple[DrmCard, ...] = () if isinstance(cards, Unknown) else cards
        self.processes = kfd.read_processes(tree)
        self.names = products.node_names(tree)
        self.by_bdf = {card.bdf: card for card in self.cards if isinstance(card.bdf, str)}
        self.used_cards: set[str] = set()
        self.notes: list[str] = []
        places = [node.location for node in self.topology.gpus]
        self.siblings = Counter(place[0] for place in places if not isinstance(place, Unknown))
        self.functions = {place for place in places if not isinstance(place, Unknown)}

    def node(self, environ: Mapping[str, str]) -> Node:
        gpus = [self._from_kfd(node) for node in self.topology.gpus]
        others = []
        for card in self.cards:
            if card.name in self.used_cards:
                continue
            reason, hidden = self._no_gpu(card)
            if reason:
                others.append(_other(card, reason, hidden=hidden))
            else:
                gpus.append(self._from_card(card))
        self._note_doubles(gpus)
        shown = [position for position, gpu in enumerate(gpus) if gpu.visible is not False]
        ids = [int(gpus[position].unique_id or "0", 16) or None for position in shown]
        selection = _on_node(visibility.select(ids, environ), shown)
        gpus = [_numbered(gpu, position, selection) for position, gpu in enumerate(gpus)]
        return Node(
            gpus=tuple(gpus),
            sockets=self._sockets(gpus),
            others=tuple(others),
            driver=read_driver(self.tree),
            selection=selection,
            hidden_nodes=len(self.topology.denied),
            notes=tuple(self._all_notes()),
            kfd_problem=self.topology.problem,
        )

    def _from_kfd(self, node: KfdNode) -> Gpu:
        place = node.location
        bdf: str | Unknown = place if isinstance(place, Unknown) else place[0]
        bits = 0 if isinstance(place, Unknown) else place[1]
        card = None if isinstance(bdf, Unknown) else self.by_bdf.get(bdf)
        if bits and isinstance(bdf, str):
            exact = self.by_bdf.get(pci.with_function(bdf, bits))
            if exact is not None and card is None and (bdf, 0) not in self.functions:
                # A virtual function: the low bits are its own, not a partition's.
                card, bdf, bits = exact, pci.with_function(bdf, bits), 0
        if card is not None:
            self.used_cards.add(card.name)
        return self._gpu(node, card, bdf, bits)

    def _from_card(self, card: DrmCard) -> Gpu:
        self.used_cards.add(card.name)
        gpu = self._gpu(None, card, card.bdf, 0)
        reason = f"there is no KFD, which ROCm needs ({self.topology.problem})"
        unknown = {name: why for name, why in gpu.unknown.items() if name != "visible"}
        return replace(gpu, visible=False, hidden_reason=reason, unknown=unknown)

    def _gpu(self, node: KfdNode | None, card: DrmCard | None, bdf: str | Unknown, bits: int) -> Gpu:
        unknown: dict[str, str] = {}

        def take(name: str, value: str | int | Unknown) -> str | None:
            if isinstance(value, Unknown):
                unknown[name] = value.reason
                return None
            return str(value)

        partition = self._partition(card, bdf, bits, unknown)
        device = _either(card.device if card else _ABSENT, node.properties.get("device_id") if node else None)
        revision = card.revision if card else _ABSENT
        target = node.gfx if node else _NO_NODE
        apu = _is_apu(node, target, device)
        sources = _sources(node, card, kfd.sum_of(self.processes, node.gpu_id if node else _NO_NODE))
        counts_as_gtt = device == _MI300A
        chosen = memory.choose(sources, part=partition.is_part, apu=apu, counts_as_gtt=counts_as_gtt)
        minor = _either(card.render_minor if card and not partition.is_part else _ABSENT, None)
        if node is not None and not isinstance(node.render_minor, Unknown):
            minor = node.render_minor
        visible, hidden = self._visible(minor)
        if visible is None:
            unknown["visible"] = hidden
        serial = _either(node.unique_id if node else _NO_NODE, None)
        if isinstance(serial, Unknown) and card is not None:
            serial = card.unique_id
        if apu is None:
            unknown["apu"] = target.reason if isinstance(target, Unknown) else f"{target} may be either"
        gpu_id = node.gpu_id if node else _NO_NODE
        if isinstance(gpu_id, Unknown):
            unknown["kfd_gpu_id"] = gpu_id.reason
        if node is None:
            unknown["kfd_node"] = _NO_NODE.reason
        used_path = _used_path(chosen.used_source, node, card)
        unknown.update(_reasons(chosen, used_path))
        return Gpu(
            index=0,
            bdf=take("bdf", bdf),
            gfx=take("gfx", target),
            product=take("product", self._product(node, card, device, revision)),
            vram_total_bytes=None if isinstance(chosen.total, Unknown) else chosen.total,
            vram_used_bytes=None if isinstance(chosen.used, Unknown) else chosen.used,
            vram_total_source=chosen.total_source,
            vram_used_source=chosen.used_source,
            vram_used_scope=chosen.scope,
            used_path=used_path,
            render_node=take("render_node", minor if isinstance(minor, Unknown) else f"/dev/dri/renderD{minor}"),
            partition=partition,
            kfd_gpu_id=None if isinstance(gpu_id, Unknown) else gpu_id,
            kfd_node=node.number if node else None,
            unique_id=take("unique_id", serial if isinstance(serial, Unknown) else f"{serial:016x}"),
            pci_device=take("pci_device", device if isinstance(device, Unknown) else f"0x{device:04x}"),
            pci_revision=take("pci_revision", revision if isinstance(revision, Unknown) else f"0x{revision:02x}"),
            apu=apu,
            runtime_status=take("runtime_status", card.runtime_status if card else _ABSENT),
            visible=visible,
            hidden_reason=hidden if visible is False else "",
            selected=True,
            unknown=unknown,
        )

    def _partition(self, card: DrmCard | None, bdf: str | Unknown, bits: int, unknown: dict[str, str]) -> Partition:
        compute = card.compute_mode if card else _ABSENT
        mode = card.memory_mode if card else _ABSENT
        for name, value in (("partition.compute", compute), ("partition.memory", mode)):
            if isinstance(value, Unknown):
                unknown[name] = value.reason
        count: int | None = self.siblings.get(bdf, 1) if isinstance(bdf, str) else 1
        divided = not isinstance(compute, Unknown) and compute != "spx"
        if divided and self.topology.denied:
            count = None
            unknown["partition.of"] = f"{len(self.topology.denied)} KFD nodes are hidden from this container"
        if isinstance(bdf, str) and not divided and (bdf, bits) in self.functions:
            # Two nodes at the very same place are not partitions of it.
            count = len({place for place in self.functions if place[0] == bdf})
        return Partition(
            compute=None if isinstance(compute, Unknown) else compute,
            memory=None if isinstance(mode, Unknown) else mode,
            number=bits,
            of=count,
            socket=None if isinstance(bdf, Unknown) else bdf,
        )

    def _product(
        self, node: KfdNode | None, card: DrmCard | None, device: int | Unknown, revision: int | Unknown
    ) -> str | Unknown:
        found: str | Unknown = (
            device
            if isinstance(device, Unknown)
            else products.product(
                device, None if isinstance(revision, Unknown) else revision, self.names, products.package_names()
            )
        )
        if not isinstance(found, Unknown):
            return found
        if card is not None and not isinstance(card.product_name, Unknown):
            return card.product_name
        if node is not None and node.name and node.name != "ip discovery":
            return node.name
        return found

    def _visible(self, minor: int | Unknown) -> tuple[bool | None, str]:
        """Whether the device nodes that ROCm opens are there, or why that cannot be told."""
        if self.tree.exists("dev") is not True:
            return None, "there is no dev below the root"
        if self.tree.exists("dev/kfd") is False:
            return False, "there is no /dev/kfd"
        if isinstance(minor, Unknown):
            return None, minor.reason
        there = self.tree.exists(f"dev/dri/renderD{minor}")
        if isinstance(there, Unknown):
            return None, there.reason
        return (True, "") if there else (False, f"there is no /dev/dri/renderD{minor}")

    def _no_gpu(self, card: DrmCard) -> tuple[str, bool]:
        """Why a card that no KFD node is of is no GPU for ROCm, and whether it is one that is hidden."""
        if card.vendor != kfd.AMD:
            vendor = card.vendor.reason if isinstance(card.vendor, Unknown) else f"vendor 0x{card.vendor:04x}"
            return f"it is not AMD's ({vendor})", False
        if card.driver != "amdgpu":
            driver = (
                f"cannot be told ({card.driver.reason})" if isinstance(card.driver, Unknown) else f"is {card.driver}"
            )
            return f"its driver {driver}; ROCm needs amdgpu", False
        if self.topology.problem:
            return "", False
        if self.topology.denied:
            return f"{len(self.topology.denied)} KFD nodes are hidden from this container by the device cgroup", True
        return "KFD has no node for it: ROCm does not use this card", False

    def _note_doubles(self, gpus: list[Gpu]) -> None:
        for key, times in Counter(gpu.key for gpu in gpus if gpu.bdf).items():
            if times > 1:
                self.notes.append(f"{times} KFD nodes say that they are {key}")

    def _sockets(self, gpus: list[Gpu]) -> tuple[Socket, ...]:
        found = []
        for bdf in dict.fromkeys(gpu.bdf for gpu in gpus if gpu.bdf):
            mine = [gpu for gpu in gpus if gpu.bdf == bdf]
            if len(mine) == 1 and not mine[0].partition.is_part:
                one = mine[0]
                reasons = {
                    name: one.unknown[name] for name in ("vram_total_bytes", "vram_used_bytes") if name in one.unknown
                }
                found.append(
                    Socket(bdf, (one.index,), one.vram_total_bytes, one.vram_used_bytes, one.used_path, reasons)
                )
            else:
                found.append(self._divided(bdf, mine))
        return tuple(found)

    def _divided(self, bdf: str, parts: list[Gpu]) -> Socket:
        card = self.by_bdf.get(bdf)
        node = next((node for node in self.topology.gpus if node.number == parts[0].kfd_node), None)
        totals: list[int | Unknown] = [
            Unknown(part.unknown.get("vram_total_bytes", ""))
            if part.vram_total_bytes is None
            else part.vram_total_bytes
            for part in parts
        ]
        if not parts[0].partition.is_part:
            totals = totals[:1]  # the same place told of twice
        elif any(part.partition.of is None for part in parts):
            totals = [Unknown("some of its partitions are hidden")]
        sources = _sources(node, card, _NO_NODE)
        total, used = memory.socket(sources, totals)
        unknown = {}
        if isinstance(total, Unknown):
            unknown["vram_total_bytes"] = total.reason
        if isinstance(used, Unknown):
            unknown["vram_used_bytes"] = used.reason
        source = memory.SYSFS_VRAM if not isinstance(sources.vram_used, Unknown) else memory.KFD
        path = None if isinstance(used, Unknown) else _used_path(source, node, card)
        return Socket(
            bdf,
            tuple(part.index for part in parts),
            None if isinstance(total, Unknown) else total,
            None if isinstance(used, Unknown) else used,
            path,
            unknown,
        )

    def _all_notes(self) -> list[str]:
        notes = list(self.notes)
        if self.cards_problem:
            notes.append(self.cards_problem)
        if hidden := len(self.topology.denied):
            notes.append(f"{hidden} KFD nodes are hidden from this container by the device cgroup")
        notes += [
            f"KFD node {node.number}: {node.problem}"
            for node in self.topology.nodes
            if node.problem and not node.denied
        ]
        return notes


def _sources(node: KfdNode | None, card: DrmCard | None, processes: int | Unknown) -> memory.Sources:
    return memory.Sources(
        vram_total=card.vram_total if card else _ABSENT,
        vram_used=card.vram_used if card else _ABSENT,
        gtt_total=card.gtt_total if card else _ABSENT,
        gtt_used=card.gtt_used if card else _ABSENT,
        kfd_total=node.memory_bytes if node else _NO_NODE,
        kfd_used=node.used_bytes if node else _NO_NODE,
        kfd_processes=processes,
    )


def _either(first: int | Unknown, second: int | None) -> int | Unknown:
    return second if isinstance(first, Unknown) and second is not None else first


def _is_apu(node: KfdNode | None, target: str | Unknown, device: int | Unknown) -> bool | None:
    if not isinstance(device, Unknown) and device in products.apu_devices():
        return True
    facts = None if isinstance(target, Unknown) else gfx.facts().get(target)
    if facts is not None and facts.kind != "both":
        return facts.kind == "apu"
    if node is not None and node.properties.get("cpu_cores_count", 0) > 0:
        return True
    named = {number for number, _ in products.package_names()}
    return False if device in named else None


def _reasons(chosen: memory.Memory, used_path: str | None) -> dict[str, str]:
    """Why figures of memory are not known, by field."""
    unknown: dict[str, str] = {}
    if isinstance(chosen.total, Unknown):
        unknown.update(dict.fromkeys(("vram_total_bytes", "vram_total_source"), chosen.total.reason))
    if isinstance(chosen.used, Unknown):
        fields = ("vram_used_bytes", "vram_used_source", "vram_used_scope")
        unknown.update(dict.fromkeys(fields, chosen.used.reason))
    if used_path is None:
        unknown["used_path"] = "no single file holds what is in use"
    return unknown


def _used_path(source: str | None, node: KfdNode | None, card: DrmCard | None) -> str | None:
    if source == memory.SYSFS_VRAM and card:
        return f"{card.folder}/mem_info_vram_used"
    if source == memory.SYSFS_GTT and card:
        return f"{card.folder}/mem_info_gtt_used"
    if source == memory.KFD and node:
        return f"{kfd.NODES}/{node.number}/mem_banks/0/used_memory"
    return None


def _other(card: DrmCard, reason: str, *, hidden: bool) -> OtherCard:
    ids = (card.vendor, card.device)
    pci_id = None if isinstance(ids[0], Unknown) or isinstance(ids[1], Unknown) else f"{ids[0]:04x}:{ids[1]:04x}"
    bdf = None if isinstance(card.bdf, Unknown) else card.bdf
    driver = None if isinstance(card.driver, Unknown) else card.driver
    return OtherCard(card.name, bdf, driver, pci_id, reason, hidden)


def _on_node(selection: visibility.Selection, shown: list[int]) -> visibility.Selection:
    """The selection, which counts what is visible, in positions of the node's list."""
    return replace(
        selection,
        order=tuple(shown[place] for place in selection.order),
        hidden={shown[place]: why for place, why in selection.hidden.items()},
    )


def _numbered(gpu: Gpu, position: int, selection: visibility.Selection) -> Gpu:
    why = selection.hidden.get(position, "")
    return replace(gpu, index=position, selected=position in selection.order, hidden_reason=gpu.hidden_reason or why)
