"""The two steps of the actions as a runner starts them: their own scripts, its variables, and a bare interpreter."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from rocm_ci.runner import packages
from rocm_ci.runner.procfs import read_process

PROJECT = Path(__file__).resolve().parents[2]
ACTIONS = PROJECT / "actions"
CLEAN_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass
class Step:
    """What a step left: its exit code, its log, and its outputs."""

    code: int
    out: str
    err: str
    outputs: dict[str, str]

    @property
    def log(self) -> str:
        return self.out + self.err


@dataclass
class Job:
    """A job on a runner: a workspace, a temporary folder and an interpreter."""

    root: Path
    python: Path = Path(sys.executable)
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("temp", "tools", "work"):
            (self.root / name).mkdir(exist_ok=True)

    @property
    def variables(self) -> dict[str, str]:
        return {
            "PATH": f"{self.python.parent}:{CLEAN_PATH}",
            "HOME": str(self.root),
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.root / "work"),
            "RUNNER_TEMP": str(self.root / "temp"),
            "RUNNER_TOOL_CACHE": str(self.root / "tools"),
            **{name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_"))},
            **self.environ,
        }

    def step(self, action: str, name: str, **inputs: str) -> Step:
        """Run one step of an action as the runner does: its script in bash, its inputs in its environment."""
        spec = YAML(typ="safe").load((ACTIONS / action / "action.yml").read_text(encoding="utf-8"))
        step = next(found for found in spec["runs"]["steps"] if found["id"] == name)
        output, summary = (self.root / "temp" / f"{kind}-{time.monotonic_ns()}" for kind in ("output", "summary"))
        for path in (output, summary):
            path.write_bytes(b"")
        environ = self.variables | {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        environ["GITHUB_ACTION_PATH"] = str(ACTIONS / action)
        for key, value in step.get("env", {}).items():
            wanted = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
            environ[key] = inputs.get(wanted[1].replace("-", "_"), "") if wanted else value
        script = self.root / "temp" / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            env=environ,
            cwd=self.root / "work",
            capture_output=True,
            text=True,
            check=False,
        )
        return Step(done.returncode, done.stdout, done.stderr, read_outputs(output))

    def check(self, action: str, **inputs: str) -> Step:
        return self.step(action, "check", **inputs)

    def verdict(self, action: str) -> Step:
        return self.step(action, "verdict")


def read_outputs(path: Path) -> dict[str, str]:
    blocks = re.findall(r"^([\w-]+)<<(\S+)\n(.*?)\n\2$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return {name: value for name, _, value in blocks}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def evidence(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(step.outputs["evidence"])
    return found


# --- the verdict of a check -----------------------------------------------------------------------------------------


def test_a_pass(job: Job) -> None:
    (job.root / "work" / "a.hip").write_text("void f(int* p) { hipFree(p); }\n")
    check = job.check("hipify-check", source="a.hip")
    assert check.code == 0, check.log
    assert check.outputs["result"] == "passed"
    assert (evidence(check)["stage"], evidence(check)["executed"]) == ("hipify-check", 1)
    assert json.loads(Path(check.outputs["report"]).read_text())["result"] == "passed"
    verdict = job.verdict("hipify-check")
    assert verdict.code == 0, verdict.log
    assert "hipify-check: passed" in verdict.err
    assert "::error" not in check.out + verdict.out


def test_a_failure_is_an_exit_code_of_the_second_step_only(job: Job) -> None:
    (job.root / "work" / "a.hip").write_text("void f(int* p) { cudaFree(p); }\n")
    check = job.check("hipify-check", source="a.hip")
    assert check.code == 0, check.log
    assert check.outputs["result"] == "failed"
    verdict = job.verdict("hipify-check")
    assert verdict.code == 1
    assert "::error title=hipify-check%3A failed::" in verdict.out
    assert "cudaFree" in verdict.log
    # The record is used up: an action that is used again in the job starts from nothing.
    again = job.verdict("hipify-check")
    assert again.code == 3
    assert "does not exist" in again.err


@pytest.mark.parametrize(
    "inputs", [{"mode": "cuda"}, {"source": "no/such/folder"}, {"source": "a.hip", "jobs": "many"}], ids=str
)
def test_wrong_use_stays_wrong_use(job: Job, inputs: dict[str, str]) -> None:
    (job.root / "work" / "a.hip").write_text("\n")
    check = job.check("hipify-check", **inputs)
    assert check.code == 0, check.log
    assert check.outputs["result"] == ""
    verdict = job.verdict("hipify-check")
    assert verdict.code == 2
    assert "Traceback" not in check.log + verdict.log


@pytest.mark.parametrize("action", ["kernel-tests", "sglang-regression"])
def test_an_action_that_is_not_built_is_never_green(job: Job, action: str) -> None:
    check = job.check(action)
    assert (check.code, check.outputs["result"], evidence(check)["code"]) == (0, "", 2)
    verdict = job.verdict(action)
    assert verdict.code == 2
    assert f"{action} is not available in this version" in verdict.out


def test_no_first_step_is_infra(job: Job) -> None:
    verdict = job.verdict("kernel-tests")
    assert verdict.code == 3
    assert verdict.outputs["result"] == "infra"
    assert evidence(verdict)["executed"] == 0


CHECK = """
import sys
from rocm_ci.runner.stage import run_stage

def check(context):
    context.processes.run(["bash", "-c", "echo started $$; exec sleep 600"])

