"""What git says: files, default branch, branches that are alive."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocm_ci_gen.scaffold.repository import read_repository

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(root: Path, *arguments: str, date: str = "2026-01-01T00:00:00Z") -> None:
    dated = {**ENVIRON, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    subprocess.run(["git", *arguments], cwd=root, check=True, env=dated, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--initial-branch", "trunk")
    (tmp_path / "a.cu").write_text("x", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("ignored/\n", encoding="utf-8")
    (tmp_path / "ignored").mkdir()
    (tmp_path / "ignored" / "b.cu").write_text("x", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    return tmp_path


def test_no_repository(tmp_path: Path) -> None:
    found = read_repository(tmp_path, {**ENVIRON, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert found.top is None
    assert found.files is None
    assert found.note == "this is not a git repository"
    assert found.default_branch == "main"


def test_no_git(tmp_path: Path) -> None:
    found = read_repository(tmp_path, {**ENVIRON, "PATH": str(tmp_path)})
    assert "git is not installed" in found.note


def test_tracked_and_new_files_but_no_ignored_ones(repository: Path) -> None:
    (repository / "new ü\n.cu").write_text("x", encoding="utf-8")
    found = read_repository(repository, ENVIRON)
    assert set(found.files or ()) == {"a.cu", ".gitignore", "new ü\n.cu"}
    assert found.top is not None
    assert found.top.resolve() == repository.resolve()


def test_the_current_branch_when_nothing_else_tells(repository: Path) -> None:
    found = read_repository(repository, ENVIRON)
    assert (found.default_branch, found.default_branch_reason) == ("trunk", "the current branch")
    assert found.current_branch == "trunk"


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--initial-branch", "first")
    assert read_repository(tmp_path, ENVIRON).default_branch == "first"


def test_on_a_topic_branch_the_default_is_another(repository: Path) -> None:
    git(repository, "branch", "main")
    git(repository, "switch", "-c", "topic")
    found = read_repository(repository, ENVIRON)
    assert (found.default_branch, found.current_branch) == ("main", "topic")


def test_a_detached_head(repository: Path) -> None:
    git(repository, "checkout", "--detach")
    found = read_repository(repository, ENVIRON)
    assert found.default_branch == "main"
    assert "no branch is checked out" in found.default_branch_reason


def test_configured_default(repository: Path) -> None:
    git(repository, "config", "init.defaultBranch", "trunk")
    git(repository, "switch", "-c", "topic")
    found = read_repository(repository, ENVIRON)
    assert (found.default_branch, found.default_branch_reason) == ("trunk", "init.defaultBranch of git's configuration")


def test_origin_decides(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clone = tmp_path_factory.mktemp("clone") / "c"
    git(repository, "branch", "develop")
    git(repository, "clone", str(repository), str(clone))
    git(clone, "switch", "-c", "topic")
    found = read_repository(clone, ENVIRON)
    assert (found.default_branch, found.default_branch_reason) == ("trunk", "origin/HEAD")
    assert found.other_branches == ("develop",)


def test_a_dead_branch_is_not_proposed(repository: Path) -> None:
    git(repository, "branch", "develop")
    (repository / "b.cu").write_text("x", encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "-m", "two", date="2026-06-01T00:00:00Z")
    assert read_repository(repository, ENVIRON).other_branches == ("develop",)
    git(repository, "commit", "--allow-empty", "-m", "three", date="2026-09-01T00:00:00Z")
    assert read_repository(repository, ENVIRON).other_branches == ()


def test_inside_gits_own_folder(repository: Path) -> None:
    assert read_repository(repository / ".git", ENVIRON).inside_git_folder


def test_variables_of_a_hook_do_not_point_elsewhere(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "--initial-branch", "other")
    found = read_repository(repository, {**ENVIRON, "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)})
    assert found.current_branch == "trunk"


def test_a_submodule_is_not_looked_into(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outer = tmp_path_factory.mktemp("outer")
    git(outer, "init", "--initial-branch", "main")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", str(repository), "sub")
    assert read_repository(outer, ENVIRON).files == (".gitmodules", "sub")
