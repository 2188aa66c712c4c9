"""What `plan` writes is what `gate` reads: the two halves of the contract, on every manifest of the gallery."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocm_ci.gate.decide import judge
from rocm_ci.runner.errors import Code
from rocm_ci_gen.manifest import Manifest, load
from rocm_ci_gen.plan.changes import unknown
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event

GALLERY = Path(__file__).resolve().parents[1] / "gallery"
CASES = sorted(path.name for path in GALLERY.iterdir() if (path / ".rocm-ci.yml").exists())


@pytest.fixture(params=CASES)
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return load(GALLERY / str(request.param) / ".rocm-ci.yml")


def planned(manifest: Manifest, **event: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": "pull_request", "number": 7, "base_branch": "main", "started": True, **event}
    plan = decide(manifest, Event(**fields), unknown("a test"))
    return json.loads(json.dumps(plan.to_json()))  # type: ignore[no-any-return]


def proof(stage: str, job: dict[str, Any], entry: dict[str, Any], **change: Any) -> str:
    gfx = (entry.get("gfx") or ["gfx90a"])[0]
    count = entry.get("gpus") or 1
    gpus = [{"bdf": f"0000:{i:02x}:00.0", "gfx": gfx, "product": "p"} for i in range(count)] if job["gpu"] else []
    record = {"schema": 1, "stage": stage, "result": "passed", "code": 0, "executed": 3, "unit": "tests", "gpus": gpus}
    return json.dumps({**record, "message": "ok", **change})


def needs(plan: dict[str, Any], **change: Any) -> dict[str, Any]:
    """GitHub's `needs` after a run in which every planned job succeeded and showed evidence."""
    done: dict[str, Any] = {"plan": {"result": "success", "outputs": {"plan": json.dumps(plan), "run": "[]"}}}
    for name, job in plan["jobs"].items():
        outputs = {}
        for entry in job["expect"]:
            outputs[f"evidence-{entry['instance']}"] = proof(name, job, entry, **change)
            if job["gpu"]:
                outputs[f"node-{entry['instance']}"] = proof("setup-rocm-container", job, entry)
        done[name] = {"result": "success", "outputs": outputs} if job["run"] else {"result": "skipped", "outputs": {}}
    return done


def verdict(done: dict[str, Any]) -> Code:
    return judge(json.dumps(done)).code


def test_all_done_and_shown_is_green(manifest: Manifest) -> None:
    plan = planned(manifest)
    assert any(job["run"] for job in plan["jobs"].values())
    assert verdict(needs(plan)) is Code.PASSED


def test_success_without_evidence_is_never_green(manifest: Manifest) -> None:
    plan = planned(manifest)
    for name, job in plan["jobs"].items():
        for output in list(needs(plan)[name]["outputs"]):
            done = needs(plan)
            del done[name]["outputs"][output]
            assert verdict(done) is not Code.PASSED, output
        if job["kind"] == "stage":
            assert verdict(needs(plan, executed=0)) is not Code.PASSED


def test_a_skipped_job_that_was_planned_is_never_green(manifest: Manifest) -> None:
    plan = planned(manifest)
    for name in plan["jobs"]:
        done = needs(plan)
        done[name] = {"result": "skipped", "outputs": {}}
        assert verdict(done) is not Code.PASSED


def test_a_fork_is_green_only_when_nothing_was_withheld(manifest: Manifest) -> None:
    plan = planned(manifest, fork=True)
    withheld = [name for name, job in plan["jobs"].items() if job["withheld"]]
    green = verdict(needs(plan)) is Code.PASSED
    assert green == (not withheld or plan["forks"]["withheld"] == "pass")
