"""`rocm-ci-gen plan` as people and as the root action call it, in real repositories."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from rocm_ci.gate.plan import parse_plan
from rocm_ci_gen import files, workflow
from rocm_ci_gen.cli import main
from rocm_ci_gen.manifest import load

MANIFEST = """\
version: 1
runners:
  cpu: {labels: ubuntu-latest}
  mi250: {labels: [self-hosted, roc-gpu-mi200], gfx: gfx90a, gpus: 2}
triggers: {push: {branches: [main]}, pull_request: {branches: [main]}, manual: true}
forks: {policy: label}
stages:
  hipify-check: {paths: ["src/**"]}
  kernel-tests: {paths: ["src/**"], shards: 2}
"""
OTHER_PIN = "actions/checkout@" + "f" * 40 + " # v99.0.0"


class Project:
    """A repository with a manifest, its workflow and a branch `topic`."""

    base = ""
    head = ""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self) -> Project:
        root = self.root
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write(".rocm-ci.yml", MANIFEST)
        self.write("src/a.cu", "a")
        manifest = load(root / ".rocm-ci.yml")
        rendered = workflow.render_for(manifest, root=root, manifest_name=".rocm-ci.yml")
        files.write_generated(root, rendered, force=False)
        self.base = self.commit()
        self.git("checkout", "-q", "-b", "topic")
        self.write("src/b.cu", "b")
        self.write("setup.py", "s")
        self.head = self.commit()
        return self

    def copy(self, root: Path) -> Project:
        shutil.copytree(self.root, root, symlinks=True)
        project = Project(root)
        project.base, project.head = self.base, self.head
        return project

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        environ = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True, env=environ
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("template") / "project").create()


@pytest.fixture
def project(template: Project, tmp_path: Path) -> Project:
    return template.copy(tmp_path / "project")


Run = Callable[..., Result]


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calls the command inside the project, in an environment without a runner unless one is given."""
    monkeypatch.chdir(project.root)
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "INPUT_", "RUNNER_", "ROCM_CI_")):
            monkeypatch.delenv(name)

    def call(*arguments: str, **environ: str) -> Result:
        return CliRunner().invoke(main, ["plan", *arguments], env=environ, catch_exceptions=False)

    return call


def data(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# --- on a laptop ----------------------------------------------------------------------------------------------------


def test_pull_request(run: Run, project: Project) -> None:
    plan = data(run("--event", "pull_request", "--base", "main", "--number", "12", "--json"))
    assert (plan["base"], plan["head"], plan["changed"]) == (project.base, project.head, 2)
    assert plan["concurrency"] == {"group": "rocm-ci-pull_request-12", "cancel_in_progress": True}
    assert plan["jobs"]["kernel-tests"] == {
        "kind": "stage",
        "run": True,
        "reason": "src/b.cu matches src/**",
        "runs_on": ["self-hosted", "roc-gpu-mi200"],
        "instances": 2,
        "withheld": False,
        "gpu": True,
        "expect": [
            {"instance": 1, "runner": "mi250", "gfx": ["gfx90a"], "gpus": 2, "shard": "1/2"},
            {"instance": 2, "runner": "mi250", "gfx": ["gfx90a"], "gpus": 2, "shard": "2/2"},
        ],
    }
    assert plan["unowned"] == ["setup.py"]
    assert plan["triggered"] is True


def test_text_is_plain_when_piped(run: Run) -> None:
    shown = run("--event", "pull_request", "--base", "main").stdout
    assert "\x1b" not in shown
    assert "kernel-tests  yes" in shown
    assert "src/b.cu matches src/**" in shown


def test_changed_files_need_no_git(run: Run, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / ".rocm-ci.yml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.chdir(alone)
    plan = data(run("--event", "pull_request", "--base", "main", "--changed", "./src/x.cu", "--changed", "y", "--json"))
    assert plan["changed"] == 2
    assert plan["jobs"]["hipify-check"]["reason"] == "src/x.cu matches src/**"
    assert data(run("--event", "pull_request", "--changed", "a", "b", "--json"))["unowned"] == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "kernel_tests"),
    [
        ([], (True, False)),
        (["--fork"], (False, True)),
        (["--fork", "--label", "docs"], (False, True)),
        (["--fork", "--label", "ok-to-test"], (True, False)),
        (["--fork", "--label", "docs", "--label", "ok-to-test"], (True, False)),
    ],
)
def test_forks_and_labels(run: Run, options: list[str], kernel_tests: tuple[bool, bool]) -> None:
    plan = data(run("--event", "pull_request", "--base", "main", "--json", *options))
    job = plan["jobs"]["kernel-tests"]
    assert (job["run"], job["withheld"]) == kernel_tests


