"""What `init` switches on is what the commands really do."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import rocm_ci.cli
from rocm_ci.availability import AVAILABLE_STAGES
from rocm_ci_gen.scaffold.proposal import STAGES

ARGUMENTS = {
    "hipify-check": ["src"],
    "kernel-tests": ["tests"],
    "sglang-regression": ["--model", "m"],
    "vram-probe": ["--", "true"],
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_listed_if_its_command_does_something(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.hip").write_text("#include <hip/hip_runtime.h>\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "temp"))
    result = CliRunner().invoke(rocm_ci.cli.main, [stage, *ARGUMENTS[stage]])
    unavailable = result.exit_code == 2 and "not available in this version" in result.output
    assert unavailable is (stage not in AVAILABLE_STAGES), result.output


def test_only_stages_are_listed() -> None:
    assert set(STAGES) >= AVAILABLE_STAGES
