"""The node check in a podman container, with stand-ins for the devices and the wrong group (`make container`)."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import podman_service
from support.fake_node import FakeGpu, FakeNode

PROJECT = Path(__file__).resolve().parents[2]
GROUP = 4711
ALLOWED = os.makedev(1, 3)
"""/dev/null's numbers: every container may open it."""
FOREIGN = os.makedev(226, 128)
"""A render node's numbers: no container may open it unless it is given the device."""

pytestmark = pytest.mark.container


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    work = tmp_path_factory.mktemp("podman")
    podman_service.install_missing()
    podman_service.build_image(work)
    return {**os.environ, **podman_service.settings(work)}


@pytest.fixture
def node() -> Iterator[Path]:
    """A node with one MI300X whose devices only one group may open."""
    top = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    try:
        top.chmod(0o755)
        root = FakeNode(top / "node", [FakeGpu("0000:05:00.0")]).root
        for name in ("kfd", "dri/renderD128"):
            _device(root / "dev" / name, ALLOWED)
        yield root
    finally:
        shutil.rmtree(top)


def _device(path: Path, numbers: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mknod(path, 0o660 | stat.S_IFCHR, numbers)
    path.chmod(0o660)
    os.chown(path, 0, GROUP)


def _check(podman: dict[str, str], node: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command as user 12345 in a container that sees the node at /node."""
    libraries = Path(click.__file__).parents[1]
    command = [
        "podman", "run", "--rm", "--user", "12345:12345", *options,
        "--volume", f"{PROJECT / 'actions'}:/rocm-ci:ro", "--volume", f"{libraries / 'click'}:/libraries/click:ro",
        "--volume", f"{node}:/node", "--env", "PYTHONPATH=/rocm-ci:/libraries", "--env", "PYTHONDONTWRITEBYTECODE=1",
        podman_service.IMAGE, "python3", "-m", "rocm_ci", "setup-rocm-container", "--path-root", "/node",
        "--expect-gfx", "gfx942", "--expect-gpus", "1", "--report", "/dev/shm/report.json",  # noqa: S108
    ]  # fmt: skip
    return subprocess.run(command, env=podman, capture_output=True, text=True, check=False, timeout=300)


def test_without_the_devices_group_the_fix_names_its_number(podman: dict[str, str], node: Path) -> None:
    done = _check(podman, node)
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"--group-add {GROUP}" in done.stdout
    assert "groups: [" in done.stdout


def test_with_the_devices_group_the_node_is_fit(podman: dict[str, str], node: Path) -> None:
    done = _check(podman, node, "--group-add", str(GROUP))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed: 1 x gfx942" in done.stderr


def test_a_device_that_the_container_was_not_given_has_another_cause(podman: dict[str, str], node: Path) -> None:
    _device(node / "dev" / "kfd", FOREIGN)
    done = _check(podman, node, "--group-add", str(GROUP))
    assert done.returncode == 3, done.stdout + done.stderr
    assert "--group-add" not in done.stdout
    assert "cgroup" in done.stdout or "--device" in done.stdout