@pytest.mark.parametrize(
    ("ref", "triggered"),
    [("main", True), ("refs/heads/main", True), ("topic", False), ("refs/tags/v1", False)],
)
def test_push(run: Run, ref: str, triggered: bool) -> None:
    plan = data(run("--event", "push", "--base", "main", "--ref", ref, "--json"))
    assert plan["triggered"] is triggered
    assert plan["jobs"]["hipify-check"]["run"] is triggered


def test_a_run_that_does_not_start_is_in_no_group(run: Run) -> None:
    shown = run("--event", "push", "--base", "main", "--ref", "topic").stdout
    assert shown.startswith("push: the workflow does not start\n")
    assert "concurrency" not in shown
    assert "concurrency  rocm-ci-push-" in run("--event", "push", "--base", "main", "--ref", "main").stdout


def test_a_shallow_clone_is_told_with_what_mends_it(run: Run, project: Project, tmp_path: Path) -> None:
    project.git("checkout", "-q", "topic")
    shallow = tmp_path / "shallow"
    project.git("clone", "-q", "--depth", "1", project.root.as_uri(), str(shallow))
    manifest = ("--manifest", str(shallow / ".rocm-ci.yml"))
    result = run("--event", "pull_request", "--base", project.base, *manifest)
    assert result.exit_code == 2
    assert "there is no such commit here, and the clone is shallow" in result.stderr
    assert "`git fetch --unshallow` gets the whole history" in result.stderr
    here = data(run("--event", "pull_request", "--base", "HEAD", "--json", *manifest))
    assert here["doubt"] == (
        "the clone is shallow, so the merge base is not certain (`git fetch --unshallow` gets all)"
    )


def test_the_base_branch_is_held_against_the_triggers(run: Run, project: Project) -> None:
    project.git("branch", "develop", "main")
    project.git("tag", "start", "main")
    assert data(run("--event", "pull_request", "--base", "develop", "--json"))["triggered"] is False
    for name in ("start", project.base, project.base[:10], "HEAD~1", "main"):
        assert data(run("--event", "pull_request", "--base", name, "--json"))["triggered"] is True


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ("workflow_dispatch", "a manual run runs everything"),
        ("release", "everything runs: the event release is none that the manifest knows"),
    ],
)
def test_events_without_a_comparison(run: Run, event: str, why: str) -> None:
    plan = data(run("--event", event, "--json"))
    assert {job["reason"] for job in plan["jobs"].values()} == {why}
    # Nobody can say where the code of an unknown event comes from, but on a laptop the person who asks can.
    assert all(job["run"] for job in plan["jobs"].values())


