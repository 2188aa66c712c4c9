"""/proc/<pid>/fdinfo/<fd> of a DRM device: what one client of a GPU holds (drm-usage-stats.rst).

A client is (device, client id): the file descriptors of a process, and of its children, may be of one client, which
is then
counted once. `shared` memory is counted by each client that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rocm_ci.gpu import pci
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import MOST, Unknown, count

_UNITS = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


@dataclass(frozen=True, slots=True)
class DrmClient:
    """One client of one GPU.

    Attributes:
        bdf: PCI address of the GPU.
        client: the kernel's number of the client.
        vram: bytes of VRAM that it has resident.
        shared: bytes of VRAM that others have too; unknown on old kernels.
        gtt: bytes of host memory that the GPU maps for it.
    """

    bdf: str
    client: int
    vram: int | Unknown
    shared: int | Unknown
    gtt: int | Unknown


def parse_fdinfo(text: str) -> DrmClient | Unknown:
    """The client of one fdinfo file; unknown for a descriptor of anything but amdgpu."""
    fields = {
        key.strip(): value.strip() for key, colon, value in (line.partition(":") for line in text.splitlines()) if colon
    }
    if fields.get("drm-driver") != "amdgpu":
        return Unknown("it is no descriptor of amdgpu")
    bdf = pci.address(fields.get("drm-pdev", ""))
    client = count(fields.get("drm-client-id", ""), "drm-client-id")
    if bdf is None:
        return Unknown("it has no valid drm-pdev")
    if isinstance(client, Unknown):
        return client
    return DrmClient(
        bdf,
        client,
        # drm-memory-* is the old name of drm-resident-*.
        _size(fields, "drm-resident-vram", "drm-memory-vram"),
        _size(fields, "drm-shared-vram"),
        _size(fields, "drm-resident-gtt", "drm-memory-gtt"),
    )


def clients_of(tree: Tree, pid: int) -> tuple[DrmClient, ...] | Unknown:
    """The amdgpu clients of a process, each once; unknown when the process may not be looked into."""
    folder = f"proc/{pid}/fdinfo"
    names = tree.names(folder)
    if isinstance(names, Unknown):
        return names
    found: dict[tuple[str, int], DrmClient] = {}
    for name in names:
        text = tree.text(f"{folder}/{name}")
        if not isinstance(text, Unknown) and "drm-driver:" in text:
            client = parse_fdinfo(text)
            if not isinstance(client, Unknown):
                found.setdefault((client.bdf, client.client), client)
    return tuple(found.values())


def held(clients: Iterable[DrmClient]) -> Mapping[str, int | Unknown]:
    """VRAM by PCI address that these clients hold, each counted once; unknown as soon as one client's is."""
    once = {(client.bdf, client.client): client for client in clients}
    total: dict[str, int | Unknown] = {}
    for client in once.values():
        before = total.get(client.bdf, 0)
        if isinstance(before, Unknown):
            continue
        total[client.bdf] = client.vram if isinstance(client.vram, Unknown) else before + client.vram
    return total


def _size(fields: Mapping[str, str], *names: str) -> int | Unknown:
    """Bytes of the first of these keys that is there; a figure without a unit is bytes."""
    for name in names:
        if name in fields:
            number, _, unit = fields[name].partition(" ")
            factor = _UNITS.get(unit.strip().lower())
            value = count(number, name)
            if factor is None:
                return Unknown(f"{name} has a unit that is not known")
            if isinstance(value, Unknown):
                return value
            return value * factor if value * factor <= MOST else Unknown(f"{name} is larger than any memory")
    return Unknown(f"there is no {' or '.join(names)}")
