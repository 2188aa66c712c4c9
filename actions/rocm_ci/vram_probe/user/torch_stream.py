"""Answers with the used memory of each GPU that torch sees: one line of JSON for each line on stdin.

Runs in the user's interpreter, which need not have anything but torch. The first line is the head: the devices, or
`error`. It ends when stdin ends, so it never outlives the process that started it.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def describe(torch: Any, index: int) -> dict[str, Any]:
    """What is known of a device; None where torch does not say."""
    properties = torch.cuda.get_device_properties(index)
    bus, device = getattr(properties, "pci_bus_id", None), getattr(properties, "pci_device_id", None)
    domain = getattr(properties, "pci_domain_id", None)
    bdf = None
    if isinstance(bus, int) and isinstance(device, int):
        bdf = f"{domain or 0:04x}:{bus:02x}:{device:02x}.0"
    arch = getattr(properties, "gcnArchName", "") if getattr(torch.version, "hip", None) else ""
    return {
        "bdf": bdf,
        "gfx": arch.split(":")[0] or None,
        "product": properties.name or None,
        "capacity": torch.cuda.mem_get_info(index)[1],
    }


def read(info: Any, index: int) -> int | str:
    """Used bytes of a device, or why there is no figure: a GPU that fell off the bus."""
    try:
        free, total = info(index)
    except Exception as error:
        return f"{type(error).__name__}: {error}".split("\n")[0]
    return int(total - free)


def main() -> int:
    """Describe the devices, then answer until stdin ends."""
    out = sys.stdout
    try:
        import torch  # type: ignore[import-not-found,unused-ignore]

        if not torch.cuda.is_available():
            raise RuntimeError(f"torch {torch.__version__} sees no GPU")  # noqa: TRY301 - every cause is told in one place
        count = torch.cuda.device_count()
        devices = [describe(torch, index) for index in range(count)]
        head = {"torch": str(torch.__version__), "hip": getattr(torch.version, "hip", None), "devices": devices}
    except Exception as error:
        head = {"error": f"{type(error).__name__}: {error}"}
    out.write(json.dumps(head) + "\n")
    out.flush()
    if "error" in head:
        return 1
    info = torch.cuda.mem_get_info
    indices = range(count)
    for _ in iter(sys.stdin.readline, ""):
        out.write(json.dumps([read(info, index) for index in indices]) + "\n")
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
