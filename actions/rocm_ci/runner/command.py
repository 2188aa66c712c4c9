"""`rocm-ci verdict`: the second step of every action."""

from __future__ import annotations

import click

from rocm_ci.runner import verdict as verdict_step
from rocm_ci.runner.options import CONTEXT_SETTINGS

EPILOG = """\b
Example (a GitLab job's after_script; the job sets RUNNER_TEMP: $CI_PROJECT_DIR/.rocm-ci-temp):
  rocm-ci verdict kernel-tests
"""


@click.command("verdict", context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.argument("stage")
@click.pass_context
def command(ctx: click.Context, stage: str) -> None:
    """End what STAGE left running, say its first cause again, and exit with its code.

    The actions run it as their last step, also after a cancellation. It reads the record that the stage left in
    the runner's temporary folder and removes it. No record, or one that never came to its end, is exit code 3,
    never 0.
    """
    ctx.exit(verdict_step.main([stage]))
