"""Time limits: of the check, kept by rocm-ci itself, and of the job around it."""

from __future__ import annotations

import math

from rocm_ci_gen.manifest.model import Stage
from rocm_ci_gen.workflow.errors import RenderError

SERVICE_MINUTES = 10
"""Limit of plan and gate, which take seconds."""
MARGIN_MINUTES = 15
"""What the job gets beyond its check: image, checkout, requirements, extra steps, artifacts."""

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def job_minutes(stage: Stage) -> int:
    """`timeout-minutes` of the stage's job: longer than the check's own limit, which leaves a log and a report."""
    return math.ceil(_seconds(stage.timeout) / 60) + MARGIN_MINUTES


def _seconds(duration: str) -> float:
    number = duration.rstrip("msh")
    unit = duration[len(number) :]
    if unit not in _SECONDS or not (number.isascii() and number.isdigit()):
        raise RenderError(f"{duration!r} is no duration such as `90s`, `45m` or `2h`.")
    return int(number) * _SECONDS[unit]
