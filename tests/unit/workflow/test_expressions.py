"""The conditions, names and groups that GitHub evaluates."""

from __future__ import annotations

import re

import pytest

from rocm_ci_gen.manifest.model import Forks
from rocm_ci_gen.workflow import expressions
from rocm_ci_gen.workflow.errors import RenderError

RUN = "fromJSON(needs.plan.outputs.run || '[]')"


def test_a_job_runs_if_the_plan_asks_for_it() -> None:
    assert expressions.job_condition("kernel-tests", ()) == (
        "${{ !cancelled() && needs.plan.result == 'success' && contains(" + RUN + ", 'kernel-tests') }}"
    )


def test_a_needed_job_that_was_not_planned_holds_nothing_up() -> None:
    condition = expressions.job_condition("b", ("a",))
    assert condition.endswith(f" && (needs.a.result == 'success' || !contains({RUN}, 'a')) }}}}")


@pytest.mark.parametrize("name", ["", "A", "a'", "a b", "1a", "a\n", "a}}", "-a"])
def test_a_name_that_could_be_more_than_a_name_is_refused(name: str) -> None:
    with pytest.raises(RenderError):
        expressions.job_condition(name, ())
    with pytest.raises(RenderError):
        expressions.job_condition("a", (name,))


@pytest.mark.parametrize("name", ["", "A-B", "A B", "1A", "A }}", "A\n"])
def test_a_secret_has_a_plain_name(name: str) -> None:
    with pytest.raises(RenderError, match="name of a secret"):
        expressions.secret(name)
    assert expressions.secret("HF_TOKEN") == "${{ secrets.HF_TOKEN }}"


def test_pull_requests_are_grouped_by_number_and_pushes_by_branch() -> None:
    group = expressions.concurrency_group(Forks())
    assert group == (
        "${{ github.workflow }}-${{ github.event_name }}-${{ github.event.pull_request.number || "
        "github.event_name == 'push' && github.ref || github.run_id }}"
    )


def test_another_label_is_alone_in_its_group_and_its_gate_has_another_name() -> None:
    forks = Forks("label", "ok: it's #1")
    other = "github.event.action == 'labeled' && github.event.label.name != 'ok: it''s #1'"
    assert expressions.concurrency_group(forks).endswith("${{ " + other + " && format('-{0}', github.run_id) || '' }}")
    assert expressions.gate_name(forks) == "${{ " + other + " && 'gate (another label)' || 'gate' }}"
    assert expressions.gate_name(Forks("never", "x")) == "gate"
    assert "label" not in expressions.concurrency_group(Forks("mirror", "x"))


@pytest.mark.parametrize("label", ["${{ x }}", "a\nb", "a\x00"])
def test_a_label_cannot_leave_its_quotes(label: str) -> None:
    with pytest.raises(RenderError):
        expressions.gate_name(Forks("label", label))


def test_cancelling_is_for_pull_requests_and_pushes() -> None:
    assert expressions.cancel_in_progress(False) is False
    assert "'push'" in str(expressions.cancel_in_progress(True))
    assert "merge_group" not in str(expressions.cancel_in_progress(True))


def test_every_bracket_is_closed() -> None:
    made = [
        expressions.job_condition("b", ("a", "c")),
        expressions.concurrency_group(Forks("label", "}}")),
        expressions.instance_output(2, "check", "evidence"),
        expressions.any_output(("a", "b"), "report"),
        expressions.any_output(("a",), "report"),
        expressions.matrix("gfx"),
    ]
    for expression in made:
        text = re.sub(r"'(?:[^']|'')*'", "''", expression)
        assert text.count("${{") == text.count("}}") > 0
        assert text.count("(") == text.count(")")
