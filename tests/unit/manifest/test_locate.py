"""Finding and reading the manifest, and the error that carries every diagnostic."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocm_ci.runner.errors import Code, UsageError
from rocm_ci_gen.manifest import MANIFEST_NAME, ManifestError, find_manifest, load
from rocm_ci_gen.manifest.locate import read_bytes

TEXT = "version: 1\nrunners: {gpu: {labels: gpu}}\nstages: {kernel-tests: }\n"


def test_the_nearest_manifest_above_is_found(tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).write_text(TEXT)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_manifest(below) == tmp_path / MANIFEST_NAME
    assert find_manifest(tmp_path) == tmp_path / MANIFEST_NAME


def test_the_search_ends_at_the_top_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).write_text(TEXT)
    inner = tmp_path / "inner"
    (inner / ".git").mkdir(parents=True)
    with pytest.raises(ManifestError, match=r"no \.rocm-ci\.yml in") as caught:
        find_manifest(inner)
    assert "rocm-ci-gen init" in caught.value.help


@pytest.mark.parametrize("name", [".rocm-ci.yaml", "rocm-ci.yml"])
def test_another_name_is_pointed_out(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(TEXT)
    with pytest.raises(ManifestError, match="is named") as caught:
        find_manifest(tmp_path)
    assert caught.value.help == f"rename it: mv {name} {MANIFEST_NAME}"


def test_load(tmp_path: Path) -> None:
    path = tmp_path / MANIFEST_NAME
    path.write_text(TEXT)
    assert load(path).version == 1
    path.write_text(TEXT.replace("labels", "label").replace("1", "1 "))
    with pytest.raises(ManifestError) as caught:
        load(path)
    error = caught.value
    assert isinstance(error, UsageError)
    assert error.code is Code.USAGE
    assert [item.rule for item in error.diagnostics] == ["unknown-key"]
    assert f"{path}:2:17: error:" in str(error)
    assert "has 1 error" in str(error)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="there is no manifest"):
        load(tmp_path / "none.yml")
    with pytest.raises(ManifestError, match="is a folder"):
        load(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ManifestError, match="no regular file"):
        load(pipe)


def test_a_large_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "large.yml"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: reading it all would not end
    assert len(read_bytes(path)) < 1 << 20
    with pytest.raises(ManifestError, match="too-large"):
        load(path)
