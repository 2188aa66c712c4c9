"""What the container gives its processes: shared memory, limits, disk space."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn
from rocm_ci.setup_rocm_container.place import Place
from rocm_ci.setup_rocm_container.tables import limits

_HOST_IPC = "ipc:[4026531839]"
"""The host's own IPC namespace has this inode on every kernel (Linux, include/linux/proc_ns.h, PROC_IPC_INIT_INO)."""


_SHM = Path("/dev/shm")  # noqa: S108 - it is looked at, nothing is written
_SHELL = {"nofile": "-n", "memlock": "-l", "core": "-c"}


def size(count: int) -> str:
    """Bytes for a person: 64 MiB, 7.9 GiB."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return (
                f"{value:.0f} {unit}" if unit == "B" or value >= 100 or value == int(value) else f"{value:.1f} {unit}"
            )
        value /= 1024
    return f"{value:.1f} TiB"


def check_shm(place: Place, folder: Path = _SHM, statvfs: Callable[[Path], os.statvfs_result] = os.statvfs) -> Check:
    """Whether /dev/shm has the size that ROCm's own instructions ask for."""
    wanted = limits()["shm_warn_bytes"]
    fix = place.advice(
        f"sudo mount -o remount,size={size(wanted * 2).replace(' GiB', 'G')} {folder}",
        "container option --ipc=host or --shm-size 16g; in .rocm-ci.yml: container: {ipc: host} or {shm-size: 16g}",
        "in the pod's template: a volume emptyDir: {medium: Memory, sizeLimit: 16Gi}, mounted at /dev/shm",
    )
    try:
        found = statvfs(folder)
    except OSError as error:
        return warn("shm", f"{folder} cannot be looked at: {(error.strerror or str(error)).lower()}", fix)
    total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    if total and total < wanted:
        return warn("shm", f"{folder} has {size(total)}; ROCm's instructions ask for {size(wanted)}", fix)
    if free < wanted:
        full = f"{folder} has {size(free)} free of {size(total)}: an earlier job left files there"
        return warn("shm", full, f"ls -la {folder}   # then remove what no process uses: fuser -v {folder}/*")
    return ok("shm", f"{folder} has {size(free)} free of {size(total)}")


def check_ipc(proc: Path = Path("/proc")) -> Check:
    """Whether processes of this container share the host's IPC, which several ranks on one node use."""
    try:
        namespace = str((proc / "self/ns/ipc").readlink())
    except OSError as error:
        return skip("ipc", f"the IPC namespace cannot be read: {(error.strerror or str(error)).lower()}")
    if namespace == _HOST_IPC:
        return ok("ipc", "the host's IPC namespace")
    return ok("ipc", "an IPC namespace of its own: ranks in other containers are not reached through shared memory")


@dataclass(frozen=True)
class Ulimit:
    """A limit of this process; None is unlimited."""

    soft: int | None
    hard: int | None


def read_ulimits() -> dict[str, Ulimit]:
    """The limits that ROCm programs run into: memlock (bytes), nofile (count) and core (bytes)."""
    return {
        name: Ulimit(*(None if value == resource.RLIM_INFINITY else value for value in resource.getrlimit(number)))
        for name, number in (
            ("memlock", resource.RLIMIT_MEMLOCK),
            ("nofile", resource.RLIMIT_NOFILE),
            ("core", resource.RLIMIT_CORE),
        )
    }


