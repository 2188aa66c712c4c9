"""The baseline: figures of earlier runs in a JSON file, and how this run compares with them.

In the file, per command, the newest `HISTORY` runs; for each the figures of each GPU by its key. A key is the kind of
the GPU and its position in the job, not its PCI address: the next job may get another card of the same node.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rocm_ci.runner.files import write_atomic
from rocm_ci.vram_probe.figures import GpuFigures, Measurement
from rocm_ci.vram_probe.sizes import Amount

SCHEMA = 1
HISTORY = 50
"""Runs that are kept of one command."""
_COMMANDS = 200
"""Commands that are kept in one file; those that were not run for longest go first."""
_TREND_RUNS = 6
"""Fewer runs say nothing about a trend."""
_TREND_TAU = 0.6
"""Kendall's tau from which a floor counts as rising: four of five pairs of runs are in order."""
_TREND_RISE = 256 * 1024**2
_LARGEST = 16 * 1024**2

Level = Literal["ok", "warn", "fail"]


class BaselineError(Exception):
    """A file that is no baseline; the message says why, without the file's name."""


@dataclass(frozen=True, slots=True)
class Run:
    """Figures of one run; `gpus`: key → (before, taken at the peak, after), each unknown as None."""

    at: str
    gpus: Mapping[str, tuple[int | None, int | None, int | None]]


Baseline = Mapping[str, Sequence[Run]]
"""Command → its runs, oldest first."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How what a run took on a device compares with the median of earlier runs.

    Attributes:
        device: index of the device.
        now: bytes that this run took at its peak (median of its repetitions).
        baseline: median of the earlier runs; None without any.
        runs: how many earlier runs there are.
        level: `warn` or `fail` where a limit is exceeded.
        limit: the limit that was exceeded, in bytes; None where none was.
        reason: why there is no comparison; empty where there is one.
    """

    device: int
    now: int | None
    baseline: int | None
    runs: int
    level: Level = "ok"
    limit: int | None = None
    reason: str = ""

    @property
    def grown(self) -> int | None:
        """Bytes more (or fewer, negative) than the baseline."""
        return None if self.now is None or self.baseline is None else self.now - self.baseline

    @property
    def ratio(self) -> float | None:
        """`now` by `baseline`."""
        return self.now / self.baseline if self.now is not None and self.baseline else None


@dataclass(frozen=True, slots=True)
class Trend:
    """The idle floor of a device over the runs: `rise` bytes from the first to the newest, along a robust line."""

    device: int
    runs: int
    rise: int
    rising: bool


def key(gpu: GpuFigures) -> str:
    """What a GPU is called in the file."""
    device = gpu.device
    kind = device.gfx or device.product or "gpu"
    return f"{kind} {device.partition} #{device.index}" if device.partition else f"{kind} #{device.index}"


