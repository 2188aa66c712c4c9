"""Can this process really use the GPUs: each device node is opened, because names and modes tell only half.

amd-smi asks for group names and fails where udev gives access by an ACL; rocm-smi reads sysfs and succeeds where
/dev/kfd is denied. What counts is what open(2) says.
"""

from __future__ import annotations

import errno
import grp
import os
import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn
from rocm_ci.setup_rocm_container.place import Place
from rocm_ci.setup_rocm_container.tables import rows

Opener = Callable[[Path], None]
_OVERFLOW = 65534
"""What a group that the user namespace does not map is shown as (user_namespaces(7))."""


class PlainFileError(OSError):
    """What should be a device is a file."""


def open_node(path: Path) -> None:
    """Open a device for reading and writing and close it again, as the ROCm runtime does.

    Raises:
        OSError: it cannot be opened.
    """
    if not stat.S_ISCHR(path.stat().st_mode):
        raise PlainFileError(errno.ENODEV, "it is no device", str(path))
    os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK))


@dataclass(frozen=True)
class Credentials:
    """What the kernel decides by: the user and the groups of this process."""

    uid: int
    groups: frozenset[int]

    @classmethod
    def of_this_process(cls) -> Credentials:
        """Read them."""
        return cls(os.geteuid(), frozenset({os.getegid(), *os.getgroups()}))


@dataclass(frozen=True)
class Problem:
    """Why a node cannot be opened, and the remedy."""

    cause: str
    fix: str


def check_kfd(place: Place, opener: Opener | None = None) -> Check:
    """Whether /dev/kfd, the one door to compute on all GPUs, opens."""
    path = place.root / "dev/kfd"
    if place.recorded:
        return skip("kfd", _recorded(place))
    problem = probe(path, place, opener)
    return fail("kfd", problem.cause, problem.fix) if problem else ok("kfd", f"{path} opens for reading and writing")


def check_render_nodes(place: Place, names: Sequence[str], opener: Opener | None = None) -> Check:
    """Whether each render node (`renderD128` …) of the GPUs that this job may use opens."""
    if place.recorded:
        return skip("render-nodes", _recorded(place))
    if not names:
        return skip("render-nodes", "no GPU has a render node that is known")
    failed: dict[Problem, list[str]] = {}
    for name in names:
        path = place.root / "dev/dri" / name
        problem = probe(path, place, opener)
        if problem:
            # The same cause has another path for each node; a person wants one line a cause.
            same = Problem(problem.cause.replace(str(path), "it"), problem.fix.replace(str(path), "/dev/dri"))
            failed.setdefault(same, []).append(name)
    if not failed:
        return ok("render-nodes", f"{_some(names)}: open for reading and writing")
    causes = [f"{_some(nodes)}: {problem.cause}" for problem, nodes in failed.items()]
    count = sum(len(nodes) for nodes in failed.values())
    head = f"{count} of {len(names)} do not open: " if len(names) > 1 else ""
    return fail("render-nodes", head + "; ".join(_first(causes)), "\n".join(dict.fromkeys(p.fix for p in failed)))


def check_groups(place: Place, paths: Sequence[Path], credentials: Credentials, opener: Opener | None = None) -> Check:
    """Whether the process is in the groups that own the nodes; where they open without, it is told and is well."""
    if place.recorded:
        return skip("groups", _recorded(place))
    owners: dict[int, list[str]] = {}
    for path in paths:
        gid = _gid(path)
        if gid is not None:
            owners.setdefault(gid, []).append(path.name)
    if not owners:
        return skip("groups", "no device node is there whose group could be asked for")
    mine = ", ".join(map(str, sorted(credentials.groups)))
    missing = sorted(owners.keys() - credentials.groups)
    if not missing:
        return ok("groups", f"in every group that owns a node ({', '.join(map(str, sorted(owners)))})")
    denied = [gid for gid in missing if any(_denied(path, opener) for path in paths if path.name in owners[gid])]
    if not denied:
        why = (
            "root may open them all the same"
            if credentials.uid == 0
            else "they open all the same, by their mode or an ACL"
        )
        return ok("groups", f"not in group {', '.join(map(str, missing))} of the nodes; {why}")
    fixes = "\n".join(_group_fix(place, gid) for gid in denied)
    return warn("groups", f"in groups {mine}, and not in {', '.join(map(str, denied))}, which owns device nodes", fixes)


