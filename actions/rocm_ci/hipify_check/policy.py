"""When findings fail the check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rocm_ci.hipify_check.model import Verdict

Mode = Literal["native", "hipify"]
FailOn = Literal["unsupported", "manual", "convertible", "never"]

MODES: tuple[Mode, ...] = ("native", "hipify")
FAIL_ON: tuple[FailOn, ...] = ("unsupported", "manual", "convertible", "never")

_FAILING: dict[FailOn, frozenset[Verdict]] = {
    "unsupported": frozenset({"unsupported"}),
    "manual": frozenset({"unsupported", "manual"}),
    "convertible": frozenset({"unsupported", "manual", "convertible"}),
    "never": frozenset(),
}


def default(mode: Mode) -> FailOn:
    """Native sources must have no CUDA left; sources that the build hipifies may have what hipify converts."""
    return "convertible" if mode == "native" else "manual"


def failing(fail_on: FailOn) -> frozenset[Verdict]:
    """The verdicts that fail the check."""
    return _FAILING[fail_on]
