"""The body of the JSON report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_ci.vram_probe.baseline import Growth, Trend
from rocm_ci.vram_probe.figures import GpuFigures, Measurement
from rocm_ci.vram_probe.judge import Verdict
from rocm_ci.vram_probe.source import Device, Holder


@dataclass(frozen=True)
class Story:
    """All that the outputs tell: what was watched, what was measured, what came of it.

    Attributes:
        title: the command, or the stretch of the job.
        measured: the figures.
        verdict: None where there is none.
        message: the verdict in a sentence.
        growth: the comparison with the baseline.
        trends: the idle floors.
        command: the command and how it ended, as in the report; None for a stretch of a job.
        baseline: where the baseline is; empty without one.
        tests: figures of single tests, the greatest first.
    """

    title: str
    measured: Measurement
    verdict: Verdict | None
    message: str
    growth: Sequence[Growth] = ()
    trends: Sequence[Trend] = ()
    command: Mapping[str, object] | None = None
    baseline: str = ""
    tests: Sequence[Mapping[str, object]] = ()


def body(story: Story) -> dict[str, object]:
    """The report's own fields; unknown figures are null, with the reason in the GPU's `unknown`."""
    measured = story.measured
    times, rows = measured.course.times, measured.course.rows
    found: dict[str, object] = {
        "gpus": [gpu(story, index) for index in range(len(measured.gpus))],
        "samples": measured.samples,
        "verdict": story.verdict,
        "source": {"name": measured.source, "note": measured.note},
        "sampling": {
            "interval_s": measured.interval,
            "seconds": round(measured.seconds, 3),
            "cpu_seconds": round(measured.cpu_seconds, 6),
            "unreadable": sum(measured.unreadable),
            "settle_seconds": round(measured.settle_seconds, 3),
        },
        "series": {
            "samples_per_point": measured.course.stride,
            "seconds": [round(at, 3) for at in times],
            "used_bytes": [[row[index] for row in rows] for index in range(len(measured.gpus))],
        },
    }
    if measured.holders_note:
        found["processes_unknown"] = measured.holders_note
    if story.command is not None:
        found["command"] = dict(story.command)
    if story.baseline:
        found["baseline"] = story.baseline
    if story.growth:
        found["growth"] = [growth(story, entry) for entry in story.growth]
    trends = [entry for entry in story.trends if entry.rise or entry.rising]
    if trends:
        found["idle_floor"] = [
            {
                "bdf": measured.gpus[entry.device].device.bdf,
                "runs": entry.runs,
                "rise_bytes": entry.rise,
                "rising": entry.rising,
            }
            for entry in trends
        ]
    if story.tests:
        found["tests"] = list(story.tests)
    return found


def dirty_body(
    devices: Sequence[Device], before: Sequence[int | None], holders: Sequence[Holder], verdict: Verdict | None
) -> dict[str, object]:
    """The report of a start that was not clear: the command was not run, so there is no peak."""
    gpus = []
    for device, used in zip(devices, before, strict=True):
        why = "the command was not run"
        unknown = {**device.unknown, "peak_bytes": why, "after_bytes": why, "leaked_bytes": why}
        if used is None:
            unknown["before_bytes"] = "it could not be read"
        entry = _figures(GpuFigures(device, used, None, None, unknown))
        entry["processes"] = [_holder(holder, "before") for holder in holders if holder.device == device.index]
        gpus.append(entry)
    return {"gpus": gpus, "samples": 1, "verdict": verdict}


def gpu(story: Story, index: int) -> dict[str, object]:
    """One GPU of the report."""
    measured = story.measured
    figures = measured.gpus[index]
    entry = _figures(figures)
    if len(measured.taken[index] if index < len(measured.taken) else ()) > 1:
        entry["taken_bytes"] = list(measured.taken[index])
    if index in measured.lost:
        entry["lost"] = measured.lost[index]
    entry["processes"] = [
        _holder(holder, when)
        for when, holders in (
            ("before", measured.holders_before),
            ("peak", measured.holders_peak),
            ("after", measured.holders_after),
        )
        for holder in holders
        if holder.device == index
    ]
    return entry


def growth(story: Story, entry: Growth) -> dict[str, object]:
    """One comparison with the baseline."""
    return {
        "bdf": story.measured.gpus[entry.device].device.bdf,
        "now_bytes": entry.now,
        "baseline_bytes": entry.baseline,
        "grown_bytes": entry.grown,
        "ratio": None if entry.ratio is None else round(entry.ratio, 6),
        "runs": entry.runs,
        "level": entry.level,
        "limit_bytes": entry.limit,
        **({"reason": entry.reason} if entry.reason else {}),
    }


def _figures(figures: GpuFigures) -> dict[str, object]:
    device = figures.device
    entry: dict[str, object] = {
        "bdf": device.bdf,
        "gfx": device.gfx,
        "product": device.product,
        "partition": device.partition or None,
        "capacity_bytes": device.capacity_bytes,
        "before_bytes": figures.before,
        "peak_bytes": figures.peak,
        "after_bytes": figures.after,
        "leaked_bytes": figures.leaked,
    }
    unknown = {**device.unknown, **figures.unknown}
    if figures.leaked is None:
        unknown.setdefault("leaked_bytes", "it is after less before, and one of them is not known")
    entry["unknown"] = unknown
    return entry


def _holder(holder: Holder, when: str) -> dict[str, object]:
    return {"when": when, "pid": holder.pid, "name": holder.name or None, "bytes": holder.bytes}
