"""Peaks are exact, the series is bounded, and what is unknown stays unknown."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci.vram_probe import settle
from rocm_ci.vram_probe.sampling import POINTS, Sampler, Series, Tracker

readings = st.lists(st.tuples(*[st.none() | st.integers(0, 1 << 40)] * 2), min_size=1, max_size=300)


@given(readings)
def test_peaks_are_exact_and_the_series_keeps_them(samples: list[tuple[int | None, int | None]]) -> None:
    tracker = Tracker(2, Series(2, limit=8))
    for at, values in enumerate(samples):
        tracker.add(float(at), values)
    times, rows = tracker.series.points()
    assert len(times) == len(rows) <= 8
    assert times == sorted(times)
    for device in (0, 1):
        known = [values[device] for values in samples if values[device] is not None]
        expected = max(known) if known else None
        assert tracker.peak[device] == expected
        shown = [row[device] for row in rows if row[device] is not None]
        assert (max(shown) if shown else None) == expected
        assert tracker.unreadable[device] == len(samples) - len(known)
    assert tracker.last == list(samples[-1])
    assert tracker.samples == len(samples)


def test_a_day_of_samples_takes_the_memory_of_a_minute() -> None:
    series = Series(1)
    for at in range(300_000):
        series.add(float(at), (at % 1000,))
    times, rows = series.points()
    assert POINTS // 2 <= len(rows) <= POINTS
    assert times[0] == 0.0
    assert times[-1] > 299_000


class Fixed:
    """A source with one device and a fixed course."""

    name, devices, note = "fixed", (), ""
    lost: dict[int, str] = {}  # noqa: RUF012
    reasons: dict[int, str] = {}  # noqa: RUF012

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.reads = 0

    def read(self) -> list[int | None]:
        self.reads += 1
        if self.error and self.reads > 2:
            raise self.error
        return [self.reads]

    def holders(self) -> tuple[list[object], str]:
        return [], ""

    def close(self) -> None:
        pass


def test_a_sampler_takes_a_first_and_a_last_sample() -> None:
    source, tracker = Fixed(), Tracker(1)
    sampler = Sampler(source, tracker, 60.0)  # type: ignore[arg-type]
    sampler.start()
    while not tracker.samples:
        time.sleep(0.001)
    sampler.stop()
    assert (tracker.samples, tracker.last, sampler.alive) == (2, [2], False)


def test_a_sampler_that_breaks_says_why() -> None:
    sampler = Sampler(Fixed(RuntimeError("broken")), Tracker(1), 0.001)  # type: ignore[arg-type]
    sampler.start()
    while sampler.alive:
        time.sleep(0.001)
    assert str(sampler.error) == "broken"


# --- settle ---------------------------------------------------------------------------------------------------------


def settled(course: list[list[int | None]], before: list[int | None], **options: float) -> settle.Settled:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    readings = iter(course)
    last = course[-1]
    return settle.wait(
        lambda: next(readings, last),
        before,
        tolerance=int(options.get("tolerance", 10)),
        limit=options.get("limit", 5.0),
        clock=lambda: now[0],
        sleep=sleep,
    )


def test_memory_that_comes_back_late_is_waited_for() -> None:
    done = settled([[900], [900], [900], [100]], [100])
    assert (done.after, done.clear) == ((100,), True)
    assert done.seconds == pytest.approx(0.3)


def test_a_fall_is_followed_to_its_end() -> None:
    # 105 is within the tolerance, and on its way down.
    assert settled([[900], [109], [105], [101], [101], [101], [101]], [100]).after == (101,)


def test_what_does_not_come_back_takes_the_whole_time() -> None:
    done = settled([[900]], [100])
    assert (done.after, done.clear) == ((900,), False)
    assert done.seconds == pytest.approx(5.0, abs=0.11)
    assert settled([[900]], [100], limit=0).seconds == 0


def test_an_unknown_reading_is_not_waited_for() -> None:
    assert settled([[None, 50]], [100, 50]).after == (None, 50)
