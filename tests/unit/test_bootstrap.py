"""The bootstrap: what is installed when, where, and what a half installation is worth."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from rocm_ci.runner import installer, packages
from rocm_ci.runner.errors import InfraError

PROJECT = Path(__file__).resolve().parents[2]
BOOTSTRAP = PROJECT / "actions" / "bootstrap.py"


@pytest.fixture
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rocm_ci_bootstrap", BOOTSTRAP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("8.1.3", (8, 1, 3)),
        ("8.1.3+deb12", (8, 1, 3)),
        ("2.28.1.post1", (2, 28, 1)),
        ("8.2.0rc1", (8, 2, 0)),
        ("1!2.0", (2, 0)),
        ("v0.17.32", (0, 17, 32)),
        ("10.0", (10, 0)),
        ("", ()),
        ("unknown", ()),
    ],
)
def test_odd_versions_are_understood(bootstrap: ModuleType, version: str, numbers: tuple[int, ...]) -> None:
    assert bootstrap.release(version) == numbers


@pytest.mark.parametrize(
    ("version", "enough"),
    [("8.1", True), ("8.1.0", True), ("10.0", True), ("8.0.4", False), ("7.99", False), ("?", False), (None, False)],
)
def test_a_package_must_be_new_enough(
    bootstrap: ModuleType, version: str | None, enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    assert bootstrap.satisfied("click") is enough


def test_metadata_without_the_package_is_not_enough(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert bootstrap.unsatisfied(("click",)) == ["click"]


def test_the_locks_pin_what_is_needed_with_hashes_and_no_host(bootstrap: ModuleType) -> None:
    full = (PROJECT / "actions" / "requirements.lock").read_text()
    job = (PROJECT / "actions" / "requirements-job.lock").read_text()
    pins = {}
    for text in (full, job):
        assert "://" not in text
        assert "--index-url" not in text
        for block in text.replace("\\\n", " ").splitlines():
            if block.strip() and not block.lstrip().startswith("#"):
                requirement, _, hashes = block.partition(" --hash=sha256:")
                assert hashes, requirement
                name = requirement.split(";")[0].strip()
                assert "==" in name
                pins.setdefault(id(text), set()).add(name)
    assert pins[id(job)] <= pins[id(full)]
    names = {name.split("==")[0].replace("-", ".") for name in pins[id(full)]}
    assert set(bootstrap.MINIMUM) <= names


def test_any_python_can_read_the_bootstrap() -> None:
    # The grammar of 3.6 is older than what `ast` can check against, so its newer forms are looked for by hand.
    tree = ast.parse(BOOTSTRAP.read_text(encoding="utf-8"), feature_version=(3, 7))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.NamedExpr | ast.Match)
        if isinstance(node, ast.ImportFrom):
            assert node.module != "__future__"
        if isinstance(node, ast.FunctionDef):
            assert not node.args.posonlyargs


# --- isolation ------------------------------------------------------------------------------------------------------


def run_bootstrap(*args: str, **more: str) -> subprocess.CompletedProcess[str]:
    base = {key: value for key, value in os.environ.items() if not key.startswith(("INPUT_", "GITHUB_", "ROCM_CI_"))}
    return subprocess.run(
        [sys.executable, str(BOOTSTRAP), *args],
        env={**base, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_jobs_packages_cannot_shadow_ours(tmp_path: Path) -> None:
    trap = tmp_path / "theirs"
    trap.mkdir()
    for name in ("click", "rocm_ci", "requests"):
        (trap / f"{name}.py").write_text(f"raise SystemExit('theirs: {name}')\n")
    done = run_bootstrap("hipify-check", "--help", PYTHONPATH=str(trap))
    assert (done.returncode, "Usage: rocm-ci hipify-check" in done.stdout) == (0, True), done.stderr
    here = subprocess.run(
        [sys.executable, str(BOOTSTRAP), "--version"], cwd=trap, capture_output=True, text=True, check=True
    )
    assert "rocm-ci, version" in here.stdout


def test_site_packages_on_the_jobs_pythonpath_stay(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    site = str(Path(importlib.util.find_spec("click").origin or "").parents[1])  # type: ignore[union-attr]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([site, "/theirs", ""]))
    standard = [entry for entry in sys.path if entry.endswith((".zip", f"python3.{sys.version_info.minor}", "dynload"))]
    monkeypatch.setattr(sys, "path", ["/theirs", "", *standard, site, "/elsewhere"])
    bootstrap.isolate()
    assert sys.path == [*bootstrap.ROOTS, *standard, site, "/elsewhere"]


def test_the_environment_and_the_checkout_are_left_as_they_are(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    before = dict(os.environ)
    assert bootstrap.main(["verdict", "--bad"]) == 2
    assert dict(os.environ) == before
    assert sys.dont_write_bytecode


# --- the root action ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "plann", "verdict", "../x", "gate; rm"])
def test_an_unknown_command_of_the_root_action_is_wrong_use_in_both_steps(command: str, tmp_path: Path) -> None:
    done = run_bootstrap("root", INPUT_COMMAND=command, RUNNER_TEMP=str(tmp_path))
    assert done.returncode == 2
    assert "must be plan, gate or run" in done.stderr
    for file in (tmp_path / "rocm-ci").iterdir():
        file.unlink()
    first = run_bootstrap("root", INPUT_COMMAND=command, RUNNER_TEMP=str(tmp_path), ROCM_CI_VERDICT="deferred")
    second = run_bootstrap("root", "verdict", INPUT_COMMAND=command, RUNNER_TEMP=str(tmp_path))
    assert (first.returncode, second.returncode) == (0, 2)
    assert "must be plan, gate or run" in second.stderr


def test_the_root_action_runs_the_gate(tmp_path: Path) -> None:
    environ = {"INPUT_COMMAND": "gate", "RUNNER_TEMP": str(tmp_path), "INPUT_NEEDS": '{"plan": {"result": "failure"}}'}
    assert run_bootstrap("root", **environ).returncode == 1
    assert run_bootstrap("root", **environ, ROCM_CI_VERDICT="deferred").returncode == 0
    second = run_bootstrap("root", "verdict", INPUT_COMMAND="gate", RUNNER_TEMP=str(tmp_path))
    assert second.returncode == 1
    assert "plan: it failed" in second.stderr


def test_the_root_action_runs_the_generator_and_keeps_its_exit_code(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("rocm_ci_gen.commands.run")
    environ = {"INPUT_COMMAND": "run", "RUNNER_TEMP": str(tmp_path), "INPUT_MANIFEST": str(tmp_path / "missing.yml")}
    first = run_bootstrap("root", **environ, ROCM_CI_VERDICT="deferred")
    assert first.returncode == 0, first.stderr
    second = run_bootstrap("root", "verdict", INPUT_COMMAND="run", RUNNER_TEMP=str(tmp_path))
    assert second.returncode == 2, second.stderr


def test_inputs_of_the_other_commands_are_dropped(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("COMMAND", "MANIFEST", "NEEDS", "PLAN", "STAGES", "GITHUB_TOKEN", "THEIRS")
    for name in names:
        monkeypatch.setenv(f"INPUT_{name}", "x")
    bootstrap.drop_other_inputs("run")
    left = {name for name in names if f"INPUT_{name}" in os.environ}
    assert left == {"MANIFEST", "STAGES", "THEIRS"}


def test_no_command_is_wrong_use() -> None:
    for args in ((), ("root", "x"), ("root", "verdict", "x")):
        done = run_bootstrap(*args)
        assert done.returncode == 2
        assert "usage: " in done.stderr


# --- where packages are kept ----------------------------------------------------------------------------------------


def test_the_first_folder_that_can_be_written_is_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ = {
        "RUNNER_TOOL_CACHE": str(tmp_path / "tools"),
        "XDG_CACHE_HOME": str(tmp_path / "xdg"),
        "HOME": str(tmp_path / "home"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
    }
    expected = ["tools/rocm-ci", "xdg/rocm-ci", "home/.cache/rocm-ci", "temp/rocm-ci/packages"]
    for name, folder in zip(list(environ), expected, strict=True):
        assert packages.cache_folder(environ) == tmp_path / folder
        environ[name] = "relative" if name == "XDG_CACHE_HOME" else str(tmp_path / "file" / "x")
    with pytest.raises(InfraError, match="there is no folder to install packages into"):
        packages.cache_folder(environ)
    with pytest.raises(InfraError, match="HOME is not set"):
        packages.cache_folder({})


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text("something==1.0 --hash=sha256:00\n")
    return path


class FakeInstaller:
    """Stands in for pip: writes a package, or fails."""

    def __init__(self) -> None:
        self.targets: list[Path] = []
        self.failure: str | None = None
        self.wait: threading.Event | None = None

    def __call__(self, lock: Path, target: Path, environ: Mapping[str, str]) -> str | None:
        self.targets.append(target)
        (target / "something").mkdir()
        (target / "something" / "__init__.py").write_text("VERSION = 1\n")
        if self.wait:
            assert self.wait.wait(30)
        return self.failure


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeInstaller:
    made = FakeInstaller()
    monkeypatch.setattr(packages, "run_installer", made)
    return made


def environ(tmp_path: Path) -> dict[str, str]:
    return {"RUNNER_TOOL_CACHE": str(tmp_path / "tools")}


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_packages_are_installed_once(lock: Path, fake: FakeInstaller, tmp_path: Path) -> None:
    first = packages.provide_packages(lock, environ(tmp_path))
    assert (first / "something" / "__init__.py").is_file()
    assert packages.provide_packages(lock, environ(tmp_path)) == first
    assert len(fake.targets) == 1
    assert fake.targets[0] != first
    assert visible(first.parent) == [first.name]
    lock.write_text("something==2.0 --hash=sha256:00\n")
    assert packages.provide_packages(lock, environ(tmp_path)) != first


def test_a_failed_installation_leaves_nothing(lock: Path, fake: FakeInstaller, tmp_path: Path) -> None:
    fake.failure = "no network"
    with pytest.raises(InfraError, match="no network") as caught:
        packages.provide_packages(lock, environ(tmp_path))
    for way in ("python3-pip", "PIP_FIND_LINKS", "PIP_NO_INDEX", "click and requests in the image"):
        assert way in caught.value.help
    assert visible(tmp_path / "tools" / "rocm-ci") == []


@pytest.mark.parametrize("damage", ["no marker", "marker", "other lock", "missing file", "cut file", "a file"])
def test_a_half_installation_is_never_used(lock: Path, fake: FakeInstaller, tmp_path: Path, damage: str) -> None:
    target = packages.provide_packages(lock, environ(tmp_path))
    marker, module = target / ".complete.json", target / "something" / "__init__.py"
    if damage == "no marker":
        marker.unlink()
    elif damage == "marker":
        marker.write_text('{"lock": ')
    elif damage == "other lock":
        marker.write_text(json.dumps({**json.loads(marker.read_text()), "lock": "0"}))
    elif damage == "missing file":
        module.unlink()
    elif damage == "cut file":
        module.write_text("")
    else:
        for path in (module, marker):
            path.unlink()
        module.parent.rmdir()
        target.rmdir()
        target.write_text("")
    assert packages.provide_packages(lock, environ(tmp_path)) == target
    assert len(fake.targets) == 2
    assert module.read_text() == "VERSION = 1\n"
    assert visible(target.parent) == [target.name]


def test_two_at_once_share_one_installation(lock: Path, fake: FakeInstaller, tmp_path: Path) -> None:
    fake.wait = threading.Event()
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(packages.provide_packages(lock, environ(tmp_path)))) for _ in "12"
    ]
    for thread in threads:
        thread.start()
    fake.wait.set()
    for thread in threads:
        thread.join()
    assert len(fake.targets) == 1
    assert found[0] == found[1]


def test_folders_of_installations_that_died_are_removed(lock: Path, fake: FakeInstaller, tmp_path: Path) -> None:
    target = packages.provide_packages(lock, environ(tmp_path))
    (target / ".complete.json").unlink()
    dead, young = (target.with_name(f"{target.name}.{name}.tmp") for name in ("dead", "young"))
    for folder in (dead, young):
        folder.mkdir()
    os.utime(dead, (1, 1))
    packages.provide_packages(lock, environ(tmp_path))
    assert visible(target.parent) == [target.name, young.name]


# --- the installer --------------------------------------------------------------------------------------------------


def test_the_users_settings_for_pip_count_but_not_those_that_lead_elsewhere() -> None:
    given = {
        "PIP_INDEX_URL": "https://mirror",
        "PIP_FIND_LINKS": "/wheels",
        "PIP_NO_INDEX": "1",
        "PIP_DEFAULT_TIMEOUT": "60",
        "PIP_USER": "1",
        "PIP_TARGET": "/elsewhere",
        "PIP_CONSTRAINT": "/etc/pip/constraint.txt",
        "PYTHONPATH": "/theirs",
        "INPUT_GITHUB_TOKEN": "x",
        "HTTPS_PROXY": "http://proxy",
    }
    made = installer.installer_environ(given)
    kept = ("PIP_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_DEFAULT_TIMEOUT", "HTTPS_PROXY")
    assert {name: made[name] for name in kept} == {name: given[name] for name in kept}
    assert made["PIP_USER"] == "0"
    assert not {"PIP_TARGET", "PIP_CONSTRAINT", "PYTHONPATH", "INPUT_GITHUB_TOKEN"} & set(made)


def test_neither_pip_nor_uv_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lock: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    failure = installer.run_installer(lock, tmp_path, {"PATH": str(tmp_path)})
    assert failure is not None
    assert "has no pip" in failure


def test_uv_takes_the_place_of_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lock: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\necho "$@" >"$0.args"\n')
    uv.chmod(0o755)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert installer.run_installer(lock, tmp_path / "t", {"PATH": f"{tmp_path}:/usr/bin:/bin"}) is None
    args = (tmp_path / "uv.args").read_text()
    assert "--require-hashes --only-binary :all: --no-deps --target" in args


def test_the_installers_output_is_told_and_redacted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lock: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho looking at https://me:s3cr3t@mirror/\necho 'error: no such wheel'\nexit 2\n")
    uv.chmod(0o755)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    failure = installer.run_installer(lock, tmp_path / "t", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert failure == "cannot install the locked packages with uv (exit code 2): error: no such wheel"
    err = capfd.readouterr().err
    assert "https://***@mirror/" in err
    assert "s3cr3t" not in err


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("", "it printed nothing"),
        ("a\nlast\n", "last"),
        ("ERROR: first\nERROR: second\n", "ERROR: first"),
        ("ERROR: x\nOSError: [Errno 28] No space left on device\n", "OSError: [Errno 28] No space left on device"),
    ],
)
def test_the_most_telling_line_is_the_reason(output: str, reason: str) -> None:
    assert installer.reason(output) == reason
