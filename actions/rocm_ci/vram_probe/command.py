"""`rocm-ci vram-probe`: the command line."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from rocm_ci.runner.errors import Code, UsageError
from rocm_ci.runner.options import CONTEXT_SETTINGS, report_option
from rocm_ci.runner.outcome import Outcome
from rocm_ci.runner.stage import StageContext, run_stage
from rocm_ci.vram_probe import phases, wrapping
from rocm_ci.vram_probe.judge import LABEL, Limits
from rocm_ci.vram_probe.request import Request, SourceName, UpdateBaseline
from rocm_ci.vram_probe.sizes import Amount, Seconds, SizeOrPercent

STAGE = wrapping.STAGE

EPILOG = """\b
Examples:
  rocm-ci vram-probe --max-growth 10% -- python train.py --steps 20
  rocm-ci vram-probe --require-clear 1GiB --per-test -- pytest tests
  rocm-ci vram-probe --phase start; …; rocm-ci vram-probe --phase stop

\b
Verdicts: ok, leak (memory stayed in use), growth (more than earlier runs: "performance warning"),
dirty-start (memory was in use before), lost (a GPU went away).
Exit codes: 0 passed, 1 leak or growth, 2 wrong use, 3 the node is at fault (dirty-start, lost, no GPU);
a command that fails: its own status, and 1 where a later step decides (in an action)."""

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND…]")
@click.option("--phase", type=click.Choice(["start", "stop"]), help="Watch the steps between start and stop.")
@click.option("--run", metavar="CMD", help="The command as a line for bash, where no -- COMMAND can be given.")
@click.option(
    "--interval",
    type=Seconds(0.001, 60.0),
    default="50ms",
    show_default=True,
    metavar="T",
    help="Time between samples.",
)
@click.option("--require-clear", type=SizeOrPercent(), metavar="SIZE", help="Most VRAM in use before, as 1GiB or 5%.")
@click.option(
    "--max-leak",
    type=SizeOrPercent(percent=False),
    default="64MiB",
    show_default=True,
    metavar="SIZE",
    help="Most VRAM of a GPU that may stay in use.",
)
@click.option(
    "--settle",
    type=Seconds(0.0, 3600.0),
    default="10s",
    show_default=True,
    metavar="T",
    help="Time that memory is given to come back.",
)
@click.option("--max-growth", type=SizeOrPercent(), metavar="SIZE", help="Growth that fails, as 10% or 500MiB.")
@click.option("--warn-growth", type=SizeOrPercent(), metavar="SIZE", help="Growth that only warns, as 5% or 200MiB.")
@click.option(
    "--min-growth",
    type=SizeOrPercent(percent=False),
    default="64MiB",
    show_default=True,
    metavar="SIZE",
    help="Growth that is never told, whatever its share.",
)
@click.option(
    "--baseline",
    type=_FILE,
    metavar="FILE",
    help="Figures of earlier runs.  [default with a growth limit: in the runner's tool cache, or ~/.cache]",
)
@click.option(
    "--update-baseline",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Add this run to the baseline; auto: when it is ok and no pull request's.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Run the command N times and compare the median.",
)
@click.option(
    "--source",
    type=click.Choice(["auto", "amdgpu", "torch"]),
    default="auto",
    show_default=True,
    help="Read the kernel's files, or ask torch; auto: torch where there is no amdgpu.",
)
@click.option("--python", default="python3", show_default=True, metavar="EXE", help="Interpreter that has torch.")
@click.option("--per-test", is_flag=True, help="Peaks of every test, for a command that runs pytest.")
@click.option("--prometheus", type=_FILE, metavar="FILE", help="Write the figures as a Prometheus textfile.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write the run as an HTML page.")
@click.option("--svg", type=_FILE, metavar="FILE", help="Write the course of the run as an SVG picture.")
@click.option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Serve /metrics on 127.0.0.1 while the command runs.",
)
@click.option("--label", is_flag=True, help=f"Label the pull request '{LABEL}' when memory leaks or grows.")
@click.option(
    "--path-root",
    type=click.Path(file_okay=False, path_type=Path),
    default="/",
    show_default=True,
    metavar="DIR",
    help="Where sys, proc and dev are read.",
)
@report_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    command: tuple[str, ...],
    phase: str | None,
    run: str | None,
    interval: float,
    require_clear: Amount | None,
    max_leak: Amount,
    settle: float,
    max_growth: Amount | None,
    warn_growth: Amount | None,
    min_growth: Amount,
    baseline: Path | None,
    update_baseline: str,
    repeat: int,
    source: str,
    python: str,
    per_test: bool,
    prometheus: Path | None,
    html: Path | None,
    svg: Path | None,
    metrics_port: int | None,
    label: bool,
    path_root: Path,
    report: Path | None,
) -> None:
    """Watch GPU memory while COMMAND runs: before, peak and after of every GPU, leaks, and growth.

    COMMAND gets this terminal: its output, its signals and its exit status are its own.
    """
    request = Request(
        argv=command or (("bash", "-c", run) if run else ()),
        interval=interval,
        settle=settle,
        repeat=repeat,
        limits=Limits(require_clear, max_leak.bytes or 0, max_growth, warn_growth, min_growth.bytes or 0),
        source=cast("SourceName", source),
        python=python,
        path_root=path_root.absolute(),
        baseline=baseline,
        update_baseline=cast("UpdateBaseline", update_baseline),
        per_test=per_test,
        prometheus=prometheus,
        html=html,
        svg=svg,
        metrics_port=metrics_port,
        label=label,
    )
    wrapped = wrapping.Wrapped(request)

    def check(context: StageContext) -> Outcome:
        _one_way(phase, command, run)
        if phase and (per_test or repeat > 1):
            raise UsageError(
                "--per-test and --repeat need a command; --phase has none",
                help="wrap the command: rocm-ci vram-probe --per-test -- pytest tests",
            )
        if phase:
            return (phases.start if phase == "start" else phases.stop)(request, context)
        return wrapped.check(context)

    code = run_stage(STAGE, check, report=report)
    # Where this process decides, a failing command's own status is what a caller wants to see. `FAILED` alone: what
    # is the node's fault stays that.
    ctx.exit(wrapped.status if code == Code.FAILED and wrapped.status else code)


def _one_way(phase: str | None, command: tuple[str, ...], run: str | None) -> None:
    given = [name for name, value in (("--phase", phase), ("-- COMMAND", command), ("--run", run)) if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} cannot be given together", help="take one of them")
    if not given:
        raise UsageError(
            "no command was given, so there is nothing to watch",
            help="for example: rocm-ci vram-probe -- python train.py; or --phase start and --phase stop",
        )
