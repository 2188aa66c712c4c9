"""KFD's files: /sys/class/kfd/kfd/topology (what ROCm can use) and /sys/class/kfd/kfd/proc (what each process holds).

A node whose render device is hidden by the device cgroup answers EPERM to every read (kfd_topology.c).
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci.gpu import gfx, pci
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown, count

KFD = "sys/class/kfd/kfd"
NODES = f"{KFD}/topology/nodes"
PROC = f"{KFD}/proc"
AMD = 0x1002
_VRAM_HEAPS = (1, 2)  # public and private frame buffer; 0 is system memory
_DENIED = (errno.EPERM, errno.EACCES)
_MOST_BANKS = 64
_NOT_READ = Unknown("its properties could not be read")


@dataclass(frozen=True, slots=True)
class KfdNode:
    """One node of the topology: a CPU, or a GPU or partition of one.

    Attributes:
        number: name of its folder.
        problem: why its properties could not be read; empty when they could.
        denied: whether the system refused to show it: the device cgroup of a container hides this GPU.
        properties: numbers of `properties` by name.
        gpu_id: KFD's number of the GPU, which names its file in `proc/<pid>/`.
        name: what the kernel calls the chip; `ip discovery` for all new ones.
        memory_bytes: sum of its banks of VRAM.
        used_bytes: `used_memory` of its banks, which only AMD's DKMS driver has; of the whole socket in a partition.
    """

    number: int
    problem: str = ""
    denied: bool = False
    properties: Mapping[str, int] = field(default_factory=dict)
    gpu_id: int | Unknown = _NOT_READ
    name: str = ""
    memory_bytes: int | Unknown = _NOT_READ
    used_bytes: int | Unknown = _NOT_READ

    @property
    def is_gpu(self) -> bool:
        """It has compute units; a CPU has none. An APU of an old kernel is one node with both."""
        return self.properties.get("simd_count", 0) > 0

    @property
    def gfx(self) -> str | Unknown:
        """The gfx target; old kernels do not tell it."""
        version = self.properties.get("gfx_target_version")
        if version is None:
            return Unknown(f"{NODES}/{self.number}/properties has no gfx_target_version (old kernel)")
        return gfx.name_of(version)

    @property
    def location(self) -> tuple[str, int] | Unknown:
        """PCI address of function 0, and the low three bits: a function or, in a partitioned GPU, the partition."""
        location = self.properties.get("location_id")
        if location is None or location > 0xFFFF:
            return Unknown(f"{NODES}/{self.number}/properties has no valid location_id")
        return pci.from_location(self.properties.get("domain", 0), location)

    @property
    def render_minor(self) -> int | Unknown:
        """Number of its /dev/dri/renderD device."""
        minor = self.properties.get("drm_render_minor", 0)
        return minor if 128 <= minor < 1 << 20 else Unknown(f"{NODES}/{self.number}/properties names no render node")

    @property
    def unique_id(self) -> int | Unknown:
        """Serial number of the chip, shared by its partitions."""
        number = self.properties.get("unique_id", 0)
        return number or Unknown(f"{NODES}/{self.number}/properties has no unique_id")


@dataclass(frozen=True, slots=True)
class Topology:
    """All nodes, or why there are none.

    Attributes:
        nodes: by number; those that could not be read included.
        problem: why there is no topology at all; empty when there is one.
    """

    nodes: tuple[KfdNode, ...] = ()
    problem: str = ""

    @property
    def gpus(self) -> tuple[KfdNode, ...]:
        """Nodes that are GPUs or partitions, in the order in which ROCm counts them."""
        return tuple(node for node in self.nodes if not node.problem and node.is_gpu)

    @property
    def denied(self) -> tuple[KfdNode, ...]:
        """Nodes that the device cgroup hides."""
        return tuple(node for node in self.nodes if node.denied)


@dataclass(frozen=True, slots=True)
class KfdProcess:
    """A process that has opened /dev/kfd.

    Attributes:
        pid: its number as the host counts, also inside a PID namespace.
        vram: bytes that it holds, by `gpu_id`.
    """

    pid: int
    vram: Mapping[int, int | Unknown]


def parse_properties(text: str) -> dict[str, int]:
    """`key value` lines; a line that is none, or whose value is no number, is left out."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        key, _, value = line.strip().partition(" ")
        number = count(value, key)
        if key.isidentifier() and not isinstance(number, Unknown):
            found.setdefault(key, number)
    return found


