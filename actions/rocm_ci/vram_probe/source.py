"""Where used VRAM is read from: one interface for the kernel's files and for torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU, or one partition of it, that is watched.

    Attributes:
        index: its position among the watched ones.
        bdf: PCI address; None with a reason in `unknown`.
        gfx: gfx target; None with a reason.
        product: marketing name; None with a reason.
        partition: which part of the socket it is, as `cpx 3`; empty when it is a whole GPU.
        capacity_bytes: memory that it has; None with a reason.
        unknown: field name → why it is not known.
    """

    index: int
    bdf: str | None
    gfx: str | None
    product: str | None
    partition: str
    capacity_bytes: int | None
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What a person calls it."""
        name = self.bdf or f"GPU {self.index}"
        return f"{name} ({self.partition})" if self.partition else name


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds VRAM of a device.

    Attributes:
        device: index of the device.
        pid: process number, as the place it was read from counts; inside a PID namespace that may be the host's.
        name: the program; empty when it cannot be seen.
        bytes: what it holds.
    """

    device: int
    pid: int
    name: str
    bytes: int


class Source(Protocol):
    """Reads used VRAM.

    Attributes:
        name: `amdgpu` or `torch`.
        devices: what is watched.
        note: what a reader of the figures has to know; may be empty.
    """

    name: str
    devices: tuple[Device, ...]
    note: str

    @property
    def lost(self) -> Mapping[int, str]:
        """Device index → reason, for devices that have gone."""

    @property
    def reasons(self) -> Mapping[int, str]:
        """Device index → why its last reading was unknown."""

    def read(self) -> Sequence[int | None]:
        """Used bytes of each device; None where it cannot be read now."""

    def holders(self) -> tuple[list[Holder], str]:
        """Processes that hold memory now, and why some cannot be told (empty when all can)."""

    def close(self) -> None:
        """Give back files and processes."""
