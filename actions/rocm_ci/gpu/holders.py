"""Which processes have a GPU open, by the links in /proc/<pid>/fd.

Only processes of this PID namespace can be seen, and of those only the user's own unless one is root. KFD's own list
counts pids
as the host does: inside a namespace the two do not match, and a holder that only KFD knows lives outside this
container.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown

_DEVICE = re.compile(r"\A/dev/(?:kfd|dri/renderD[0-9]{1,6})\Z")
# PROC_PID_INIT_INO of include/linux/proc_ns.h: the namespace of the host.
_HOST_NAMESPACE = "pid:[4026531836]"


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that has a GPU open.

    Attributes:
        pid: its number in this PID namespace.
        name: the program, at most 15 characters; empty when it cannot be read.
        state: one letter of proc_pid_stat(5), `Z` for a zombie; empty when it cannot be read.
        uid: number of the user that it runs as.
        devices: what it has open: `/dev/kfd`, `/dev/dri/renderD128`, …
    """

    pid: int
    name: str
    state: str
    uid: int | None
    devices: tuple[str, ...]

    @property
    def uses_rocm(self) -> bool:
        """It has /dev/kfd open; a program that only draws has not."""
        return "/dev/kfd" in self.devices


@dataclass(frozen=True, slots=True)
class Holders:
    """Who holds the GPUs.

    Attributes:
        processes: those that could be seen, by pid.
        unreadable: how many processes may not be looked into (other users').
        own_namespace: whether this is a PID namespace of its own, in which the host's processes are not seen; None:
            not known.
        problem: why no process could be seen at all.
    """

    processes: tuple[Holder, ...]
    unreadable: int
    own_namespace: bool | None
    problem: str = ""


def find_holders(tree: Tree) -> Holders:
    """All processes that have /dev/kfd or a render node open."""
    names = tree.names("proc")
    if isinstance(names, Unknown):
        return Holders((), 0, None, names.reason)
    namespace = tree.link("proc/self/ns/pid")
    own = None if isinstance(namespace, Unknown) else namespace != _HOST_NAMESPACE
    found, unreadable = [], 0
    for name in names:
        if not (name.isascii() and name.isdigit() and len(name) < 12):
            continue
        descriptors = tree.names(f"proc/{name}/fd")
        if isinstance(descriptors, Unknown):
            # A process that has ended meanwhile holds nothing.
            unreadable += descriptors.errno not in (2, 3)
            continue
        links = {tree.link(f"proc/{name}/fd/{descriptor}") for descriptor in descriptors}
        devices = sorted(link for link in links if isinstance(link, str) and _DEVICE.match(link))
        if devices:
            found.append(_holder(tree, name, tuple(devices)))
    return Holders(tuple(found), unreadable, own)


def _holder(tree: Tree, pid: str, devices: tuple[str, ...]) -> Holder:
    status = tree.text(f"proc/{pid}/status")
    lines = [] if isinstance(status, Unknown) else [line.partition(":") for line in status.splitlines()]
    fields = {key: value.strip() for key, _, value in lines}
    uid = (fields.get("Uid", "").split() or [""])[0]
    return Holder(
        int(pid),
        fields.get("Name", "")[:64],
        fields.get("State", "")[:1],
        int(uid) if uid.isascii() and uid.isdigit() and len(uid) < 12 else None,
        devices,
    )
