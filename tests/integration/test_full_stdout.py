"""Both programs with a stdout that takes nothing: a full disk is told, and is not a result of the check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
MANIFEST = "version: 1\nrunners: {cpu: {labels: ubuntu-latest}}\nstages: {hipify-check: null}\n"
TOLD = "error: cannot write the output: no space left on device\n"

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".rocm-ci.yml").write_text(MANIFEST, encoding="utf-8")
    return tmp_path


def call(module: str, arguments: list[str], folder: Path, stdout: str, stderr: str = "") -> tuple[int, str]:
    """Exit code and stderr, in an environment without a runner."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "INPUT_"))}
    line = f'"$@" {stdout} {stderr}'
    command = ["bash", "-c", line, "bash", sys.executable, "-c", f"from {module}.cli import main; main()", *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("rocm_ci_gen", ["validate"]),
        ("rocm_ci_gen", ["validate", "--format", "json"]),
        ("rocm_ci_gen", ["explain"]),
        ("rocm_ci_gen", ["schema"]),
        ("rocm_ci_gen", ["update", "--check", "--ref", "v2"]),
        ("rocm_ci_gen", ["update"]),
        ("rocm_ci_gen", ["render"]),
        ("rocm_ci_gen", ["render", "--output", "-"]),
        ("rocm_ci_gen", ["render", "--diff"]),
        ("rocm_ci_gen", ["plan", "--event", "workflow_dispatch"]),
        ("rocm_ci_gen", ["plan", "--event", "workflow_dispatch", "--json"]),
        ("rocm_ci_gen", ["init", "--yes"]),
        ("rocm_ci_gen", ["--help"]),
        ("rocm_ci_gen", ["--version"]),
        ("rocm_ci_gen", ["plan", "--help"]),
        ("rocm_ci", ["--help"]),
        ("rocm_ci", ["--version"]),
        ("rocm_ci", ["hipify-check", "--help"]),
    ],
)
def test_a_full_disk_is_one_error(repository: Path, module: str, arguments: list[str]) -> None:
    code, stderr = call(module, arguments, repository, "> /dev/full")
    assert code == 3, stderr
    assert TOLD in stderr
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr


def test_a_stage_whose_report_nobody_can_read(repository: Path) -> None:
    (repository / "a.hip").write_text("int a;\n", encoding="utf-8")
    code, stderr = call("rocm_ci", ["hipify-check", "."], repository, "> /dev/full")
    assert code == 3
    assert "no space left" in stderr
    assert "Traceback" not in stderr


def test_where_stderr_is_full_too(repository: Path) -> None:
    assert call("rocm_ci_gen", ["validate"], repository, "> /dev/full", "2>&1") == (3, "")


@pytest.mark.parametrize("arguments", [["explain"], ["schema"], ["plan", "--event", "workflow_dispatch", "--json"]])
def test_a_reader_that_went_away_is_no_error(repository: Path, arguments: list[str]) -> None:
    code, stderr = call("rocm_ci_gen", arguments, repository, "| true; exit ${PIPESTATUS[0]}")
    assert code in (0, 3)  # 0 where the reader was slower than we
    assert stderr == ""
