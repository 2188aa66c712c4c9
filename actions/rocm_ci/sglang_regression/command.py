"""`rocm-ci sglang-regression`: its options; the check is not in this version."""

from __future__ import annotations

from pathlib import Path

import click

from rocm_ci.runner.options import CONTEXT_SETTINGS, LINES, report_option
from rocm_ci.runner.unavailable import run_unavailable

STAGE = "sglang-regression"
EPILOG = """\b
Examples:
  rocm-ci sglang-regression --engine sglang --model meta-llama/Llama-3-8B-Instruct
  rocm-ci sglang-regression --engine openai --base-url http://127.0.0.1:30000
"""


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.option("--engine", type=click.Choice(["sglang", "vllm", "openai"]), help="What serves the model.")
@click.option("--model", metavar="PATH", help="Model to serve: a folder, or a name on the hub.")
@click.option("--server-args", multiple=True, type=LINES, metavar="ARG", help="One more option for the server.")
@click.option("--server-command", metavar="CMD", help="Command that serves; {port} and {model} are filled in.")
@click.option("--base-url", metavar="URL", help="A server that runs already.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="P", help="Port of the server; a free one by default.")
@click.option("--requests", type=click.IntRange(min=1), metavar="N", help="Requests to send.")
@click.option("--concurrency", type=click.IntRange(min=1), metavar="C", help="Requests in flight at once.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="K", help="Tokens to ask for in each request.")
@click.option("--timeout", metavar="T", help="Time limit of the check, as 60m.")
@click.option("--startup-timeout", metavar="T", help="Time limit until the server answers, as 10m.")
@click.option("--request-timeout", metavar="T", help="Time limit of one request, as 60s.")
@click.option("--baseline", metavar="FILE", help="Figures of green runs.")
@click.option("--max-slowdown", metavar="PERCENT", help="Loss of TTFT or throughput that fails, as 5%.")
@report_option
@click.pass_context
def command(ctx: click.Context, /, report: Path | None, **_: object) -> None:
    """Serve a model, measure latency and throughput, and compare them with a baseline.

    TTFT, inter-token latency and output tokens per second; answers are checked, so that a fast wrong server fails.
    """
    ctx.exit(run_unavailable(STAGE, report))
