"""Paths from untrusted lists stay in the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_ci_gen.files.paths import OutsideError, inside, repository_root


@pytest.mark.parametrize(
    "name", ["a", "a/b.yml", ".github/workflows/rocm-ci.yml", "a b/ü.txt", "..a/b..c", ".gitignore"]
)
def test_a_path_in_the_repository(tmp_path: Path, name: str) -> None:
    assert inside(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "./a",
        "a//b",
        "a/",
        "a/.",
        "C:\\x",
        "C:x",
        "c:/x",
        "\\\\server\\share",
        "..\\x",
        "a\\..\\x",
        "a\x00b",
        "a\nb",
        "a.",
        "a ",
        "a/b./c",
        "aux:",
        "a*",
        ".git/config",
        ".GIT/hooks/pre-commit",
        "x/.git/config",
        "a\udcffb",
        "a/" * 600 + "b",
    ],
)
def test_a_path_that_is_none_of_the_repository(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutsideError, match="is no path of a generated file"):
        inside(tmp_path, name)


@pytest.mark.parametrize("name", ["link", "link/x", "link/x/y"])
def test_no_symbolic_link_is_followed(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(outside)
    with pytest.raises(OutsideError, match="symbolic link"):
        inside(root, name)


def test_a_dangling_link_is_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutsideError, match="symbolic link"):
        inside(tmp_path, "x")


def test_the_root_itself_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert inside(tmp_path / "link", "a") == tmp_path / "link" / "a"


def test_the_repository_of_a_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "a" / "b" / ".rocm-ci.yml"
    manifest.parent.mkdir(parents=True)
    assert repository_root(manifest) == manifest.parent
    manifest.symlink_to(tmp_path / "elsewhere.yml")
    assert repository_root(manifest) == manifest.parent
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere\n")  # a worktree or a submodule
    assert repository_root(manifest) == tmp_path / "a"
