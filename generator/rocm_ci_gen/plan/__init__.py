"""Which jobs run for an event, on which runner, in which concurrency group, and why or why not.

In: the manifest (`rocm_ci_gen.manifest.model.Manifest`), what happened (`event.Event`) and what changed
(`changes.Changes`, from `collect`). Out: a `model.Plan`. `decide` is pure; the same function answers on a laptop and
in CI.
"""

from __future__ import annotations

from rocm_ci_gen.plan.changes import Changes
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.model import Plan

__all__ = ["Changes", "Event", "Plan", "decide"]
