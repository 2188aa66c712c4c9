"""`rocm-ci kernel-tests`: its options; the check is not in this version."""

from __future__ import annotations

from pathlib import Path

import click

from rocm_ci.runner.options import CONTEXT_SETTINGS, LINES, report_option
from rocm_ci.runner.unavailable import run_unavailable

STAGE = "kernel-tests"
EPILOG = """\b
Examples:
  rocm-ci kernel-tests tests/unit --device all --timeout 30m
  rocm-ci kernel-tests --benchmark bench/gemm.py --max-slowdown 5%
"""


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.argument("tests", nargs=-1, type=LINES, envvar="INPUT_TESTS")
@click.option("--device", metavar="all|cpu|0,1", help="GPUs to test on: all, a list of indices, or cpu.")
@click.option("--each", is_flag=True, help="Run the whole suite on every GPU instead of sharing it.")
@click.option("--shard", metavar="I/N", help="Run the I-th of N parts of the tests.")
@click.option("--python", metavar="EXE", help="The Python that the tests run with; the job's own by default.")
@click.option("--pytest-args", multiple=True, type=LINES, metavar="ARG", help="One more option for pytest.")
@click.option("--timeout", metavar="T", help="Time limit of the check, as 30m.")
@click.option("--test-timeout", metavar="T", help="Time limit of one test, as 60s.")
@click.option("--retries", type=click.IntRange(min=0), metavar="N", help="How often a failing test is run again.")
@click.option("--known-failures", metavar="FILE", help="Known failures, each with an owner and an expiry date.")
@click.option("--smoke", multiple=True, type=LINES, metavar="CHECK", help="Op check before the tests.")
@click.option("--benchmark", metavar="FILE", help="File with the kernel benchmarks.")
@click.option("--max-slowdown", metavar="PERCENT", help="Slowdown that fails the benchmark gate, as 5%.")
@click.option(
    "--against", metavar="REF", help="Compare with the kernels of this commit, built and run in the same job."
)
@click.option("--junit", metavar="FILE", help="Write a JUnit report here.")
@report_option
@click.pass_context
def command(ctx: click.Context, /, report: Path | None, **_: object) -> None:
    """Run kernel tests and benchmarks on the GPUs of this node.

    TESTS are files, folders or node ids for pytest.
    """
    ctx.exit(run_unavailable(STAGE, report))