def read_topology(tree: Tree) -> Topology:
    """Every node of the topology."""
    names = tree.names(NODES)
    if isinstance(names, Unknown):
        return Topology(problem=names.reason)
    return Topology(
        tuple(_node(tree, int(name)) for name in names if name.isascii() and name.isdigit() and len(name) < 9)
    )


def read_processes(tree: Tree) -> tuple[KfdProcess, ...] | Unknown:
    """What each process holds by KFD's own count; a process that ends meanwhile is left out."""
    names = tree.names(PROC)
    if isinstance(names, Unknown):
        return names
    found = []
    for name in names:
        if not (name.isascii() and name.isdigit() and len(name) < 12):
            continue
        files = tree.names(f"{PROC}/{name}")
        if isinstance(files, Unknown):
            if files.errno in (errno.ENOENT, errno.ESRCH):
                continue
            return files
        found.append(KfdProcess(int(name), _vram_files(tree, name, files)))
    return tuple(found)


def sum_of(processes: tuple[KfdProcess, ...] | Unknown, gpu_id: int | Unknown) -> int | Unknown:
    """What all processes together hold of one GPU or partition; unknown as soon as one of them is."""
    if isinstance(processes, Unknown):
        return processes
    if isinstance(gpu_id, Unknown):
        return gpu_id
    total = 0
    for process in processes:
        held = process.vram.get(gpu_id, 0)
        if isinstance(held, Unknown):
            return held
        total += held
    return total


def _vram_files(tree: Tree, pid: str, files: tuple[str, ...]) -> dict[int, int | Unknown]:
    held: dict[int, int | Unknown] = {}
    for file in files:
        gpu = file.removeprefix("vram_")
        if gpu == file or not (gpu.isascii() and gpu.isdigit() and len(gpu) < 20):
            continue
        value = tree.count(f"{PROC}/{pid}/{file}")
        if isinstance(value, Unknown) and value.errno in (errno.ENOENT, errno.ESRCH):
            continue
        held[int(gpu)] = value
    return held


def _node(tree: Tree, number: int) -> KfdNode:
    folder = f"{NODES}/{number}"
    text = tree.text(f"{folder}/properties")
    if isinstance(text, Unknown):
        return KfdNode(number, text.reason, text.errno in _DENIED)
    properties = parse_properties(text)
    if "simd_count" not in properties:
        return KfdNode(number, f"{folder}/properties has no simd_count")
    if not properties["simd_count"]:
        return KfdNode(number, properties=properties)
    name = tree.text(f"{folder}/name")
    memory, used = read_banks(tree, folder, properties.get("mem_banks_count"))
    return KfdNode(
        number,
        properties=properties,
        gpu_id=tree.count(f"{folder}/gpu_id"),
        name="" if isinstance(name, Unknown) else name,
        memory_bytes=memory,
        used_bytes=used,
    )


def read_banks(tree: Tree, folder: str, expected: int | None = None) -> tuple[int | Unknown, int | Unknown]:
    """VRAM of the node in `folder` and what is used of it, in bytes; unknown as soon as one bank is."""
    names = tree.names(f"{folder}/mem_banks")
    if isinstance(names, Unknown):
        return names, names
    banks = [f"{folder}/mem_banks/{name}" for name in names if name.isascii() and name.isdigit()][:_MOST_BANKS]
    if expected is not None and len(banks) != expected:
        missing = Unknown(f"{folder}/mem_banks has {len(banks)} of {expected} banks")
        return missing, missing
    total, found = 0, []
    for bank in banks:
        text = tree.text(f"{bank}/properties")
        if isinstance(text, Unknown):
            return text, text
        properties = parse_properties(text)
        heap, size = properties.get("heap_type"), properties.get("size_in_bytes")
        if heap is None or size is None:
            damaged = Unknown(f"{bank}/properties has no heap_type or size_in_bytes")
            return damaged, damaged
        if heap in _VRAM_HEAPS:
            total += size
            found.append(bank)
    if not total:
        none = Unknown(f"{folder}/mem_banks has no bank of VRAM")
        return none, none
    used = {tree.count(f"{bank}/used_memory") for bank in found}
    if len(used) == 1:
        return total, used.pop()
    return total, Unknown(f"{folder}/mem_banks: its banks do not agree on used_memory")
