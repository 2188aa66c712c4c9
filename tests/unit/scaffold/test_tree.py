"""Reading a folder: bounded, without following links, and without falling over anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocm_ci_gen.scaffold import tree as trees
from rocm_ci_gen.scaffold.detect import detect
from rocm_ci_gen.scaffold.repository import Repository
from rocm_ci_gen.scaffold.sources import Mark
from rocm_ci_gen.scaffold.tree import read_tree, usable


def write(root: Path, name: str, data: bytes = b"") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_folder_without_git_is_walked(tmp_path: Path) -> None:
    for name in ("a.cu", "src/b.cu", ".github/workflows/c.yml", "node_modules/x.cu", ".git/y.cu", ".venv/z.cu"):
        write(tmp_path, name)
    assert read_tree(tmp_path, Repository()).paths == (".github/workflows/c.yml", "a.cu", "src/b.cu")


def test_links_pipes_and_folders_are_no_files(tmp_path: Path) -> None:
    write(tmp_path, "a.cu")
    (tmp_path / "link.cu").symlink_to("a.cu")
    (tmp_path / "dead.cu").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "b.cu").mkdir()
    os.mkfifo(tmp_path / "pipe.cu")
    listed = ("a.cu", "link.cu", "dead.cu", "loop", "b.cu", "pipe.cu", "gone.cu", "loop/a.cu/x")
    assert read_tree(tmp_path, Repository(files=listed)).paths == ("a.cu",)
    assert read_tree(tmp_path, Repository()).paths == ("a.cu",)


def test_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    write(tmp_path, "binary.cu", b"#include <cuda.h>\n\0")
    write(tmp_path, "latin.cu", b"// caf\xe9\n#include <cuda.h>\n")
    read = read_tree(tmp_path, Repository())
    assert read.head("binary.cu") == ""
    assert "#include <cuda.h>" in read.head("latin.cu")
    assert read.head("gone.cu") == ""
    (tmp_path / "latin.cu").unlink()
    (tmp_path / "latin.cu").symlink_to("binary.cu")
    assert read.head("latin.cu") == ""


def test_only_the_top_of_a_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, "big.py", b"import triton.language\n" + b"#" * 3_000_000)
    read = read_tree(tmp_path, Repository())
    assert len(read.head("big.py")) == trees.HEAD_BYTES
    assert len(read.whole("big.py")) == trees.WHOLE_BYTES
    assert detect(read).having(Mark.TRITON) == ("big.py",)


def test_the_budget_of_the_whole_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MAX_BYTES", 5)
    write(tmp_path, "a.cu", b"123456")
    write(tmp_path, "b.cu", b"123456")
    read = read_tree(tmp_path, Repository())
    assert read.head("a.cu") == "123456"
    assert read.head("b.cu") == ""


def test_the_number_of_files_is_bounded_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MAX_FILES", 2)
    for name in ("a", "b", "c", "d"):
        write(tmp_path, name)
    read = read_tree(tmp_path, Repository())
    assert read.paths == ("a", "b")
    assert read.notes
    assert "first 2" in read.notes[0]


@pytest.mark.parametrize(
    "name", ["a\nb", "a\x1bb", os.fsdecode(b"a\xff"), "a\u2028b", "~/x", "c:/x", "a\\b", "a::b", "${{ x }}"]
)
def test_names_that_no_manifest_can_hold(name: str) -> None:
    assert not usable(name)


def test_odd_names_are_left_out_and_told(tmp_path: Path) -> None:
    write(tmp_path, "gut/ü - #é.cu")
    write(tmp_path, "a\nb.cu")
    (tmp_path / os.fsdecode(b"caf\xe9.cu")).write_bytes(b"")
    read = read_tree(tmp_path, Repository())
    assert read.paths == ("gut/ü - #é.cu",)
    assert read.notes == (
        "2 files left out because of the name (not printable, not UTF-8, or with `\\`, `::`, a leading `~`)",
    )
