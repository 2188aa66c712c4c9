"""What a node has, as values: no file is read here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci.gpu.driver import Driver
from rocm_ci.gpu.visibility import Selection

Reasons = Mapping[str, str]
"""Name of a field that is None → why it is not known."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Which part of a socket a GPU is.

    Attributes:
        compute: `spx`, `dpx`, `tpx`, `qpx` or `cpx`; None where the kernel does not tell it.
        memory: `nps1`, `nps4`, …; None where the kernel does not tell it.
        number: of this part, from 0.
        of: parts of the socket; None when some are hidden.
        socket: PCI address of the socket.
    """

    compute: str | None
    memory: str | None
    number: int
    of: int | None
    socket: str | None

    @property
    def is_part(self) -> bool:
        """Whether the socket is divided."""
        return self.number > 0 or (self.of or 1) > 1 or self.compute not in (None, "spx")

    def __str__(self) -> str:
        """`spx/nps1`, or `cpx/nps1 3 of 8` in a divided socket; what is not known is left out."""
        modes = "/".join(mode for mode in (self.compute, self.memory) if mode)
        if not self.is_part:
            return modes
        return f"{modes} {self.number} of {self.of or '?'}".strip()


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as ROCm counts them: a card, an APU, or a partition of a card. None stands for unknown.

    Attributes:
        index: position in `Node.gpus`, which is KFD's order; a GPU's name is `key`, not its index.
        bdf: PCI address of the card, with function 0 for every partition of it.
        gfx: gfx target, as `gfx942`.
        product: what it is called.
        vram_total_bytes: memory that programs can get: of this partition; of an APU, the host memory that it may take.
        vram_used_bytes: what is in use of it; `vram_used_scope` says by whom and of what.
        vram_total_source: where the total is from: `sysfs`, `kfd`.
        vram_used_source: where the use is from: `sysfs vram`, `sysfs gtt` (an APU whose pool is host memory), `kfd`,
            `kfd processes`.
        vram_used_scope: `device` (everything on it), or `processes` (of a partition, only what KFD's processes hold).
        used_path: the file that holds what is in use, below the root; None when it is no single file.
        render_node: as `/dev/dri/renderD128`.
        partition: which part of the socket it is.
        kfd_gpu_id: KFD's number of it.
        kfd_node: number of its topology node.
        unique_id: serial number of the chip as 16 hex digits; partitions of a chip share it.
        pci_device: PCI device, as `0x74a1`.
        pci_revision: PCI revision, as `0x00`.
        apu: whether its memory is the host's.
        runtime_status: `active` or `suspended`; figures of a suspended card may be old.
        visible: whether this process may use it, as far as device nodes and cgroup decide; None when that cannot be
            seen.
        hidden_reason: why it is not visible, or why the environment hides it; empty otherwise.
        selected: whether ROCR_, HIP_ and CUDA_VISIBLE_DEVICES leave it to programs.
        unknown: why each field that is None is.
    """

    index: int
    bdf: str | None
    gfx: str | None
    product: str | None
    vram_total_bytes: int | None
    vram_used_bytes: int | None
    vram_total_source: str | None
    vram_used_source: str | None
    vram_used_scope: str | None
    used_path: str | None
    render_node: str | None
    partition: Partition
    kfd_gpu_id: int | None
    kfd_node: int | None
    unique_id: str | None
    pci_device: str | None
    pci_revision: str | None
    apu: bool | None
    runtime_status: str | None
    visible: bool | None
    hidden_reason: str
    selected: bool
    unknown: Reasons = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What names it on this node from run to run: the PCI address, with the partition in a divided socket."""
        name = self.bdf or f"gpu{self.index}"
        return f"{name}/{self.partition.number}" if self.partition.is_part else name


@dataclass(frozen=True, slots=True)
class Socket:
    """A card with all its partitions.

    Attributes:
        bdf: PCI address.
        gpus: indexes of its GPUs in `Node.gpus`.
        vram_total_bytes: memory of all of it.
        vram_used_bytes: in use by anything, graphics included.
        used_path: the file that holds it, below the root.
        unknown: why each field that is None is.
    """

    bdf: str
    gpus: tuple[int, ...]
    vram_total_bytes: int | None
    vram_used_bytes: int | None
    used_path: str | None
    unknown: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OtherCard:
    """A card that ROCm does not use.

    Attributes:
        name: `card0`.
        bdf: PCI address, if it has one.
        driver: its kernel driver.
        pci_id: `1002:6818`.
        reason: why it is no GPU for ROCm.
        hidden: whether it may be one that is hidden from this container.
    """

    name: str
    bdf: str | None
    driver: str | None
    pci_id: str | None
    reason: str
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """What this machine has.

    Attributes:
        gpus: GPUs in KFD's order, then cards of amdgpu that KFD does not tell of.
        sockets: the cards behind them.
        others: cards that are no GPU for ROCm.
        driver: the kernel driver amdgpu.
        selection: what the environment variables select.
        hidden_nodes: KFD nodes that the device cgroup hides.
        notes: what a reader of the figures has to know.
        kfd_problem: why there is no KFD topology; empty when there is one.
    """

    gpus: tuple[Gpu, ...]
    sockets: tuple[Socket, ...]
    others: tuple[OtherCard, ...]
    driver: Driver
    selection: Selection
    hidden_nodes: int
    notes: tuple[str, ...]
    kfd_problem: str = ""
