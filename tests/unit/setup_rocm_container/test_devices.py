from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rocm_ci.setup_rocm_container import devices
from rocm_ci.setup_rocm_container.devices import Credentials
from rocm_ci.setup_rocm_container.place import Kind, Place, find
from rocm_ci.setup_rocm_container.tables import rows

NODES = ("renderD128", "renderD129", "renderD130")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root whose device nodes are real ones: links to /dev/null."""
    (tmp_path / "dev/dri").mkdir(parents=True)
    for name in ("kfd", *(f"dri/{node}" for node in NODES)):
        (tmp_path / "dev" / name).symlink_to("/dev/null")
    return tmp_path


@pytest.fixture(autouse=True)
def stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs these tests, the process is in no group that owns a device."""
    monkeypatch.setattr(Credentials, "of_this_process", classmethod(lambda cls: cls(1000, frozenset({1000}))))


def opener(errors: Mapping[str, int]) -> devices.Opener:
    def open_node(path: Path) -> None:
        if path.name in errors:
            raise OSError(errors[path.name], os.strerror(errors[path.name]))

    return open_node


@pytest.mark.parametrize("kind", ["host", "docker", "kubernetes"])
def test_nodes_that_open_are_ok(root: Path, kind: Kind) -> None:
    place = Place(kind, root)
    assert devices.check_kfd(place).status == "ok"
    assert devices.check_render_nodes(place, NODES).status == "ok"


CAUSES = {
    errno.EACCES: ("permission denied", "--group-add"),
    errno.EPERM: ("device cgroup", "--device"),
    errno.EINVAL: ("refuses", "new container"),
    errno.ENODEV: ("no driver is behind it", "modprobe amdgpu"),
    errno.ENXIO: ("no driver is behind it", "modprobe amdgpu"),
    errno.EBUSY: ("busy", "fuser"),
    errno.EAGAIN: ("resetting", "gpu reset"),
    errno.EIO: ("does not answer", "gpureset"),
    errno.EMFILE: ("file descriptor", "nofile"),
    errno.ENOTTY: ("inappropriate ioctl", "dmesg"),
}


@pytest.mark.parametrize("number", CAUSES)
def test_each_error_has_its_own_cause_and_fix(root: Path, number: int) -> None:
    check = devices.check_kfd(Place("docker", root), opener({"kfd": number}))
    cause, fix = CAUSES[number]
    assert check.status == "fail"
    assert cause in check.message
    assert fix in check.fix


def test_denied_names_the_number_of_the_group_and_the_line_of_the_manifest(root: Path) -> None:
    gid = (root / "dev/kfd").stat().st_gid
    check = devices.check_kfd(Place("docker", root), opener({"kfd": errno.EACCES}))
    assert f"--group-add {gid}" in check.fix
    assert f"groups: [video, {gid}]" in check.fix
    pod = devices.check_kfd(Place("kubernetes", root), opener({"kfd": errno.EACCES}))
    assert f"supplementalGroups: [{gid}]" in pod.fix
    host = devices.check_kfd(Place("host", root), opener({"kfd": errno.EACCES}))
    assert "usermod -a -G" in host.fix


