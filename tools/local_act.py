"""Run a rendered workflow on this machine with act, with this checkout behind `uses: org/rocm-ci@v1`.

The demo, the end-to-end tests and docs/local-runs.md use the same call. What a local run does not cover:
third-party actions are replaced by stand-ins (actions/checkout is built into act), `permissions`, `concurrency`
and artifacts have no effect, and act keeps the outputs of only one instance of a matrix job.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

WORKFLOW = ".github/workflows/rocm-ci.yml"
_USES = re.compile(
    r"^\s*(?:- )?uses:\s*[\"']?(?P<repo>[\w.-]+/[\w.-]+)(?P<path>(?:/[\w.-]+)*)@(?P<ref>[\w./-]+)", re.MULTILINE
)
_IDENTITY = ["-c", "user.name=local", "-c", "user.email=local@example.invalid", "-c", "commit.gpgsign=false"]
_BUILT_IN = {"actions/checkout"}


@dataclass(frozen=True)
class ActRun:
    """What act did: its exit code, the result of each job that ran (`success` or `failure`), the log as text."""

    code: int
    jobs: Mapping[str, str]
    log: str


@dataclass(frozen=True)
class ActOptions:
    """How act is called.

    `images` maps a runner label to a container image; every other label runs on the host. `environ` is added to act
    itself, `variables` to the steps; `container_options` are options of `docker create`.
    """

    event: str = "push"
    payload: Mapping[str, object] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    container_options: str = ""
    timeout_s: float = 600


def git(repository: Path, *arguments: str) -> str:
    """Run git in `repository` with an identity of its own; returns stdout without the last newline."""
    done = subprocess.run(
        ["git", *_IDENTITY, "-C", str(repository), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.rstrip("\n")


def commit_all(repository: Path, message: str) -> str:
    """Make `repository` a git repository if it is none, commit everything in it, and return the commit's SHA."""
    if not (repository / ".git").exists():
        git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(repository, "rev-parse", "HEAD")


def snapshot(project: Path, target: Path) -> Path:
    """Copy the files of the checkout `project` (tracked, and untracked but not ignored) into a repository of its own.

    act takes a local action from what is committed; the copy lets uncommitted work be tried as well.
    """
    names = subprocess.run(
        ["git", "-C", str(project), "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        check=True,
        capture_output=True,
    ).stdout
    for name in filter(None, names.decode().split("\0")):
        source = project / name
        if not source.is_file():  # deleted in the working tree, or a link to a folder
            continue
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy)
    commit_all(target, "snapshot")
    return target


def stand_ins(workflow: str, own: str, folder: Path) -> dict[str, Path]:
    """Make an action that does nothing for each third-party action that `workflow` uses; returns `repo@ref` → folder.

    The one for upload-artifact prints what would be kept, so that a wrong path shows.
    """
    made: dict[str, Path] = {}
    for match in _USES.finditer(workflow):
        repository, ref = match["repo"], match["ref"]
        if repository == own or repository in _BUILT_IN or f"{repository}@{ref}" in made:
            continue
        root = folder / f"{repository.replace('/', '+')}@{ref}"
        action = root / match["path"].lstrip("/")
        action.mkdir(parents=True, exist_ok=True)
        (action / "action.yml").write_text(
            f"name: stand-in for {repository}\n"
            "description: Prints what it was asked to keep.\n"
            "inputs: {name: {description: n}, path: {description: p}}\n"
            "runs:\n"
            "  using: composite\n"
            "  steps:\n"
            "    - shell: bash\n"
            "      env: {NAME: '${{ inputs.name }}', FILES: '${{ inputs.path }}'}\n"
            "      run: |\n"
            '        echo "stand-in: would keep $NAME:"\n'
            '        echo "$FILES" | xargs -r -d "\\n" ls -l || true\n'
        )
        commit_all(root, "stand-in")
        made[f"{repository}@{ref}"] = root
    return made


def own_action(workflow: str) -> tuple[str, str]:
    """Repository and ref of the root action that the workflow's plan job uses, such as `("org/rocm-ci", "v1")`."""
    for match in _USES.finditer(workflow):
        if match["repo"] not in _BUILT_IN and not match["path"]:
            return match["repo"], match["ref"]
    raise ValueError("the workflow uses no root action of rocm-ci")


def runner_labels(workflow: str) -> list[str]:
    """Every label that the workflow asks runners for."""
    from ruamel.yaml import YAML  # only act runs need it

    labels: set[str] = set()
    for job in YAML(typ="safe", pure=True).load(workflow)["jobs"].values():
        wanted = [job.get("runs-on")]
        wanted += [entry.get("labels") for entry in job.get("strategy", {}).get("matrix", {}).get("include", [])]
        for entry in wanted:
            value = entry.get("labels") if isinstance(entry, dict) else entry
            labels.update([value] if isinstance(value, str) else value or [])
    return sorted(label for label in labels if "${{" not in label)


def run(repository: Path, project: Path, work: Path, options: ActOptions | None = None) -> ActRun:
    """Run the workflow of `repository` with act.

    Args:
        repository: a git repository with the rendered workflow committed.
        project: a git repository with rocm-ci committed (see `snapshot`).
        work: an existing folder for stand-ins, the payload and act's cache.
        options: event, payload, images and environment.

    Raises:
        subprocess.TimeoutExpired: act did not end in time.
    """
    options = options or ActOptions()
    workflow = (repository / WORKFLOW).read_text(encoding="utf-8")
    own, ref = own_action(workflow)
    replaced = {f"{own}@{ref}": project, **stand_ins(workflow, own, work / "stand-ins")}
    payload = work / "event.json"
    payload.write_text(json.dumps(options.payload), encoding="utf-8")
    command = [
        "act",
        options.event,
        "--json",
        "--workflows",
        WORKFLOW,
        "--eventpath",
        str(payload),
        "--pull=false",
    ]
    command += ["--action-cache-path", str(work / "cache"), "--no-cache-server"]
    for name, folder in replaced.items():
        command += ["--local-repository", f"{name}={folder}"]
    for label in runner_labels(workflow):
        command += ["--platform", f"{label}={options.images.get(label, '-self-hosted')}"]
    for name, value in options.variables.items():
        command += ["--env", f"{name}={value}"]
    if options.container_options:
        command += ["--container-options", options.container_options]
    done = subprocess.run(
        command,
        cwd=repository,
        env={**os.environ, **options.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=options.timeout_s,
    )
    return _read(done.returncode, done.stdout)


def _read(code: int, output: str) -> ActRun:
    jobs: dict[str, str] = {}
    lines: list[str] = []
    for line in output.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            lines.append(line)
            continue
        message = str(entry.get("msg", "")).rstrip("\n")
        job = entry.get("jobID")
        lines += [f"[{job}] {part}" if job else part for part in message.splitlines()]
        if job and entry.get("jobResult"):
            # One red instance makes a matrix job red.
            jobs[job] = "failure" if "failure" in (entry["jobResult"], jobs.get(job)) else entry["jobResult"]
    return ActRun(code, jobs, "\n".join(lines))