def test_a_payload_is_read_as_in_ci(run: Run, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    repo = {"full_name": "org/project"}
    path.write_text(
        json.dumps(
            {
                "action": "labeled",
                "label": {"name": "ok-to-test"},
                "number": 7,
                "pull_request": {
                    "number": 7,
                    "base": {"ref": "main", "sha": project.base, "repo": repo},
                    "head": {"sha": project.head, "repo": None},
                },
            }
        ),
        encoding="utf-8",
    )
    plan = data(run("--event", "pull_request", "--payload", str(path), "--json"))
    assert plan["concurrency"]["group"] == "rocm-ci-pull_request-7"
    assert plan["jobs"]["kernel-tests"]["reason"].startswith(f"label ok-to-test was added at {project.head[:12]}; ")
    path.write_text("{", encoding="utf-8")
    damaged = data(run("--event", "pull_request", "--payload", str(path), "--json"))
    assert damaged["doubt"] == "the event's payload is not valid JSON"
    assert damaged["jobs"]["kernel-tests"]["withheld"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which event?"),
        (["--base", "main"], "which event?"),
        (["--event", "pull-request"], "did you mean pull_request?"),
        (["--event", "Push"], "did you mean push?"),
        (["--event", "xyzzy"], "a manifest knows push, pull_request, merge_group, schedule, workflow_dispatch"),
        (["--event", "pull_request"], "what does the pull_request change?"),
        (["--event", "push", "--base", "nope"], "--base nope: there is no such commit here"),
        (["--event", "push", "--base", "main", "--head", "nope"], "--head nope: there is no such commit here"),
        (["--event", "push", "--base", "--x"], "--base --x: '--x' is no name of a commit"),
        (["--event", "push", "--changed", ""], "--changed '' names no file"),
        (["--event", "push", "--changed", "./"], "--changed './' names no file"),
        (["--event", "push", "--changed", "a", "--changed", "../x"], "a change has only files of the repository"),
        (["--event", "push", "--changed", "src/../../x"], "a change has only files of the repository"),
        (["--event", "push", "--changed", "/etc/passwd"], "a change has only files of the repository"),
        (["--event", "push", "--base", "main", "stray"], "unexpected argument 'stray'"),
        (["--event", "push", "--base", "main", "--manifest", "nope.yml"], "nope.yml"),
        (["--event", "push", "--payload", "nope.json"], "nope.json"),
        (["--number", "0", "--event", "push"], "--number"),
    ],
)
def test_wrong_use(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_bad_manifest(run: Run, project: Project) -> None:
    project.write(".rocm-ci.yml", MANIFEST.replace("shards", "shard"))
    result = run("--event", "push", "--base", "main")
    assert result.exit_code == 2
    assert ".rocm-ci.yml:9:" in result.stderr


def test_a_manifest_in_another_place_is_of_its_own_repository(
    run: Run, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    manifest = str(project.root / ".rocm-ci.yml")
    assert data(run("--event", "pull_request", "--base", "main", "--manifest", manifest, "--json"))["changed"] == 2
    monkeypatch.chdir(project.root / "src")
    assert data(run("--event", "pull_request", "--base", "main", "--json"))["changed"] == 2


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from rocm_ci_gen.cli import main\n"
        "result = CliRunner().invoke(main, ['plan', '--help']); assert result.exit_code == 0, result.output\n"
        "heavy = {'requests', 'jinja2', 'ruamel.yaml', 'jsonschema', 'rocm_ci_gen.plan', 'rocm_ci_gen.manifest'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.strip() == "[]"


def test_the_options_are_documented() -> None:
    command = main.get_command(click.Context(main), "plan")
    assert command is not None
    undocumented = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert undocumented == []


ABSENT = "kernel-tests is not available in this version of rocm-ci: the job will be red"
DRIFT = "the committed workflow differs from the manifest: CI's plan will fail; run `rocm-ci-gen render`"


def test_a_workflow_that_is_up_to_date_is_not_mentioned(run: Run) -> None:
    assert data(run("--event", "workflow_dispatch", "--json"))["notices"] == [ABSENT]


def test_drift_is_told_on_a_laptop_too(run: Run, project: Project) -> None:
    project.write(".rocm-ci.yml", MANIFEST.replace("shards: 2", "shards: 3"))
    assert data(run("--event", "workflow_dispatch", "--json"))["notices"] == [ABSENT, DRIFT]
    shown = run("--event", "workflow_dispatch")
    assert (shown.exit_code, shown.stdout.rstrip().endswith(f"note         {DRIFT}")) == (0, True)


def test_a_foreign_workflow_needs_force(run: Run, project: Project) -> None:
    project.write(".github/workflows/rocm-ci.yml", "name: mine\n")
    assert data(run("--event", "workflow_dispatch", "--json"))["notices"] == [ABSENT, f"{DRIFT[:-1]} --force`"]


def test_the_command_that_mends_it_names_the_manifest(run: Run, project: Project) -> None:
    project.write("ci/my manifest.yml", MANIFEST)
    notices = data(run("--event", "workflow_dispatch", "--manifest", "ci/my manifest.yml", "--json"))["notices"]
    assert notices == [ABSENT, f"{DRIFT[:-1]} --manifest 'ci/my manifest.yml'`"]


def test_without_a_workflow_nothing_runs_in_ci(run: Run, project: Project) -> None:
    (project.root / ".github" / "workflows" / "rocm-ci.yml").unlink()
    notices = data(run("--event", "workflow_dispatch", "--json"))["notices"]
    assert notices == [ABSENT, "no workflow is rendered yet, so nothing runs in CI; run `rocm-ci-gen render`"]


def test_a_workflow_that_cannot_be_compared_is_said_to_be_so(run: Run, project: Project, tmp_path: Path) -> None:
    path = project.root / ".github" / "workflows" / "rocm-ci.yml"
    path.rename(tmp_path / "elsewhere.yml")
    path.symlink_to(tmp_path / "elsewhere.yml")
    (_, told) = data(run("--event", "workflow_dispatch", "--json"))["notices"]
    assert told.startswith("the committed workflow cannot be compared with the manifest: ")
    assert "is a symbolic link" in told


# --- in CI ----------------------------------------------------------------------------------------------------------


class Ci:
    """The root action's `command: plan` in a job of GitHub's."""

    def __init__(self, run: Run, project: Project, folder: Path) -> None:
        self.run = run
        self.project = project
        self.folder = folder
        folder.mkdir()

    def __call__(self, name: str, payload: object, **more: str) -> Result:
        (self.folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        for file in ("output", "summary"):
            (self.folder / file).write_text("", encoding="utf-8")
        environ = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_WORKSPACE": str(self.project.root),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_RUN_ID": "4711",
            "GITHUB_WORKFLOW": "rocm-ci",
            "GITHUB_WORKFLOW_REF": "org/project/.github/workflows/rocm-ci.yml@refs/heads/main",
            "RUNNER_TEMP": str(self.folder),
            "INPUT_MANIFEST": ".rocm-ci.yml",
            "INPUT_COMMAND": "plan",
            **more,
        }
        return self.run(**environ)

    @property
    def outputs(self) -> dict[str, str]:
        found: dict[str, str] = {}
        lines = iter((self.folder / "output").read_text("utf-8").splitlines())
        for line in lines:
            name, _, end = line.partition("<<")
            body = []
            for text in lines:
                if text == end:
                    break
                body.append(text)
            found[name] = "\n".join(body)
        return found

    @property
    def plan(self) -> Any:
        return json.loads(self.outputs["plan"])

    @property
    def report(self) -> Any:
        return json.loads((self.folder / "rocm-ci" / "plan.json").read_text("utf-8"))

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text("utf-8")

    def pull(self, head_repo: str = "org/project", **more: object) -> dict[str, Any]:
        return {
            "action": "synchronize",
            "number": 7,
            "pull_request": {
                "number": 7,
                "base": {"ref": "main", "sha": self.project.base, "repo": {"full_name": "org/project"}},
                "head": {"sha": self.project.head, "repo": {"full_name": head_repo}},
            },
            "repository": {"full_name": "org/project", "default_branch": "main"},
            **more,
        }


@pytest.fixture
def ci(run: Run, project: Project, tmp_path: Path) -> Ci:
    return Ci(run, project, tmp_path / "runner")


def test_ci_pull_request(ci: Ci) -> None:
    result = ci("pull_request", ci.pull())
    assert result.exit_code == 0, result.output
    assert json.loads(ci.outputs["run"]) == ["hipify-check", "kernel-tests"]
    assert "\n" not in ci.outputs["plan"]
    assert ci.plan["concurrency"]["group"] == "rocm-ci-pull_request-7"
    assert ci.outputs["result"] == "passed"
    evidence = json.loads(ci.outputs["evidence"])
    assert (evidence["stage"], evidence["executed"], evidence["unit"]) == ("plan", 2, "jobs")
    assert ci.report["plan"] == ci.plan
    assert "<code>kernel-tests</code> | **yes**" in ci.summary
    assert "::notice title=rocm-ci%3A files that no stage covers::1 changed file is covered by no stage: setup.py" in (
        result.output
    )


def test_ci_and_the_laptop_agree(ci: Ci, run: Run) -> None:
    ci("pull_request", ci.pull())
    offline = data(run("--event", "pull_request", "--base", "main", "--number", "7", "--json"))
    assert ci.plan == offline


def test_the_gate_reads_what_the_plan_says(ci: Ci) -> None:
    ci("pull_request", ci.pull("stranger/project"))
    plan = parse_plan(ci.outputs["plan"])
    assert {name: (job.run, job.withheld, job.gpu, job.instances) for name, job in plan.jobs.items()} == {
        "hipify-check": (True, False, False, 1),
        "kernel-tests": (False, True, True, 2),
    }
    assert [entry.shard for entry in plan.jobs["kernel-tests"].expect] == ["1/2", "2/2"]
    assert not plan.withheld_passes


def test_ci_fork(ci: Ci) -> None:
    result = ci("pull_request", ci.pull("stranger/project"))
    assert result.exit_code == 0
    assert json.loads(ci.outputs["run"]) == ["hipify-check"]
    assert ci.plan["jobs"]["kernel-tests"]["withheld"] is True
    assert "::warning title=rocm-ci%3A kernel-tests is withheld::" in result.output
    labeled = ci.pull("stranger/project", action="labeled", label={"name": "ok-to-test"})
    assert ci("pull_request", labeled).exit_code == 0
    assert json.loads(ci.outputs["run"]) == ["hipify-check", "kernel-tests"]


@pytest.mark.parametrize("payload", [{}, [], None, {"before": "x", "after": 3}])
def test_ci_with_a_payload_that_says_nothing_runs_everything(ci: Ci, payload: object) -> None:
    result = ci("push", payload, GITHUB_REF="refs/heads/main", GITHUB_SHA=ci.project.head)
    assert result.exit_code == 0, result.output
    assert json.loads(ci.outputs["run"]) == ["hipify-check", "kernel-tests"]
    assert ci.plan["doubt"] == "the payload of push names no base commit"


def test_ci_with_nothing_to_run(ci: Ci) -> None:
    payload = {"ref": "refs/heads/main", "before": ci.project.head, "after": ci.project.head}
    result = ci("push", payload, GITHUB_REF="refs/heads/main")
    assert result.exit_code == 0
    assert ci.outputs["run"] == "[]"
    assert "nothing to run: nothing changed" in result.output


def test_drift_fails_with_the_diff_and_the_command_that_mends_it(ci: Ci) -> None:
    ci.project.write(".rocm-ci.yml", MANIFEST.replace("shards: 2", "shards: 3"))
    result = ci("pull_request", ci.pull())
    assert result.exit_code == 1
    assert "not up to date with the manifest: .github/workflows/rocm-ci.yml" in result.output
    assert "rocm-ci-gen render" in result.output
    assert "+++ b/.github/workflows/rocm-ci.yml" in result.output
    assert 'shard: "3/3"' in result.output
    assert "::error file=.github/workflows/rocm-ci.yml,line=1" in result.output
    assert "<pre>--- a/.github/workflows/rocm-ci.yml" in ci.summary
    assert ci.outputs["result"] == "failed"
    assert ci.report["drift"] == [".github/workflows/rocm-ci.yml"]


def test_a_missing_workflow_is_drift(ci: Ci) -> None:
    (ci.project.root / ".github" / "workflows" / "rocm-ci.yml").unlink()
    assert ci("pull_request", ci.pull()).exit_code == 1


def test_a_pin_that_was_raised_is_no_drift(ci: Ci) -> None:
    path = ci.project.root / ".github" / "workflows" / "rocm-ci.yml"
    text = path.read_text("utf-8")
    raised, count = re.subn(r"actions/checkout@\S+ # \S+", OTHER_PIN, text)
    assert count
    path.write_text(raised, encoding="utf-8")
    assert ci("pull_request", ci.pull()).exit_code == 0


def test_line_ends_are_no_drift(ci: Ci) -> None:
    path = ci.project.root / ".github" / "workflows" / "rocm-ci.yml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert ci("pull_request", ci.pull()).exit_code == 0


def test_a_foreign_workflow_is_only_replaced_with_force(ci: Ci) -> None:
    ci.project.write(".github/workflows/rocm-ci.yml", "name: mine\n")
    result = ci("pull_request", ci.pull())
    assert result.exit_code == 1
    assert "rocm-ci-gen render --force" in result.output


def test_ci_with_a_bad_manifest(ci: Ci) -> None:
    ci.project.write(".rocm-ci.yml", MANIFEST.replace("shards", "shard").replace("gpus", "gpu"))
    result = ci("pull_request", ci.pull())
    assert result.exit_code == 2
    assert "::error file=.rocm-ci.yml,line=9,col=" in result.output
    assert "::error file=.rocm-ci.yml,line=4,col=" in result.output
    assert "the manifest has 2 errors" in result.output
    assert ci.outputs.get("result", "") == ""
    assert "run" not in ci.outputs


def test_ci_without_a_manifest(ci: Ci) -> None:
    (ci.project.root / ".rocm-ci.yml").unlink()
    result = ci("pull_request", ci.pull())
    assert result.exit_code == 2
    assert "there is no manifest" in result.output


def test_ci_asks_the_api_only_when_git_cannot_tell(ci: Ci) -> None:
    payload = ci.pull()
    payload["pull_request"]["base"]["sha"] = "1" * 40
    result = ci(
        "pull_request", payload, GITHUB_API_URL="http://127.0.0.1:1", NO_PROXY="127.0.0.1", GITHUB_REPOSITORY="no name"
    )
    assert result.exit_code == 0
    assert ci.plan["doubt"] == (
        "commit 111111111111 is not in this checkout (a forced push may have removed it); "
        "GitHub's API: 'no name' is no repository name"
    )
    assert json.loads(ci.outputs["run"]) == ["hipify-check", "kernel-tests"]


def test_options_are_not_silently_replaced_by_the_runs_event(run: Run) -> None:
    result = run("--base", "main", GITHUB_EVENT_NAME="push")
    assert result.exit_code == 2
    assert "which event?" in result.stderr