def test_a_group_that_a_rootless_container_does_not_map(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_gid", lambda _: 65534)
    check = devices.check_kfd(Place("docker", root), opener({"kfd": errno.EACCES}))
    assert "keep-groups" in check.fix


def test_a_node_that_is_not_mapped(root: Path) -> None:
    (root / "dev/kfd").unlink()
    check = devices.check_kfd(Place("docker", root))
    assert check.status == "fail"
    assert "does not exist" in check.message
    assert "--device /dev/kfd" in check.fix
    assert "amd.com/gpu" in devices.check_kfd(Place("kubernetes", root)).fix


def test_a_folder_or_a_file_in_the_place_of_a_device(root: Path) -> None:
    (root / "dev/kfd").unlink()
    (root / "dev/kfd").mkdir()
    assert "folder" in devices.check_kfd(Place("docker", root)).message
    (root / "dev/kfd").rmdir()
    (root / "dev/kfd").write_text("")
    assert "plain file" in devices.check_kfd(Place("docker", root)).message


def test_a_partition_that_the_current_mode_does_not_have(root: Path) -> None:
    check = devices.check_render_nodes(Place("docker", root), NODES, opener({"renderD130": errno.ENOENT}))
    assert "no such GPU partition" in check.message


def test_the_same_cause_is_told_once_and_another_beside_it(root: Path) -> None:
    errors = {"renderD128": errno.EACCES, "renderD129": errno.EACCES, "renderD130": errno.EPERM}
    check = devices.check_render_nodes(Place("docker", root), NODES, opener(errors))
    assert check.message.startswith("3 of 3 do not open: renderD128, renderD129: permission denied")
    assert "renderD130: it is there, and the device cgroup" in check.message
    assert len(check.fix.splitlines()) == 2


def test_a_recorded_tree_is_skipped_with_the_reason(tmp_path: Path) -> None:
    place = find(tmp_path, {})
    assert place.recorded
    for check in (
        devices.check_kfd(place),
        devices.check_render_nodes(place, NODES),
        devices.check_groups(place, [], Credentials(0, frozenset())),
    ):
        assert check.status == "skip"
        assert "recorded tree" in check.message


def test_a_root_with_devices_is_a_mounted_host(root: Path) -> None:
    assert not find(root, {}).recorded


def test_where_this_runs(tmp_path: Path) -> None:
    assert find(Path("/"), {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, tmp_path).kind == "kubernetes"
    assert find(Path("/"), {}, tmp_path).kind == "host"
    (tmp_path / ".dockerenv").touch()
    assert find(Path("/"), {}, tmp_path).kind == "docker"


def test_groups(root: Path) -> None:
    paths = [root / "dev/kfd"]
    gid = paths[0].stat().st_gid
    place = Place("docker", root)
    assert devices.check_groups(place, paths, Credentials(1000, frozenset({gid}))).status == "ok"
    stranger = Credentials(1000, frozenset({4711}))
    opens = devices.check_groups(place, paths, stranger)
    assert (opens.status, "they open all the same" in opens.message) == ("ok", True)
    denied = devices.check_groups(place, paths, stranger, opener({"kfd": errno.EACCES}))
    assert (denied.status, f"--group-add {gid}" in denied.fix) == ("warn", True)


def test_every_error_of_the_table_exists_and_has_a_fix_in_each_place() -> None:
    for code, device, cause, *fixes, source in rows("open_errors.tsv"):
        assert hasattr(errno, code)
        assert device in {"kfd", "render", "*"}
        assert cause
        assert all(fixes)
        assert source
        for text in (cause, *fixes):
            text.format(path="/dev/kfd", gid=109, group="render")


DENIED = """
import os, sys
from pathlib import Path
from rocm_ci.setup_rocm_container import devices
from rocm_ci.setup_rocm_container.place import Place
from rocm_ci.setup_rocm_container.tables import rows
rows("open_errors.tsv")  # files of this checkout may be root's only
os.setgroups([int(group) for group in sys.argv[2:]])
os.setgid(12345)
os.setuid(12345)
place = Place("docker", Path(sys.argv[1]))
for check in (
    devices.check_kfd(place),
    devices.check_groups(place, [place.root / "dev/kfd"], devices.Credentials.of_this_process()),
):
    print(check.status, "|", check.message, "|", check.fix)
"""


@pytest.fixture
def closed() -> Iterator[Path]:
    """A root with a real device that only group 4711 may open."""
    root = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    try:
        (root / "dev").mkdir()
        try:
            os.mknod(root / "dev/kfd", 0o660 | stat.S_IFCHR, os.makedev(1, 3))
            (root / "dev/kfd").chmod(0o660)
            (root / "dev/kfd").open("rb").close()
        except PermissionError:
            pytest.skip("only root can make a device, and not in every container")
        os.chown(root / "dev/kfd", 0, 4711)
        root.chmod(0o755)
        yield root
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize(("groups", "expected"), [([], "fail | permission denied"), (["4711"], "ok |")])
def test_a_real_device_as_another_user(closed: Path, groups: list[str], expected: str) -> None:
    command = [sys.executable, "-c", DENIED, str(closed), *groups]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3] / "actions")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(expected), done.stdout + done.stderr
    if groups:
        (closed / "dev/kfd").chmod(0o640)
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        assert "though this process is in group 4711" in done.stdout
        assert "crw-r-----" in done.stdout
    else:
        assert "--group-add 4711" in done.stdout
        assert "warn | in groups 12345, and not in 4711" in done.stdout