sys.exit(run_stage("kernel-tests", check))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, None])
def test_a_check_that_is_killed_in_the_middle_is_infra_and_leaves_nothing(job: Job, signum: int | None) -> None:
    environ = {**job.variables, "ROCM_CI_VERDICT": "deferred", "PYTHONPATH": str(ACTIONS)}
    with subprocess.Popen([job.python, "-c", CHECK], env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        command = int(process.stdout.readline().removeprefix("started "))
        if signum is not None:
            process.send_signal(signum)
            process.wait()
        verdict = job.verdict("kernel-tests")
        # Without a signal the runner took the step for finished and the check still ran: the verdict stops it.
        assert process.wait() != 0
    assert verdict.code == 3, verdict.log
    expected = "did not come to its end" if signum == signal.SIGKILL else "was stopped by SIG"
    assert expected in verdict.err
    left = read_process(command)
    assert left is None or left.ended


def test_a_disk_that_is_full_is_infra_in_both_steps(job: Job) -> None:
    job.environ["RUNNER_TEMP"] = "/dev/null/full"
    (job.root / "work" / "a.hip").write_text("\n")
    check = job.check("hipify-check", source="a.hip")
    assert check.code == 3
    assert "cannot write" in check.err
    assert "Traceback" not in check.log
    assert job.verdict("hipify-check").code == 3


# --- interpreters ---------------------------------------------------------------------------------------------------


def old_pythons() -> list[Path]:
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(installed.glob("3.[6-9].*/bin/python3.[6-9]"))
    return found + [path for name in "6789" if (path := Path(f"/usr/bin/python3.{name}")).exists()]


def test_an_old_python_gets_one_clear_error(job: Job, tmp_path: Path) -> None:
    pythons = old_pythons()
    if not pythons:
        pytest.skip("there is no Python older than 3.10 here")
    for number, python in enumerate(pythons):
        job.python = tmp_path / str(number) / "python3"
        job.python.parent.mkdir()
        job.python.symlink_to(python)
        for step in (job.check("kernel-tests"), job.verdict("kernel-tests")):
            assert step.code == 3
            assert step.err.count("rocm-ci needs Python 3.10 or newer") == 1
            assert "Traceback" not in step.log
            assert "SyntaxError" not in step.log


def test_no_python_gets_one_clear_error(job: Job, tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    bash = shutil.which("bash")
    assert bash is not None
    (bare / "bash").symlink_to(bash)
    job.environ["PATH"] = str(bare)
    for step in (job.check("kernel-tests"), job.verdict("kernel-tests")):
        assert step.code == 3
        assert step.out == "::error title=kernel-tests::python3 (3.10 or newer) is not in this job's image\n"


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with pip and without any of our packages."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    pip = importlib.util.find_spec("pip")
    if pip is None or pip.origin is None:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    else:
        # The pip that is here; unpacking another takes half of this module's time.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        (site,) = folder.glob("lib/python3.*/site-packages")
        (site / "pip").symlink_to(Path(pip.origin).parent)
    return folder / "bin" / "python3"


def installed_folder(job: Job) -> Path:
    lock = ACTIONS / "requirements-job.lock"
    return job.root / "tools" / "rocm-ci" / f"{packages.lock_digest(lock)[:16]}-{packages.interpreter_tag()}"


def test_packages_are_installed_once_and_only_we_see_them(job: Job, bare_python: Path) -> None:
    job.python = bare_python
    # Left by a job that died, at the very place: never used.
    half = installed_folder(job) / "click"
    half.mkdir(parents=True)
    (half / "__init__.py").write_text("raise SystemExit('a half installation')\n")
    first = job.check("kernel-tests")
    assert first.code == 0, first.log
    assert "installing its packages" in first.err
    assert job.verdict("kernel-tests").code == 2
    second = job.check("kernel-tests")
    assert second.code == 0, second.log
    assert "installing" not in second.err
    # The interpreter of the job is as it was.
    seen = subprocess.run([bare_python, "-c", "import click"], env=job.variables, capture_output=True, check=False)
    assert seen.returncode != 0


def test_two_at_once_share_one_installation(job: Job, bare_python: Path) -> None:
    job.python = bare_python
    command = [bare_python, "-I", ACTIONS / "bootstrap.py", "kernel-tests", "--help"]
    both = [
        subprocess.Popen(command, env=job.variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in "12"
    ]
    texts = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], texts
    assert sum("installing its packages" in err for _, err in texts) == 1
    folder = installed_folder(job)
    assert [path.name for path in folder.parent.iterdir() if not path.name.startswith(".")] == [folder.name]


def test_a_node_without_network_and_wheels_is_infra_with_the_ways_out(job: Job, bare_python: Path) -> None:
    job.python = bare_python
    job.environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(job.root / "work")}
    check = job.check("kernel-tests")
    assert check.code == 3
    assert "cannot install the locked packages with pip" in check.err
    assert "PIP_FIND_LINKS" in check.err
    assert check.outputs["result"] == "infra"
    verdict = job.verdict("kernel-tests")
    assert verdict.code == 3
    # The second step needs none of the packages, and says the first cause.
    assert "cannot install the locked packages with pip" in verdict.out
    assert "installing" not in verdict.err


def test_an_interpreter_without_pip_is_infra_with_the_ways_out(job: Job, tmp_path: Path) -> None:
    venv = tmp_path / "no-pip"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    job.python = venv / "bin" / "python3"
    job.environ["PATH"] = f"{venv / 'bin'}:/usr/bin:/bin"
    if shutil.which("uv", path=job.environ["PATH"]):
        pytest.skip("uv takes the place of pip here")
    check = job.check("kernel-tests")
    assert check.code == 3
    assert "has no pip" in check.err
    assert "install python3-pip in the image" in check.err
    assert job.verdict("kernel-tests").code == 3
