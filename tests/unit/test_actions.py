"""The actions and the command: one name for each input, safe steps, and never a pass from what is not built."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from ruamel.yaml import YAML

import rocm_ci.cli
from rocm_ci import __version__
from rocm_ci.runner.record import read

PROJECT = Path(__file__).resolve().parents[2]
STAGES = ("setup-rocm-container", "hipify-check", "kernel-tests", "sglang-regression", "vram-probe")
NOT_BUILT = ("kernel-tests", "sglang-regression")
ACTIONS = {stage: PROJECT / "actions" / stage / "action.yml" for stage in STAGES} | {"root": PROJECT / "action.yml"}

# Options that make no sense as an input: they are for a person, or the action decides them.
COMMAND_LINE_ONLY = {"help", "report", "format", "explain", "timeout", "in-place"}
OWN_OUTPUTS = {
    "setup-rocm-container": {"gfx", "gpu-count", "gpu-name", "rocm-version", "driver-version", "os", "torch-version"},
    "hipify-check": {"findings", "coverage", "sarif"},
    "kernel-tests": {"junit", "collected", "passed", "failed", "skipped"},
    "sglang-regression": {"ttft-p50-ms", "output-tokens-per-s"},
    "vram-probe": {"peak-bytes", "leaked-bytes"},
    "root": {"plan", "run"},
}


def action(name: str) -> dict[str, Any]:
    data: dict[str, Any] = YAML(typ="safe").load(ACTIONS[name].read_text(encoding="utf-8"))
    return data


def command(stage: str) -> click.Command:
    found = rocm_ci.cli.main.get_command(click.Context(rocm_ci.cli.main), stage)
    assert found is not None
    return found


def input_variables(found: click.Command) -> dict[str, str]:
    """Each option and argument that an action can set: name, and the variable it is read from."""
    names = {}
    for parameter in found.params:
        if isinstance(parameter, click.Argument):
            if isinstance(parameter.envvar, str):
                names[parameter.envvar.removeprefix("INPUT_").lower().replace("_", "-")] = parameter.envvar
        else:
            long = next(option for option in parameter.opts if option.startswith("--"))
            names[long.removeprefix("--")] = f"INPUT_{str(parameter.name).upper()}"
    return names


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_inputs_are_the_options_of_the_command(stage: str) -> None:
    options = input_variables(command(stage))
    inputs = set(action(stage)["inputs"])
    assert inputs - set(options) == set(), "inputs that the command does not have"
    assert set(options) - inputs - COMMAND_LINE_ONLY == set(), "options that the action does not pass on"


@pytest.mark.parametrize("stage", STAGES)
def test_an_input_reaches_the_variable_that_its_option_reads(stage: str) -> None:
    options = input_variables(command(stage))
    environ = action(stage)["runs"]["steps"][0]["env"]
    for name in action(stage)["inputs"]:
        assert environ[options[name]] == f"${{{{ inputs.{name} }}}}"
    assert set(environ) == {options[name] for name in action(stage)["inputs"]} | {"ROCM_CI_VERDICT"}


def test_inputs_of_the_root_action_are_options_of_its_commands() -> None:
    rocm_ci_gen = pytest.importorskip("rocm_ci_gen.cli")
    inputs = set(action("root")["inputs"]) - {"command"}
    options = set(input_variables(command("gate")))
    generator = rocm_ci_gen.main
    for name in ("plan", "run"):
        found = generator.get_command(click.Context(generator), name)
        options |= set(input_variables(found)) | {str(parameter.name).replace("_", "-") for parameter in found.params}
    assert inputs - options == set()
    environ = action("root")["runs"]["steps"][0]["env"]
    names = {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in action("root")["inputs"]
    }
    assert environ == {"ROCM_CI_VERDICT": "deferred", **names}


@pytest.mark.parametrize("name", ACTIONS)
def test_outputs_are_complete_and_come_from_the_steps(name: str) -> None:
    outputs = action(name)["outputs"]
    assert set(outputs) == {"result", "report", "evidence"} | OWN_OUTPUTS[name]
    for output, entry in outputs.items():
        assert entry["description"]
        value = f"steps.check.outputs.{output}"
        if output in {"result", "evidence"}:
            # Where the first step died, the second says infra in its place.
            value += f" || steps.verdict.outputs.{output}"
        assert entry["value"] == f"${{{{ {value} }}}}"


# --- steps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTIONS)
def test_two_steps_and_the_second_always_runs(name: str) -> None:
    runs = action(name)["runs"]
    assert runs["using"] == "composite"
    check, verdict = runs["steps"]
    assert (check["id"], verdict["id"]) == ("check", "verdict")
    assert check["env"]["ROCM_CI_VERDICT"] == "deferred"
    assert "if" not in check
    assert verdict["if"] == "${{ always() }}"
    assert "ROCM_CI_VERDICT" not in verdict.get("env", {})
    stage = "root" if name == "root" else name
    assert check["run"].rstrip().endswith(f'bootstrap.py" {stage}')
    expected = "root verdict" if name == "root" else f"verdict {name}"
    assert verdict["run"].rstrip().endswith(f'bootstrap.py" {expected}')


@pytest.mark.parametrize("name", ACTIONS)
def test_no_expression_in_a_script_and_a_shell_everywhere(name: str) -> None:
    folder = ACTIONS[name].parent
    for step in action(name)["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        assert "uses" not in step
        # The template's own path is the host's inside a job container; the variable is translated.
        path = re.search(r'exec python3 -I "\$GITHUB_ACTION_PATH/(\S+)"', step["run"])
        assert path is not None
        assert (folder / path[1]).resolve() == PROJECT / "actions" / "bootstrap.py"


@pytest.mark.parametrize("name", ACTIONS)
def test_every_input_is_described_and_has_the_commands_default(name: str) -> None:
    for key, entry in action(name)["inputs"].items():
        assert entry["description"]
        assert entry.get("required", False) is False
        expected = {"github-token": "${{ github.token }}"} if name == "root" else {}
        assert entry.get("default") == expected.get(key)


@pytest.mark.parametrize("stage", STAGES)
def test_the_page_of_an_action_names_everything(stage: str) -> None:
    page = (PROJECT / "actions" / stage / "README.md").read_text(encoding="utf-8")
    for kind in ("inputs", "outputs"):
        for name, entry in action(stage)[kind].items():
            assert f"| `{name}` | {entry['description']} |" in page
    example = YAML(typ="safe").load(page.split("```yaml\n")[1].split("```")[0])["steps"][0]
    assert example["uses"] == f"org/rocm-ci/actions/{stage}@v1"
    assert set(example["with"]) <= set(action(stage)["inputs"])
    assert ("Not available in this version" in page) == (stage in NOT_BUILT)


# --- the command ----------------------------------------------------------------------------------------------------


def rocm_ci_run(*args: str, **environ: str) -> Result:
    return CliRunner().invoke(rocm_ci.cli.main, list(args), env=environ)


@pytest.mark.parametrize("stage", [*STAGES, "gate", "verdict"])
def test_every_help_has_an_example(stage: str) -> None:
    result = rocm_ci_run(stage, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"rocm-ci {stage}" in result.output


def test_help_lists_what_there_is_and_what_there_is_not() -> None:
    result = rocm_ci_run("--help")
    assert result.exit_code == 0
    for name in (*rocm_ci.cli.COMMANDS, *rocm_ci.cli.NOT_BUILT):
        assert re.search(rf"^  {name} ", result.output, re.MULTILINE)
    assert "Exit codes: 0 passed" in result.output
    assert rocm_ci_run("--version").output == f"rocm-ci, version {__version__}\n"


@pytest.mark.parametrize("stage", NOT_BUILT)
def test_a_stage_that_is_not_built_is_wrong_use_with_a_report(stage: str, tmp_path: Path) -> None:
    result = rocm_ci_run(stage, "--report", str(tmp_path / "r.json"), RUNNER_TEMP=str(tmp_path))
    assert result.exit_code == 2
    assert f"{stage} is not available in this version of rocm-ci ({__version__})" in result.output
    assert "this is not a pass" in result.output
    assert "out of the manifest" in result.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["result"], report["code"], report["executed"]) == ("", 2, 0)
    assert rocm_ci_run("verdict", stage, RUNNER_TEMP=str(tmp_path)).exit_code == 2


@pytest.mark.parametrize("name", ["triage", "report", "baseline"])
@pytest.mark.parametrize("args", [[], ["x", "--format", "json"], ["--help"]])
def test_a_name_that_is_kept_for_later_is_wrong_use(name: str, args: list[str]) -> None:
    result = rocm_ci_run(name, *args)
    assert result.exit_code == 2
    assert f"rocm-ci {name} is not available in this version" in result.output


def test_an_unknown_command_gets_advice() -> None:
    result = rocm_ci_run("hipfy-check")
    assert result.exit_code == 2
    assert "Did you mean 'hipify-check'?" in result.output
    assert rocm_ci_run("zzz").exit_code == 2


@pytest.mark.parametrize(
    "args", [["kernel-tests", "--retries", "x"], ["kernel-tests", "--no-such-option"], ["gate", "--needs"]]
)
def test_a_bad_option_is_wrong_use_for_the_verdict_step_too(args: list[str], tmp_path: Path) -> None:
    assert rocm_ci_run(*args, RUNNER_TEMP=str(tmp_path)).exit_code == 2
    assert not list(tmp_path.iterdir())
    result = rocm_ci_run(*args, RUNNER_TEMP=str(tmp_path), ROCM_CI_VERDICT="deferred")
    assert result.exit_code == 0
    record = read(tmp_path / "rocm-ci" / f"{args[0]}.record.json", args[0])
    assert record.code == 2
    verdict = rocm_ci_run("verdict", args[0], RUNNER_TEMP=str(tmp_path))
    assert verdict.exit_code == 2
    assert record.message in verdict.output


def test_inputs_of_an_action_are_checked_like_options(tmp_path: Path) -> None:
    result = rocm_ci_run("kernel-tests", INPUT_RETRIES="many", RUNNER_TEMP=str(tmp_path))
    assert result.exit_code == 2
    assert "--retries" in result.output


def test_a_broken_installation_is_told_without_a_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = rocm_ci.cli.LazyCommand("rocm_ci.no_such_module", "Broken.")
    monkeypatch.setitem(rocm_ci.cli.main.lazy, "vram-probe", broken)
    result = rocm_ci_run("vram-probe", RUNNER_TEMP=str(tmp_path))
    assert result.exit_code == 3
    assert "cannot be loaded" in result.output
    assert "Traceback" not in result.output
    deferred = rocm_ci_run("vram-probe", RUNNER_TEMP=str(tmp_path), ROCM_CI_VERDICT="deferred")
    assert deferred.exit_code == 0
    assert read(tmp_path / "rocm-ci" / "vram-probe.record.json", "vram-probe").code == 3


def test_ctrl_c_outside_of_a_stage_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rocm_ci.runner.verdict.main", stop)
    result = rocm_ci_run("verdict", "gate")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def piped(*args: str, stdout: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with bash's idea of where its results go."""
    program = shlex.join([sys.executable, "-c", "from rocm_ci.cli import main; main()", *args])
    environ = {**os.environ, "RUNNER_TEMP": str(tmp_path)}
    script = f"{program} {stdout}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=False)


