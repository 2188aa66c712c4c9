"""Used VRAM from the kernel's files of amdgpu: for a few microseconds a sample, without opening a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm_ci.gpu import Gpu, Node, Tree, Unknown, VramSampler, discover, fdinfo, kfd
from rocm_ci.gpu.holders import Holders, find_holders
from rocm_ci.gpu.sampler import Channel
from rocm_ci.runner.errors import InfraError
from rocm_ci.vram_probe.source import Device, Holder

_SHARED = "figures of a divided card are those of the whole card, for the kernel has no counter of a partition"
_NO_GPU_HELP = (
    "run it on a machine with an AMD GPU and the amdgpu driver; in a container give it /dev/kfd and /dev/dri "
    "(`--device /dev/kfd --device /dev/dri`)"
)


class AmdgpuSource:
    """A `source.Source` over sysfs; a divided card is one device, with the figures of the whole card.

    Args:
        root: where `sys`, `proc` and `dev` are read.
        environ: the command's environment, whose variables select GPUs.

    Raises:
        InfraError: there is no GPU that the command may use, or none whose memory can be read.
    """

    name = "amdgpu"

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._tree = Tree(root)
        node = discover(self._tree, environ=environ)
        used = [gpu for gpu in node.gpus if gpu.visible is not False and gpu.selected]
        if not used:
            raise InfraError(_nothing(node, root), help=_NO_GPU_HELP)
        self._sampler = VramSampler.of(node, self._tree, only=[gpu.index for gpu in used])
        channels = self._sampler.channels
        if all(channel.path is None for channel in channels):
            why = channels[0].reason if channels else "no GPU has a PCI address"
            self._sampler.close()
            raise InfraError(f"VRAM in use cannot be read: {why}", help="see what the kernel's driver lacks in dmesg")
        sockets = {socket.bdf: socket for socket in node.sockets}
        self.devices = tuple(
            _device(
                position,
                channel,
                [node.gpus[index] for index in channel.gpus],
                sockets[channel.key].vram_total_bytes,
                sockets[channel.key].unknown.get("vram_total_bytes", ""),
            )
            for position, channel in enumerate(channels)
        )
        self._by_bdf = {channel.key: position for position, channel in enumerate(channels)}
        self._by_gpu_id = {
            node.gpus[index].kfd_gpu_id: position
            for position, channel in enumerate(channels)
            for index in channel.gpus
            if node.gpus[index].kfd_gpu_id is not None
        }
        self.note = _SHARED if any(device.partition for device in self.devices) else ""

    @property
    def lost(self) -> Mapping[int, str]:
        """Devices that have gone."""
        return self._sampler.lost

    @property
    def reasons(self) -> Mapping[int, str]:
        """Why the last reading of a device was unknown."""
        return self._sampler.reasons

    def read(self) -> Sequence[int | None]:
        """Used bytes of each device now."""
        return self._sampler.read()

    def holders(self) -> tuple[list[Holder], str]:
        """Who holds memory: by KFD's files, and by the fdinfo of processes with a render node open.

        In a PID namespace of its own KFD counts other numbers than /proc; what fdinfo tells is taken then, because the
        numbers mean something there.
        """
        opened = find_holders(self._tree)
        names = {process.pid: process.name for process in opened.processes}
        by_drm = self._by_drm(opened)
        known = kfd.read_processes(self._tree)
        by_kfd: dict[tuple[int, int], int] = {}
        if not isinstance(known, Unknown):
            for process in known:
                for gpu_id, held in process.vram.items():
                    device = self._by_gpu_id.get(gpu_id)
                    if device is not None and not isinstance(held, Unknown) and held > 0:
                        by_kfd[device, process.pid] = by_kfd.get((device, process.pid), 0) + held
        if opened.own_namespace and by_drm:
            by_kfd = {}
        both = {place: max(by_kfd.get(place, 0), by_drm.get(place, 0)) for place in {*by_kfd, *by_drm}}
        found = [
            Holder(device, pid, names.get(pid) or self._name(pid, own=opened.own_namespace), held)
            for (device, pid), held in sorted(both.items())
        ]
        note = ""
        if isinstance(known, Unknown):
            note = f"KFD does not tell its processes: {known.reason}"
        elif opened.unreadable and not found:
            note = f"{opened.unreadable} processes of other users may not be looked into"
        return found, note

    def close(self) -> None:
        """Give the files back."""
        self._sampler.close()

    def _by_drm(self, opened: Holders) -> dict[tuple[int, int], int]:
        found: dict[tuple[int, int], int] = {}
        seen: set[tuple[str, int]] = set()
        for process in opened.processes:
            clients = fdinfo.clients_of(self._tree, process.pid)
            for client in () if isinstance(clients, Unknown) else clients:
                device = self._by_bdf.get(client.bdf)
                # A client that several processes share is counted once, for the first of them.
                if device is None or (client.bdf, client.client) in seen or isinstance(client.vram, Unknown):
                    continue
                seen.add((client.bdf, client.client))
                if client.vram > 0:
                    found[device, process.pid] = found.get((device, process.pid), 0) + client.vram
        return found

    def _name(self, pid: int, *, own: bool | None) -> str:
        """The program behind a number of KFD's, where the number means the same in /proc."""
        text = Unknown("it may be another process") if own else self._tree.text(f"proc/{pid}/comm")
        return "" if isinstance(text, Unknown) else text[:64]


def _device(position: int, channel: Channel, gpus: Sequence[Gpu], capacity: int | None, why: str) -> Device:
    first = gpus[0]
    unknown = {name: first.unknown[name] for name in ("gfx", "product") if name in first.unknown}
    if capacity is None:
        unknown["capacity_bytes"] = why or "it is not known"
    parts = ""
    if first.partition.is_part:
        modes = "/".join(mode for mode in (first.partition.compute, first.partition.memory) if mode)
        parts = f"{modes or 'divided'}, {len(gpus)} of {first.partition.of or '?'}"
    return Device(position, channel.key, first.gfx, first.product, parts, capacity, unknown)


def _nothing(node: Node, root: Path) -> str:
    where = "" if str(root) == "/" else f" below {root}"
    if not node.gpus:
        why = node.kfd_problem or (f"{node.hidden_nodes} are hidden from this container" if node.hidden_nodes else "")
        return f"there is no AMD GPU{where}" + (f" ({why})" if why else "")
    hidden = next((gpu.hidden_reason for gpu in node.gpus if gpu.hidden_reason), "the environment selects none of them")
    return f"none of the {len(node.gpus)} AMD GPUs{where} may be used: {hidden}"
