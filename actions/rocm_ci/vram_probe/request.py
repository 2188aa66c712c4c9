"""What the user asked for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rocm_ci.vram_probe.judge import Limits

SourceName = Literal["auto", "amdgpu", "torch"]
UpdateBaseline = Literal["auto", "always", "never"]


@dataclass(frozen=True)
class Request:
    """The options; see `rocm-ci vram-probe --help`."""

    argv: tuple[str, ...] = ()
    interval: float = 0.05
    settle: float = 10.0
    repeat: int = 1
    limits: Limits = field(default_factory=Limits)
    source: SourceName = "auto"
    python: str = "python3"
    path_root: Path = Path("/")
    baseline: Path | None = None
    update_baseline: UpdateBaseline = "auto"
    per_test: bool = False
    prometheus: Path | None = None
    html: Path | None = None
    svg: Path | None = None
    metrics_port: int | None = None
    label: bool = False

    @property
    def title(self) -> str:
        """The command in one line, or what is watched in its place."""
        return shlex.join(self.argv) if self.argv else "the steps between start and stop"