GREEN = {"plan": {"result": "success", "outputs": {}}, "docs": {"result": "success", "outputs": {}}}
DOCS = {"schema": 1, "jobs": {"docs": {"kind": "user", "run": True, "reason": "always"}}}


def test_a_reader_that_goes_away_does_not_change_the_verdict(tmp_path: Path) -> None:
    args = ("gate", "--needs", json.dumps(GREEN), "--plan", json.dumps(DOCS))
    assert piped(*args, stdout="", tmp_path=tmp_path).returncode == 0
    done = piped(*args, stdout="| true", tmp_path=tmp_path)
    assert (done.returncode, "Error" in done.stderr) == (0, False), done.stderr


def test_results_that_cannot_be_printed_are_infra(tmp_path: Path) -> None:
    args = ("gate", "--needs", json.dumps(GREEN), "--plan", json.dumps(DOCS))
    for full in (args, ("--help",)):
        done = piped(*full, stdout=">/dev/full", tmp_path=tmp_path)
        assert done.returncode == 3, done.stderr
        assert "no space left" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_run_that_never_started_leaves_no_older_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    record = tmp_path / "rocm-ci" / "hipify-check.record.json"
    record.parent.mkdir()
    record.write_text("an earlier run")
    result = CliRunner().invoke(rocm_ci.cli.main, ["hipify-check", "src", "--nonsense"])
    assert result.exit_code == 2
    assert not record.exists()
