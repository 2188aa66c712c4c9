"""gfx targets: the name from the kernel's number, and what is known of each (`data/gfx.tsv`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rocm_ci.gpu.tables import rows
from rocm_ci.gpu.unknown import Unknown

_NAME = re.compile(r"\Agfx[1-9][0-9]{0,1}[0-9a-f]{2}\Z")


@dataclass(frozen=True, slots=True)
class GfxFacts:
    """What cards of one gfx target can do; None where no source says it.

    Attributes:
        gfx: its name.
        kind: `dgpu`, `apu`, or `both`.
        architecture: AMD's name of it.
        wave_size: lanes of a wavefront that ROCm's libraries use.
        fp8: format of 8 bit floats in hardware: `none`, `fnuz` or `ocp`.
        mxfp4: whether it multiplies MXFP4.
        min_rocm: first ROCm release with official support; with `<=` in front where older ones were not looked at.
        source: where this is from.
    """

    gfx: str
    kind: str
    architecture: str
    wave_size: int
    fp8: str
    mxfp4: bool | None
    min_rocm: str | None
    source: str


def name_of(target_version: int) -> str | Unknown:
    """The gfx name of `gfx_target_version`.

    Its decimal digits are MMmmss; minor and stepping are written in hex: 90010 is gfx90a.
    """
    major, rest = divmod(target_version, 10000)
    minor, stepping = divmod(rest, 100)
    if not (0 < major < 100 and minor < 16 and stepping < 16):
        return Unknown(f"gfx_target_version {target_version} is no gfx target")
    return f"gfx{major}{minor:x}{stepping:x}"


def is_name(text: str) -> bool:
    """Whether `text` is spelled as a gfx target is, without features (`:xnack-`)."""
    return bool(_NAME.match(text))


def base_name(text: str) -> str | None:
    """The target in `gfx90a:sramecc+:xnack-` or `amdgcn-amd-amdhsa--gfx90a`; None when there is none."""
    name = text.strip().rpartition("--")[2].split(":")[0]
    return name if is_name(name) else None


@lru_cache(maxsize=1)
def facts() -> Mapping[str, GfxFacts]:
    """All known targets by name."""
    return {
        row["gfx"]: GfxFacts(
            gfx=row["gfx"],
            kind=row["kind"],
            architecture=row["architecture"],
            wave_size=int(row["wave_size"]),
            fp8=row["fp8"],
            mxfp4={"yes": True, "no": False}.get(row["mxfp4"]),
            min_rocm=row["min_rocm"] or None,
            source=row["source"],
        )
        for row in rows("gfx.tsv")
    }
