"""A container engine for act where no Docker runs: podman with runc, and a stand-in for a ROCm image.

The container tests use it. As root on Debian or Ubuntu it installs what is missing (podman, runc, debootstrap).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

IMAGE = "localhost/rocm-standin:6.2"
_PACKAGES = ("podman", "runc", "debootstrap")
# Inside another container podman may neither raise limits nor make namespaces of its own; crun before 1.9 fails on
# hybrid cgroups. None of this hurts elsewhere.
_CONTAINERS_CONF = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "host"
ipcns = "host"
utsns = "host"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
"""


def install_missing() -> None:
    """Install podman, runc and debootstrap from the distribution.

    Raises:
        RuntimeError: one is missing, and this is not root on a system with apt-get.
    """
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    missing = [name for name in _PACKAGES if shutil.which(name, path=path) is None]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError(f"please install: {' '.join(missing)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
    subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL)


def build_image(work: Path) -> None:
    """Make the image `IMAGE` unless podman has it: Debian with Python, pip and git, no ROCm (about 2 min)."""
    if subprocess.run(["podman", "image", "exists", IMAGE]).returncode == 0:
        return
    root = work / "rootfs"
    subprocess.run(
        [
            shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "debootstrap",
            "--variant=minbase",
            "--include=python3-minimal,python3-pip,git,ca-certificates",
            "bookworm",
            str(root),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as tar:
        subprocess.run(["podman", "import", "-", IMAGE], stdin=tar.stdout, check=True, capture_output=True)
    shutil.rmtree(root)


def settings(work: Path) -> dict[str, str]:
    """Write podman's settings into `work`; the environment variables by which it finds them."""
    conf = work / "containers.conf"
    conf.write_text(_CONTAINERS_CONF)
    return {"CONTAINERS_CONF": str(conf)}


@contextlib.contextmanager
def service(work: Path) -> Iterator[dict[str, str]]:
    """Run podman's API in `work`; yields the environment variables that lead act to it."""
    found = settings(work)
    socket = work / "podman.sock"
    address = f"unix://{socket}"
    environ = {**os.environ, **found}
    server = subprocess.Popen(
        ["podman", "system", "service", "--time=0", address],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        while not socket.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("podman's service did not start; try: podman info")
            time.sleep(0.1)
        yield {"DOCKER_HOST": address, **found}
    finally:
        server.terminate()
        server.wait(timeout=30)
