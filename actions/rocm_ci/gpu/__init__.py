"""What this node has: GPUs, memory, driver. In: a root folder; out: frozen values, unknown is None with a reason.

    node = discover(Path("/"), environ=os.environ)
    for gpu in node.gpus: gpu.key, gpu.gfx, gpu.vram_total_bytes, gpu.unknown
    with VramSampler.of(node) as sampler: sampler.read()

Everything is read below the root, so that a container which mounts its host elsewhere and a recorded machine are read
alike. Nothing here writes, runs a program, or raises over what a file holds.

The modules, by source: `kfd`, `sysfs_drm`, `fdinfo`, `holders`, `driver`, `rocm`, `os_release`; by question: `memory`
(which source is right), `visibility` (what the environment selects), `compat` (driver and ROCm), `gfx` and `products`
(facts), `sampler` (cheap repeated reading); `tools` has parsers of what AMD's own programs print.
"""

from __future__ import annotations

from rocm_ci.gpu.discover import discover
from rocm_ci.gpu.model import Gpu, Node, OtherCard, Partition, Socket
from rocm_ci.gpu.sampler import VramSampler
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown

__all__ = ["Gpu", "Node", "OtherCard", "Partition", "Socket", "Tree", "Unknown", "VramSampler", "discover"]