def check_ulimits(place: Place, found: Mapping[str, Ulimit], *, core_pattern: str, rdma: bool) -> Check:
    """Whether the limits of open files, locked memory and core files fit.

    Args:
        place: where this runs.
        found: the limits.
        core_pattern: contents of /proc/sys/kernel/core_pattern: what starts with `|` goes to a program of the host.
        rdma: the node has InfiniBand or RoCE devices, whose registered memory counts as locked.
    """
    told: list[str] = []
    options: list[str] = []
    files = found["nofile"].hard
    if files is not None and files < limits()["nofile_warn"]:
        told.append(f"at most {files} open files")
        options.append("--ulimit nofile=65536:65536")
    locked = found["memlock"].soft
    if rdma and locked is not None:
        told.append(f"at most {size(locked)} of locked memory, though this node has RDMA devices")
        options.append("--ulimit memlock=-1:-1")
    if found["core"].soft is None and core_pattern and not core_pattern.startswith("|"):
        # https://github.com/pytorch/pytorch/pull/100532: core dumps filled the disks of ROCm CI nodes.
        told.append("core files of any size: a crash writes host and GPU memory into the working folder")
        options.append("--ulimit core=0")
    if not told:
        words = {name: "unlimited" if limit.soft is None else f"{limit.soft:,}" for name, limit in found.items()}
        return ok("ulimits", ", ".join(f"{name} {word}" for name, word in words.items()))
    pairs = [option.removeprefix("--ulimit ").split("=") for option in options]
    shell = "; ".join(
        f"ulimit {_SHELL[name]} {value.split(':')[0].replace('-1', 'unlimited')}" for name, value in pairs
    )
    joined = " ".join(options)
    fix = place.advice(
        shell,
        f"container option {joined}",
        "set the limits in the node's container runtime (containerd: LimitNOFILE, LimitMEMLOCK)",
    )
    return warn("ulimits", "; ".join(told), fix)


def folders(environ: Mapping[str, str], workspace: Path | None) -> dict[str, Path]:
    """The folders that a job writes to, by what a person calls them."""
    named = {
        "workspace": str(workspace or ""),
        "temporary folder": environ.get("RUNNER_TEMP") or environ.get("TMPDIR") or "/tmp",  # noqa: S108
        "tool cache": environ.get("RUNNER_TOOL_CACHE", ""),
    }
    return {what: Path(path) for what, path in named.items() if path}


def check_space(
    named: Mapping[str, Path], statvfs: Callable[[Path], os.statvfs_result] = os.statvfs
) -> tuple[Check, Check]:
    """Free bytes and free inodes of the file systems below those folders."""
    known: dict[str, tuple[Path, os.statvfs_result]] = {}
    unread = []
    for what, path in named.items():
        try:
            known[what] = (path, statvfs(_existing(path)))
        except OSError as error:  # noqa: PERF203 - three folders
            unread.append(f"{what} {path}: {(error.strerror or str(error)).lower()}")
    if not known:
        reason = "; ".join(unread) or "no folder is known"
        return skip("disk", reason), skip("inodes", reason)
    free = {what: (path, found.f_bavail * found.f_frsize) for what, (path, found) in known.items()}
    # btrfs and some network file systems have no fixed number of inodes and say 0.
    inodes = {what: (path, found.f_favail) for what, (path, found) in known.items() if found.f_files}
    disk = _least("disk", free, limits()["disk_warn_bytes"], limits()["disk_fail_bytes"], size, "df -h")
    if not inodes:
        return disk, skip("inodes", "these file systems have no fixed number of inodes")
    return disk, _least(
        "inodes", inodes, limits()["inodes_warn"], limits()["inodes_fail"], lambda n: f"{n:,} inodes", "df -i"
    )


def check_tmpdir(environ: Mapping[str, str]) -> Check | None:
    """A warning when TMPDIR lies in /dev/shm: HIP's child processes break there (ROCm/rocm-systems issue 11563)."""
    if _SHM in (Path(environ.get("TMPDIR", "")), *Path(environ.get("TMPDIR", "")).parents):
        return warn(
            "tmpdir", f"TMPDIR={environ['TMPDIR']} lies in /dev/shm, where HIP's child processes break", "unset TMPDIR"
        )
    return None


def _least(
    name: str, free: Mapping[str, tuple[Path, int]], low: int, empty: int, show: Callable[[int], str], command: str
) -> Check:
    words = ", ".join(f"{what} {show(count)}" for what, (_, count) in free.items())
    short = {what: entry for what, entry in free.items() if entry[1] < low}
    if not short:
        return ok(name, f"free: {words}")
    what, (path, count) = min(short.items(), key=lambda item: item[1][1])
    fix = f"{command} {path}; du -xsh {path}/* | sort -h | tail   # docker system prune frees images of old jobs"
    if count < empty:
        return fail(name, f"the {what} {path} has {show(count)} free; nothing can be written there soon", fix)
    return warn(name, f"the {what} {path} has {show(count)} free", fix)


def _existing(path: Path) -> Path:
    """The folder itself, or the nearest one above that exists: the file system that it would be made on."""
    for candidate in (path, *path.parents):
        if candidate.exists():
            return candidate
    return path
