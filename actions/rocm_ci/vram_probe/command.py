"""`rocm-ci vram-probe`: its options; the check is not in this version."""

from __future__ import annotations

from pathlib import Path

import click

from rocm_ci.runner.options import CONTEXT_SETTINGS, report_option
from rocm_ci.runner.unavailable import run_unavailable

STAGE = "vram-probe"
EPILOG = """\b
Example:
  rocm-ci vram-probe --max-growth 10% -- python train.py --steps 20
"""


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND…]")
@click.option("--phase", type=click.Choice(["start", "stop"]), help="Watch a whole job: start before it, stop after.")
@click.option("--run", metavar="CMD", help="The command as one line for bash, where no -- COMMAND can be given.")
@click.option("--interval", metavar="T", help="Time between two samples, as 50ms.")
@click.option("--require-clear", metavar="SIZE", help="Most VRAM that may be in use before the command, as 1GiB.")
@click.option("--max-growth", metavar="SIZE|PERCENT", help="Growth that fails, as 10%.")
@click.option("--prometheus", metavar="FILE", help="Write the figures as a Prometheus textfile.")
@report_option
@click.pass_context
def command(ctx: click.Context, /, report: Path | None, **_: object) -> None:
    """Watch GPU memory while COMMAND runs: peak, leak, and who holds memory that nobody should."""
    ctx.exit(run_unavailable(STAGE, report))
