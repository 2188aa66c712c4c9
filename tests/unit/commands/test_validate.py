"""`rocm-ci-gen validate`, as a user types it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import rocm_ci_gen.cli

GOOD = "version: 1\nrunners: {gpu: {labels: [self-hosted, gpu]}}\nstages: {kernel-tests: {tests: [tests]}}\n"
ABSENT = "note: kernel-tests is not available in this version of rocm-ci: the job will be red\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / ".rocm-ci.yml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def validate(*arguments: str, color: bool = False) -> Result:
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["validate", *arguments], color=color)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_valid_manifest(repository: Path) -> None:
    result = validate()
    assert (result.exit_code, result.stdout, result.stderr) == (0, f".rocm-ci.yml: valid\n{ABSENT}", "")


def test_it_is_found_from_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "tests")
    result = validate()
    assert result.exit_code == 0
    assert result.stdout == f"{repository / '.rocm-ci.yml'}: valid\n{ABSENT}"


def test_every_error_in_one_run(repository: Path) -> None:
    (repository / ".rocm-ci.yml").write_text(GOOD.replace("labels", "label").replace("[tests]", "tests") + "x: 1\n")
    result = validate()
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0] == (
        ".rocm-ci.yml:2:17: error: `label` is not a key in `runners.gpu`; did you mean `labels`? [unknown-key]"
    )
    assert lines[1:3] == ["     2 | runners: {gpu: {label: [self-hosted, gpu]}}", "       | " + " " * 16 + "^"]
    assert [line.split(":")[1] for line in lines if line.startswith(".rocm-ci.yml:") and " error: " in line] == list(
        "234"
    )
    assert lines[-1] == ".rocm-ci.yml: 3 errors"


def test_warnings_count_only_when_strict(repository: Path) -> None:
    (repository / ".rocm-ci.yml").write_text(GOOD.replace("[tests]", "[gone]"))
    result = validate()
    assert result.exit_code == 0
    assert "warning: `gone` is not in the repository [missing-file]" in result.stdout
    assert result.stdout.endswith(f".rocm-ci.yml: valid (1 warning)\n{ABSENT}")
    assert validate("--strict").exit_code == 2


def test_stages_that_this_version_cannot_run_are_no_mistake(repository: Path) -> None:
    assert validate("--strict").exit_code == 0
    assert json.loads(validate("--format", "json").stdout)["notes"] == [ABSENT.removeprefix("note: ").rstrip()]
    (repository / ".rocm-ci.yml").write_text(GOOD.replace("kernel-tests: {tests: [tests]}", "hipify-check: "))
    assert "note:" not in validate().stdout


def test_json(repository: Path) -> None:
    (repository / ".rocm-ci.yml").write_text(GOOD.replace("[tests]", "[gone, 5]"))
    result = validate("--format", "json")
    body = json.loads(result.stdout)
    assert result.exit_code == 2
    assert (body["schema"], body["manifest"], body["valid"]) == (1, ".rocm-ci.yml", False)
    assert (body["errors"], body["warnings"], body["notes"]) == (1, 1, [])
    assert [(item["severity"], item["line"], item["column"], item["rule"]) for item in body["diagnostics"]] == [
        ("warning", 3, 33, "missing-file"),
        ("error", 3, 39, "type"),
    ]


def test_json_of_bytes_that_are_no_text(repository: Path) -> None:
    (repository / ".rocm-ci.yml").write_bytes(b"a: \xff\xfe\x00")
    body = json.loads(validate("--format", "json").stdout)
    assert [item["rule"] for item in body["diagnostics"]] == ["not-utf8"]


def test_what_a_pool_must_provide_is_said(repository: Path) -> None:
    text = GOOD.replace("gpu]}", "gpu], mode: kubernetes, gpus: 8}") + "container: {image: 'a/rocm:1'}\n"
    (repository / ".rocm-ci.yml").write_text(text)
    result = validate("--strict")
    assert result.exit_code == 0
    assert "note: runner `gpu`: " in result.stdout
    assert "amd.com/gpu: 8" in result.stdout


def test_a_named_manifest(repository: Path) -> None:
    other = repository / "other" / "ci.yml"
    other.parent.mkdir()
    other.write_text(GOOD)
    assert validate("--manifest", "other/ci.yml").stdout == f"other/ci.yml: valid\n{ABSENT}"


def test_no_manifest(repository: Path) -> None:
    (repository / ".rocm-ci.yml").unlink()
    result = validate()
    assert result.exit_code == 2
    assert "no .rocm-ci.yml in" in result.stderr
    assert "rocm-ci-gen init" in result.stderr
    assert validate("--manifest", "gone.yml").exit_code == 2


def test_colours_are_for_terminals(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    (repository / ".rocm-ci.yml").write_text("version: 9\n")
    assert "\x1b[" not in validate().stdout
    assert "\x1b[" in validate(color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in validate(color=True).stdout


def test_a_path_that_no_file_system_takes(repository: Path) -> None:
    (repository / ".rocm-ci.yml").write_text(GOOD.replace("[tests]", f"[{'x' * 5000}]"))
    assert "missing-file" in validate().stdout


def with_paths(repository: Path, paths: str) -> None:
    text = f"version: 1\nrunners: {{cpu: {{labels: ubuntu-latest}}}}\nstages:\n  hipify-check:\n    paths: {paths}\n"
    (repository / ".rocm-ci.yml").write_text(text)


def test_a_pattern_that_matches_no_file(repository: Path) -> None:
    (repository / "src").mkdir()
    (repository / "src" / "a.cu").touch()
    with_paths(repository, "[src]")
    result = validate()
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith(".rocm-ci.yml:5:13: warning: `src` matches no file of the repository")
    assert "fix: write `src/**`" in result.stdout
    assert validate("--strict").exit_code == 2
    with_paths(repository, "[src/**]")
    assert validate("--strict").exit_code == 0


def test_files_are_the_ones_that_git_would_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    with_paths(tmp_path, "[gen/**, new/**]")
    for name in ("gen", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.cu").touch()
    (tmp_path / ".gitignore").write_text("gen/\n")
    result = validate()
    assert "`gen/**` matches no file" in result.stdout
    assert "`new/**`" not in result.stdout
    subprocess.run(["git", "add", "--force", "gen/a.cu"], check=True)
    assert "matches no file" not in validate().stdout


def test_an_empty_repository_hears_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    with_paths(tmp_path, "[src/**]")
    assert validate("--strict").exit_code == 0
