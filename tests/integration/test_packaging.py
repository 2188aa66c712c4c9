"""One distribution: what is built holds templates and data, and its dependencies are those that bootstrap checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import bootstrap

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(PROJECT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scripts folder of a fresh environment with the wheel; it borrows the dependencies of this one."""
    root = tmp_path_factory.mktemp("installed")
    venv.create(root, with_pip=True)
    command = [str(root / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True)
    (packages,) = (root / "lib").glob("python*/site-packages")
    theirs = [entry for entry in sys.path if entry.endswith("site-packages")]
    (packages / "borrowed.pth").write_text("\n".join(theirs) + "\n")
    return root / "bin"


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run([str(program), *arguments], cwd=cwd, capture_output=True, text=True, env=environ)


def test_the_wheel_holds_templates_data_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("actions/rocm_ci", "generator/rocm_ci_gen"):
        root = PROJECT / folder
        files = [p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"]
        assert {f"{root.name}/{path.relative_to(root).as_posix()}" for path in files} <= names
    templates = PROJECT / "templates"
    files = [p for p in templates.rglob("*") if p.is_file()]
    assert {f"rocm_ci_gen/templates/{path.relative_to(templates).as_posix()}" for path in files} <= names


def test_an_installed_wheel_scaffolds_renders_and_checks(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.hip").write_text("#include <hip/hip_runtime.h>\nint main() { return hipDeviceReset(); }\n")
    generator = installed / "rocm-ci-gen"
    done = run(generator, "init", "--yes", "--labels", "self-hosted,amd", "--gfx", "gfx942", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(generator, "render", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "installed" in run(installed / "python", "-c", "import rocm_ci; print(rocm_ci.__file__)", cwd=tmp_path).stdout
    )
    done = run(installed / "rocm-ci", "hipify-check", "src", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_bootstrap_checks_the_dependencies_of_the_project_file() -> None:
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    declared = dict(re.findall(r'"([\w.]+)>=([\d.]+)"', block[1]))
    assert {name: ".".join(map(str, version)) for name, version in bootstrap.MINIMUM.items()} == declared
