"""The rule of the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rocm_ci.gate.needs import Need, parse_needs
from rocm_ci.gate.plan import Plan, PlannedJob, parse_plan
from rocm_ci.gate.proof import Evidence, Fact, faults_of_gpus, faults_of_node, faults_of_stage
from rocm_ci.gate.strict_json import BadJsonError
from rocm_ci.runner.errors import Code, UsageError
from rocm_ci.runner.text import plural

PLAN_JOB = "plan"

State = Literal["passed", "skipped", "withheld", "red"]

_MAINTAINER = "a maintainer reviews the change and then lets it run, as `forks:` in the manifest says"


@dataclass(frozen=True)
class Row:
    """The verdict on one job.

    Attributes:
        job: its id.
        state: `red` for whatever keeps the gate from green.
        why: reasons; for a job that did not run, the plan's.
        facts: what speaks against it; empty unless `state` is red.
        evidence: what its instances showed, in their order.
        nodes: what its instances showed of their nodes.
    """

    job: str
    state: State
    why: str
    facts: tuple[Fact, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    nodes: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class GateVerdict:
    """The verdict on the whole run.

    Attributes:
        code: `PASSED` is green. Red is `FAILED` when any reason lies in the code or the repository, else `USAGE` when
            any is wrong use, else `INFRA`.
        message: the first reason, or what green rests on.
        rows: one for each job, the plan's order first.
        notices: remarks of the plan.
    """

    code: Code
    message: str
    rows: tuple[Row, ...]
    notices: tuple[str, ...] = ()


def judge(needs_text: str, plan_text: str = "") -> GateVerdict:
    """The verdict on GitHub's own texts.

    Args:
        needs_text: `toJSON(needs)`.
        plan_text: the plan; when empty, the output `plan` of the job `plan` in `needs`.

    Raises:
        UsageError: `needs` cannot be used.
    """
    try:
        needs = parse_needs(needs_text)
    except BadJsonError as error:
        raise UsageError(
            f"the input `needs` cannot be used: {error}", help="give it `${{ toJSON(needs) }}` of the gate's job"
        ) from error
    if not plan_text.strip():
        plan_text = needs[PLAN_JOB].outputs.get(PLAN_JOB, "") if PLAN_JOB in needs else ""
    if not plan_text.strip():
        return decide(needs, None)
    try:
        plan = parse_plan(plan_text)
    except BadJsonError as error:
        return decide(needs, None, f"the plan cannot be used: {error}", "usage")
    return decide(needs, plan)


def decide(
    needs: Mapping[str, Need],
    plan: Plan | None,
    problem: str = "there is no plan, so nothing says what had to run",
    fault: Literal["usage", "infra"] = "infra",
) -> GateVerdict:
    """Judge every job, and the run by its jobs.

    Green only when every job that the plan asked for succeeded and showed evidence, and every other job was skipped for
    a reason that the plan names.

    Args:
        needs: how each job ended.
        plan: what had to run; None when that is not known.
        problem: why it is not known.
        fault: whose fault that is.
    """
    rows = []
    plan_job = needs.get(PLAN_JOB)
    if plan_job is not None and plan_job.result != "success":
        rows.append(_red(PLAN_JOB, _ended(plan_job)))
    if plan is None:
        if not rows:
            rows.append(_red(PLAN_JOB, Fact(fault, problem)))
        return _sum_up(rows, ())
    for job in plan.jobs.values():
        need = needs.get(job.name)
        if need is None:
            why = "the plan has this job and the gate does not wait for it; render the workflow again"
            rows.append(_red(job.name, Fact("code", why)))
        else:
            rows.append(_ran(job, need) if job.run else _did_not_run(job, need, plan))
    for name in needs:
        if name != PLAN_JOB and name not in plan.jobs:
            why = "the gate waits for this job and the plan does not have it; render the workflow again"
            rows.append(_red(name, Fact("code", why)))
    return _sum_up(rows, plan.notices)


def _ran(job: PlannedJob, need: Need) -> Row:
    """A job that the plan asked for."""
    if job.kind == "user" or need.result == "skipped":
        return Row(job.name, "passed", job.reason) if need.result == "success" else _red(job.name, _ended(need))
    cancelled = need.result == "cancelled"
    facts = [_ended(need)] if cancelled else []
    evidence: list[Evidence] = []
    nodes: list[Evidence] = []
    expected = {entry.instance: entry for entry in job.expect}
    for instance in range(1, job.instances + 1):
        if cancelled and not need.outputs.get(f"evidence-{instance}"):
            continue  # that it was cancelled says why
        shown, against = faults_of_stage(need.outputs, job.name, instance)
        evidence += [shown] if shown else []
        if job.gpu:
            node, node_against = faults_of_node(need.outputs, expected[instance])
            nodes += [node] if node else []
            if shown and not against:
                # That the node has GPUs does not say that the check used one: tests can run on the CPU as well.
                against = faults_of_gpus(shown, expected[instance])
            # The node is looked at first, so what is wrong with it is the first cause.
            against = node_against + against
        label = expected[instance].name if instance in expected else str(instance)
        prefix = f"instance {label}: " if job.instances > 1 else ""
        facts += [Fact(fact.fault, prefix + fact.why) for fact in against]
    if not facts and need.result != "success":
        facts.append(Fact("code", "its check passed and the job failed: a step before or after the check did"))
    if facts:
        return _red(job.name, *facts, evidence=evidence, nodes=nodes)
    return Row(job.name, "passed", job.reason, (), tuple(evidence), tuple(nodes))


def _did_not_run(job: PlannedJob, need: Need, plan: Plan) -> Row:
    """A job that the plan did not ask for."""
    if need.result != "skipped":
        return _red(job.name, Fact("code", f"the plan does not ask for it and it ended with {need.result}"))
    if not job.reason:
        return _red(job.name, Fact("usage", "it did not run and the plan names no reason"))
    if job.withheld and not plan.withheld_passes:
        why = f"withheld, so nothing was verified: {job.reason}; {_MAINTAINER}"
        return _red(job.name, Fact("code", why))
    if job.withheld:
        return Row(job.name, "withheld", f"nothing was verified: {job.reason}; {_MAINTAINER}")
    return Row(job.name, "skipped", job.reason)


def _ended(need: Need) -> Fact:
    if need.result == "cancelled":
        return Fact("infra", "it was cancelled, by a person, a newer run or a time limit, before it came to a verdict")
    if need.result == "skipped":
        return Fact(
            "infra", "it was planned and was skipped: a job before it did not succeed, or its condition was edited"
        )
    return Fact("code", "it failed; its log says why")


def _red(job: str, *facts: Fact, evidence: list[Evidence] | None = None, nodes: list[Evidence] | None = None) -> Row:
    why = "; ".join(fact.why for fact in facts)
    return Row(job, "red", why, facts, tuple(evidence or ()), tuple(nodes or ()))


def _sum_up(rows: list[Row], notices: tuple[str, ...]) -> GateVerdict:
    red = [row for row in rows if row.state == "red"]
    if not rows:
        message = "the plan has no job at all, so nothing was verified"
        return GateVerdict(Code.INFRA, message, (), notices)
    if red:
        faults = {fact.fault for row in red for fact in row.facts}
        code = Code.FAILED if "code" in faults else Code.USAGE if "usage" in faults else Code.INFRA
        first = next(row for row in red if any(_code(fact) is code for fact in row.facts))
        more = f" (and {plural(len(red) - 1, 'more jobs')})" if len(red) > 1 else ""
        reason = next(fact.why for fact in first.facts if _code(fact) is code)
        return GateVerdict(code, f"{first.job}: {reason}{more}", tuple(rows), notices)
    return GateVerdict(Code.PASSED, _green(rows), tuple(rows), notices)


def _code(fact: Fact) -> Code:
    return {"code": Code.FAILED, "usage": Code.USAGE, "infra": Code.INFRA}[fact.fault]


def _green(rows: list[Row]) -> str:
    passed = [row for row in rows if row.state == "passed"]
    withheld = [row for row in rows if row.state == "withheld"]
    skipped = len(rows) - len(passed) - len(withheld)
    parts = []
    if passed:
        parts.append(f"{plural(len(passed), 'jobs')} passed and showed evidence")
    if skipped:
        parts.append(f"{plural(skipped, 'jobs')} skipped for the reason that the plan names")
    if withheld:
        parts.append(f"{plural(len(withheld), 'jobs')} withheld, of which nothing was verified")
    return ("" if passed else "nothing to run: ") + "; ".join(parts)
