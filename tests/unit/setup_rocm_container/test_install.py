"""A real pip and a folder of wheels in which a dependency would replace the container's PyTorch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_ci.runner.errors import Code
from rocm_ci.runner.processes import ProcessRegistry
from rocm_ci.setup_rocm_container import install
from rocm_ci.setup_rocm_container.install import Installer
from rocm_ci.setup_rocm_container.model import Check
from rocm_ci.setup_rocm_container.torch_build import TorchBuild, probe
from support.fake_torch import fake_torch, torch_files, wheel

ROCM = {"torch": "2.6.0+rocm6.3"}


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheelhouse")
    files = {f"torch/{name}": text for name, text in torch_files("2.7.0", None, "12.6").items()}
    wheel(folder, "torch", "2.7.0", files={"torch/__init__.py": "", **files})
    wheel(folder, "harmless", "1.0", requires=("torch",))
    wheel(folder, "greedy", "1.0", requires=("torch>=2.7",))
    return folder


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with pip: making one takes seconds, a copy does not."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def environment(tmp_path: Path, empty: Path) -> Path:
    """A virtual environment with pip, in which ROCm's PyTorch is installed."""
    shutil.copytree(empty, tmp_path / "venv", symlinks=True)
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    fake_torch(site)
    return tmp_path / "venv"


def registry(wheelhouse: Path) -> ProcessRegistry:
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheelhouse), "UV_NO_INDEX": "1", "UV_OFFLINE": "1"}
    settings |= {"UV_FIND_LINKS": str(wheelhouse), "HOME": str(wheelhouse)}
    return ProcessRegistry({"PATH": os.environ["PATH"], **settings})


def try_it(
    name: str, environment: Path, wheelhouse: Path, text: str, protected: dict[str, str]
) -> tuple[Check, Check, TorchBuild]:
    python = str(environment / "bin/python")
    file = environment / "requirements-rocm.txt"
    file.write_text(text, encoding="utf-8")
    found = install.find_installer(name, python, os.environ["PATH"], lambda: True, lambda: True)
    assert isinstance(found, Installer)
    processes = registry(wheelhouse)
    before = probe(python, processes, light=True)
    done = install.run(found, file, protected, processes)
    after = probe(python, processes, light=True)
    return done, install.check_kept(before, after, "6.3.1"), after


INSTALLERS = ["pip", pytest.param("uv", marks=pytest.mark.skipif(not shutil.which("uv"), reason="uv is not installed"))]


@pytest.mark.parametrize("name", INSTALLERS)
def test_a_requirement_that_is_happy_with_the_containers_torch(name: str, environment: Path, wheelhouse: Path) -> None:
    done, kept, after = try_it(name, environment, wheelhouse, "harmless==1.0\n", ROCM)
    assert (done.status, kept.status) == ("ok", "ok"), done
    assert "torch==2.6.0+rocm6.3" in done.message
    assert after.built == ("2.6.0+rocm6.3", "6.3.42131-fa1d09cbd")


@pytest.mark.parametrize("name", INSTALLERS)
def test_a_dependency_that_would_replace_torch_is_stopped(name: str, environment: Path, wheelhouse: Path) -> None:
    done, kept, after = try_it(name, environment, wheelhouse, "greedy==1.0\n", ROCM)
    assert (done.status, done.fault) == ("fail", Code.FAILED), done
    assert "torch" in done.fix
    assert kept.status == "ok"
    assert after.hip == "6.3.42131-fa1d09cbd"


def test_without_the_constraint_it_would_be_replaced_and_that_is_seen(environment: Path, wheelhouse: Path) -> None:
    done, kept, after = try_it("pip", environment, wheelhouse, "greedy==1.0\n", {})
    assert done.status == "ok"
    assert after.hip is None
    assert (kept.status, kept.fault) == ("fail", Code.FAILED)
    assert "torch 2.6.0+rocm6.3 → 2.7.0" in kept.message


def test_a_requirement_that_is_nowhere_is_the_repositorys_fault(environment: Path, wheelhouse: Path) -> None:
    done, _, _ = try_it("pip", environment, wheelhouse, "no-such-package==1\n", ROCM)
    assert (done.status, done.fault) == ("fail", Code.FAILED)
    assert "no-such-package" in done.message


def test_requirements_that_bring_cudas_torch_into_a_container_without_one() -> None:
    after = TorchBuild(present=True, version="2.7.0", built=("2.7.0", None), packages={"torch": "2.7.0"})
    kept = install.check_kept(TorchBuild(), after, "6.3.1")
    assert (kept.status, kept.fault) == ("fail", Code.FAILED)
    assert kept.fix.endswith("--index-url https://download.pytorch.org/whl/rocm6.3")
    good = TorchBuild(present=True, version="2.7.0+rocm6.3", hip="6.3", built=("2.7.0+rocm6.3", "6.3"))
    assert install.check_kept(TorchBuild(), good, "6.3.1").status == "ok"
    assert install.check_kept(TorchBuild(), TorchBuild(), None).status == "skip"


def test_a_rebuild_of_the_same_version_without_hip_is_seen() -> None:
    packages = {"torch": "2.6.0"}
    before = TorchBuild(present=True, packages=packages, built=("2.6.0", "6.3"))
    after = TorchBuild(present=True, packages=packages, built=("2.6.0", None))
    assert install.check_kept(before, after, "6.3").status == "fail"


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"], Code.INFRA),
        (["ERROR: ResolutionImpossible: for help visit …"], Code.FAILED),
        (["Temporary failure in name resolution", "ERROR: No matching distribution found for numpy"], Code.INFRA),
    ],
)
def test_whose_fault_a_failed_installation_is(tmp_path: Path, lines: list[str], fault: Code) -> None:
    script = tmp_path / "installer"
    body = "\n".join(f"echo {line!r}" for line in lines)
    script.write_text(f"#!/bin/sh\n{body}\nexit 1\n", encoding="utf-8")
    script.chmod(0o755)
    done = install.run(
        Installer("pip", (str(script),)), tmp_path / "r.txt", {}, ProcessRegistry({"PATH": "/usr/bin:/bin"})
    )
    assert (done.status, done.fault) == ("fail", fault)


def test_which_installer() -> None:
    def find(wanted: str | None, *, pip: bool, path: str = "/nowhere") -> Installer | Check:
        return install.find_installer(wanted, "python3", path, lambda: pip, lambda: False)

    assert isinstance(find(None, pip=True), Installer)
    for wanted in ("pip", "uv", None):
        missing = find(wanted, pip=wanted == "uv")
        assert isinstance(missing, Check)
        assert (missing.status, bool(missing.fix)) == ("fail", True)


def test_uv_installs_into_the_jobs_interpreter(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\n", encoding="utf-8")
    uv.chmod(0o755)
    found = install.find_installer("uv", "/usr/bin/python3", str(tmp_path), lambda: True, lambda: False)
    assert isinstance(found, Installer)
    assert found.command == (str(uv), "pip", "install", "--system", "--python", "/usr/bin/python3")
    inside = install.find_installer("uv", "/venv/bin/python", str(tmp_path), lambda: True, lambda: True)
    assert isinstance(inside, Installer)
    assert "--system" not in inside.command


def test_a_build_that_cannot_be_read_is_no_sign_that_nothing_changed() -> None:
    silent = TorchBuild(present=True, version="2.4.0", packages={"torch": "2.4.0"})
    kept = install.check_kept(silent, silent, "6.2")
    assert kept.status == "warn"
    assert "cannot be read" in kept.message
