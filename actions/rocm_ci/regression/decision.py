"""Samples in, decision out: is the candidate slower than it may be? Pure; no clock, no files.

The rule, and the simulation that it was chosen by, are in docs/regression.md and benchmarks/sim_regression.py.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rocm_ci.regression.student import t99

Verdict = Literal["ok", "regressed", "inconclusive"]

MIN_PROCESSES = 3
"""Fewer say too little about how processes differ."""
MIN_BASELINE = 3
"""Green runs without which a ratio has nothing to be held against."""


@dataclass(frozen=True)
class Decision:
    """What the samples say.

    Attributes:
        verdict: ``ok``: not slower than allowed. ``regressed``: slower. ``inconclusive``: the samples cannot tell,
            which is no pass.
        ratio: Time of the candidate over that of the reference (with a baseline: over what that ratio was), 1.1 =
            10 % slower; NaN where there is no sample.
        ci_low: Lower end of the 98 % interval of ``ratio`` (each end is passed with a probability of 1 %).
        ci_high: Its upper end.
        reason: Why, and for ``inconclusive`` what would settle it.
        suspect: Whether a confirming run could still change the verdict to ``regressed`` or from it.
    """

    verdict: Verdict
    ratio: float
    ci_low: float
    ci_high: float
    reason: str
    suspect: bool = False


def decide(
    processes: Sequence[Sequence[float]],
    *,
    tolerance: float,
    baseline: Sequence[float] | None = None,
    confirm: Sequence[Sequence[float]] | None = None,
) -> Decision:
    """Decide one benchmark.

    Args:
        processes: One list for each process, of log(candidate / reference) of its interleaved blocks. Without
            ``baseline`` the reference is the base commit's code; with it, a kernel that does not change.
        tolerance: Slowdown that is allowed, 0.05 = 5 %.
        baseline: The same figure, log(candidate / reference), of earlier green runs: one value for each run.
        confirm: Processes of a second run, made because the first one was suspect.

    Returns:
        The decision. The centre of a process is the median of its blocks, so that single outliers do not count;
        processes are the independent samples, because blocks of one process share its clocks and memory layout.

    Raises:
        ValueError: ``tolerance`` is not above 0, or a value is not finite.
    """
    if not tolerance > 0 or not math.isfinite(tolerance):
        raise ValueError(f"tolerance is {tolerance}; it must be above 0, as 0.05 for 5 %")
    first = _centres(processes)
    second = _centres(confirm or ())
    old = list(baseline) if baseline is not None else None
    if not all(map(math.isfinite, [*first, *second, *(old or ())])):
        raise ValueError("a sample is NaN or infinite: no time can be 0 or unknown")
    if len(first) < MIN_PROCESSES:
        return _too_few(first, f"{len(first)} processes were measured, {MIN_PROCESSES} are needed")
    if old is not None and len(old) < MIN_BASELINE:
        return _too_few(first, f"the baseline has {len(old)} green runs, {MIN_BASELINE} are needed")
    return _decide(first, second, math.log1p(tolerance), old)


def _decide(first: list[float], second: list[float], limit: float, baseline: list[float] | None) -> Decision:
    centre = statistics.fmean(baseline) if baseline else 0.0
    both = [value - centre for value in (*first, *second)]
    estimate = statistics.fmean(both)
    margin = _margin(both, baseline)
    low, high = estimate - margin, estimate + margin
    interval = f"{_percent(estimate)} (98 % interval {_percent(low)} to {_percent(high)})"
    allowed = _percent(limit)
    agree = not second or all(statistics.fmean(part) - centre > limit for part in (first, second))

    def decision(verdict: Verdict, reason: str, *, suspect: bool) -> Decision:
        return Decision(verdict, math.exp(estimate), math.exp(low), math.exp(high), reason, suspect)

    if estimate > limit:
        if low > 0 and agree:
            return decision("regressed", f"slower by {interval}; allowed {allowed}", suspect=not second)
        if second and not agree:
            return decision(
                "inconclusive",
                f"slower by {interval}, but only one of the two runs is above {allowed}: run it again on a quiet node",
                suspect=False,
            )
        return decision(
            "inconclusive", f"slower by {interval}, which noise alone can do: {_cure(baseline)}", suspect=not second
        )
    if high > 2 * limit:
        # A pass promises that a slowdown of twice the limit would have been seen.
        return decision(
            "inconclusive",
            f"changed by {interval}: {_percent(2 * limit)} slower cannot be ruled out: {_cure(baseline)}",
            suspect=not second,
        )
    return decision("ok", f"changed by {interval}; allowed {allowed}", suspect=False)


def _margin(values: list[float], baseline: list[float] | None) -> float:
    """Half the 98 % interval: of the mean, and with a baseline of what one more green run would give."""
    own = statistics.variance(values) / len(values)
    margin = t99(len(values) - 1) * math.sqrt(own)
    if baseline:
        spread = statistics.variance(baseline)
        # A job differs from the next one by more than its processes differ among themselves.
        margin = max(margin, t99(len(baseline) - 1) * math.sqrt(spread * (1 + 1 / len(baseline))))
    return margin


def _cure(baseline: list[float] | None) -> str:
    if baseline is None:
        return "more processes or a quiet node would settle it"
    return "compare with the base commit in the same job (--against), or keep more green runs of this GPU"


def _centres(processes: Sequence[Sequence[float]]) -> list[float]:
    return [statistics.median(blocks) for blocks in processes if blocks]


def _too_few(values: list[float], reason: str) -> Decision:
    ratio = math.exp(statistics.fmean(values)) if values else math.nan
    return Decision("inconclusive", ratio, 0.0, math.inf, reason, suspect=False)


def _percent(value: float) -> str:
    return f"{math.expm1(value) * 100:+.1f} %"
