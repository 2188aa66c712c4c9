"""`rocm-ci gate`: the one check to require on a branch."""

from __future__ import annotations

from pathlib import Path

import click

from rocm_ci.gate.decide import GateVerdict, judge
from rocm_ci.gate.render import markdown, report, text
from rocm_ci.runner.annotations import Annotation
from rocm_ci.runner.errors import UsageError
from rocm_ci.runner.options import CONTEXT_SETTINGS, report_option
from rocm_ci.runner.stage import Outcome, StageContext, run_stage

STAGE = "gate"
EPILOG = """\b
Example, in the gate's job (the action passes both by itself):
  env: {INPUT_NEEDS: "${{ toJSON(needs) }}"}
  run: rocm-ci gate
"""


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.option("--needs", metavar="JSON", help="GitHub's needs context: results and outputs of all jobs; or @FILE.")
@click.option("--plan", metavar="JSON", help="The plan, or @FILE; by default that of the job `plan` in --needs.")
@report_option
@click.pass_context
def command(ctx: click.Context, /, needs: str | None, plan: str | None, report: Path | None) -> None:
    """Decide the one required check from the plan, the results of all jobs and their evidence.

    Green only when every job that the plan asked for succeeded and showed evidence, and every other job was skipped
    for a reason that the plan names. Red is 1 when any reason lies in the code, else 2 for wrong use, else 3.
    """

    def check(_: StageContext) -> Outcome:
        if not needs:
            raise UsageError("the input `needs` is not given", help="give it `${{ toJSON(needs) }}` of the gate's job")
        return outcome(judge(_content(needs, "needs"), _content(plan or "", "plan")))

    ctx.exit(run_stage(STAGE, check, report=report))


def outcome(verdict: GateVerdict) -> Outcome:
    """The stage's outcome."""
    return Outcome(
        code=verdict.code,
        message=verdict.message,
        executed=len(verdict.rows),
        unit="jobs",
        report=report(verdict),
        text=text(verdict),
        annotations=[
            *(Annotation("error", row.why, title=row.job) for row in verdict.rows if row.state == "red"),
            *(Annotation("warning", row.why, title=row.job) for row in verdict.rows if row.state == "withheld"),
            *(Annotation("notice", notice, title="plan") for notice in verdict.notices),
        ],
        summary=markdown(verdict),
    )


def _content(value: str, name: str) -> str:
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"the file of --{name}, {value[1:]}, cannot be read: {why}") from error
