"""PCI addresses as the kernel writes them, `0000:c1:00.0`: always lower case, the function included."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\A(?:([0-9a-fA-F]{4,5}):)?([0-9a-fA-F]{2}):([01][0-9a-fA-F])\.([0-7])\Z")


def address(text: str) -> str | None:
    """The address in its one spelling; None for what is none. Domains have four digits, behind Intel's VMD five."""
    found = _ADDRESS.match(text.strip())
    if not found:
        return None
    domain, bus, device, function = (int(part or "0", 16) for part in found.groups())
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"


def from_location(domain: int, location: int) -> tuple[str, int]:
    """The address of function 0 and the low three bits of KFD's `location_id` (bus, device, function or partition)."""
    return f"{domain & 0xFFFFFFFF:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.0", location & 7


def with_function(bdf: str, function: int) -> str:
    """The same device's other function."""
    return f"{bdf[:-1]}{function}"