def probe(path: Path, place: Place, opener: Opener | None = None) -> Problem | None:
    """Open one node; why it does not open, or None."""
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            return problem_of(errno.EISDIR, path, place)
    except OSError as error:
        return problem_of(error.errno or 0, path, place)
    try:
        (opener or open_node)(path)
    except PlainFileError:
        again = problem_of(errno.ENOENT, path, place).fix
        return Problem(f"{path} is no device but a plain file", f"rm {path}   # then: {again}")
    except OSError as error:
        if error.errno == errno.ENOENT:
            # The driver answers so for a partition that the current mode does not have (amdgpu_xcp_open_device).
            return Problem(
                f"{path} is there, and the driver has no such GPU partition now",
                "start a new container, so that only the nodes of valid partitions are mapped; "
                "amd-smi partition --current shows them",
            )
        return problem_of(error.errno or 0, path, place)
    return None


def problem_of(number: int, path: Path, place: Place) -> Problem:
    """The cause and the remedy behind an errno; one that is not in the table is told as the kernel says it."""
    return _render(errno.errorcode.get(number, str(number)), path, place)


def _render(name: str, path: Path, place: Place) -> Problem:
    device = "kfd" if path.name == "kfd" else "render"
    for code, what, cause, host, docker, kubernetes, _source in rows("open_errors.tsv"):
        if code == name and what in {device, "*"}:
            gid = _gid(path)
            if name == "EACCES" and gid == _OVERFLOW:
                return Problem(
                    f"permission denied: the group of {path} is not mapped into this rootless container",
                    "podman option --group-add keep-groups (with crun)",
                )
            if name == "EACCES" and gid is not None and gid in Credentials.of_this_process().groups:
                return Problem(
                    f"permission denied, though this process is in group {gid}, which owns {path}: its mode is "
                    f"{_mode(path)}, or a security module forbids it",
                    f"on the node: sudo chmod g+rw {path}; ausearch -m avc -ts recent   # SELinux: label=disable",
                )
            values = {"path": path, "gid": "GID" if gid is None else gid, "group": _group_name(gid)}
            return Problem(cause.format(**values), place.advice(host, docker, kubernetes).format(**values))
    number = getattr(errno, name, 0)
    text = os.strerror(number).lower() if number else f"error {name}"
    return Problem(f"{path} cannot be opened: {text} ({name})", "sudo dmesg | grep -iE 'kfd|amdgpu' | tail -20")


def _denied(path: Path, opener: Opener | None) -> bool:
    try:
        (opener or open_node)(path)
    except OSError as error:
        return error.errno in {errno.EACCES, errno.EPERM}
    return False


def _group_fix(place: Place, gid: int) -> str:
    template = next(row for row in rows("open_errors.tsv") if row[0] == "EACCES")
    return place.advice(*template[3:6]).format(path="", gid=gid, group=_group_name(gid))


def _gid(path: Path) -> int | None:
    try:
        return path.stat().st_gid
    except OSError:
        return None


def _mode(path: Path) -> str:
    try:
        return stat.filemode(path.stat().st_mode)
    except OSError:
        return "unknown"


def _group_name(gid: int | None) -> str:
    if gid is None:
        return "render"
    try:
        return grp.getgrgid(gid).gr_name
    except (KeyError, OverflowError):
        return str(gid)


def _recorded(place: Place) -> str:
    return f"{place.root} has no device nodes to open (a recorded tree, or dev/ is not mounted)"


def _some(names: Collection[str]) -> str:
    words = list(names)
    return ", ".join(words) if len(words) <= 4 else f"{words[0]}, {words[1]} … {words[-1]} ({len(words)})"


def _first(causes: Sequence[str], limit: int = 3) -> list[str]:
    more = len(causes) - limit
    return [*causes[:limit], f"and {more} more"] if more > 0 else list(causes)
