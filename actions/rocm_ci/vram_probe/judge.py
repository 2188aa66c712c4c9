"""From figures to one verdict. Pure functions: what is measured comes in, what is said goes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rocm_ci.runner.annotations import Annotation
from rocm_ci.runner.errors import Code
from rocm_ci.runner.text import plural
from rocm_ci.vram_probe.baseline import Growth, Trend
from rocm_ci.vram_probe.figures import GpuFigures, Measurement
from rocm_ci.vram_probe.sizes import Amount, show
from rocm_ci.vram_probe.source import Device, Holder

Verdict = Literal["ok", "leak", "growth", "dirty-start", "lost"]

LABEL = "rocm-ci: performance warning"
_RESET = "rocm-smi --gpureset -d N, or restart the node"


@dataclass(frozen=True)
class Limits:
    """What is asked of a run; None is not asked.

    Attributes:
        require_clear: most that may be in use before.
        max_leak: most bytes that may stay in use on a device.
        max_growth: growth against the baseline that fails.
        warn_growth: growth that is told.
        min_growth: growth in bytes below which nothing is said.
    """

    require_clear: Amount | None = None
    max_leak: int = 64 * 1024**2
    max_growth: Amount | None = None
    warn_growth: Amount | None = None
    min_growth: int = 64 * 1024**2


@dataclass(frozen=True)
class Judgement:
    """The verdict and what is said; `verdict` is None where the figures do not suffice for one."""

    verdict: Verdict | None
    code: Code
    message: str
    help: str = ""
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True)
class CommandEnd:
    """How the watched command ended: its exit status, and the words for it."""

    status: int
    words: str


def dirty(
    devices: Sequence[Device], before: Sequence[int | None], require: Amount | None, holders: Sequence[Holder]
) -> Judgement | None:
    """The judgement on a start that is not clear; None where it is, or nothing is required."""
    if require is None:
        return None
    for device, used in zip(devices, before, strict=True):
        limit = require.of(device.capacity_bytes)
        if used is None or limit is None:
            why = device.unknown.get("capacity_bytes", "its capacity is unknown") if limit is None else "it is unknown"
            message = f"require-clear cannot be judged: what is in use on {device.title} is not known: {why}"
            return Judgement(None, Code.INFRA, message, "name require-clear as a size, or find out why it is unknown")
    over = [
        (device, used)
        for device, used in zip(devices, before, strict=True)
        if used is not None and used > (require.of(device.capacity_bytes) or 0)
    ]
    if not over:
        return None
    device, used = max(over, key=lambda pair: pair[1])
    message = f"VRAM was not free before the command: {show(used)} in use on {device.title}, allowed is {require.text}"
    if len(over) > 1:
        message += f", and {plural(len(over) - 1, 'more GPUs')} over it"
    owners = [holder for holder in holders if holder.device == device.index]
    who = owned_by(owners)
    if who:
        advice = f"held by {who}; end it, or wait for the job that it belongs to. The command was not run"
    else:
        advice = (
            "no process is seen to hold it: an earlier job in another container, or memory that only a reset "
            f"gives back ({_RESET}). The command was not run"
        )
    return Judgement("dirty-start", Code.INFRA, message, advice)


def judge(
    measured: Measurement,
    growth: Sequence[Growth],
    trends: Sequence[Trend],
    limits: Limits,
    end: CommandEnd | None,
) -> Judgement:
    """The verdict on a run that was measured.

    The worst decides: lost, then what is not known, then leak, growth, ok. A command that failed makes the code
    `FAILED` whatever the memory did; only a GPU that was lost is the node's fault before that.
    """
    notes = _annotations(measured, growth, trends)
    if measured.lost:
        index, reason = next(iter(measured.lost.items()))
        device = measured.gpus[index].device
        count = len(measured.lost)
        message = f"{device.title} was lost while the command ran: {reason}"
        if count > 1:
            message += f" (and {plural(count - 1, 'more GPUs')})"
        return Judgement("lost", Code.INFRA, message, "look at dmesg on the node, then reset or replace the GPU", notes)
    unknown = _unknown(measured)
    failed = end is not None and end.status != 0
    told: Judgement
    leak = _worst_leak(measured, limits)
    over = [entry for entry in growth if entry.level == "fail"] or [entry for entry in growth if entry.level == "warn"]
    if unknown:
        told = Judgement(
            None, Code.INFRA, unknown, "a figure that is not known is no pass; see `unknown` in the report"
        )
    elif leak is not None:
        told = _leak(measured, leak, limits)
    elif over:
        worst = max(over, key=lambda entry: entry.grown or 0)
        told = _growth(measured, worst)
    else:
        told = Judgement("ok", Code.PASSED, _fine(measured, growth))
    if failed and end is not None:
        more = "" if told.verdict == "ok" else f"; {told.message}"
        message = f"the command {end.words}{more or '; its VRAM is in order'}"
        return Judgement(told.verdict, Code.FAILED, message, told.help or "its own output says why", notes)
    return Judgement(told.verdict, told.code, told.message, told.help, notes)


def owned_by(holders: Sequence[Holder], most: int = 3) -> str:
    """The greatest holders in words; empty without any."""
    first = sorted(holders, key=lambda holder: -holder.bytes)[:most]
    words = [f"process {h.pid}{f' ({h.name})' if h.name else ''}: {show(h.bytes)}" for h in first]
    more = len(holders) - len(first)
    return ", ".join(words) + (f", and {plural(more, 'more processes')}" if more > 0 else "")


def _unknown(measured: Measurement) -> str:
    if measured.samples < 1:
        return "no sample was taken, so nothing is known about VRAM"
    for gpu in measured.gpus:
        for name in ("before", "peak", "after"):
            if getattr(gpu, name) is None:
                why = gpu.unknown.get(f"{name}_bytes", "it could not be read")
                return f"VRAM of {gpu.device.title} is not known ({name}): {why}"
    return ""


def _worst_leak(measured: Measurement, limits: Limits) -> GpuFigures | None:
    leaking = [gpu for gpu in measured.gpus if gpu.leaked is not None and gpu.leaked > limits.max_leak]
    return max(leaking, key=lambda gpu: gpu.leaked or 0, default=None)


def _leak(measured: Measurement, worst: GpuFigures, limits: Limits) -> Judgement:
    leaking = [gpu for gpu in measured.gpus if (gpu.leaked or 0) > limits.max_leak]
    waited = f"{measured.settle_seconds:.0f} s after the command ended"
    message = f"{show(worst.leaked)} of VRAM stayed in use on {worst.device.title}, {waited}"
    if len(leaking) > 1:
        message += f"; {len(leaking)} GPUs leak {show(sum(gpu.leaked or 0 for gpu in leaking))} together"
    who = owned_by([holder for holder in measured.holders_after if holder.device == worst.device.index])
    if who:
        advice = f"held by {who}: end what the command starts before it ends"
    elif measured.holders_note:
        advice = f"who holds it cannot be told ({measured.holders_note}); look for processes that the command left"
    else:
        advice = f"no process is seen to hold it; if it stays, the node needs a reset ({_RESET})"
    return Judgement("leak", Code.FAILED, message, advice)


def _growth(measured: Measurement, worst: Growth) -> Judgement:
    title = measured.gpus[worst.device].device.title
    share = f", {(worst.ratio - 1) * 100:+.1f} %" if worst.ratio is not None else ""
    message = (
        f"performance warning: the run took {show(worst.now)} of VRAM on {title}, "
        f"{show(worst.grown)} more than the median of {plural(worst.runs, 'earlier runs')}{share}"
    )
    advice = "find what takes more memory, or accept it by a new baseline (remove the run's entries from the file)"
    return Judgement("growth", Code.FAILED if worst.level == "fail" else Code.PASSED, message, advice)


def _fine(measured: Measurement, growth: Sequence[Growth]) -> str:
    compared = [entry for entry in growth if entry.baseline is not None]
    against = ""
    if compared:
        most = max(compared, key=lambda entry: entry.grown or 0)
        sign = "+" if (most.grown or 0) >= 0 else ""
        against = f", {sign}{show(most.grown)} against the baseline"
    return (
        f"VRAM peaked at {show(measured.peak)} on {plural(len(measured.gpus), 'GPUs')}, nothing stayed in use{against}"
    )


def _annotations(measured: Measurement, growth: Sequence[Growth], trends: Sequence[Trend]) -> tuple[Annotation, ...]:
    found = []
    for entry in growth:
        if entry.level == "warn":
            title = measured.gpus[entry.device].device.title
            text = f"{title}: {show(entry.grown)} more VRAM than the median of {plural(entry.runs, 'earlier runs')}"
            found.append(Annotation("warning", text, title=LABEL))
    for trend in trends:
        if trend.rising:
            title = measured.gpus[trend.device].device.title
            text = (
                f"{title}: what is in use before the runs rose by {show(trend.rise)} over {trend.runs} runs; "
                "something outlives each job and holds VRAM"
            )
            found.append(Annotation("warning", text, title="vram-probe: the idle floor creeps up"))
    unread = sum(measured.unreadable)
    if unread and not measured.lost:
        text = f"{unread:,} of {measured.samples * len(measured.gpus):,} readings of VRAM failed"
        found.append(Annotation("notice", text, title="vram-probe"))
    return tuple(found)
