"""From figures to the verdict: sizes, baseline, growth, trend, judgement."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci.runner.errors import Code, InfraError
from rocm_ci.vram_probe import baseline
from rocm_ci.vram_probe.baseline import Run
from rocm_ci.vram_probe.judge import CommandEnd, Limits, dirty, judge
from rocm_ci.vram_probe.sizes import Amount, Seconds, SizeOrPercent, parse_amount, show
from rocm_ci.vram_probe.source import Holder
from support.vram_figures import GIB, device, measurement

MIB = 1 << 20
LIMITS = Limits()
CLEAN = (GIB, 5 * GIB, GIB)


def runs(*taken: int, before: int = GIB) -> list[Run]:
    return [Run("", {"gfx942 #0": (before, value, before)}) for value in taken]


# --- sizes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "whole", "expected"),
    [("512MiB", None, 512 * MIB), ("1.5GiB", 0, 3 * GIB // 2), ("0B", 5, 0), ("10%", 1000, 100), ("10%", None, None)],
)
def test_amounts(text: str, whole: int | None, expected: int | None) -> None:
    assert parse_amount(text).of(whole) == expected


@pytest.mark.parametrize(
    "text", ["", "5", "5GB", "-1GiB", "1e3MiB", "10 %", "GiB", "1GiB,10%", "\N{ARABIC-INDIC DIGIT ONE}GiB"]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write it as 512MiB"):
        SizeOrPercent().convert(text, None, None)


def test_a_percentage_where_only_a_size_makes_sense() -> None:
    with pytest.raises(click.BadParameter, match="is a percentage"):
        SizeOrPercent(percent=False).convert("5%", None, None)


@pytest.mark.parametrize(("text", "seconds"), [("50ms", 0.05), ("0.05", 0.05), ("2m", 120), ("10s", 10)])
def test_times(text: str, seconds: float) -> None:
    assert Seconds().convert(text, None, None) == pytest.approx(seconds)
    with pytest.raises(click.BadParameter):
        Seconds(least=1000).convert(text, None, None)


def test_bytes_for_people() -> None:
    assert [show(n) for n in (None, 0, 2048, 3 * MIB, 3 * GIB // 2)] == ["unknown", "0 B", "2 KiB", "3 MiB", "1.50 GiB"]


# --- judgement ------------------------------------------------------------------------------------------------------


def test_ok() -> None:
    told = judge(measurement(CLEAN, CLEAN), (), (), LIMITS, CommandEnd(0, "exited with status 0"))
    assert (told.verdict, told.code) == ("ok", Code.PASSED)
    assert "peaked at 5.00 GiB on 2 GPUs" in told.message


def test_a_leak_names_the_gpu_the_amount_and_who_holds_it() -> None:
    holders = (Holder(1, 4242, "python3", 2 * GIB), Holder(0, 7, "other", GIB))
    measured = measurement(CLEAN, (GIB, 5 * GIB, 3 * GIB), holders_after=holders, settle_seconds=10.0)
    told = judge(measured, (), (), LIMITS, None)
    assert (told.verdict, told.code) == ("leak", Code.FAILED)
    assert told.message == "2.00 GiB of VRAM stayed in use on 0000:06:00.0, 10 s after the command ended"
    assert "process 4242 (python3): 2.00 GiB" in told.help
    assert "other" not in told.help


def test_a_leak_that_nobody_holds_needs_a_reset() -> None:
    told = judge(measurement((GIB, 5 * GIB, 3 * GIB)), (), (), LIMITS, None)
    assert "no process is seen to hold it" in told.help
    assert "reset" in told.help


def test_what_is_within_the_tolerance_is_no_leak() -> None:
    measured = measurement((GIB, 5 * GIB, GIB + 64 * MIB))
    assert judge(measured, (), (), LIMITS, None).verdict == "ok"
    assert judge(measured, (), (), Limits(max_leak=64 * MIB - 1), None).verdict == "leak"
    assert measured.leaked == 64 * MIB


@pytest.mark.parametrize("hole", range(3))
def test_an_unknown_figure_is_no_pass(hole: int) -> None:
    figures: list[int | None] = [*CLEAN]
    figures[hole] = None
    told = judge(measurement((figures[0], figures[1], figures[2])), (), (), LIMITS, None)
    assert (told.verdict, told.code) == (None, Code.INFRA)
    assert ("before", "peak", "after")[hole] in told.message


def test_no_sample_is_no_pass() -> None:
    assert judge(measurement(CLEAN, samples=0), (), (), LIMITS, None).code is Code.INFRA


def test_a_lost_gpu_is_the_nodes_fault_whatever_the_command_says() -> None:
    measured = measurement((GIB, 5 * GIB, None), lost={0: "No such device"})
    told = judge(measured, (), (), LIMITS, CommandEnd(1, "exited with status 1"))
    assert (told.verdict, told.code) == ("lost", Code.INFRA)
    assert "0000:05:00.0 was lost" in told.message
    assert "No such device" in told.message


def test_a_failing_command_fails_and_the_memory_is_told_too() -> None:
    end = CommandEnd(2, "exited with status 2")
    told = judge(measurement(CLEAN), (), (), LIMITS, end)
    assert (told.verdict, told.code) == ("ok", Code.FAILED)
    told = judge(measurement((GIB, 5 * GIB, 3 * GIB)), (), (), LIMITS, end)
    assert (told.verdict, told.code) == ("leak", Code.FAILED)
    assert "exited with status 2; 2.00 GiB" in told.message


def test_a_dirty_start() -> None:
    devices = (device(0), device(1))
    holders = (Holder(1, 99, "", 3 * GIB),)
    assert dirty(devices, (GIB, 3 * GIB), None, holders) is None
    assert dirty(devices, (GIB, 3 * GIB), parse_amount("2%"), holders) is None
    told = dirty(devices, (GIB, 3 * GIB), parse_amount("1GiB"), holders)
    assert told is not None
    assert (told.verdict, told.code) == ("dirty-start", Code.INFRA)
    assert "3.00 GiB in use on 0000:06:00.0, allowed is 1GiB" in told.message
    assert "process 99: 3.00 GiB" in told.help


def test_a_start_that_cannot_be_read_is_not_clear() -> None:
    told = dirty((device(),), (None,), parse_amount("1GiB"), ())
    assert told is not None
    assert told.verdict is None
    no_capacity = (device(capacity_bytes=None, unknown={"capacity_bytes": "no file"}),)
    told = dirty(no_capacity, (0,), parse_amount("5%"), ())
    assert told is not None
    assert "no file" in told.message


# --- growth ---------------------------------------------------------------------------------------------------------


def grown(taken: int, earlier: list[Run], fail: str = "10%", warn: str | None = None, least: int = 64 * MIB) -> str:
    limits = Limits(max_growth=parse_amount(fail), warn_growth=parse_amount(warn) if warn else None, min_growth=least)
    measured = measurement((GIB, GIB + taken, GIB))
    growth = baseline.compare(
        measured, earlier, fail=limits.max_growth, warn=limits.warn_growth, least=limits.min_growth
    )
    told = judge(measured, growth, (), limits, None)
    return f"{told.verdict} {int(told.code)}"


def test_growth_is_against_the_median_not_the_last_run() -> None:
    past = runs(4 * GIB, 4 * GIB, 9 * GIB)
    assert grown(4 * GIB, past) == "ok 0"
    assert grown(5 * GIB, past) == "growth 1"


def test_growth_limits() -> None:
    past = runs(4 * GIB)
    assert grown(4 * GIB + 300 * MIB, past, "500MiB") == "ok 0"
    assert grown(4 * GIB + 501 * MIB, past, "500MiB") == "growth 1"
    assert grown(4 * GIB + 501 * MIB, past, "50%", "10%") == "growth 0"
    assert grown(3 * GIB, past) == "ok 0"


def test_a_small_figure_that_doubles_is_no_growth() -> None:
    assert grown(40 * MIB, runs(10 * MIB)) == "ok 0"
    assert grown(40 * MIB, runs(10 * MIB), least=MIB) == "growth 1"


def test_without_an_earlier_run_there_is_no_comparison() -> None:
    (entry,) = baseline.compare(measurement(CLEAN), [], fail=parse_amount("1%"), warn=None, least=0)
    assert (entry.level, entry.baseline, entry.grown, entry.ratio) == ("ok", None, None, None)
    assert "no earlier run" in entry.reason


def test_a_baseline_of_zero_has_no_ratio() -> None:
    (entry,) = baseline.compare(measurement(CLEAN), runs(0), fail=parse_amount("10%"), warn=None, least=0)
    assert (entry.level, entry.ratio) == ("fail", None)


def test_repetitions_count_by_their_median() -> None:
    measured = measurement(CLEAN, taken=((GIB, 9 * GIB, 2 * GIB),))
    assert baseline.now_taken(measured, 0) == 2 * GIB


def test_a_warning_is_an_annotation() -> None:
    measured = measurement((GIB, 6 * GIB, GIB))
    growth = baseline.compare(measured, runs(4 * GIB), fail=None, warn=parse_amount("10%"), least=0)
    told = judge(measured, growth, (), LIMITS, None)
    assert [(note.level, note.title) for note in told.annotations] == [("warning", "rocm-ci: performance warning")]


# --- trend ----------------------------------------------------------------------------------------------------------


def test_a_floor_that_creeps_up_is_told() -> None:
    floors = [GIB + step * 100 * MIB for step in range(8)]
    floors[3], floors[4] = floors[4], floors[3]
    trend = baseline.trend(0, floors)
    assert trend.rising
    assert 600 * MIB <= trend.rise <= 800 * MIB
    told = judge(measurement(CLEAN), (), (trend,), LIMITS, None)
    assert "rose by" in told.annotations[0].message


@pytest.mark.parametrize(
    "floors",
    [
        [GIB] * 20,
        [GIB, 9 * GIB, GIB, GIB, GIB, GIB, GIB, 9 * GIB],
        [GIB + step * 1000 for step in range(20)],
        [GIB, 3 * GIB, 9 * GIB],
        [9 * GIB - step * GIB for step in range(8)],
    ],
    ids=["flat", "outliers", "tiny", "few", "falling"],
)
def test_a_floor_that_does_not_creep_up(floors: list[int]) -> None:
    assert not baseline.trend(0, floors).rising


# --- the file -------------------------------------------------------------------------------------------------------


def test_the_file_keeps_what_was_stored_and_no_more_than_it_should(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "vram.json"
    for step in range(baseline.HISTORY + 5):
        run = baseline.run_of(measurement((GIB, GIB + step, GIB)), f"day {step}")
        baseline.store(path, baseline.load(path), "pytest", run)
    kept = baseline.load(path)["pytest"]
    assert len(kept) == baseline.HISTORY
    assert kept[-1] == Run(f"day {baseline.HISTORY + 4}", {"gfx942 #0": (GIB, baseline.HISTORY + 4, GIB)})
    baseline.store(path, baseline.load(path), "other", kept[0])
    assert set(baseline.load(path)) == {"pytest", "other"}
    assert [each.name for each in path.parent.iterdir()] == ["vram.json"]


def test_an_unknown_figure_is_kept_as_unknown(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    baseline.store(path, {}, "x", baseline.run_of(measurement((None, GIB, GIB)), ""))
    assert baseline.load(path)["x"][0].gpus == {"gfx942 #0": (None, None, GIB)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("[]", "no VRAM baseline"),
        ('{"schema": 2, "kind": "rocm-ci vram baseline"}', "no VRAM baseline"),
        ('{"schema": 1, "kind": "rocm-ci vram baseline", "commands": []}', "no `commands`"),
        ('{"schema": 1, "kind": "rocm-ci vram baseline", "commands": {"x": 5}}', "no list of runs"),
        ('{"schema": 1, "kind": "rocm-ci vram baseline", "commands": {"x": [5]}}', "a run without figures"),
        (
            '{"schema": 1, "kind": "rocm-ci vram baseline", "commands": {"x": [{"gpus": {"a": {"taken": -1}}}]}}',
            "no number of bytes",
        ),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(baseline.BaselineError, match=why):
        baseline.load(path)


@given(st.binary(max_size=200), st.integers(0, 10_000))
def test_a_damaged_file_is_refused_or_read_and_never_breaks(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int
) -> None:
    path = tmp_path_factory.mktemp("b") / "b.json"
    baseline.store(path, {}, "x", baseline.run_of(measurement(CLEAN), "now"))
    data = path.read_bytes()
    at = place % len(data)
    path.write_bytes(data[:at] + noise + data[at + len(noise) :])
    try:
        found = baseline.load(path)
    except baseline.BaselineError:
        return
    assert all(isinstance(run, Run) for each in found.values() for run in each)
    json.dumps(list(found))


def test_a_baseline_that_cannot_be_written_is_the_nodes_fault() -> None:
    with pytest.raises(InfraError, match="cannot write"):
        baseline.store(Path("/proc/nowhere/b.json"), {}, "x", Run("", {}))


def test_amounts_are_values() -> None:
    assert parse_amount("10%") == Amount("10%", fraction=0.1)
