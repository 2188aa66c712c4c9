"""The rule of the gate: what is green, and everything that must never be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rocm_ci.gate.decide import GateVerdict, judge
from rocm_ci.runner.errors import Code, UsageError

Json = dict[str, Any]


def evidence(stage: str, code: int = 0, executed: int = 3, gpus: Any = None, **more: Any) -> str:
    results = {0: "passed", 1: "failed", 2: "", 3: "infra"}
    value = {
        "schema": 1,
        "stage": stage,
        "result": results[code],
        "code": code,
        "executed": executed,
        "unit": "tests",
        "gpus": gpus if gpus is not None else [gpu()] if stage == "kernel-tests" else [],
        "message": "what happened",
    }
    return json.dumps({**value, **more})


def gpu(gfx: Any = "gfx90a", bdf: str = "0000:c1:00.0") -> Json:
    return {"bdf": bdf, "gfx": gfx, "product": "AMD Instinct MI250X"}


def node(*gpus: Json, **more: Any) -> str:
    return evidence("setup-rocm-container", gpus=list(gpus), **more)


def job(run: bool = True, reason: str = "src/a.cu matches src/**", **more: Any) -> Json:
    return {"kind": "stage", "run": run, "reason": reason, "runs_on": ["x"], "instances": 1, **more}


def gpu_job(*gfx: str, gpus: int = 1, instances: int = 1, **more: Any) -> Json:
    expect = [
        {"instance": i, "runner": "mi250", "gfx": list(gfx), "gpus": gpus, "shard": f"{i}/{instances}"}
        for i in range(1, instances + 1)
    ]
    return job(gpu=True, instances=instances, expect=expect, **more)


def plan(_withheld: str = "fail", **jobs: Json) -> str:
    names = {name.replace("_", "-"): value for name, value in jobs.items()}
    return json.dumps({"schema": 1, "event": "pull_request", "jobs": names, "forks": {"withheld": _withheld}})


def need(result: str = "success", **outputs: str) -> Json:
    return {"result": result, "outputs": {name.replace("_", "-"): value for name, value in outputs.items()}}


def gate(plan_text: str, plan_result: str = "success", **needs: Json) -> GateVerdict:
    context = {"plan": {"result": plan_result, "outputs": {"plan": plan_text}}}
    context |= {name.replace("_", "-"): value for name, value in needs.items()}
    return judge(json.dumps(context))


def red(verdict: GateVerdict, code: Code, *words: str) -> None:
    assert verdict.code is code, verdict
    for word in words:
        assert word in verdict.message or any(word in row.why for row in verdict.rows), (word, verdict)


# --- green ----------------------------------------------------------------------------------------------------------


def test_green_needs_success_and_evidence_of_every_instance() -> None:
    verdict = gate(
        plan(hipify_check=job(), kernel_tests=gpu_job("gfx90a", "gfx942", gpus=2, instances=2)),
        hipify_check=need(evidence_1=evidence("hipify-check")),
        kernel_tests=need(
            evidence_1=evidence("kernel-tests"),
            node_1=node(gpu(), gpu()),
            evidence_2=evidence("kernel-tests"),
            node_2=node(gpu("gfx942:sramecc+:xnack-"), gpu(), gpu()),
        ),
    )
    assert verdict.code is Code.PASSED
    assert [row.state for row in verdict.rows] == ["passed", "passed"]
    assert "2 jobs passed" in verdict.message


def test_an_honest_nothing_to_run_is_green_and_says_why() -> None:
    verdict = gate(
        plan(hipify_check=job(run=False, reason="no changed file matches src/**")),
        hipify_check=need("skipped"),
    )
    assert verdict.code is Code.PASSED
    assert verdict.message.startswith("nothing to run: 1 job skipped")
    assert verdict.rows[0].why == "no changed file matches src/**"


def test_any_amd_gpu_will_do_when_no_gfx_is_promised() -> None:
    text = plan(kernel_tests=gpu_job())
    passed = gate(text, kernel_tests=need(evidence_1=evidence("kernel-tests"), node_1=node(gpu("gfx1100"))))
    assert passed.code is Code.PASSED
    none = gate(text, kernel_tests=need(evidence_1=evidence("kernel-tests"), node_1=node()))
    red(none, Code.INFRA, "0 GPUs were seen, 1 were promised")


def test_a_job_of_the_user_needs_no_evidence() -> None:
    text = plan(docs={**job(), "kind": "user"})
    assert gate(text, docs=need()).code is Code.PASSED
    red(gate(text, docs=need("failure")), Code.FAILED, "it failed")
    red(gate(text, docs=need("cancelled")), Code.INFRA, "cancelled")
    red(gate(text, docs=need("skipped")), Code.INFRA, "was skipped")


# --- the plan --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "   "])
def test_no_plan_is_red(text: str) -> None:
    red(gate(text, hipify_check=need("skipped")), Code.INFRA, "there is no plan")


def test_no_plan_job_is_red() -> None:
    verdict = judge(json.dumps({"hipify-check": need("skipped")}))
    red(verdict, Code.INFRA, "there is no plan")


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        '"plan"',
        "{",
        '{"schema": 1}',
        '{"schema": 2, "jobs": {}}',
        '{"schema": "1", "jobs": {}}',
        '{"schema": true, "jobs": {}}',
        '{"schema": 1, "jobs": []}',
        '{"schema": 1, "jobs": {"a": null}}',
        '{"schema": 1, "jobs": {}, "forks": {"withheld": "never"}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": "false", "reason": "x"}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": 0, "reason": "x"}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "other", "run": false, "reason": "x"}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": false, "reason": null}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": true, "run": false, "reason": "x"}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": true, "reason": "x", "instances": 0}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": true, "reason": "x", "instances": NaN}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": true, "reason": "x", "instances": 100000}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": true, "reason": "x", "gpu": true}}}',
        '{"schema": 1, "jobs": {"a": {"kind": "stage", "run": true, "withheld": true, "reason": "x"}}}',
        "[" * 100_000,
    ],
)
def test_an_unreadable_plan_is_red(text: str) -> None:
    red(gate(text, a=need("skipped")), Code.USAGE, "the plan cannot be used")


@pytest.mark.parametrize(
    "expect",
    [
        [{"instance": 1, "gfx": [], "gpus": 1}],
        [{"instance": 1, "gfx": [], "gpus": 1}, {"instance": 1, "gfx": [], "gpus": 1}],
        [{"instance": 1, "gfx": [], "gpus": 1}, {"instance": 3, "gfx": [], "gpus": 1}],
        [{"instance": 1, "gfx": ["*"], "gpus": 1}, {"instance": 2, "gfx": [], "gpus": 1}],
        [{"instance": 1, "gfx": "gfx90a", "gpus": 1}, {"instance": 2, "gfx": [], "gpus": 1}],
        [{"instance": 1, "gfx": [], "gpus": -1}, {"instance": 2, "gfx": [], "gpus": 1}],
    ],
)
def test_a_plan_must_expect_something_of_every_instance(expect: list[Json]) -> None:
    text = plan(kernel_tests=job(gpu=True, instances=2, expect=expect))
    red(gate(text, kernel_tests=need()), Code.USAGE, "the plan cannot be used")


def test_a_plan_that_promises_no_gpu_still_needs_one() -> None:
    text = plan(kernel_tests=gpu_job("gfx90a", gpus=0))
    verdict = gate(text, kernel_tests=need(evidence_1=evidence("kernel-tests"), node_1=node()))
    red(verdict, Code.INFRA, "0 GPUs were seen")
    unknown = plan(kernel_tests=job(gpu=True, expect=[{"instance": 1, "gfx": [], "gpus": None}]))
    red(gate(unknown, kernel_tests=need(evidence_1=evidence("kernel-tests"), node_1=node())), Code.INFRA, "0 GPUs")
    shown = need(evidence_1=evidence("kernel-tests"), node_1=node(gpu()))
    assert gate(unknown, kernel_tests=shown).code is Code.PASSED


@pytest.mark.parametrize(
    ("result", "code"), [("failure", Code.FAILED), ("cancelled", Code.INFRA), ("skipped", Code.INFRA)]
)
def test_a_plan_job_that_did_not_succeed_is_red_even_with_a_plan(result: str, code: Code) -> None:
    verdict = gate(plan(docs=job(run=False)), result, docs=need("skipped"))
    assert verdict.code is code
    assert [row.job for row in verdict.rows if row.state == "red"] == ["plan"]


def test_a_plan_without_jobs_is_red() -> None:
    red(gate(plan()), Code.INFRA, "no job at all")


def test_jobs_of_the_plan_and_of_the_workflow_must_be_the_same() -> None:
    text = plan(docs=job(run=False))
    red(gate(text), Code.FAILED, "the gate does not wait for it")
    red(gate(text, docs=need("skipped"), other=need()), Code.FAILED, "the plan does not have it")


def test_a_plan_given_as_an_input_takes_the_place_of_the_job_output() -> None:
    needs = json.dumps({"plan": need(plan="rubbish"), "docs": need("skipped")})
    assert judge(needs, plan(docs=job(run=False))).code is Code.PASSED


# --- jobs that did not run ------------------------------------------------------------------------------------------


def test_a_job_that_was_not_planned_must_be_skipped_for_a_reason() -> None:
    for result in ("success", "failure", "cancelled"):
        red(gate(plan(docs=job(run=False)), docs=need(result)), Code.FAILED, f"it ended with {result}")
    red(gate(plan(docs=job(run=False, reason="  ")), docs=need("skipped")), Code.USAGE, "names no reason")


@pytest.mark.parametrize("result", ["skipped", "cancelled"])
def test_a_planned_job_that_did_not_come_to_its_end_is_red(result: str) -> None:
    verdict = gate(plan(kernel_tests=gpu_job("gfx90a")), kernel_tests=need(result))
    red(verdict, Code.INFRA, "kernel-tests: ")


def test_a_withheld_job_is_red_and_says_what_a_maintainer_does() -> None:
    text = plan(kernel_tests=job(run=False, reason="from a fork", withheld=True))
    red(gate(text, kernel_tests=need("skipped")), Code.FAILED, "nothing was verified", "maintainer")


def test_a_withheld_job_passes_only_where_the_manifest_says_so_and_is_told() -> None:
    text = plan("pass", kernel_tests=job(run=False, reason="from a fork", withheld=True))
    verdict = gate(text, kernel_tests=need("skipped"))
    assert verdict.code is Code.PASSED
    assert verdict.rows[0].state == "withheld"
    assert "nothing was verified" in verdict.message


# --- evidence -------------------------------------------------------------------------------------------------------

STAGE_PLAN = plan(hipify_check=job())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "left no evidence"),
        ("  \n", "left no evidence"),
        ("green", "it is not JSON"),
        ("true", "not an object"),
        ("{}", "its schema"),
        (evidence("kernel-tests"), "another stage"),
        (evidence("hipify-check", schema=2), "its schema"),
        (evidence("hipify-check", result="failed"), "contradict"),
        (evidence("hipify-check", code=1, result="passed"), "contradict"),
        (evidence("hipify-check", code=3, result="passed"), "contradict"),
        ('{"result": "failed", ' + evidence("hipify-check")[1:], "a key occurs twice"),
        (evidence("hipify-check", executed=0), "executed nothing"),
        (evidence("hipify-check", executed=-1), "its count"),
        (evidence("hipify-check", executed=True), "its count"),
        (evidence("hipify-check", executed="3"), "its count"),
        (evidence("hipify-check", executed=1.5), "its count"),
        (evidence("hipify-check", gpus="gfx90a"), "its list of GPUs"),
        (evidence("hipify-check", gpus=["gfx90a"]), "a GPU"),
        (evidence("hipify-check", message=3), "its message"),
    ],
)
@pytest.mark.parametrize("result", ["success", "failure"])
def test_missing_or_doubtful_evidence_is_infra(text: str, words: str, result: str) -> None:
    red(gate(STAGE_PLAN, hipify_check=need(result, evidence_1=text)), Code.INFRA, words)


def test_evidence_that_is_no_text_counts_as_missing() -> None:
    verdict = gate(STAGE_PLAN, hipify_check={"result": "success", "outputs": {"evidence-1": {"result": "passed"}}})
    red(verdict, Code.INFRA, "left no evidence")
    red(gate(STAGE_PLAN, hipify_check={"result": "success"}), Code.INFRA, "left no evidence")


@pytest.mark.parametrize("result", ["success", "failure"])
@pytest.mark.parametrize(
    ("number", "words"), [(1, "failed: what"), (2, "did not run: what"), (3, "the node or its environment at fault")]
)
def test_the_evidence_decides_whatever_the_job_says(result: str, number: int, words: str) -> None:
    verdict = gate(STAGE_PLAN, hipify_check=need(result, evidence_1=evidence("hipify-check", code=number)))
    red(verdict, Code(number), words)


def test_a_job_that_fails_beside_its_check_is_red() -> None:
    verdict = gate(STAGE_PLAN, hipify_check=need("failure", evidence_1=evidence("hipify-check")))
    red(verdict, Code.FAILED, "a step before or after the check")


def test_a_cancelled_job_still_tells_what_its_instances_found() -> None:
    text = plan(kernel_tests=gpu_job("gfx90a", instances=2))
    found = need("cancelled", evidence_1=evidence("kernel-tests", code=1), node_1=node(gpu()))
    red(gate(text, kernel_tests=found), Code.FAILED, "instance 1, mi250, shard 1/2: its check failed", "cancelled")


def test_evidence_of_one_instance_does_not_stand_for_another() -> None:
    text = plan(kernel_tests=gpu_job("gfx90a", instances=2))
    one = {"evidence_1": evidence("kernel-tests"), "node_1": node(gpu())}
    red(gate(text, kernel_tests=need(**one)), Code.INFRA, "instance 2", "left no evidence")
    half = need(**one, evidence_2=evidence("kernel-tests"))
    red(gate(text, kernel_tests=half), Code.INFRA, "instance 2", "`node-2` is empty")
    more = need(**one, evidence_3=evidence("kernel-tests"), node_3=node(gpu()))
    red(gate(text, kernel_tests=more), Code.INFRA, "instance 2")


@pytest.mark.parametrize(
    ("shown", "code", "words"),
    [
        ("", Code.INFRA, "`node-1` is empty"),
        (evidence("kernel-tests", gpus=[gpu(), gpu()]), Code.INFRA, "another stage"),
        (node(gpu()), Code.INFRA, "1 GPUs were seen, 2 were promised"),
        (node(gpu("gfx942"), gpu("gfx90a")), Code.INFRA, "gfx942 was seen, gfx90a was promised"),
        (node(gpu(None), gpu("gfx90a")), Code.INFRA, "the gfx target of 1 GPUs is unknown"),
        (node(gpu(""), gpu("sm_90")), Code.INFRA, "the gfx target of 2 GPUs is unknown"),
        (node(gpu("gfx90"), gpu("gfx90ab")), Code.INFRA, "unknown"),
        (node(gpu(), gpu(), code=3), Code.INFRA, "the node or its environment at fault"),
        (node(gpu(), gpu(), executed=0), Code.INFRA, "executed nothing"),
        (node(gpu(), gpu(), code=1), Code.FAILED, "setup-rocm-container before it failed"),
    ],
)
def test_a_green_gpu_job_must_show_the_promised_gpus(shown: str, code: Code, words: str) -> None:
    text = plan(kernel_tests=gpu_job("gfx90a", gpus=2))
    red(gate(text, kernel_tests=need(evidence_1=evidence("kernel-tests"), node_1=shown)), code, words)


def test_gpus_in_the_evidence_of_the_stage_do_not_stand_for_the_node() -> None:
    text = plan(kernel_tests=gpu_job("gfx90a"))
    verdict = gate(text, kernel_tests=need(evidence_1=evidence("kernel-tests", gpus=[gpu()])))
    red(verdict, Code.INFRA, "setup-rocm-container before it left no evidence")


# --- the code of a red gate ------------------------------------------------------------------------------------------


def test_code_goes_before_wrong_use_before_infra() -> None:
    text = plan(a=job(), b=job(), c=job())
    infra, usage, code = (
        need("failure", evidence_1=evidence(name, code=n)) for name, n in (("a", 3), ("b", 2), ("c", 1))
    )
    good = need(evidence_1=evidence("c"))
    red(gate(text, a=infra, b=usage, c=code), Code.FAILED, "c: its check failed")
    red(gate(text, a=infra, b=usage, c=good), Code.USAGE, "b: its check did not run")
    all_infra = gate(text, a=infra, b=need("cancelled"), c=good)
    red(all_infra, Code.INFRA, "a: its check found")
    assert all_infra.message.endswith("(and 1 more job)")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "{",
        '{"a": 1}',
        '{"a": {"result": "neutral"}}',
        '{"a": {"outputs": {}}}',
        '{"a": {"result": "success", "outputs": []}}'.replace("[]", "[1]"),
    ],
)
def test_unusable_needs_are_wrong_use(text: str) -> None:
    with pytest.raises(UsageError, match="`needs` cannot be used"):
        judge(text)


@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        ([], "its check used no GPU"),
        ([gpu("gfx1100")], "its check: gfx1100 was seen"),
        ([gpu("")], "its check: the gfx"),
    ],
)
def test_tests_that_ran_without_a_promised_gpu_are_never_green(gpus: list[Json], words: str) -> None:
    text = plan(kernel_tests=gpu_job("gfx90a"))
    shown = need(node_1=node(gpu()), evidence_1=evidence("kernel-tests", gpus=gpus))
    red(gate(text, kernel_tests=shown), Code.INFRA, words)


def test_a_skipped_job_gets_no_invented_cause() -> None:
    text = plan(kernel_tests=gpu_job("gfx90a"))
    verdict = gate(text, kernel_tests=need("skipped"))
    red(verdict, Code.INFRA, "it was planned and was skipped", "or its condition was edited")
