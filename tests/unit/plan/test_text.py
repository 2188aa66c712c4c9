"""What people read: the table and the job summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocm_ci_gen.manifest import Manifest
from rocm_ci_gen.plan.changes import Changes, unknown
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.model import Plan, first_few, shorten
from rocm_ci_gen.plan.text import headline, markdown, text

PULL = Event("pull_request", number=12, base_branch="main", base="a" * 40, head="b" * 40)
SRC = Changes(("src/a.cu", "setup.py"), None, "a" * 40, "b" * 40, "git")


@pytest.fixture
def plan(manifest: Manifest) -> Plan:
    return decide(manifest, replace(PULL, fork=True), SRC)


TABLE = """\
pull_request · 2 files changed · aaaaaaaaaaaa → bbbbbbbbbbbb · 1 of 3 jobs run

  job                runs      runner                      instances  why
  hipify-check       yes       ubuntu-latest                       1  src/a.cu matches src/**
  kernel-tests       withheld  mi250 | mi300x                      4  REASON
  sglang-regression  no        self-hosted, roc-gpu-mi200          1  no changed file matches configs/**

  concurrency  rocm-ci-pull_request-12 (a newer run of the group cancels this one)
  not covered  1 file that no stage covers: setup.py
  note         Withheld from a fork (never): kernel-tests. Nothing of it was verified.
"""


def test_table(plan: Plan) -> None:
    assert text(plan, width=10_000) == TABLE.replace("REASON", plan.jobs[1].reason)


def test_lines_fit_into_a_terminal(plan: Plan) -> None:
    lines = text(plan, width=120).splitlines()
    assert max(map(len, lines)) <= 130  # the reasons keep at least 40 columns, however narrow the terminal
    assert " ".join(text(plan, width=120).split()) == " ".join(text(plan, width=10_000).split())


def test_colours_only_when_asked_for(plan: Plan) -> None:
    import re

    assert "\x1b" not in text(plan)
    coloured = text(plan, color=True)
    assert "\x1b[33mwithheld" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text(plan)


@pytest.mark.parametrize(
    ("event", "changes", "expected"),
    [
        (PULL, SRC, "pull_request · 2 files changed · aaaaaaaaaaaa → bbbbbbbbbbbb · 2 of 3 jobs run"),
        (PULL, Changes(("x",), None), "pull_request · 1 file changed · nothing to run"),
        (PULL, unknown("the checkout is shallow"), "pull_request · everything runs: the checkout is shallow"),
        (Event("push", ref="refs/heads/x"), SRC, "push: the workflow does not start"),
        (Event("schedule"), unknown("-"), "schedule · 3 of 3 jobs run"),
    ],
)
def test_headline(manifest: Manifest, event: Event, changes: Changes, expected: str) -> None:
    assert headline(decide(manifest, event, changes)) == expected


def test_summary(plan: Plan) -> None:
    lines = markdown(plan).splitlines()
    assert lines[2:4] == ["| job | runs | runner | instances | why |", "| --- | --- | --- | --- | --- |"]
    assert lines[4] == (
        "| <code>hipify-check</code> | **yes** | <code>ubuntu-latest</code> | 1 | src/a.cu matches src/&#42;&#42; |"
    )
    assert "- <code>setup.py</code>" in lines


def test_names_of_files_stay_text_in_the_summary(manifest: Manifest) -> None:
    evil = "src/|`</code><script>[x](http://y)*_@org#1.cu"
    plan = decide(manifest, PULL, Changes((evil, f"x{evil[3:]}"), None))
    shown = markdown(plan)
    body = shown.replace("<code>", "").replace("</code>", "").replace("<details><summary>", "")
    assert "<script>" not in shown
    assert "](http" not in body
    assert "@org" not in body
    row = next(line for line in shown.splitlines() if "hipify-check" in line)
    assert row.count("|") == 6


def test_a_long_list_is_cut_with_a_count(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, Changes(tuple(f"x{number}" for number in range(1000)), None))
    assert "… and 950 more" in markdown(plan)
    assert "1,000 files that no stage covers: x0, x1, x2, x3, x4, … (+995)" in text(plan, width=10_000)


def test_a_runner_group_is_named(make: Callable[..., Manifest]) -> None:
    base = """
version: 1
runners: {gpu: {labels: big, group: gpus, gfx: gfx90a, gpus: 1}}
stages: {kernel-tests: {}}
"""
    plan = decide(make(base=base), PULL, SRC)
    assert "group gpus, big" in text(plan)
    jobs = plan.to_json()["jobs"]
    assert isinstance(jobs, dict)
    assert jobs["kernel-tests"]["expect"][0]["group"] == "gpus"


def test_shorten() -> None:
    assert shorten("abcdefghij", 10) == "abcdefghij"
    assert shorten("abcdefghijk", 10) == "abcd…ghijk"
    assert len(shorten("x" * 1000, 300)) == 300


def test_first_few() -> None:
    assert first_few(["a", "b"], 2) == "a, b"
    assert first_few(["a", "b", "c"], 2) == "a, b, … (+1)"


def test_what_does_not_start_has_no_group(manifest: Manifest) -> None:
    plan = decide(manifest, Event("push", ref="refs/heads/x"), SRC)
    assert "rocm-ci-push" not in text(plan)
    assert text(plan).endswith("main\n")
    assert "Concurrency" not in markdown(plan)
    started = decide(manifest, Event("push", ref="refs/heads/main"), SRC)
    assert "rocm-ci-push-refs/heads/main" in text(started)
    assert "Concurrency group" in markdown(started)


def test_one_job_is_one_job(make: Callable[..., Manifest]) -> None:
    base = "version: 1\nrunners: {cpu: {labels: ubuntu-latest}}\nstages: {hipify-check: null}\n"
    assert headline(decide(make(base=base), PULL, SRC)).endswith("1 of 1 job runs")
