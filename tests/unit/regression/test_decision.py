"""The door of the benchmark gate: what is ok, what is slower, and what cannot be told."""

from __future__ import annotations

import math
import random

import pytest

from rocm_ci.regression import decide
from rocm_ci.regression.student import t99


def measured(slowdown: float, *, sd: float = 0.005, processes: int = 5, seed: int = 1) -> list[list[float]]:
    chance = random.Random(seed)  # noqa: S311 - the same samples in every run
    centres = [math.log1p(slowdown) + chance.gauss(0, sd) for _ in range(processes)]
    return [[centre + chance.gauss(0, 0.005) for _ in range(12)] for centre in centres]


def test_no_change_is_ok() -> None:
    found = decide(measured(0.0), tolerance=0.05)
    assert found.verdict == "ok"
    assert not found.suspect
    assert found.ci_low < 1 < found.ci_high
    assert found.ratio == pytest.approx(1, abs=0.01)


def test_ten_percent_slower_is_regressed_before_and_after_it_is_confirmed() -> None:
    found = decide(measured(0.10), tolerance=0.05)
    assert (found.verdict, found.suspect) == ("regressed", True)
    found = decide(measured(0.10), tolerance=0.05, confirm=measured(0.10, seed=2))
    assert (found.verdict, found.suspect) == ("regressed", False)
    assert found.ratio == pytest.approx(1.10, abs=0.01)
    assert "allowed +5.0 %" in found.reason


def test_a_slowdown_that_the_second_run_does_not_have_is_not_regressed() -> None:
    found = decide(measured(0.10), tolerance=0.05, confirm=measured(0.01, seed=2))
    assert found.verdict == "inconclusive"
    assert "only one of the two runs" in found.reason


def test_faster_is_ok() -> None:
    assert decide(measured(-0.2), tolerance=0.05).verdict == "ok"


def test_noise_that_could_hide_a_slowdown_is_inconclusive_and_says_what_would_settle_it() -> None:
    found = decide(measured(0.0, sd=0.2), tolerance=0.05)
    assert found.verdict == "inconclusive"
    assert "more processes" in found.reason


def test_single_late_blocks_do_not_count() -> None:
    samples = [[*blocks[:-1], 5.0] for blocks in measured(0.0)]
    assert decide(samples, tolerance=0.05).verdict == "ok"


@pytest.mark.parametrize("samples", [[], [[]], [[0.0]], [[0.0], [0.0]], [[0.0], [0.0], []]])
def test_too_few_processes_are_no_pass(samples: list[list[float]]) -> None:
    found = decide(samples, tolerance=0.05)
    assert found.verdict == "inconclusive"
    assert "3 are needed" in found.reason


def test_the_ratio_is_held_against_what_it_was() -> None:
    green = [0.3, 0.301, 0.299, 0.3, 0.3005]
    at_rest = [[0.3 + value for value in blocks] for blocks in measured(0.0)]
    slower = [[0.3 + value for value in blocks] for blocks in measured(0.1)]
    assert decide(at_rest, tolerance=0.05, baseline=green).verdict == "ok"
    found = decide(slower, tolerance=0.05, baseline=green)
    assert found.verdict == "regressed"
    assert found.ratio == pytest.approx(1.1, abs=0.01)


def test_a_baseline_that_jumps_about_cannot_prove_a_slowdown() -> None:
    found = decide(measured(0.07), tolerance=0.05, baseline=[0.0, 0.06, -0.05, 0.04, -0.04])
    assert found.verdict == "inconclusive"
    assert "--against" in found.reason


def test_a_short_baseline_is_no_pass() -> None:
    found = decide(measured(0.0), tolerance=0.05, baseline=[0.0, 0.0])
    assert (found.verdict, found.reason) == ("inconclusive", "the baseline has 2 green runs, 3 are needed")


@pytest.mark.parametrize("tolerance", [0.0, -0.1, math.nan, math.inf])
def test_a_tolerance_that_makes_no_sense_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        decide(measured(0.0), tolerance=tolerance)


def test_a_sample_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        decide([[math.nan], [0.0], [0.0]], tolerance=0.05)


def test_identical_samples_have_an_interval_of_one_point() -> None:
    found = decide([[0.0], [0.0], [0.0]], tolerance=0.05)
    assert (found.verdict, found.ci_low, found.ci_high) == ("ok", 1.0, 1.0)


def test_quantiles_fall_with_the_degrees_of_freedom() -> None:
    values = [t99(degrees) for degrees in range(1, 300)]
    assert values == sorted(values, reverse=True)
    assert t99(4) == 3.747
    assert t99(22) == t99(20)
    with pytest.raises(ValueError, match="at least one"):
        t99(0)
