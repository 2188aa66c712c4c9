"""`rocm-ci gate` as a stage: exit codes, summary, report, annotations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocm_ci.cli import main

PLAN = {
    "schema": 1,
    "jobs": {
        "hipify-check": {"kind": "stage", "run": True, "reason": "src/a|b.cu matches <src/**>"},
        "kernel-tests": {
            "kind": "stage",
            "run": True,
            "reason": "always",
            "gpu": True,
            "expect": [{"instance": 1, "runner": "mi250", "gfx": ["gfx90a"], "gpus": 1, "shard": None}],
        },
    },
    "notices": ["docs/a.md is covered by no stage"],
}
EVIDENCE = {"schema": 1, "result": "passed", "code": 0, "unit": "files", "gpus": [], "message": "fine"}
GPU = {"bdf": "0000:c1:00.0", "gfx": "gfx90a", "product": "AMD Instinct MI250X"}


def needs(**outputs: str) -> str:
    hipify = json.dumps({**EVIDENCE, "stage": "hipify-check", "executed": 7})
    kernel = {
        "evidence-1": json.dumps(
            {**EVIDENCE, "stage": "kernel-tests", "executed": 1200, "unit": "tests", "gpus": [GPU]}
        ),
        "node-1": json.dumps({**EVIDENCE, "stage": "setup-rocm-container", "executed": 9, "gpus": [GPU]}),
    }
    return json.dumps(
        {
            "plan": {"result": "success", "outputs": {"plan": json.dumps(PLAN)}},
            "hipify-check": {"result": "success", "outputs": {"evidence-1": hipify}},
            "kernel-tests": {"result": "success", "outputs": {**kernel, **outputs}},
        }
    )


def gate(tmp_path: Path, *args: str, **environ: str) -> Result:
    full = {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        **environ,
    }
    return CliRunner().invoke(main, ["gate", *args], env=full)


def test_green_has_a_table_with_the_evidence(tmp_path: Path) -> None:
    result = gate(tmp_path, INPUT_NEEDS=needs(), INPUT_PLAN="")
    assert result.exit_code == 0, result.output
    summary = (tmp_path / "summary.md").read_text()
    assert "| job | verdict | why | evidence |" in summary
    assert "1,200 tests, 1 x gfx90a (AMD Instinct MI250X)" in summary
    assert "src/a\\|b.cu matches &lt;src/\\*\\*&gt;" in summary
    assert "7 files" in result.stdout
    assert "docs/a.md is covered by no stage" in result.stdout
    report = json.loads((tmp_path / "rocm-ci" / "gate.json").read_text())
    assert (report["result"], report["executed"], report["unit"]) == ("passed", 2, "jobs")
    assert report["jobs"][1]["evidence"][1]["gpus"] == [GPU]


def test_red_names_the_first_cause_and_annotates_every_red_job(tmp_path: Path) -> None:
    result = gate(tmp_path, INPUT_NEEDS=needs(**{"node-1": "", "evidence-1": ""}))
    assert result.exit_code == 3
    assert "::error title=kernel-tests::" in result.stdout
    assert "setup-rocm-container before it left no evidence" in result.output
    assert "❌ red" in (tmp_path / "summary.md").read_text()
    assert "infra" in (tmp_path / "output").read_text()


@pytest.mark.parametrize(
    "environ", [{}, {"INPUT_NEEDS": ""}, {"INPUT_NEEDS": "{"}, {"INPUT_NEEDS": "@/does/not/exist"}]
)
def test_unusable_input_is_wrong_use(tmp_path: Path, environ: dict[str, str]) -> None:
    result = gate(tmp_path, **environ)
    assert result.exit_code == 2
    assert "needs" in result.output


def test_values_can_be_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "needs.json").write_text(needs())
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    result = gate(tmp_path, "--needs", f"@{tmp_path}/needs.json", "--plan", f"@{tmp_path}/plan.json")
    assert result.exit_code == 0, result.output


def test_help_has_an_example() -> None:
    assert "Example" in CliRunner().invoke(main, ["gate", "--help"]).stdout
