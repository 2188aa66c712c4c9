"""The figures of one run, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocm_ci.vram_probe.source import Device, Holder


@dataclass(frozen=True, slots=True)
class GpuFigures:
    """Memory of one device around the run, in bytes; None is unknown, with the reason in `unknown`."""

    device: Device
    before: int | None
    peak: int | None
    after: int | None
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def leaked(self) -> int | None:
        """What stayed in use: after less before, never below 0."""
        if self.before is None or self.after is None:
            return None
        return max(0, self.after - self.before)

    @property
    def taken(self) -> int | None:
        """What the run took at its peak: peak less before, never below 0."""
        if self.before is None or self.peak is None:
            return None
        return max(0, self.peak - self.before)


@dataclass(frozen=True)
class Course:
    """A thinned course: times in seconds, and for each time the used bytes of each device."""

    times: Sequence[float] = ()
    rows: Sequence[Sequence[int | None]] = ()
    stride: int = 1


@dataclass(frozen=True)
class Measurement:
    """All that was measured of one run.

    Attributes:
        source: `amdgpu` or `torch`.
        gpus: the figures, in the order of the devices.
        samples: how many samples were taken.
        interval: seconds between two samples, as asked.
        seconds: how long was sampled.
        cpu_seconds: processor time of the sampling.
        unreadable: for each device, how many readings failed.
        lost: device index → reason.
        settle_seconds: how long the memory was waited for.
        course: memory over time.
        holders_before: who held memory before; None where nobody asked.
        holders_peak: who held memory near the peak.
        holders_after: who holds memory after.
        holders_note: why some processes cannot be told; empty when all can.
        taken: for each device, what each repetition took at its peak; one entry where nothing is repeated.
        note: what a reader has to know of the source.
    """

    source: str
    gpus: tuple[GpuFigures, ...]
    samples: int
    interval: float
    seconds: float
    cpu_seconds: float
    unreadable: tuple[int, ...]
    lost: Mapping[int, str] = field(default_factory=dict)
    settle_seconds: float = 0.0
    course: Course = field(default_factory=Course)
    holders_before: tuple[Holder, ...] = ()
    holders_peak: tuple[Holder, ...] = ()
    holders_after: tuple[Holder, ...] = ()
    holders_note: str = ""
    taken: tuple[tuple[int | None, ...], ...] = ()
    note: str = ""

    @property
    def peak(self) -> int | None:
        """Highest peak of all devices; None where none is known."""
        return max((gpu.peak for gpu in self.gpus if gpu.peak is not None), default=None)

    @property
    def leaked(self) -> int | None:
        """What stayed in use on all devices together; None where that is unknown for one of them."""
        parts = [gpu.leaked for gpu in self.gpus]
        known = [part for part in parts if part is not None]
        return sum(known) if known and len(known) == len(parts) else None
