"""What a check found, as a value; and the rule that an empty check never passes."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocm_ci.runner.annotations import Annotation
from rocm_ci.runner.errors import Code, RocmCiError
from rocm_ci.runner.text import one_line


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        code: the verdict. `PASSED` with nothing executed becomes `INFRA`: an empty check never passes.
        message: the first cause or the success line, one line of plain English.
        executed: how many things were really checked.
        unit: plural noun of `executed`: "files", "tests", "requests".
        report: body of the stage's JSON report, without the fields of the envelope (`report.RESERVED`).
        text: what a person reads on stdout.
        outputs: the action's own outputs, beside result, report and evidence.
        annotations: remarks for GitHub, the most important first.
        summary: GitHub-flavoured Markdown for the job summary.
        gpus: GPUs that were seen (`bdf`, `gfx`, `product`): evidence for `gate`.
        help: what to do about `message`.
    """

    code: Code
    message: str
    executed: int
    unit: str
    report: Mapping[str, object]
    text: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    annotations: Sequence[Annotation] = ()
    summary: str = ""
    gpus: Sequence[Mapping[str, object]] = ()
    help: str = ""


def honest(outcome: Outcome) -> Outcome:
    """`outcome`, unless it claims success and shows nothing that was executed."""
    if outcome.code is Code.PASSED and outcome.executed < 1:
        message = f"nothing was executed (0 {outcome.unit}), so nothing is known about the code"
        return replace(outcome, code=Code.INFRA, message=message)
    return outcome


def error_outcome(error: RocmCiError) -> Outcome:
    """The outcome of a check that raised an error of ours."""
    return Outcome(
        code=error.code,
        message=one_line(error.message),
        executed=0,
        unit="checks",
        report={"help": error.help} if error.help else {},
        help=error.help,
    )


def internal_error(error: BaseException, report_path: Path) -> Outcome:
    """The outcome when rocm-ci itself broke: the traceback is in its report, not in the message."""
    kind = type(error).__name__
    return Outcome(
        code=Code.INFRA,
        message=f"internal error of rocm-ci, not of the code under test: {kind}: {one_line(str(error), 300)}",
        executed=0,
        unit="checks",
        report={"internal_error": {"type": kind, "traceback": "".join(traceback.format_exception(error))}},
        help=f"please report it together with its traceback, which is in {report_path}",
    )
