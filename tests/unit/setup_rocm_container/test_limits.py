from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rocm_ci.setup_rocm_container import limits
from rocm_ci.setup_rocm_container.limits import Ulimit
from rocm_ci.setup_rocm_container.place import Place

DOCKER = Place("docker")
GIB = 1 << 30


def statvfs(total: int, free: int, inodes: int = 10**6, free_inodes: int = 10**6) -> os.statvfs_result:
    return os.statvfs_result(
        (4096, 4096, total // 4096, free // 4096, free // 4096, inodes, free_inodes, free_inodes, 0, 255)
    )


@pytest.mark.parametrize(
    ("total", "free", "status"), [(64 << 20, 64 << 20, "warn"), (8 * GIB, 8 * GIB, "ok"), (16 * GIB, GIB, "warn")]
)
def test_shared_memory(total: int, free: int, status: str) -> None:
    check = limits.check_shm(DOCKER, Path("/dev/shm"), lambda _: statvfs(total, free))  # noqa: S108
    assert check.status == status


def test_dockers_default_of_shared_memory_is_told_with_the_option() -> None:
    check = limits.check_shm(DOCKER, Path("/dev/shm"), lambda _: statvfs(64 << 20, 64 << 20))  # noqa: S108
    assert "64 MiB" in check.message
    assert "--shm-size" in check.fix
    assert "emptyDir" in limits.check_shm(Place("kubernetes"), Path("/dev/shm"), lambda _: statvfs(1 << 20, 0)).fix  # noqa: S108


def test_no_shared_memory_at_all(tmp_path: Path) -> None:
    assert limits.check_shm(DOCKER, tmp_path / "none").status == "warn"


def test_ipc(tmp_path: Path) -> None:
    assert limits.check_ipc(tmp_path).status == "skip"
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/ipc").symlink_to("ipc:[4026531839]")
    assert "host's" in limits.check_ipc(tmp_path).message
    (tmp_path / "self/ns/ipc").unlink()
    (tmp_path / "self/ns/ipc").symlink_to("ipc:[4026532999]")
    assert "of its own" in limits.check_ipc(tmp_path).message


NO_LIMITS = {"nofile": Ulimit(1024, 1048576), "memlock": Ulimit(None, None), "core": Ulimit(0, None)}


def test_ulimits() -> None:
    def check(pattern: str = "core", *, rdma: bool = False, **changed: Ulimit) -> tuple[str, str]:
        found = limits.check_ulimits(DOCKER, {**NO_LIMITS, **changed}, core_pattern=pattern, rdma=rdma)
        return found.status, found.fix

    assert check() == ("ok", "")
    assert check(nofile=Ulimit(1024, 1024)) == ("warn", "container option --ulimit nofile=65536:65536")
    small = Ulimit(64 << 10, 64 << 10)
    assert check(memlock=small) == ("ok", "")
    assert check(memlock=small, rdma=True) == ("warn", "container option --ulimit memlock=-1:-1")
    assert check(core=Ulimit(None, None)) == ("warn", "container option --ulimit core=0")
    assert check("|/usr/share/apport", core=Ulimit(None, None)) == ("ok", "")


def test_ulimits_of_a_host_are_a_shell_command() -> None:
    found = {**NO_LIMITS, "nofile": Ulimit(10, 10), "memlock": Ulimit(1, 1)}
    check = limits.check_ulimits(Place("host"), found, core_pattern="", rdma=True)
    assert check.fix == "ulimit -n 65536; ulimit -l unlimited"


def test_this_process_has_limits() -> None:
    assert set(limits.read_ulimits()) == {"nofile", "memlock", "core"}


@pytest.mark.parametrize(("free", "status"), [(100 * GIB, "ok"), (2 * GIB, "warn"), (1 << 20, "fail")])
def test_disk(tmp_path: Path, free: int, status: str) -> None:
    disk, inodes = limits.check_space({"workspace": tmp_path}, lambda _: statvfs(200 * GIB, free))
    assert (disk.status, inodes.status) == (status, "ok")
    if status != "ok":
        assert str(tmp_path) in disk.fix


@pytest.mark.parametrize(("free", "status"), [(10**6, "ok"), (2000, "warn"), (3, "fail")])
def test_inodes(tmp_path: Path, free: int, status: str) -> None:
    _, inodes = limits.check_space({"tool cache": tmp_path}, lambda _: statvfs(200 * GIB, 100 * GIB, 10**7, free))
    assert inodes.status == status


def test_a_file_system_without_a_number_of_inodes(tmp_path: Path) -> None:
    _, inodes = limits.check_space({"workspace": tmp_path}, lambda _: statvfs(200 * GIB, 100 * GIB, 0, 0))
    assert inodes.status == "skip"


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    disk, _ = limits.check_space({"tool cache": tmp_path / "a/b/c"})
    assert disk.status != "skip"


def test_a_file_system_that_cannot_be_asked(tmp_path: Path) -> None:
    def broken(_: Path) -> os.statvfs_result:
        raise OSError(errno.EIO, "Input/output error")

    disk, inodes = limits.check_space({"workspace": tmp_path}, broken)
    assert (disk.status, inodes.status) == ("skip", "skip")


def test_temporary_folder_in_shared_memory() -> None:
    found = limits.check_tmpdir({"TMPDIR": "/dev/shm/job"})  # noqa: S108
    assert found is not None
    assert found.status == "warn"
    assert limits.check_tmpdir({"TMPDIR": "/dev/shmem"}) is None  # noqa: S108
    assert limits.check_tmpdir({}) is None


def test_sizes_for_people() -> None:
    assert [limits.size(n) for n in (0, 512, 64 << 20, 8 * GIB, 297771008, 206141652992, 3 << 40)] == [
        "0 B", "512 B", "64 MiB", "8 GiB", "284 MiB", "192 GiB", "3.0 TiB",
    ]  # fmt: skip
