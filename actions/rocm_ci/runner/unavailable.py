"""Commands that exist by name, options and help, and whose check this version does not have."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from rocm_ci import __version__
from rocm_ci.runner.errors import NotAvailable
from rocm_ci.runner.stage import StageContext, run_stage


def not_available(what: str, remedy: str) -> NotAvailable:
    """The error for `what`, which this version does not have.

    Args:
        what: the command or option, as the user wrote it.
        remedy: what to do, a full clause.
    """
    return NotAvailable(
        f"{what} is not available in this version of rocm-ci ({__version__}); nothing was checked: this is not a pass",
        help=remedy,
    )


def run_unavailable(stage: str, report: Path | None) -> int:
    """Run a stage that is not built: exit code 2, with a report and a record like any other."""

    def check(_: StageContext) -> NoReturn:
        raise not_available(
            stage,
            "take kernel-tests, sglang-regression and vram-probe around them out of the manifest until a release has "
            "them, then `rocm-ci-gen render`",
        )

    return run_stage(stage, check, report=report)
