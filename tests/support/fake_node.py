"""A made-up machine with AMD GPUs: the files that the kernel would show, below a folder.

    node = FakeNode(tmp_path, [FakeGpu("0000:05:00.0"), FakeGpu("0000:15:00.0", parts=8, compute="CPX")])
    node.use("0000:05:00.0", 5 << 30); node.lose("0000:15:00.0"); node.process(4242, {0: 1 << 30})
    discover(node.root)

Figures and layout follow Linux 6.x: cards are links into sys/devices, KFD nodes are plain folders; only PCI functions
have memory counters. `refusing` gives a Tree in which files answer EPERM, as the device cgroup does, also to root.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.gpu.tree import LIMIT, Tree
from rocm_ci.gpu.unknown import Unknown

MI300X_TOTAL = 206141652992
KFD = "sys/class/kfd/kfd"


@dataclass(frozen=True)
class FakeGpu:
    """One card. `parts` KFD nodes are made of it; `kfd_total` is of each, by default an equal share of `total`."""

    bdf: str
    device: int = 0x74A1
    revision: int = 0
    target: int | None = 90402
    total: int = MI300X_TOTAL
    used: int = 297771008
    gtt_total: int = 1081864880128
    gtt_used: int = 11206656
    parts: int = 1
    compute: str | None = "SPX"
    memory: str | None = "NPS1"
    kfd: bool = True
    kfd_total: int | None = None
    kfd_used: int | None = None
    driver: str = "amdgpu"
    vendor: int = 0x1002
    unique_id: int = 0


class FakeNode:
    """The machine; what it has may change while it is read.

    Attributes:
        root: the folder that stands for `/`.
        gpu_ids: KFD's gpu_id of each GPU or partition, in order.
        renders: number of the render node of each.
    """

    def __init__(
        self,
        root: Path,
        gpus: Sequence[FakeGpu] = (),
        *,
        dev: bool = True,
        module: str | None = "6.10.5",
        initstate: str | None = "live",
        kernel: str = "6.8.0-40-generic",
        rocm: str | None = "6.3.1",
    ) -> None:
        self.root = root
        self.gpus = tuple(gpus)
        self.gpu_ids: list[int] = []
        self.renders: list[int] = []
        self._dev = dev
        self.write("proc/sys/kernel/osrelease", kernel)
        self.write("etc/os-release", 'ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"')
        self.folder("sys/module")
        if initstate is not None or module is not None:
            self.folder("sys/module/amdgpu")
        if initstate is not None:
            self.write("sys/module/amdgpu/initstate", initstate)
        if module is not None:
            self.write("sys/module/amdgpu/version", module)
        if rocm is not None:
            self.write(f"opt/rocm-{rocm}/.info/version", f"{rocm}-48")
            self.link("opt/rocm", f"/opt/rocm-{rocm}")
        if dev:
            self.folder("dev/dri")
            if any(gpu.kfd for gpu in gpus):
                self.write("dev/kfd", "")
        if any(gpu.kfd for gpu in gpus):
            self._kfd_node(0, {"cpu_cores_count": 96, "simd_count": 0, "mem_banks_count": 1, "gfx_target_version": 0})
            self.write(f"{KFD}/topology/nodes/0/gpu_id", "0")
            self.folder(f"{KFD}/proc")
        for number, gpu in enumerate(gpus):
            self._card(number, gpu)

    def use(self, bdf: str, used: int) -> None:
        """Let this many bytes of a card be in use."""
        self.write(f"{self.device(bdf)}/mem_info_vram_used", str(used))

    def lose(self, bdf: str) -> None:
        """Let a card fall off the bus: its folder goes, as when the driver is unbound."""
        shutil.rmtree(self.root / self.device(bdf))

    def process(
        self, pid: int, vram: Mapping[int, int], *, name: str = "python3", uid: int = 1000, kfd_only: bool = False
    ) -> None:
        """A process that holds bytes of the GPUs with these positions; `kfd_only`: in another PID namespace."""
        for position, held in vram.items():
            self.write(f"{KFD}/proc/{pid}/vram_{self.gpu_ids[position]}", str(held))
        if kfd_only:
            return
        self.write(f"proc/{pid}/status", f"Name:\t{name}\nState:\tS (sleeping)\nUid:\t{uid}\t{uid}\t{uid}\t{uid}")
        opened = ["/dev/null", "/dev/kfd", *(f"/dev/dri/renderD{self.renders[position]}" for position in vram)]
        for number, target in enumerate(opened):
            self.link(f"proc/{pid}/fd/{number}", target)

    def end(self, pid: int) -> None:
        """Let a process end."""
        shutil.rmtree(self.root / f"{KFD}/proc/{pid}", ignore_errors=True)
        shutil.rmtree(self.root / f"proc/{pid}", ignore_errors=True)

    def refusing(self, *refused: str) -> Tree:
        """The node as seen where files whose path begins with one of `refused` answer EPERM."""
        return RefusingTree(self.root, refused)

    def hide(self, number: int) -> str:
        """The path to refuse so that KFD node `number` is hidden as the device cgroup does it."""
        return f"{KFD}/topology/nodes/{number}/"

    def device(self, bdf: str) -> str:
        """Folder of a card's device."""
        return f"sys/devices/pci0000:00/{bdf}"

    def write(self, path: str, text: str) -> None:
        """Put a file, in place when it is there, with the kernel's line feed."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        data = f"{text}\n".encode() if text else b""
        with target.open("r+b" if target.exists() else "wb") as file:
            file.write(data)
            file.truncate()

    def folder(self, path: str) -> None:
        (self.root / path).mkdir(parents=True, exist_ok=True)

    def link(self, path: str, target: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def _card(self, number: int, gpu: FakeGpu) -> None:
        folder = self.device(gpu.bdf)
        render = 128 + len(self.renders)
        self.write(f"{folder}/vendor", f"0x{gpu.vendor:04x}")
        self.write(f"{folder}/device", f"0x{gpu.device:04x}")
        self.write(f"{folder}/revision", f"0x{gpu.revision:02x}")
        self.write(f"{folder}/class", "0x120000")
        self.write(
            f"{folder}/uevent",
            f"DRIVER={gpu.driver}\nPCI_ID={gpu.vendor:04X}:{gpu.device:04X}\nPCI_SLOT_NAME={gpu.bdf}",
        )
        self.write(f"{folder}/power/runtime_status", "active")
        if gpu.driver == "amdgpu":
            self.write(f"{folder}/vbios_version", "113-FAKE-001")
            self.write(f"{folder}/mem_info_vram_total", str(gpu.total))
            self.write(f"{folder}/mem_info_vis_vram_total", str(gpu.total))
            self.write(f"{folder}/mem_info_vram_used", str(gpu.used))
            self.write(f"{folder}/mem_info_vis_vram_used", str(gpu.used))
            self.write(f"{folder}/mem_info_gtt_total", str(gpu.gtt_total))
            self.write(f"{folder}/mem_info_gtt_used", str(gpu.gtt_used))
            for name, mode in (("compute", gpu.compute), ("memory", gpu.memory)):
                if mode:
                    self.write(f"{folder}/current_{name}_partition", mode)
            self.write(f"{folder}/unique_id", f"{gpu.unique_id or 0x1000 + number:016x}")
        for name in (f"card{number}", f"renderD{render}"):
            self.link(f"{folder}/drm/{name}/device", f"../../../{gpu.bdf}")
            self.link(f"sys/class/drm/{name}", f"../../devices/pci0000:00/{gpu.bdf}/drm/{name}")
        self.folder(f"sys/class/drm/card{number}-DP-1")
        for part in range(gpu.parts if gpu.kfd else 1):
            self.renders.append(render + part)
            if self._dev:
                self.write(f"dev/dri/renderD{render + part}", "")
            if gpu.kfd:
                self._part(number, gpu, part, render + part)

    def _part(self, card: int, gpu: FakeGpu, part: int, render: int) -> None:
        number = 1 + len(self.gpu_ids)
        domain, bus, rest = gpu.bdf.split(":")
        device, function = rest.split(".")
        location = int(bus, 16) << 8 | int(device, 16) << 3 | int(function) | part
        properties = {
            "cpu_cores_count": 0,
            "simd_count": 1216 // gpu.parts,
            "mem_banks_count": 1,
            "caches_count": 0,
            "io_links_count": 1,
            "simd_per_cu": 4,
            "array_count": 32,
            "simd_arrays_per_engine": 1,
            "cu_per_simd_array": 10,
            "vendor_id": gpu.vendor,
            "device_id": gpu.device,
            "location_id": location,
            "domain": int(domain, 16),
            "drm_render_minor": render,
            "hive_id": 1,
            "local_mem_size": 0,
            "unique_id": gpu.unique_id or 0x1000 + card,
            "num_xcc": 8 // gpu.parts or 1,
        }
        if gpu.target is not None:
            properties["gfx_target_version"] = gpu.target
        self.gpu_ids.append(10000 + number)
        self._kfd_node(number, properties)
        folder = f"{KFD}/topology/nodes/{number}"
        self.write(f"{folder}/gpu_id", str(10000 + number))
        self.write(f"{folder}/name", "ip discovery")
        total = gpu.kfd_total if gpu.kfd_total is not None else gpu.total // gpu.parts
        self.write(f"{folder}/mem_banks/0/properties", f"heap_type 1\nsize_in_bytes {total}\nflags 0\nwidth 8192")
        if gpu.kfd_used is not None:
            self.write(f"{folder}/mem_banks/0/used_memory", str(gpu.kfd_used))

    def _kfd_node(self, number: int, properties: Mapping[str, int]) -> None:
        lines = "\n".join(f"{key} {value}" for key, value in properties.items())
        self.write(f"{KFD}/topology/nodes/{number}/properties", lines)


class RefusingTree(Tree):
    """A tree that may not read some of its files, whoever asks."""

    def __init__(self, root: Path, refused: Sequence[str]) -> None:
        super().__init__(root)
        self.refused = tuple(refused)

    def read(self, path: str, limit: int = LIMIT) -> bytes | Unknown:
        return self._refuse(path) or super().read(path, limit)

    def names(self, path: str) -> tuple[str, ...] | Unknown:
        return self._refuse(path) or super().names(path)

    def _refuse(self, path: str) -> Unknown | None:
        if path.startswith(self.refused):
            return Unknown(f"{path}: {os.strerror(errno.EPERM)} (EPERM)", errno.EPERM)
        return None


def run_script(
    node: FakeNode, steps: Sequence[Callable[[FakeNode], None]], read: Callable[[], list[int | None]]
) -> list[list[int | None]]:
    """Read once, then after each step: what a sampler sees of a story (spike, leak, lost card)."""
    seen = [read()]
    for step in steps:
        step(node)
        seen.append(read())
    return seen
