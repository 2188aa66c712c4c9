"""Measurements made by hand."""

from __future__ import annotations

from typing import Any

from rocm_ci.vram_probe.figures import Course, GpuFigures, Measurement
from rocm_ci.vram_probe.source import Device

GIB = 1 << 30


def device(index: int = 0, **changes: Any) -> Device:
    fields: dict[str, Any] = {
        "index": index,
        "bdf": f"0000:{5 + index:02x}:00.0",
        "gfx": "gfx942",
        "product": "AMD Instinct MI300X",
        "partition": "",
        "capacity_bytes": 192 * GIB,
    }
    return Device(**{**fields, **changes})


def measurement(*gpus: tuple[int | None, int | None, int | None], **changes: Any) -> Measurement:
    figures = tuple(GpuFigures(device(i), before, peak, after) for i, (before, peak, after) in enumerate(gpus))
    rows = [[gpu.before for gpu in figures], [gpu.peak for gpu in figures], [gpu.after for gpu in figures]]
    fields: dict[str, Any] = {
        "source": "amdgpu",
        "gpus": figures,
        "samples": 3,
        "interval": 0.05,
        "seconds": 0.1,
        "cpu_seconds": 0.001,
        "unreadable": (0,) * len(figures),
        "course": Course((0.0, 0.05, 0.1), rows),
    }
    return Measurement(**{**fields, **changes})
