"""What discovery found, in one value: the checks are pure functions of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_ci.gpu.compat import Compatibility
from rocm_ci.gpu.model import Gpu, Node
from rocm_ci.gpu.os_release import OperatingSystem
from rocm_ci.gpu.rocm import Rocm
from rocm_ci.gpu.unknown import Unknown


@dataclass(frozen=True)
class Holder:
    """A process that has a GPU device open or holds memory of one.

    Attributes:
        pid: its number.
        name: the program; empty where it cannot be seen.
        uid: its user; None where it cannot be seen.
        bytes: memory that it holds, by `Gpu.key`; empty where only a device is open, or it is not known.
        foreign: the number is the host's and names nobody, or somebody else, inside this container.
    """

    pid: int
    name: str
    uid: int | None
    bytes: Mapping[str, int]
    foreign: bool = False


@dataclass(frozen=True)
class Found:
    """The node and the container.

    Attributes:
        node: GPUs, driver and what hides some of them.
        rocm: ROCm of the container.
        os: operating system of the container.
        compatibility: whether the driver serves that ROCm.
        holders: processes that hold a GPU, apart from our own.
        holders_incomplete: why some holders may not have been seen; empty when all were.
    """

    node: Node
    rocm: Rocm | Unknown
    os: OperatingSystem | Unknown
    compatibility: Compatibility
    holders: tuple[Holder, ...] = ()
    holders_incomplete: str = ""

    @property
    def usable(self) -> tuple[Gpu, ...]:
        """GPUs that the container may use; whether one may be used is not always known, and then it counts."""
        return tuple(gpu for gpu in self.node.gpus if gpu.visible is not False)

    @property
    def chosen(self) -> tuple[Gpu, ...]:
        """Those of them that the visibility variables leave to programs."""
        return tuple(gpu for gpu in self.usable if gpu.selected)

    @property
    def rocm_version(self) -> str | None:
        """ROCm release, as 6.2.4."""
        return None if isinstance(self.rocm, Unknown) else self.rocm.version

    @property
    def driver_version(self) -> str | None:
        """Version of the DKMS module, else the kernel release of the kernel's own driver."""
        driver = self.node.driver
        if not driver.loaded:
            return None
        return driver.module_version or driver.kernel_release

    @property
    def os_id(self) -> str | None:
        """`ubuntu-22.04`, or the id alone for a system without releases."""
        if isinstance(self.os, Unknown):
            return None
        return f"{self.os.id}-{self.os.version_id}" if self.os.version_id else self.os.id


def targets(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    """Gfx targets that are known, each once."""
    return tuple(dict.fromkeys(gpu.gfx for gpu in gpus if gpu.gfx))


def mode(gpu: Gpu) -> str | None:
    """Both partition modes as AMD writes them: `SPX/NPS1`, or the one that is known."""
    return "/".join(word.upper() for word in (gpu.partition.compute, gpu.partition.memory) if word) or None
