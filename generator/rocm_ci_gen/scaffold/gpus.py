"""AMD GPUs by the names that people give them, and the images that have a ROCm for them."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass

from rocm_ci_gen.resources import data_text

_GFX = re.compile(r"gfx[0-9]{1,2}[0-9a-f]{2}(?![0-9a-z])", re.IGNORECASE)
_COUNT = re.compile(r"(?:^|[-_])(?:(?:x|gpu-?)?([1248]|16)(?:x|-?gpus?)?)$", re.IGNORECASE)
_ROCM = re.compile(r"rocm[-_]?(\d+(?:\.\d+){1,2})", re.IGNORECASE)
_ROCM_COMPACT = re.compile(r"rocm(\d)(\d)(\d)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Gpu:
    """One row of the table: a gfx target, the names of its products, the oldest ROCm release that has it."""

    gfx: str
    words: tuple[str, ...]
    min_rocm: tuple[int, ...] | None


@functools.cache
def _table() -> tuple[tuple[Gpu, ...], tuple[tuple[str, tuple[int, ...]], ...]]:
    data = json.loads(data_text("scaffold/data/gpus.json"))
    gpus = tuple(
        Gpu(row["gfx"], tuple(row["words"]), version_tuple(row["min_rocm"]) if row["min_rocm"] else None)
        for row in data["gpus"]
    )
    return gpus, tuple((row["image"], version_tuple(row["rocm"])) for row in data["images"])


def version_tuple(text: str) -> tuple[int, ...]:
    """`6.2.3` as (6, 2, 3): versions are compared as numbers."""
    return tuple(int(part) for part in text.split("."))


def gpu_word(label: str) -> tuple[str, str] | None:
    """The name of a GPU in a runner label and its gfx target; None where the label names none.

    `linux-mi325-1gpu` gives (`mi325`, `gfx942`); `gfx90a` gives (`gfx90a`, `gfx90a`).
    """
    match = _GFX.search(label)
    if match:
        return match[0].lower(), match[0].lower()
    for gpu in _table()[0]:
        for word in sorted(gpu.words, key=len, reverse=True):
            if re.search(rf"(?<![0-9a-z]){re.escape(word)}(?![0-9a-z])", label, re.IGNORECASE):
                return word, gpu.gfx
    return None


def gfx_of_label(label: str) -> str | None:
    """The gfx target that a runner label names."""
    found = gpu_word(label)
    return found[1] if found else None


def gpus_of_label(label: str) -> int | None:
    """How many GPUs a label promises by its end: `linux-mi300-gpu-8`, `mi325-1gpu`, `mi355-2`."""
    match = _COUNT.search(label)
    if match is None and (middle := re.search(r"[-_]([1248])gpus?[-_]", label, re.IGNORECASE)):
        return int(middle[1])
    return int(match[1]) if match and gpu_word(label) else None


def min_rocm(gfx: str) -> tuple[int, ...] | None:
    """The oldest ROCm release with this target, where one is known that matters."""
    return next((gpu.min_rocm for gpu in _table()[0] if gpu.gfx == gfx), None)


def rocm_of_image(image: str) -> tuple[int, ...] | None:
    """The ROCm version in an image's name: `rocm6.2.3_ubuntu…` gives (6, 2, 3), `rocm720` gives (7, 2, 0)."""
    match = _ROCM.search(image)
    if match:
        return version_tuple(match[1])
    compact = _ROCM_COMPACT.search(image)
    return tuple(int(digit) for digit in compact.groups()) if compact else None


def default_image(gfx: str | None) -> str:
    """The first image of the table whose ROCm has the target."""
    needed = min_rocm(gfx) if gfx else None
    images = _table()[1]
    return next((image for image, rocm in images if needed is None or rocm >= needed), images[-1][0])
