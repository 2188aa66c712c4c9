"""A rendered workflow in a podman container, with stand-ins for /dev/kfd and /dev/dri (`make container`)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import local_act
import podman_service
import rocm_ci_gen.cli

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.container, pytest.mark.act]

# hipify-check on the GPU runner, so that it runs in the job container with every option that a GPU stage gets.
MANIFEST = f"""\
version: 1
runners:
  mi250:
    labels: [self-hosted, roc-gpu-mi200]
    gfx: gfx90a
    gpus: 1
    groups: [video, 109]
container:
  image: {podman_service.IMAGE}
  devices: ["/dev/null:/dev/kfd", "/dev/null:/dev/dri/renderD128"]
  ipc: host
  env: {{SAXPY_NOTE: "a b"}}
stages:
  hipify-check:
    runner: mi250
    source: [src]
    before:
      - {{name: Look around, run: 'echo "groups: $(id -G)"; ls -l /dev/kfd /dev/dri; echo "env: $SAXPY_NOTE"'}}
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    podman_service.install_missing()
    work = tmp_path_factory.mktemp("podman")
    podman_service.build_image(work)
    with podman_service.service(work) as environ:
        yield environ


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return local_act.snapshot(PROJECT, tmp_path_factory.mktemp("rocm-ci"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "user"
    shutil.copytree(PROJECT / "examples" / "hip-saxpy", root)
    (root / ".rocm-ci.yml").write_text(MANIFEST)
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["render", "--manifest", str(root / ".rocm-ci.yml")])
    assert result.exit_code == 0, result.output
    local_act.commit_all(root, "CI")
    return root


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an offline node needs: the locked wheels for the image's Python."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--require-hashes",
        "--only-binary=:all:",
        "--no-deps",
    ]
    command += [
        "--python-version=3.11",
        f"--dest={folder}",
        f"--requirement={PROJECT / 'actions' / 'requirements.lock'}",
    ]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture
def options(engine: dict[str, str], wheelhouse: Path) -> local_act.ActOptions:
    return local_act.ActOptions(
        images=dict.fromkeys(("ubuntu-latest", "self-hosted", "roc-gpu-mi200"), podman_service.IMAGE),
        environ=engine,
        variables={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheelhouse"},
        container_options=f"--volume={wheelhouse}:/wheelhouse:ro",
    )


def run(repository: Path, project: Path, tmp_path: Path, options: local_act.ActOptions) -> local_act.ActRun:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return local_act.run(repository, project, work, options)


def test_green_in_the_container_with_devices_groups_and_environment(
    repository: Path, project: Path, tmp_path: Path, options: local_act.ActOptions
) -> None:
    result = run(repository, project, tmp_path, options)
    assert result.code == 0, result.log
    assert result.jobs == {"plan": "success", "hipify-check": "success", "gate": "success"}
    groups = next(line for line in result.log.splitlines() if "] groups:" in line).split()
    assert {"44", "109"} <= set(groups)
    assert "/dev/kfd" in result.log
    assert "renderD128" in result.log
    assert "env: a b" in result.log


def test_red_in_the_container_on_a_live_cuda_call(
    repository: Path, project: Path, tmp_path: Path, options: local_act.ActOptions
) -> None:
    source = repository / "src" / "saxpy.hip"
    source.write_text(source.read_text().replace("hipFree(dx)", "cudaFree(dx)"))
    local_act.commit_all(repository, "a CUDA call")
    result = run(repository, project, tmp_path, options)
    assert result.code != 0
    assert result.jobs == {"plan": "success", "hipify-check": "failure", "gate": "failure"}
    assert "cudaFree" in result.log
