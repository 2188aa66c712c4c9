"""The gallery: manifests and the workflows they give, held against GitHub's rules by several readers.

Each folder of tests/gallery has `expected/` and a `.rocm-ci.yml`; a folder named `example-NAME` takes the manifest of
examples/NAME. After a wanted change of the output, write the snapshots anew and read their diff:

    ROCM_CI_UPDATE_SNAPSHOTS=1 python -m pytest tests/integration/test_rendered_workflows.py
    git diff tests/gallery

GitHub's own parser is asked where node is installed and ROCM_CI_WORKFLOW_PARSER names a folder in which
`npm install @actions/workflow-parser` has been run.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocm_ci_gen import manifest as manifests
from rocm_ci_gen.scaffold.lint_configs import actionlint_config, zizmor_config
from rocm_ci_gen.workflow import WORKFLOW_PATH, render
from rocm_ci_gen.workflow.pins import load_pins
from support.workflow_data import load

PROJECT = Path(__file__).resolve().parents[2]
GALLERY = PROJECT / "tests" / "gallery"
PARSER = PROJECT / "tests" / "support" / "github_parser.mjs"
CASES = sorted(path.name for path in GALLERY.iterdir() if path.is_dir())
UPDATE = os.environ.get("ROCM_CI_UPDATE_SNAPSHOTS") == "1"


def manifest_path(case: str) -> Path:
    own = GALLERY / case / ".rocm-ci.yml"
    return own if own.exists() else PROJECT / "examples" / case.removeprefix("example-") / ".rocm-ci.yml"


def expected(case: str) -> Path:
    return GALLERY / case / "expected" / WORKFLOW_PATH


@functools.cache
def model(case: str) -> manifests.Manifest:
    return manifests.load(manifest_path(case))


@functools.cache
def document(case: str) -> Any:
    return load(expected(case).read_text(encoding="utf-8"))


def tool(name: str) -> str:
    """A linter of the development environment: beside this Python, or on the PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (dependency group `workflow`)")
    return found


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def make_repository(case: str, root: Path) -> None:
    """A repository as `init` leaves it: workflow, the linters' configuration; and the workflows that it calls."""
    (root / ".git").mkdir()  # by which the linters know a repository
    workflow = root / WORKFLOW_PATH
    workflow.parent.mkdir(parents=True)
    shutil.copy(expected(case), workflow)
    for config in (actionlint_config(model(case), lambda _: None), zizmor_config(model(case), lambda _: None)):
        if config is not None and config.text is not None:
            (root / config.path).write_text(config.text, encoding="utf-8")
    for job in model(case).jobs:
        if job.uses.startswith("./"):
            call = {"inputs": {name: {"type": _type(value)} for name, value in job.with_.items()}}
            secrets = {name: {"required": True} for name in job.secrets}
            step = {"run": "true", "shell": "bash"}
            called = {
                "name": job.name,
                "on": {"workflow_call": call | ({"secrets": secrets} if secrets else {})},
                "permissions": {},
                "jobs": {"one": {"runs-on": "ubuntu-latest", "steps": [step]}},
            }
            (root / job.uses).write_text(json.dumps(called), encoding="utf-8")


def _type(value: object) -> str:
    return "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"


@pytest.mark.parametrize("case", CASES)
def test_the_workflow_is_the_expected_one(case: str) -> None:
    text = render(model(case), manifest_name=".rocm-ci.yml", pins=load_pins())[WORKFLOW_PATH]
    if UPDATE:
        expected(case).parent.mkdir(parents=True, exist_ok=True)
        expected(case).write_bytes(text.encode("utf-8"))
    assert expected(case).is_file(), "no snapshot: run with ROCM_CI_UPDATE_SNAPSHOTS=1 and read it"
    assert text.encode("utf-8") == expected(case).read_bytes()


def test_every_example_is_in_the_gallery() -> None:
    examples = {path.parent.name for path in (PROJECT / "examples").glob("*/.rocm-ci.yml")}
    assert examples == {case.removeprefix("example-") for case in CASES if case.startswith("example-")}
    assert len(examples) >= 3


