"""What a card is called, by PCI device and revision: the node's own list first, then `data/products.tsv`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from rocm_ci.gpu.tables import rows
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown

IDS_FILES = ("opt/amdgpu/share/libdrm/amdgpu.ids", "usr/share/libdrm/amdgpu.ids")
_ROW = re.compile(r"\A([0-9A-Fa-f]{1,4}),\s*([0-9A-Fa-f]{1,2}),\s*(\S.*?)\s*\Z")
Names = Mapping[tuple[int, int | None], str]


def parse_ids(text: str) -> dict[tuple[int, int | None], str]:
    """The rows of libdrm's amdgpu.ids (`device, revision, name`); other lines are passed over."""
    names: dict[tuple[int, int | None], str] = {}
    for line in text.splitlines():
        if found := _ROW.match(line):
            names.setdefault((int(found.group(1), 16), int(found.group(2), 16)), found.group(3)[:100])
    return names


def node_names(tree: Tree) -> Names:
    """Names that the node's own libdrm has; empty where it has none."""
    for path in IDS_FILES:
        text = tree.text(path, 1 << 20)
        if not isinstance(text, Unknown):
            return parse_ids(text)
    return {}


@lru_cache(maxsize=1)
def package_names() -> Names:
    """Names of this package's own table; a revision of None stands for any."""
    return {
        (int(row["device"], 16), int(row["revision"], 16) if row["revision"] else None): row["product"]
        for row in rows("products.tsv")
    }


@lru_cache(maxsize=1)
def apu_devices() -> frozenset[int]:
    """PCI devices that are APUs though their gfx target is not only one of APUs."""
    return frozenset(int(row["device"], 16) for row in rows("products.tsv") if row["kind"] == "apu")


def product(device: int, revision: int | None, *tables: Names) -> str | Unknown:
    """The name of a card; without a revision only when all cards of the device have one name."""
    for table in tables:
        if revision is not None and (name := table.get((device, revision))):
            return name
        if name := table.get((device, None)):
            return name
        if revision is None:
            candidates = {name for (number, _), name in table.items() if number == device}
            if len(candidates) == 1:
                return candidates.pop()
            if candidates:
                return Unknown(f"device 0x{device:04x} has {len(candidates)} names, and its revision is not known")
    at = "" if revision is None else f" revision 0x{revision:02x}"
    return Unknown(f"device 0x{device:04x}{at} is in no list of names")
