"""What `rocm-smi` prints: the show options as JSON, CSV or text, the concise table, --showpids.

All values are strings, sizes are bytes. The exit code is 0 after most failures. In a partitioned socket the first
card's total is the whole socket's and the others have no "Used" key (ROCm 7), or each shows the whole (ROCm 6).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocm_ci.gpu import gfx, pci
from rocm_ci.gpu.tools.jsontext import Reasons, number, values, whole_lines, words
from rocm_ci.gpu.unknown import MOST, Unknown, count, hexadecimal

_CARD = re.compile(r"\Acard([0-9]{1,6})\Z")
_PID = re.compile(r"\APID([0-9]{1,10})\Z")
_LINE = re.compile(r"^GPU\[([0-9]{1,6})\]\s*: ([^:\n]{1,80}): ([^\n]{0,200})$", re.MULTILINE)
_CONCISE = re.compile(
    r"^(?P<card>[0-9]{1,6})[ \t]+(?:(?P<node>[0-9]{1,6})[ \t]+)?[^\s][^\n]{0,300}[ \t]"
    r"(?P<vram>[0-9]{1,3}%|N/A)[ \t]+(?:[0-9]{1,3}%|N/A)[ \t]*$",
    re.MULTILINE,
)
_WHOLE = 100  # percent
_MODES = re.compile(r"\b(NPS[0-9]+|N/A), ([A-Z]PX|N/A), ([0-9]{1,4})\b")
_DEVICE = re.compile(r"\b(0x[0-9a-fA-F]{4}),")


@dataclass(frozen=True, slots=True)
class RocmSmiCard:
    """What rocm-smi says of one card. None stands for unknown.

    Attributes:
        index: rocm-smi's number of it; some old versions begin at 1.
        bdf: PCI address; the function is the partition.
        gfx: gfx target.
        product: series; some versions give only the PCI device, which is refused.
        pci_device: as `0x74a1`.
        unique_id: 16 hex digits.
        node_id: number of the topology node.
        kfd_id: KFD's gpu_id.
        vram_total_bytes: of the card, or of the whole socket: see `partition_trap`.
        vram_used_bytes: of the card, or of the whole socket.
        unknown: why each field that is None is.
    """

    index: int
    bdf: str | None = None
    gfx: str | None = None
    product: str | None = None
    pci_device: str | None = None
    unique_id: str | None = None
    node_id: int | None = None
    kfd_id: int | None = None
    vram_total_bytes: int | None = None
    vram_used_bytes: int | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConciseRow:
    """One row of the table that rocm-smi prints without options.

    Attributes:
        index: rocm-smi's number of the card.
        vram_percent: VRAM in use; None where it says N/A. Bytes are nowhere in this table.
        compute: `spx`, `cpx`, …; None where it is not told.
        memory: `nps1`, …; None where it is not told.
        partition: number of the partition; None where it is not told.
        pci_device: as `0x74a1`; None on old versions.
    """

    index: int
    vram_percent: int | None
    compute: str | None
    memory: str | None
    partition: int | None
    pci_device: str | None


def parse_cards(text: str) -> tuple[RocmSmiCard, ...] | Unknown:
    """Cards in the JSON, the CSV or the text of any of the show options."""
    table = _json(text)
    if isinstance(table, Unknown):
        table = _csv(text) or _text(text) or table
    if isinstance(table, Unknown):
        return table
    return tuple(_card(index, table[index]) for index in sorted(table)) or Unknown("rocm-smi lists no card")


def partition_trap(cards: Sequence[RocmSmiCard]) -> str:
    """Why the sizes are not those of GPUs: sockets and partitions are mixed; empty when nothing speaks for it."""
    without = sum(1 for card in cards if "no VRAM Total Used" in card.unknown.get("vram_used_bytes", ""))
    if without and without < len(cards):
        return (
            f"{without} of {len(cards)} cards have no figure of their use: they are partitions, "
            "and the others' figures are the socket's"
        )
    # A lone function 0 is a card; more functions of one device are its partitions.
    places = [card.bdf[:-1] for card in cards if card.bdf]
    if len(places) > len(set(places)):
        return "several cards are at one PCI address: they are partitions, and a figure may be the socket's"
    return ""


def parse_concise(text: str) -> tuple[ConciseRow, ...] | Unknown:
    """Rows of the concise table."""
    rows = []
    for found in _CONCISE.finditer(whole_lines(text, 1 << 20)):
        line = found.group(0)
        modes = _MODES.search(line)
        device = _DEVICE.search(line)
        vram = found.group("vram")
        rows.append(
            ConciseRow(
                int(found.group("card")),
                int(vram[:-1]) if vram != "N/A" and int(vram[:-1]) <= _WHOLE else None,
                modes.group(2).lower() if modes and modes.group(2) != "N/A" else None,
                modes.group(1).lower() if modes and modes.group(1) != "N/A" else None,
                int(modes.group(3)) if modes else None,
                device.group(1).lower() if device else None,
            )
        )
    return tuple(rows) or Unknown("there is no table of cards in rocm-smi's output")


def parse_processes(text: str) -> Mapping[int, int | None] | Unknown:
    """VRAM in bytes by pid, from the JSON of --showpids; None where it is not told."""
    found = values(text)
    if isinstance(found, Unknown):
        return found
    system = found[0].get("system") if isinstance(found[0], dict) else None
    if not isinstance(system, dict):
        return Unknown("rocm-smi gave no list of processes")
    held: dict[int, int | None] = {}
    for key, value in system.items():
        if (pid := _PID.match(key)) and isinstance(value, str):
            # name, number of GPUs, VRAM, SDMA, compute units; a name may hold commas.
            parts = value.split(",")
            vram = count(parts[-3], "VRAM") if len(parts) >= 5 else None
            held[int(pid.group(1))] = vram if isinstance(vram, int) else None
    return held


def _json(text: str) -> dict[int, Mapping[str, object]] | Unknown:
    found = values(text)
    if isinstance(found, Unknown):
        return found
    if not isinstance(found[0], dict):
        return Unknown("rocm-smi gave no object")
    cards: dict[int, Mapping[str, object]] = {
        int(name.group(1)): value
        for key, value in found[0].items()
        if (name := _CARD.match(key)) and isinstance(value, dict)
    }
    return cards or Unknown("rocm-smi lists no card")


def _csv(text: str) -> dict[int, Mapping[str, object]]:
    lines = whole_lines(text).splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith("device,")), None)
    if start is None:
        return {}
    table: dict[int, Mapping[str, object]] = {}
    try:
        rows = list(csv.DictReader(lines[start:], strict=True))
    except csv.Error:
        return {}
    for row in rows:
        # A row with more or fewer cells than the heading is not read: its cells may be in the wrong columns.
        if None in row or None in row.values():
            continue
        if name := _CARD.match(row.get("device") or ""):
            table.setdefault(int(name.group(1)), dict(row))
    return table


def _text(text: str) -> dict[int, Mapping[str, object]]:
    table: dict[int, dict[str, object]] = {}
    for index, key, value in _LINE.findall(whole_lines(text)):
        table.setdefault(int(index), {}).setdefault(key.strip(), value.strip())
    return dict(table)


def _card(index: int, cells: Mapping[str, object]) -> RocmSmiCard:
    # Keys differ in the case of letters from release to release ("Card series", "Card Series").
    by_key = {key.lower(): value for key, value in cells.items() if isinstance(key, str)}
    why = Reasons()

    def cell(key: str) -> str | Unknown:
        return words(by_key.get(key.lower()), key)

    place, target, series = cell("PCI Bus"), cell("GFX Version"), cell("Card Series")
    if isinstance(series, Unknown):
        series = cell("Device Name")
    if isinstance(series, str) and series.startswith("0x"):
        series = Unknown("rocm-smi knows only the PCI device")
    device = cell("Card Model")
    if isinstance(device, Unknown):
        device = cell("Device ID")
    serial = cell("Unique ID")
    if isinstance(serial, str):
        digits = hexadecimal(serial, "Unique ID")
        serial = digits if isinstance(digits, Unknown) else f"{digits:016x}"
    total, used = _bytes(by_key, "VRAM Total Memory (B)"), _bytes(by_key, "VRAM Total Used Memory (B)")
    return RocmSmiCard(
        index=index,
        bdf=why.text(
            "bdf", place if isinstance(place, Unknown) else pci.address(place) or Unknown("PCI Bus is no address")
        ),
        gfx=why.text(
            "gfx", target if isinstance(target, Unknown) else gfx.base_name(target) or Unknown("it is no gfx target")
        ),
        product=why.text("product", series),
        pci_device=why.text("pci_device", _device(device)),
        unique_id=why.text("unique_id", serial),
        node_id=why.number("node_id", number(by_key.get("node id"), "Node ID")),
        kfd_id=why.number("kfd_id", number(by_key.get("guid"), "GUID")),
        vram_total_bytes=why.number("vram_total_bytes", total),
        vram_used_bytes=why.number("vram_used_bytes", used),
        unknown=why,
    )


def _device(text: str | Unknown) -> str | Unknown:
    if isinstance(text, Unknown):
        return text
    value = hexadecimal(text, "Card Model")
    return value if isinstance(value, Unknown) else f"0x{value:04x}"


def _bytes(by_key: Mapping[str, object], key: str) -> int | Unknown:
    value = number(by_key.get(key.lower()), key)
    return value if isinstance(value, Unknown) or value <= MOST else Unknown(f"{key} is out of range")
