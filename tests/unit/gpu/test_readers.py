"""The readers that stand for themselves: files below a root, fdinfo, holders, driver, ROCm, operating system."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rocm_ci.gpu import fdinfo, kfd
from rocm_ci.gpu.driver import read_driver
from rocm_ci.gpu.holders import find_holders
from rocm_ci.gpu.os_release import read_os
from rocm_ci.gpu.rocm import Rocm, TorchBuild, parse_torch_version, read_rocm
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown
from support.fake_node import FakeGpu, FakeNode

A = "0000:05:00.0"
PACKAGES = "Package: x\nVersion: 1\n\nPackage: rocm-core\nStatus: ok\nVersion: 6.3.1.60301-48~22.04\n\n"
FDINFO = """pos:\t0
drm-driver:\tamdgpu
drm-client-id:\t{client}
drm-pdev:\t0000:04:00.0
drm-resident-vram:\t{vram}
drm-shared-vram:\t0
drm-memory-gtt: \t3 MiB
"""


def put(root: Path, path: str, data: bytes | str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data.encode() if isinstance(data, str) else data)


def test_absolute_links_stay_below_the_root(tmp_path: Path) -> None:
    put(tmp_path, "etc/real", "inside")
    (tmp_path / "etc/absolute").symlink_to("/etc/real")
    (tmp_path / "etc/climbing").symlink_to("../../../../etc/real")
    (tmp_path / "etc/outside").symlink_to("/etc/hostname")
    tree = Tree(tmp_path)
    assert tree.text("etc/absolute") == "inside"
    assert tree.text("etc/climbing") == "inside"
    outside = tree.text("etc/outside")
    assert isinstance(outside, Unknown)
    assert outside.errno == errno.ENOENT
    assert isinstance(tree.text("../../../../../../etc/hostname"), Unknown)


def test_loops_and_files_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    loop = Tree(tmp_path).text("a/x")
    assert isinstance(loop, Unknown)
    assert loop.errno == errno.ELOOP
    put(tmp_path, "plain", "text")
    below = Tree(tmp_path).text("plain/x")
    assert isinstance(below, Unknown)
    assert below.errno == errno.ENOTDIR


def test_a_link_that_was_recorded_as_text_is_followed(tmp_path: Path) -> None:
    put(tmp_path, "devices/card/value", "42\n")
    put(tmp_path, "class/drm/card0", "../../devices/card")
    put(tmp_path, "note", "../is this a link")
    tree = Tree(tmp_path)
    assert tree.count("class/drm/card0/value") == 42
    assert tree.names("class/drm/card0") == ("value",)
    assert tree.text("note") == "../is this a link"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"\0\0\n", "empty"),
        (b"a\0b", "binary"),
        (b"\xff\xfe", "no text"),
        (b"x" * 70000, "larger than"),
    ],
)
def test_text_that_is_none(tmp_path: Path, data: bytes, said: str) -> None:
    put(tmp_path, "file", data)
    text = Tree(tmp_path).text("file")
    assert isinstance(text, Unknown)
    assert said in text.reason


def test_neither_folders_nor_pipes_are_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        text = Tree(tmp_path).text(name)
        assert isinstance(text, Unknown)


def test_names_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("card10", "card2", "card0", "x"):
        put(tmp_path, f"d/{name}", "")
    assert Tree(tmp_path).names("d") == ("card0", "card2", "card10", "x")


def test_fdinfo_in_all_its_units() -> None:
    for text, value in (("44564 KiB", 45633536), ("22 MiB", 22 << 20), ("0", 0), ("7", 7)):
        client = fdinfo.parse_fdinfo(FDINFO.format(client=4, vram=text))
        assert isinstance(client, fdinfo.DrmClient)
        assert (client.bdf, client.client, client.vram, client.shared, client.gtt) == (
            "0000:04:00.0",
            4,
            value,
            0,
            3 << 20,
        )
    for text in ("", "5 furlongs", "-1 KiB", "99999999999999999999 MiB"):
        client = fdinfo.parse_fdinfo(FDINFO.format(client=4, vram=text))
        assert isinstance(client, fdinfo.DrmClient)
        assert isinstance(client.vram, Unknown)
    assert isinstance(fdinfo.parse_fdinfo("drm-driver:\ti915\n"), Unknown)


def test_a_client_counts_once_however_many_descriptors_it_has(tmp_path: Path) -> None:
    for number, client in enumerate((4, 4, 5)):
        put(tmp_path, f"proc/9/fdinfo/{number}", FDINFO.format(client=client, vram="1 MiB"))
    put(tmp_path, "proc/9/fdinfo/3", "pos:\t0\n")
    clients = fdinfo.clients_of(Tree(tmp_path), 9)
    assert isinstance(clients, tuple)
    assert fdinfo.held([*clients, *clients]) == {"0000:04:00.0": 2 << 20}
    assert isinstance(fdinfo.clients_of(Tree(tmp_path), 10), Unknown)


def test_an_unknown_client_makes_the_sum_unknown() -> None:
    known = fdinfo.DrmClient("0000:04:00.0", 1, 5, 0, 0)
    lacking = fdinfo.DrmClient("0000:04:00.0", 2, Unknown("no"), 0, 0)
    for order in ([known, lacking], [lacking, known]):
        assert fdinfo.held(order)["0000:04:00.0"] == Unknown("no")


def test_holders(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    fake.process(42, {0: 1 << 30}, name="python3", uid=1001)
    fake.process(43, {0: 5}, kfd_only=True)
    put(tmp_path, "proc/44/status", "Name:\tbash\n")
    fake.link("proc/44/fd/0", "/dev/null")
    fake.link("proc/self/ns/pid", "pid:[4026532000]")
    found = find_holders(Tree(tmp_path))
    (holder,) = found.processes
    assert (holder.pid, holder.name, holder.state, holder.uid) == (42, "python3", "S", 1001)
    assert holder.devices == ("/dev/dri/renderD128", "/dev/kfd")
    assert holder.uses_rocm
    assert found.own_namespace is True
    processes = kfd.read_processes(Tree(tmp_path))
    assert isinstance(processes, tuple)
    assert [process.pid for process in processes] == [42, 43]
    assert kfd.sum_of(processes, fake.gpu_ids[0]) == (1 << 30) + 5


def test_processes_that_may_not_be_looked_into_are_counted(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    fake.process(42, {0: 1})
    found = find_holders(fake.refusing("proc/42/fd"))
    assert (found.processes, found.unreadable, found.own_namespace) == ((), 1, None)
    assert find_holders(Tree(tmp_path / "nothing")).problem


def test_an_unreadable_process_makes_the_sum_unknown(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    fake.process(42, {0: 1})
    processes = kfd.read_processes(fake.refusing("sys/class/kfd/kfd/proc/42/vram_"))
    assert isinstance(kfd.sum_of(processes, fake.gpu_ids[0]), Unknown)


@pytest.mark.parametrize(
    ("module", "state", "loaded", "kind", "text"),
    [
        ("6.10.5", "live", True, "dkms", "amdgpu 6.10.5 (dkms)"),
        (None, "live", True, "inbox", "amdgpu of kernel 6.8.0-40-generic"),
        ("6.10.5", None, True, "dkms", "amdgpu 6.10.5 (dkms)"),
        ("6.10.5", "going", False, "dkms", "amdgpu is not loaded"),
        (None, None, False, None, "amdgpu is not loaded"),
    ],
)
def test_driver(
    tmp_path: Path, module: str | None, state: str | None, loaded: bool, kind: str | None, text: str
) -> None:
    driver = read_driver(Tree(FakeNode(tmp_path, module=module, initstate=state).root))
    assert (driver.loaded, driver.kind, driver.module_version, str(driver)) == (loaded, kind, module, text)
    for name in ("kind", "module_version", "initstate"):
        assert (getattr(driver, name) is None) == (name in driver.unknown)


def test_a_driver_that_is_built_in_and_one_that_cannot_be_seen(tmp_path: Path) -> None:
    put(tmp_path, "built/sys/module/amdgpu/parameters/x", "1")
    assert read_driver(Tree(tmp_path / "built")).loaded is True
    driver = read_driver(Tree(tmp_path / "nothing"))
    assert driver.loaded is None
    assert driver.unknown["loaded"]


def test_rocm_is_found_where_programs_find_it(tmp_path: Path) -> None:
    tree = Tree(FakeNode(tmp_path, rocm="6.10.0").root)
    put(tmp_path, "opt/rocm-6.2.4/.info/version", "6.2.4-149")
    found = read_rocm(tree)
    assert isinstance(found, Rocm)
    assert (found.version, found.build, found.folder, found.others) == ("6.10.0", "6.10.0-48", "opt/rocm", ("6.2.4",))
    found = read_rocm(tree, {"ROCM_PATH": "/opt/rocm-6.2.4"})
    assert isinstance(found, Rocm)
    assert (found.version, found.folder) == ("6.2.4", "opt/rocm-6.2.4")


def test_rocm_by_header_by_link_and_by_package(tmp_path: Path) -> None:
    header = "#define ROCM_VERSION_MAJOR   7\n#define ROCM_VERSION_MINOR   0\n#define ROCM_VERSION_PATCH   2\n"
    put(tmp_path, "a/opt/rocm/include/rocm-core/rocm_version.h", header)
    (tmp_path / "b/opt/rocm-7.2.1").mkdir(parents=True)
    (tmp_path / "b/opt/rocm").symlink_to("rocm-7.2.1")
    put(
        tmp_path,
        "c/var/lib/dpkg/status",
        PACKAGES,
    )
    assert [read_rocm(Tree(tmp_path / name)).version for name in "abc"] == ["7.0.2", "7.2.1", "6.3.1"]  # type: ignore[union-attr]
    assert isinstance(read_rocm(Tree(tmp_path / "d")), Unknown)


@pytest.mark.parametrize("content", ["", "N/A", "\0", "version", "6"])
def test_a_damaged_version_file_is_passed_over(tmp_path: Path, content: str) -> None:
    put(tmp_path, "opt/rocm/.info/version", content)
    assert isinstance(read_rocm(Tree(tmp_path)), Unknown)


def test_torch() -> None:
    text = (
        "from typing import Optional\n__version__ = '2.5.1+rocm6.2'\ndebug = False\n"
        "cuda: Optional[str] = None\nhip: Optional[str] = '6.2.41133-dd7f95766'\n"
    )
    assert parse_torch_version(text) == TorchBuild("2.5.1+rocm6.2", "6.2.41133-dd7f95766", None, "6.2")
    assert parse_torch_version("cuda = '12.4'\n__version__ = \"2.5\"\nhip = None\n") == TorchBuild(
        "2.5", None, "12.4", None
    )
    assert isinstance(parse_torch_version("nothing"), Unknown)


def test_operating_systems(tmp_path: Path) -> None:
    put(
        tmp_path,
        "etc/os-release",
        (
            'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\nVERSION="24.04.1 LTS (Noble)"\n'
            'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nBAD="\n'
        ),
    )
    system = read_os(Tree(tmp_path))
    assert not isinstance(system, Unknown)
    assert (system.id, system.version_id, system.name, system.lts) == ("ubuntu", "24.04", "Ubuntu 24.04.1 LTS", True)
    assert system.like == ("debian",)
    assert isinstance(read_os(Tree(tmp_path / "none")), Unknown)