def load(path: Path) -> Baseline:
    """Read a baseline; an absent file is an empty one.

    Raises:
        BaselineError: it cannot be read, or is none.
    """
    try:
        if path.exists() and not path.is_file():  # a FIFO would be waited for
            raise BaselineError("is no regular file")
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BaselineError(f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    if len(raw) > _LARGEST:
        raise BaselineError(f"is larger than {_LARGEST // 1024**2} MiB")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BaselineError("is not JSON") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or data.get("kind") != "rocm-ci vram baseline":
        raise BaselineError(f"is no VRAM baseline of schema {SCHEMA}")
    commands = data.get("commands")
    if not isinstance(commands, dict):
        raise BaselineError("has no `commands`")
    return {str(name): _runs(name, runs) for name, runs in commands.items()}


def store(path: Path, baseline: Baseline, name: str, run: Run) -> None:
    """Write the baseline with one run more.

    Raises:
        InfraError: the file cannot be written.
    """
    commands = {command: list(runs) for command, runs in baseline.items() if command != name}
    while len(commands) >= _COMMANDS:
        del commands[next(iter(commands))]
    commands[name] = [*baseline.get(name, ()), run][-HISTORY:]
    lines = []
    for command, runs in commands.items():
        entries = ",\n   ".join(json.dumps({"at": each.at, "gpus": _plain(each)}) for each in runs)
        lines.append(f"  {json.dumps(command)}: [\n   {entries}\n  ]")
    body = ",\n".join(lines)
    head = f'{{\n "schema": {SCHEMA},\n "kind": "rocm-ci vram baseline",\n "commands": {{\n'
    write_atomic(path, f"{head}{body}\n }}\n}}\n")


def run_of(measured: Measurement, at: str) -> Run:
    """This run as an entry of the file."""
    gpus = {}
    for index, gpu in enumerate(measured.gpus):
        gpus[key(gpu)] = (gpu.before, now_taken(measured, index), gpu.after)
    return Run(at, gpus)


def now_taken(measured: Measurement, index: int) -> int | None:
    """What a run took on a device: the median of its repetitions."""
    repeated = measured.taken[index] if index < len(measured.taken) else (measured.gpus[index].taken,)
    known = [value for value in repeated if value is not None]
    return round(statistics.median(known)) if known else None


def compare(
    measured: Measurement,
    earlier: Sequence[Run],
    *,
    fail: Amount | None,
    warn: Amount | None,
    least: int,
) -> tuple[Growth, ...]:
    """How each device compares with the median of the earlier runs.

    Args:
        measured: this run.
        earlier: runs of the same command.
        fail: growth that fails; a share is one of the baseline.
        warn: growth that is told.
        least: growth in bytes below which nothing is said: a small figure easily doubles.
    """
    found = []
    for index, gpu in enumerate(measured.gpus):
        now = now_taken(measured, index)
        past = [taken for run in earlier if (taken := run.gpus.get(key(gpu), (None,) * 3)[1]) is not None]
        if now is None:
            found.append(Growth(index, None, None, len(past), reason="what this run took is unknown"))
        elif not past:
            found.append(Growth(index, now, None, 0, reason="there is no earlier run on such a GPU"))
        else:
            middle = round(statistics.median(past))
            level, limit = _level(now - middle, middle, fail, warn, least)
            found.append(Growth(index, now, middle, len(past), level, limit))
    return tuple(found)


def trends(measured: Measurement, earlier: Sequence[Run]) -> tuple[Trend, ...]:
    """For each device, whether what is in use before the runs creeps up (a leak that outlives each run)."""
    found = []
    for index, gpu in enumerate(measured.gpus):
        floors = [floor for run in earlier if (floor := run.gpus.get(key(gpu), (None,) * 3)[0]) is not None]
        if gpu.before is not None:
            floors.append(gpu.before)
        found.append(trend(index, floors))
    return tuple(found)


def trend(device: int, floors: Sequence[int]) -> Trend:
    """Theil-Sen line (median of all slopes) through the floors, and Kendall's tau for how steadily they rise."""
    count = len(floors)
    if count < _TREND_RUNS:
        return Trend(device, count, 0, rising=False)
    slopes = []
    order = 0
    for i in range(count):
        for j in range(i + 1, count):
            difference = floors[j] - floors[i]
            slopes.append(difference / (j - i))
            order += (difference > 0) - (difference < 0)
    rise = round(statistics.median(slopes) * (count - 1))
    tau = order / len(slopes)
    return Trend(device, count, rise, rising=rise >= _TREND_RISE and tau >= _TREND_TAU)


def _level(grown: int, baseline: int, fail: Amount | None, warn: Amount | None, least: int) -> tuple[Level, int | None]:
    levels: tuple[tuple[Level, Amount | None], ...] = (("fail", fail), ("warn", warn))
    for level, amount in levels:
        limit = amount.of(baseline) if amount else None
        if limit is not None and grown > limit and grown > least:
            return level, max(limit, least)
    return "ok", None


def _plain(run: Run) -> dict[str, dict[str, int | None]]:
    return {
        name: {"before": before, "taken": taken, "after": after} for name, (before, taken, after) in run.gpus.items()
    }


def _runs(name: str, entries: Any) -> list[Run]:
    if not isinstance(entries, list):
        raise BaselineError(f"has no list of runs for {name!r}")
    runs = []
    for entry in entries[-HISTORY:]:
        gpus = entry.get("gpus") if isinstance(entry, dict) else None
        if not isinstance(gpus, dict):
            raise BaselineError(f"has a run without figures for {name!r}")
        figures = {}
        for gpu, values in gpus.items():
            if not isinstance(values, dict):
                raise BaselineError(f"has a GPU without figures for {name!r}")
            figures[gpu] = (_bytes(values, "before"), _bytes(values, "taken"), _bytes(values, "after"))
        runs.append(Run(str(entry.get("at") or ""), figures))
    return runs


def _bytes(values: Mapping[str, object], name: str) -> int | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BaselineError(f"has {name} = {value!r}, which is no number of bytes")
    return value
