"""The view of a whole workflow: jobs, steps, rights, secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocm_ci_gen.manifest.model import Forks, Manifest, RefFilter, Source, Step, Triggers, UserJob
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.jobs import workflow_view
from rocm_ci_gen.workflow.views import JobView, Noted, StepView
from support.models import CPU, HIPIFY, KERNELS, MI250, MI300X, PINS, SERVING, SHA, manifest


def jobs(model: Manifest) -> dict[str, JobView]:
    return {job.id: job for job in workflow_view(model, ".rocm-ci.yml", PINS).jobs}


def step(job: JobView, identifier: str) -> StepView:
    return next(item for item in job.steps if item.id == identifier)


def test_plan_comes_first_and_gate_waits_for_all() -> None:
    user = UserJob("docs", "./.github/workflows/docs.yml")
    found = jobs(manifest(HIPIFY, KERNELS, jobs=(user,)))
    assert list(found) == ["plan", "hipify-check", "kernel-tests", "docs", "gate"]
    assert found["gate"].needs == ("plan", "hipify-check", "kernel-tests", "docs")
    assert found["gate"].condition == "${{ always() }}"
    assert found["gate"].permissions == {}
    assert step(found["gate"], "gate").with_ == {"command": "gate", "needs": "${{ toJSON(needs) }}"}
    assert found["plan"].needs == ()
    assert found["plan"].outputs == {"plan": "${{ steps.plan.outputs.plan }}", "run": "${{ steps.plan.outputs.run }}"}


def test_a_stage_waits_for_the_plan_and_what_it_needs() -> None:
    found = jobs(manifest(HIPIFY, replace(KERNELS, needs=("hipify-check",))))
    assert found["hipify-check"].needs == ("plan",)
    assert found["kernel-tests"].needs == ("plan", "hipify-check")
    assert found["kernel-tests"].condition is not None
    assert "needs.hipify-check.result == 'success'" in found["kernel-tests"].condition


def test_plan_fetches_the_history_without_contents_and_keeps_no_token() -> None:
    plan = jobs(manifest())["plan"]
    assert plan.steps[0].with_ == {"fetch-depth": 0, "filter": "blob:none", "persist-credentials": False}
    assert plan.steps[1].with_ == {"command": "plan", "manifest": ".rocm-ci.yml"}


def test_plan_reads_pull_requests_only_where_there_are_any() -> None:
    assert set(jobs(manifest())["plan"].permissions) == {"contents", "pull-requests"}
    pushes = Triggers(RefFilter(), None, False, (), False)
    assert set(jobs(manifest(triggers=pushes))["plan"].permissions) == {"contents"}


def test_every_right_beyond_reading_says_why() -> None:
    user = UserJob("docs", "./.github/workflows/docs.yml", permissions={"contents": "read", "packages": "write"})
    for job in jobs(manifest(HIPIFY, KERNELS, jobs=(user,))).values():
        for name, level in job.permissions.items():
            assert level.comment or (name, level.text) == ("contents", "read")


def test_plan_and_gate_run_on_the_cpu_runner() -> None:
    cpu = replace(CPU, labels=("self-hosted", "cpu"), group="small")
    found = jobs(manifest(runners={"cpu": cpu}))
    for name in ("plan", "gate"):
        assert found[name].runs_on == {"group": "small", "labels": ("self-hosted", "cpu")}
        assert found[name].timeout_minutes == 10


def test_steps_of_a_gpu_stage_are_in_order() -> None:
    stage = replace(KERNELS, before=(Step(name="build", run="make"),), after=(Step(name="tell", run="cat log"),))
    job = jobs(manifest(stage, requirements="requirements.txt", probe={"max-growth": "10%"}))["kernel-tests"]
    assert [item.id or item.name for item in job.steps] == [
        "Check out",
        "node",
        "build",
        "vram",
        "check",
        "vram-stop",
        "tell",
        "Keep the reports",
    ]
    assert step(job, "node").with_ == {
        "expect-gfx": "gfx90a",
        "expect-gpus": 2,
        "requirements": "requirements.txt",
    }
    assert step(job, "vram").with_ == {"phase": "start", "max-growth": "10%"}
    assert step(job, "vram-stop").with_ == {"phase": "stop", "max-growth": "10%"}
    assert step(job, "vram-stop").condition == "${{ always() && steps.vram.outcome == 'success' }}"
    assert job.steps[2].condition is None
    assert job.steps[6].condition == "${{ !cancelled() }}"


def test_steps_of_a_cpu_stage_have_no_node_and_no_probe() -> None:
    job = jobs(manifest(HIPIFY, requirements="r.txt", probe={}))["hipify-check"]
    assert [item.id for item in job.steps] == [None, "check", None]
    assert job.outputs == {"evidence-1": "${{ steps.check.outputs.evidence }}"}
    assert job.container is None


def test_evidence_of_every_instance_has_its_own_outputs() -> None:
    job = jobs(manifest(replace(KERNELS, runners=(MI250, MI300X))))["kernel-tests"]
    assert list(job.outputs) == ["node-1", "node-2", "evidence-1", "evidence-2"]
    assert job.outputs["node-2"] == "${{ matrix.instance == 2 && steps.node.outputs.evidence || '' }}"
    single = jobs(manifest(KERNELS))["kernel-tests"]
    assert single.outputs == {
        "node-1": "${{ steps.node.outputs.evidence }}",
        "evidence-1": "${{ steps.check.outputs.evidence }}",
    }


def test_reports_are_kept_under_a_name_of_their_own() -> None:
    job = jobs(manifest(replace(KERNELS, shards=2), retention_days=7, probe={}))["kernel-tests"]
    keep = job.steps[-1]
    reports = [f"steps.{name}.outputs.report" for name in ("node", "check", "vram", "vram-stop")]
    assert keep.with_ == {
        "name": "rocm-ci-kernel-tests-${{ matrix.instance }}-${{ github.run_attempt }}",
        "path": "\n".join("${{ " + report + " }}" for report in reports),
        "if-no-files-found": "ignore",
        "retention-days": 7,
    }
    assert keep.condition == "${{ always() && (" + " || ".join(reports) + ") }}"
    single = jobs(manifest(HIPIFY))["hipify-check"].steps[-1]
    assert single.with_["name"] == "rocm-ci-hipify-check-1-${{ github.run_attempt }}"
    assert "runner.temp" not in str(single.with_["path"])


def test_options_of_a_stage_are_inputs_of_its_action() -> None:
    job = jobs(manifest(replace(KERNELS, shards=3, timeout="2h")))["kernel-tests"]
    assert step(job, "check").with_ == {
        "tests": "tests/unit\ntests/ops",
        "timeout": "2h",
        "shard": "${{ matrix.shard }}",
    }
    assert job.timeout_minutes == 135


@pytest.mark.parametrize(("timeout", "minutes"), [("90s", 17), ("1ms", 16), ("60m", 75), ("59m", 74), ("3h", 195)])
def test_the_job_outlives_its_check_by_a_quarter_of_an_hour(timeout: str, minutes: int) -> None:
    assert jobs(manifest(replace(KERNELS, timeout=timeout)))["kernel-tests"].timeout_minutes == minutes


def test_a_check_without_a_limit_gets_one() -> None:
    found = jobs(manifest(HIPIFY, KERNELS, SERVING))
    limits = [step(found[name], "check").with_["timeout"] for name in list(found)[1:4]]
    assert limits == ["15m", "60m", "90m"]


@pytest.mark.parametrize(
    ("options", "history"),
    [({}, False), ({"changed-only": "true"}, True), ({"changed-only": "false"}, False), ({"against": "main"}, True)],
)
def test_a_check_that_compares_gets_the_history(options: dict[str, str], history: bool) -> None:
    checkout = jobs(manifest(replace(HIPIFY, options=options)))["hipify-check"].steps[0]
    assert checkout.with_ == ({"fetch-depth": 0} if history else {}) | {"persist-credentials": False}


def test_secrets_reach_only_the_steps_that_name_them() -> None:
    build = Step(run="make", secrets=("BUILD_TOKEN",), env={"A": "1"})
    stage = replace(SERVING, secrets=("HF_TOKEN",), before=(build,), env={"B": "2"})
    job = jobs(manifest(stage))["sglang-regression"]
    assert step(job, "check").env == {"HF_TOKEN": "${{ secrets.HF_TOKEN }}"}
    assert job.steps[2].env == {"A": "1", "BUILD_TOKEN": "${{ secrets.BUILD_TOKEN }}"}
    assert job.env == {"B": "2"}
    others = [item.env for item in job.steps if item.id != "check" and item.run is None]
    assert not any(others)


def test_a_variable_is_not_both_a_value_and_a_secret() -> None:
    with pytest.raises(RenderError, match="both"):
        jobs(manifest(replace(KERNELS, before=(Step(run="x", env={"A": "1"}, secrets=("A",)),))))


def test_a_users_action_keeps_its_version_comment() -> None:
    use = Step(name="cache", uses=f"actions/cache@{SHA}", version="v4.2.0", with_={"path": "~/.cache"})
    job = jobs(manifest(replace(KERNELS, before=(use,))))["kernel-tests"]
    assert job.steps[2].uses == Noted(f"actions/cache@{SHA}", "v4.2.0")
    assert job.steps[2].shell is None
    assert job.steps[2].with_ == {"path": "~/.cache"}


def test_a_job_of_the_users_calls_a_workflow() -> None:
    user = UserJob(
        "docs",
        f"me/it/.github/workflows/docs.yml@{SHA}",
        version="v2",
        with_={"strict": True, "level": 3},
        secrets=("DOCS",),
        needs=("hipify-check",),
        permissions={"contents": "read"},
    )
    job = jobs(manifest(HIPIFY, jobs=(user,)))["docs"]
    assert job.calls == Noted(user.uses, "v2")
    assert job.needs == ("plan", "hipify-check")
    assert job.with_ == {"strict": True, "level": 3}
    assert job.secrets == {"DOCS": "${{ secrets.DOCS }}"}
    assert job.condition is not None
    assert "needs.hipify-check.result" in job.condition
    assert (job.runs_on, job.timeout_minutes, job.steps) == (None, None, ())


@pytest.mark.parametrize("place", ["./", "$/"])
def test_what_is_in_the_same_repository_is_named_so(place: str) -> None:
    local = Step(uses=f"{place}.github/actions/build")
    user = UserJob("docs", f"{place}.github/workflows/docs.yml")
    found = jobs(manifest(replace(KERNELS, before=(local,)), jobs=(user,)))
    assert found["kernel-tests"].steps[2].uses == Noted("$/.github/actions/build")
    assert found["docs"].calls == Noted("$/.github/workflows/docs.yml")


def test_two_jobs_cannot_have_one_name() -> None:
    with pytest.raises(RenderError, match="plan"):
        jobs(manifest(jobs=(UserJob("plan", "./.github/workflows/x.yml"),)))


def test_our_actions_are_named_by_tag_or_by_commit() -> None:
    by_tag = jobs(manifest(KERNELS))["kernel-tests"]
    assert step(by_tag, "check").uses == Noted("org/rocm-ci/actions/kernel-tests@v1")
    pinned = jobs(manifest(KERNELS, uses=Source("me/ci", "v1", SHA)))
    assert step(pinned["kernel-tests"], "node").uses == Noted(f"me/ci/actions/setup-rocm-container@{SHA}", "v1")
    assert step(pinned["gate"], "gate").uses == Noted(f"me/ci@{SHA}", "v1")


def test_the_command_names_a_manifest_of_another_name() -> None:
    view = workflow_view(manifest(), "ci/my manifest.yml", PINS)
    assert view.command == "rocm-ci-gen render --manifest 'ci/my manifest.yml'"
    assert workflow_view(manifest(), ".rocm-ci.yml", PINS).command == "rocm-ci-gen render"


def test_the_gate_of_another_label_has_another_name() -> None:
    assert jobs(manifest())["gate"].name == "gate"
    assert "'gate (another label)'" in jobs(manifest(forks=Forks("label")))["gate"].name
