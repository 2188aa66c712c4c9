"""Measuring a run: before, while it goes on, and after the memory has settled."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rocm_ci.runner.errors import InfraError
from rocm_ci.vram_probe import settle
from rocm_ci.vram_probe.figures import Course, GpuFigures, Measurement
from rocm_ci.vram_probe.judge import Judgement, Limits, dirty
from rocm_ci.vram_probe.sampling import Sampler, Series, Tracker
from rocm_ci.vram_probe.source import Holder, Source


@dataclass(frozen=True)
class Start:
    """What was found before the run; `judgement` is set where it must not begin."""

    before: tuple[int | None, ...]
    holders: tuple[Holder, ...]
    judgement: Judgement | None


class Measuring:
    """Measures one run, which may be repeated; the figures are those from the first `begin` to the last `settle`.

    Args:
        source: what is read; the caller closes it.
        interval: seconds between two samples.
        limits: what is asked of the run.
        settle_limit: seconds that memory is given to come back.
    """

    def __init__(self, source: Source, interval: float, limits: Limits, settle_limit: float) -> None:
        self.source = source
        self.tracker = Tracker(len(source.devices))
        self._interval = interval
        self._limits = limits
        self._settle_limit = settle_limit
        self._series = Series(len(source.devices))
        self._sampler: Sampler | None = None
        self._start = Start((), (), None)
        self._first = 0.0
        self._samples = 0
        self._cpu = 0.0
        self._unreadable = [0] * len(source.devices)
        self._peak: list[int | None] = [None] * len(source.devices)
        self._taken: list[list[int | None]] = [[] for _ in source.devices]
        self._run_before: tuple[int | None, ...] = ()
        self._settled = settle.Settled((), 0.0, clear=True)
        self._holders_peak: tuple[Holder, ...] = ()
        self._holders_after: tuple[Holder, ...] = ()
        self._note = ""

    def check_start(self, *, sleep: Callable[[float], None] = time.sleep) -> Start:
        """Read what is in use now, and wait for what an earlier job still gives back where a clear start is asked."""
        source, limits = self.source, self._limits
        deadline = time.monotonic() + self._settle_limit
        before = surely(source)
        while dirty(source.devices, before, limits.require_clear, ()) is not None and time.monotonic() < deadline:
            sleep(0.2)
            before = surely(source)
        holders, self._note = source.holders()
        judgement = dirty(source.devices, before, limits.require_clear, holders)
        self._start = Start(before, tuple(holders), judgement)
        return self._start

    def begin(self) -> None:
        """Start to sample."""
        now = time.monotonic()
        self._first = self._first or now
        self._run_before = self._settled.after or self._start.before
        self.tracker = Tracker(len(self.source.devices), self._series)
        self._sampler = Sampler(self.source, self.tracker, self._interval, on_peak=self._see_peak, started=self._first)
        self._sampler.start()

    @property
    def alive(self) -> bool:
        """Whether samples are being taken."""
        return self._sampler is not None and self._sampler.alive

    def end(self, *, settle_limit: float | None = None) -> None:
        """Wait for the memory, then stop to sample.

        Args:
            settle_limit: seconds to wait instead of those given at the start.

        Raises:
            InfraError: sampling had ended before.
        """
        sampler, tracker = self._sampler, self.tracker
        if sampler is None:
            return
        limit = self._settle_limit if settle_limit is None else settle_limit
        try:
            if sampler.alive and tracker.samples:
                time.sleep(min(self._interval * 1.5, 0.2))  # a sample that was taken after the end
                self._settled = settle.wait(
                    lambda: tracker.last, self._start.before, tolerance=self._limits.max_leak, limit=limit
                )
        finally:
            sampler.stop()
        if sampler.error is not None:
            raise InfraError(f"sampling ended too early: {sampler.error}") from sampler.error
        self._settled = settle.Settled(surely(self.source), self._settled.seconds, self._settled.clear)
        self._samples += tracker.samples
        self._cpu += sampler.cpu_seconds
        for index, peak in enumerate(tracker.peak):
            before = self._run_before[index] if self._run_before else None
            self._taken[index].append(None if peak is None or before is None else max(0, peak - before))
            self._unreadable[index] += tracker.unreadable[index]
        self._peak = [_higher(ours, new) for ours, new in zip(self._peak, tracker.peak, strict=True)]
        holders, note = self.source.holders()
        self._holders_after, self._note = tuple(holders), note or self._note

    def measurement(self) -> Measurement:
        """The figures so far; those that need the end are unknown while it has not come."""
        source, start = self.source, self._start
        ended = bool(self._settled.after)
        peak = self._peak if ended else self.tracker.peak
        gpus = []
        for device in source.devices:
            index = device.index
            before = start.before[index] if start.before else None
            after = self._settled.after[index] if ended and index not in source.lost else None
            unknown = {}
            why = source.lost.get(index) or source.reasons.get(index, "it could not be read")
            for name, value in (("before_bytes", before), ("peak_bytes", peak[index]), ("after_bytes", after)):
                if value is None:
                    unknown[name] = why if name != "after_bytes" or ended else "the run was not seen to end"
            gpus.append(GpuFigures(device, before, peak[index], after, unknown))
        times, rows = self._series.points()
        return Measurement(
            source=source.name,
            gpus=tuple(gpus),
            samples=self._samples if ended else self.tracker.samples,
            interval=self._interval,
            seconds=time.monotonic() - self._first if self._first else 0.0,
            cpu_seconds=self._cpu if ended or self._sampler is None else self._sampler.cpu_seconds,
            unreadable=tuple(self._unreadable),
            lost=dict(source.lost),
            settle_seconds=self._settled.seconds,
            course=Course(times, rows, self._series.stride),
            holders_before=start.holders,
            holders_peak=self._holders_peak,
            holders_after=self._holders_after if ended else (),
            holders_note=self._note,
            taken=tuple(map(tuple, self._taken)),
            note=source.note,
        )

    def _see_peak(self) -> None:
        holders, self._note = self.source.holders()
        if _sum(holders) >= _sum(self._holders_peak):
            self._holders_peak = tuple(holders)


def surely(source: Source, tries: int = 10, *, sleep: Callable[[float], None] = time.sleep) -> tuple[int | None, ...]:
    """A reading on which much depends: one that is unknown for a moment is asked again.

    A source may look at one device at a time for one that was lost, so that many readings are made.
    """
    for _ in range(len(source.devices)):
        source.read()
    values = tuple(source.read())
    for _ in range(tries):
        if all(value is not None or index in source.lost for index, value in enumerate(values)):
            break
        sleep(0.02)
        values = tuple(source.read())
    return values


def _sum(holders: Sequence[Holder]) -> int:
    return sum(holder.bytes for holder in holders)


def _higher(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)
