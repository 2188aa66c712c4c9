"""`rocm-ci-gen run`: order of the steps, what does not run after a failure, and the code of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rocm_ci.runner.errors import Code, UsageError
from rocm_ci_gen import sequence
from rocm_ci_gen.cli import main
from rocm_ci_gen.manifest import Manifest, check

TEXT = b"""\
version: 1
requirements: requirements-rocm.txt
runners:
  mi250: {labels: [self-hosted, mi250], gfx: gfx90a, gpus: 2, mode: none}
stages:
  kernel-tests: {runner: mi250, tests: [tests], needs: [hipify-check]}
  hipify-check: {source: [src, csrc]}
  vram-probe: {max-growth: 10%}
"""


@pytest.fixture
def manifest() -> Manifest:
    checked = check(TEXT, ".rocm-ci.yml")
    assert checked.manifest is not None, checked.diagnostics
    return checked.manifest


def test_steps_respect_needs_and_check_the_node_before_the_first_gpu_stage(manifest: Manifest) -> None:
    laid = sequence.steps(manifest, [])
    assert [(step.command, step.inputs.get("phase")) for step in laid] == [
        ("hipify-check", None),
        ("setup-rocm-container", None),
        ("vram-probe", "start"),
        ("kernel-tests", None),
        ("vram-probe", "stop"),
    ]
    assert laid[0].inputs["source"] == "src\ncsrc"
    assert laid[1].inputs == {"expect-gfx": "gfx90a", "expect-gpus": "2", "requirements": "requirements-rocm.txt"}


def test_nothing_runs_after_what_it_needs_has_failed(manifest: Manifest) -> None:
    ran: list[str] = []

    def execute(step: sequence.SequenceStep) -> Code:
        ran.append(step.command)
        return Code.FAILED if step.command == "hipify-check" else Code.PASSED

    results = sequence.run(sequence.steps(manifest, []), execute)
    assert "kernel-tests" not in ran
    assert sequence.overall(results) is Code.FAILED
    assert next(result for result in results if result.step.command == "kernel-tests").code is None


def test_a_broken_node_is_infra_and_runs_no_gpu_stage(manifest: Manifest) -> None:
    ran: list[str] = []

    def execute(step: sequence.SequenceStep) -> Code:
        ran.append(step.command)
        return Code.INFRA if step.command == "setup-rocm-container" else Code.PASSED

    results = sequence.run(sequence.steps(manifest, ["kernel-tests"]), execute)
    assert ran == ["setup-rocm-container"]
    assert sequence.overall(results) is Code.INFRA


def test_nothing_executed_is_never_passed() -> None:
    assert sequence.overall([]) is Code.INFRA


def test_an_unknown_stage_is_told_with_the_nearest_name(manifest: Manifest) -> None:
    with pytest.raises(UsageError, match="kernel-test") as caught:
        sequence.steps(manifest, ["kernel-test"])
    assert "kernel-tests" in caught.value.help


@pytest.mark.parametrize(("source", "code"), [("hipMalloc(&p, 4);\n", 0), ("cudaMalloc(&p, 4);\n", 1)])
def test_the_command_runs_the_real_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, code: int
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.hip").write_text("#include <hip/hip_runtime.h>\nvoid f(float* p) {\n" + source + "}\n")
    (tmp_path / ".rocm-ci.yml").write_text(
        "version: 1\nrunners: {cpu: {labels: ubuntu-latest}}\nstages: {hipify-check: {source: [src]}}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temp"))
    result = CliRunner().invoke(main, ["run", "--stages", "hipify-check"])
    assert result.exit_code == code, result.output
