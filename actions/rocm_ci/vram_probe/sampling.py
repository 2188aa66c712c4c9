"""Taking samples: exact peaks, and a series that never grows."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence

from rocm_ci.vram_probe.source import Source

POINTS = 1024
"""Most points of a series; beyond it neighbours are merged, so that 24 hours take the memory of a minute."""


class Series:
    """Used bytes over time, thinned: a point is the highest of the samples that it stands for.

    Args:
        width: number of devices.
        limit: most points, an even number.
    """

    def __init__(self, width: int, limit: int = POINTS) -> None:
        self.width = width
        self.limit = limit
        self.stride = 1
        self.times: list[float] = []
        self.rows: list[list[int | None]] = []
        self._open: list[int | None] = [None] * width
        self._opened = 0.0
        self._count = 0

    def add(self, at: float, values: Sequence[int | None]) -> None:
        """Take one sample, `at` seconds after the start."""
        if self._count == 0:
            self._open, self._opened = list(values), at
        else:
            merge(self._open, values)
        self._count += 1
        if self._count >= self.stride:
            self.times.append(self._opened)
            self.rows.append(self._open)
            self._count = 0
            if len(self.rows) >= self.limit:
                self._thin()

    def points(self) -> tuple[list[float], list[list[int | None]]]:
        """Times in seconds, and for each time the used bytes of each device; the last sample is always in."""
        if self._count:
            return [*self.times, self._opened], [*self.rows, list(self._open)]
        return list(self.times), list(self.rows)

    def _thin(self) -> None:
        rows = self.rows
        for left, right in zip(rows[::2], rows[1::2], strict=True):
            merge(left, right)
        self.rows = rows[::2]
        self.times = self.times[::2]
        self.stride *= 2


def merge(into: list[int | None], values: Sequence[int | None]) -> None:
    """Keep the higher of two readings of each device; a known one before an unknown one."""
    for index, value in enumerate(values):
        if value is not None:
            held = into[index]
            if held is None or value > held:
                into[index] = value


class Tracker:
    """What the samples of one run amount to; safe to read from another thread.

    Attributes:
        peak: highest reading of each device; None while there was none.
        last: newest reading of each device.
        samples: how many were taken.
        unreadable: for each device, how many readings were unknown.
        series: the thinned course; several trackers in a row may share one.
    """

    def __init__(self, width: int, series: Series | None = None) -> None:
        self.peak: list[int | None] = [None] * width
        self.last: list[int | None] = [None] * width
        self.samples = 0
        self.unreadable = [0] * width
        self.series = series or Series(width)

    def add(self, at: float, values: Sequence[int | None]) -> bool:
        """Take one sample; whether some peak rose."""
        rose = False
        peak = self.peak
        for index, value in enumerate(values):
            if value is None:
                self.unreadable[index] += 1
            else:
                held = peak[index]
                if held is None or value > held:
                    peak[index] = value
                    rose = True
        self.last = list(values)
        self.samples += 1
        self.series.add(at, values)
        return rose


class Sampler:
    """Samples a source in a thread of its own.

    Args:
        source: what to read.
        tracker: takes the samples.
        interval: seconds between two samples.
        on_peak: called, in the thread and at most once a second, after a peak rose.
        started: time on the monotonic clock from which the series counts; that of `start` by default.
    """

    def __init__(
        self,
        source: Source,
        tracker: Tracker,
        interval: float,
        *,
        on_peak: Callable[[], None] = lambda: None,
        started: float | None = None,
    ) -> None:
        self.source = source
        self.tracker = tracker
        self.interval = interval
        self.cpu_seconds = 0.0
        self.error: Exception | None = None
        self._on_peak = on_peak
        self._zero = started
        # A pipe, not an Event: waiting for an Event costs twice the processor time, which is most of a sample's.
        self._wake, self._stop = os.pipe()
        self._open = True
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="rocm-ci-vram-sampler", daemon=True)

    def start(self) -> None:
        """Begin, with a first sample at once."""
        self._started = time.monotonic()
        self._zero = self._started if self._zero is None else self._zero
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether samples are still being taken."""
        return self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._started

    def stop(self) -> None:
        """Take a last sample and end."""
        if self._open:
            self._open = False
            os.close(self._stop)
            if self._thread.ident is not None:
                self._thread.join(timeout=30)
            if not self._thread.is_alive():
                os.close(self._wake)

    def _run(self) -> None:
        try:
            self._loop()
        except Exception as error:  # told by whoever waits; a thread's own traceback would reach nobody
            self.error = error

    def _loop(self) -> None:
        read, add, clock = self.source.read, self.tracker.add, time.monotonic
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        wait = poll.poll
        zero, interval, due = self._zero or 0.0, self.interval, self._started
        last_peak = float("-inf")
        pending = False
        while True:
            now = clock()
            pending = add(now - zero, read()) or pending
            if pending and now - last_peak >= 1.0:
                pending, last_peak = False, now
                self._on_peak()
            self.cpu_seconds = time.thread_time()
            due += interval
            now = clock()
            if due < now:  # the machine was busy: what was missed is gone, a burst would not bring it back
                due = now
            if wait((due - now) * 1000):
                break
        add(clock() - zero, read())
        self.cpu_seconds = time.thread_time()
