"""Files are written whole, keep their permissions, and fail with words."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from rocm_ci.runner.errors import InfraError, RocmCiError, UsageError
from rocm_ci_gen.files import atomic


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic.write(tmp_path / "a" / "b" / "file", "text ü\n")
    finally:
        os.umask(before)
    file = tmp_path / "a" / "b" / "file"
    assert file.read_bytes() == "text ü\n".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert names(file.parent) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o664])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(mode)
    atomic.write(file, "new")
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_line_ends_are_written_as_they_are(tmp_path: Path) -> None:
    atomic.write(tmp_path / "file", "a\nb\n")
    assert (tmp_path / "file").read_bytes() == b"a\nb\n"


@pytest.mark.parametrize(
    ("number", "kind", "word"),
    [
        (errno.ENOSPC, InfraError, "disk is full"),
        (errno.EDQUOT, InfraError, "quota"),
        (errno.EROFS, InfraError, "read-only"),
        (errno.EACCES, UsageError, "permission"),
    ],
)
def test_what_the_system_says_becomes_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[RocmCiError], word: str
) -> None:
    file = tmp_path / "file"
    file.write_text("old")

    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind, match=f"cannot write {file}") as caught:
        atomic.write(file, "new")
    assert word in caught.value.help
    assert file.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_an_interrupt_leaves_no_part_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic.write(tmp_path / "file", "new")
    assert names(tmp_path) == []


def test_a_folder_where_the_file_belongs(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        atomic.write(tmp_path, "x")
    assert "folder stands where the file belongs" in caught.value.help
    with pytest.raises(UsageError, match="is a folder"):
        atomic.read(tmp_path)


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    (tmp_path / ".github").write_text("")
    with pytest.raises(UsageError) as caught:
        atomic.write(tmp_path / ".github" / "workflows" / "x.yml", "x")
    assert "file stands where a folder is needed" in caught.value.help
    assert atomic.read(tmp_path / ".github" / "workflows" / "x.yml") is None


def test_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert atomic.read(tmp_path / "none") is None
    (tmp_path / "file").write_bytes(b"\xff")
    assert atomic.read(tmp_path / "file") == b"\xff"

    def fail(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(UsageError, match="cannot read"):
        atomic.read(tmp_path / "file")


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no regular file"):
        atomic.read(tmp_path / "pipe")


def test_removing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    atomic.remove(tmp_path / "file")
    atomic.remove(tmp_path / "file")
    assert names(tmp_path) == []
    with pytest.raises(UsageError, match="cannot remove"):
        atomic.remove(tmp_path)


def test_read_only_is_seen_whoever_asks(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert not atomic.is_read_only(file)
    file.write_text("x")
    assert not atomic.is_read_only(file)
    file.chmod(0o444)
    assert atomic.is_read_only(file)
