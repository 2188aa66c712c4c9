"""`rocm-ci-gen update`, as a user types it."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import rocm_ci_gen.cli
from rocm_ci_gen.manifest import schema, versions

SHA = "0123456789abcdef0123456789abcdef01234567"
TEXT = """\
# ours
version: 1
uses: org/rocm-ci@v1  # the actions
runners: {gpu: {labels: [self-hosted, gpu]}}
stages:
  kernel-tests: {tests: [ "tests" ]}  # odd blanks stay
"""


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    path = tmp_path / ".rocm-ci.yml"
    path.write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    return path


def update(*arguments: str) -> Result:
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["update", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_nothing_to_do(manifest: Path) -> None:
    result = update("--check")
    assert (result.exit_code, result.stdout) == (0, ".rocm-ci.yml: nothing to do\n")
    assert update().exit_code == 0
    assert manifest.read_text() == TEXT


def test_a_pin_and_a_ref(manifest: Path) -> None:
    manifest.chmod(0o640)
    result = update("--pin", SHA, "--ref", "v1.2")
    assert result.exit_code == 0
    assert f"+pin: {SHA}\n" in result.stdout
    assert "run `rocm-ci-gen render`" in result.stdout
    assert manifest.read_text() == TEXT.replace("v1  # the actions\n", f"v1.2  # the actions\npin: {SHA}\n")
    assert stat.S_IMODE(manifest.stat().st_mode) == 0o640
    assert update("--no-pin", "--ref", "v1").exit_code == 0
    assert manifest.read_text() == TEXT


def test_check_writes_nothing(manifest: Path) -> None:
    result = update("--pin", SHA, "--check")
    assert result.exit_code == 1
    assert f"+pin: {SHA}" in result.stdout
    assert "is not up to date" in result.stderr
    assert manifest.read_text() == TEXT


@pytest.mark.parametrize(
    "arguments",
    [
        ["--pin", "v1"],
        ["--pin", SHA.upper()],
        ["--pin", SHA[:12]],
        ["--ref", "-x"],
        ["--ref", "a b"],
        ["--ref", "v1\n"],
        ["--pin", SHA, "--no-pin"],
    ],
)
def test_wrong_use(manifest: Path, arguments: list[str]) -> None:
    assert update(*arguments).exit_code == 2
    assert manifest.read_text() == TEXT


def test_a_manifest_with_errors_is_left_alone(manifest: Path) -> None:
    manifest.write_text(TEXT.replace("labels", "label"))
    result = update("--pin", SHA)
    assert result.exit_code == 2
    assert ".rocm-ci.yml:4:17: error:" in result.stderr
    assert "correct it first" in result.stderr
    manifest.write_bytes(b"\xff\xfe\x00")
    assert update("--pin", SHA).exit_code == 2


def test_what_cannot_be_edited_is_said(manifest: Path) -> None:
    manifest.write_text(TEXT.replace("uses: org", "uses: &here org").replace("# ours", "requirements: *here"))
    manifest.write_text(
        "version: 1\nrunners: {gpu: {labels: x}}\nuses: &u org/rocm-ci@v1\nstages: {kernel-tests: {env: {A: *u}}}\n"
    )
    result = update("--ref", "v2")
    assert result.exit_code == 2
    assert "by hand" in result.stderr


def test_a_link_stays_a_link(manifest: Path) -> None:
    real = manifest.with_name("real.yml")
    manifest.rename(real)
    manifest.symlink_to(real.name)
    assert update("--pin", SHA).exit_code == 0
    assert manifest.is_symlink()
    assert SHA in real.read_text()


def test_carriage_returns_stay(manifest: Path) -> None:
    manifest.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert update("--pin", SHA).exit_code == 0
    data = manifest.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") == TEXT.count("\n") + 1


def test_an_older_version_is_moved(manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def from_zero(document: Any) -> None:
        document["runners"] = {"gpu": document.pop("runner")}

    converters: dict[int, Callable[[Any], None]] = {0: from_zero}
    monkeypatch.setattr(versions, "CONVERTERS", converters)
    monkeypatch.setattr(versions.finding, "__defaults__", (converters, schema.NEWEST_VERSION))
    manifest.write_text(
        TEXT.replace("version: 1", "version: 0 # early").replace("runners: {gpu: {labels: [self-hosted, gpu]}}",
        "runner: {labels: [self-hosted, gpu]}  # the machine")
    )  # fmt: skip
    refused = CliRunner().invoke(rocm_ci_gen.cli.main, ["validate"])
    assert refused.exit_code == 2
    assert "run `rocm-ci-gen update`" in refused.stdout
    assert update("--check").exit_code == 1
    assert update().exit_code == 0
    text = manifest.read_text()
    assert text.startswith("# ours\nversion: 1 # early\n")
    assert "gpu" in text
    assert "# odd blanks stay" in text
    assert update().stdout == ".rocm-ci.yml: nothing to do\n"