@pytest.mark.parametrize("case", CASES)
def test_a_manifest_of_the_gallery_has_not_even_a_warning(case: str) -> None:
    checked = manifests.check(manifest_path(case).read_bytes(), ".rocm-ci.yml")
    assert checked.diagnostics == ()


@pytest.mark.parametrize("case", CASES)
def test_the_linters_find_nothing(case: str, tmp_path: Path) -> None:
    make_repository(case, tmp_path)
    # Without shellcheck and pyflakes, which look at the user's own scripts and are not everywhere.
    done = run(tool("actionlint"), "-shellcheck=", "-pyflakes=", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    done = run(tool("zizmor"), "--offline", "--no-progress", "--format=json", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == []


def test_the_linters_can_find_something(tmp_path: Path) -> None:
    make_repository("minimal", tmp_path)
    workflow = tmp_path / WORKFLOW_PATH
    text = workflow.read_text(encoding="utf-8")
    workflow.write_text(text.replace("steps.check.outputs", "steps.chek.outputs"), encoding="utf-8")
    assert "chek" in run(tool("actionlint"), cwd=tmp_path).stdout
    workflow.write_text(text.replace("persist-credentials: false", "clean: false"), encoding="utf-8")
    assert "artipacked" in run(tool("zizmor"), "--offline", "--no-progress", ".", cwd=tmp_path).stdout


def test_githubs_schema_accepts_them_all() -> None:
    files = [str(expected(case)) for case in CASES]
    done = run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *files, cwd=PROJECT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.npm
def test_githubs_own_parser_accepts_them_all() -> None:
    node = shutil.which("node")
    folder = os.environ.get("ROCM_CI_WORKFLOW_PARSER", "")
    if node is None:
        pytest.skip("node is not installed")
    if not (Path(folder) / "node_modules" / "@actions" / "workflow-parser").is_dir():
        pytest.skip("ROCM_CI_WORKFLOW_PARSER names no folder with @actions/workflow-parser")
    files = {case: str(expected(case)) for case in CASES}
    done = run(node, str(PARSER), folder, *files.values(), cwd=PROJECT)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for case, file in files.items():
        assert results[file]["errors"] == [], case
        assert set(results[file]["events"]) == set(document(case)["on"]), case
        assert results[file]["jobs"] == {
            name: len(job.get("steps", [])) for name, job in document(case)["jobs"].items()
        }, case


@pytest.mark.parametrize("case", CASES)
def test_no_finding_is_ignored_by_a_comment(case: str) -> None:
    assert not re.search(r"zizmor|actionlint|noqa|nosec|yamllint", expected(case).read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_our_actions_have_the_inputs_and_outputs_that_are_used(case: str) -> None:
    for job in document(case)["jobs"].values():
        actions = {}
        for step in job.get("steps", []):
            action = own_action(step.get("uses", ""), model(case).uses.repository)
            if action is not None:
                unknown = set(step.get("with", {})) - set(action["inputs"])
                assert not unknown, f"{step['uses']} has no input {unknown}"
                actions[step["id"]] = action
        for step, output in re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", json.dumps(job)):
            assert output in actions[step]["outputs"], f"{step} has no output {output}"


def own_action(uses: str, repository: str) -> dict[str, Any] | None:
    name = uses.partition("@")[0]
    if name != repository and not name.startswith(repository + "/"):
        return None
    return action(name.removeprefix(repository).lstrip("/"))


@functools.cache
def action(folder: str) -> dict[str, Any]:
    data = load((PROJECT / folder / "action.yml").read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize("case", CASES)
def test_rules_that_no_linter_knows(case: str) -> None:
    for job in document(case)["jobs"].values():
        assert "permissions" in job
        assert "labels" not in job
        assert "uses" in job or job["timeout-minutes"] > 0
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", "")
            if step.get("name") == "Check out":
                assert step["with"]["persist-credentials"] is False
        container = job.get("container", {})
        assert all(container.get("env", {}).values())
        options = str(container.get("options", ""))
        assert options == "${{ matrix.options }}" or all(token.startswith("--") for token in options.split())
        assert not re.search(r"github\.head_ref|runner\.temp", json.dumps(job))
