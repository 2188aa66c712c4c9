from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rocm_ci.setup_rocm_container import workspace

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A workspace of user 1001 with files of root in it, and a link that leads out of it."""
    top = tmp_path / "workspace"
    (top / "build/deep").mkdir(parents=True)
    (top / "src").mkdir()
    for name in ("build/deep/a.o", "src/mine.py"):
        (top / name).write_text("")
    outside = tmp_path / "outside"
    outside.write_text("")
    (top / "build/link").symlink_to(outside)
    for path in (top, top / "src", top / "src/mine.py"):
        os.chown(path, 1001, 1002)
    return top


@as_root
def test_root_gives_back_what_is_roots_and_follows_no_link(tree: Path) -> None:
    found = workspace.check(tree, on_github=True, uid=0)
    assert (found.status, found.message) == ("ok", f"gave 4 entries of root in {tree} back to uid 1001")
    for path in (tree / "build", tree / "build/deep", tree / "build/deep/a.o", tree / "build/link"):
        assert (path.lstat().st_uid, path.lstat().st_gid) == (1001, 1002)
    assert (tree.parent / "outside").stat().st_uid == 0
    again = workspace.check(tree, on_github=True, uid=0)
    assert "nothing in it to root" in again.message


@as_root
def test_elsewhere_than_on_github_only_the_command_is_told(tree: Path) -> None:
    found = workspace.check(tree, on_github=False, uid=0)
    assert (found.status, found.fix) == ("warn", f"chown -R --no-dereference 1001:1002 {tree}")
    assert (tree / "build").stat().st_uid == 0


@as_root
def test_a_runner_that_is_root_has_nothing_to_give_back(tmp_path: Path) -> None:
    top = tmp_path / "a/b"
    top.mkdir(parents=True)
    assert workspace.check(top, on_github=True, uid=0).status == "ok"


@as_root
def test_the_runners_user_is_told_the_command(tree: Path) -> None:
    found = workspace.check(tree, on_github=True, uid=1001)
    assert found.status == "warn"
    assert found.fix.startswith('sudo chown -R "$(id -u):$(id -g)"')


@as_root
def test_what_cannot_be_changed_is_told(tree: Path) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    found = workspace.check(tree, on_github=True, uid=0, chown=refuse)
    assert (found.status, "read-only" in found.message) == ("warn", True)


def test_a_workspace_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = workspace.check(tmp_path, on_github=True, uid=1001)
    assert (found.status, "cannot be written by uid 1001" in found.message) == ("fail", True)


def test_no_workspace(tmp_path: Path) -> None:
    assert workspace.check(None, on_github=False, uid=0).status == "skip"
    assert workspace.check(tmp_path / "none", on_github=True, uid=0).status == "skip"
