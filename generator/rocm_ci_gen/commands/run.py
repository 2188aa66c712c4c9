"""`rocm-ci-gen run`: the manifest's stages one after another on this machine; `command: run` of the root action."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import rocm_ci
from rocm_ci.runner.errors import Code
from rocm_ci.runner.options import CONTEXT_SETTINGS, LINES, report_option
from rocm_ci.runner.stage import Outcome, StageContext, run_stage
from rocm_ci_gen import sequence
from rocm_ci_gen.manifest import find_manifest, load
from rocm_ci_gen.sequence import SequenceStep, StepResult

_WORDS = {Code.PASSED: "passed", Code.FAILED: "failed", Code.USAGE: "wrong use", Code.INFRA: "infra", None: "not run"}

_EPILOG = """\b
Examples:
  rocm-ci-gen run                          every stage of .rocm-ci.yml
  rocm-ci-gen run --stages hipify-check    one stage"""


@click.command("run", context_settings=CONTEXT_SETTINGS, epilog=_EPILOG)
@click.option("--stages", type=LINES, multiple=True, metavar="NAME", help="Stages, comma-separated; default: all.")
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The manifest. Default: .rocm-ci.yml in this folder or the nearest one above.",
)
@report_option
@click.pass_context
def command(ctx: click.Context, stages: tuple[str, ...], manifest: Path | None, report: Path | None) -> None:
    """Run stages of the manifest one after another on this machine."""
    wanted = [name.strip() for entry in stages for name in entry.split(",") if name.strip()]

    def check(context: StageContext) -> Outcome:
        path = manifest or find_manifest(Path.cwd())
        laid = sequence.steps(load(path), wanted)
        results = sequence.run(laid, lambda step: _execute(context, step, path.resolve().parent))
        return _outcome(results)

    ctx.exit(run_stage("run", check, report=report))


def _execute(context: StageContext, step: SequenceStep, root: Path) -> Code:
    context.progress(f"running {step.command}")
    inputs = {f"INPUT_{name.replace('-', '_').upper()}": value for name, value in step.inputs.items()}
    env = {**context.env.child_variables, **inputs}
    done = context.processes.run([*_program(), step.command], cwd=root, env=env)
    try:
        return Code(done.returncode)
    except ValueError:  # ended by a signal
        return Code.INFRA


def _program() -> list[str]:
    # On a runner the command's own dependencies may come from the tool cache, where bootstrap.py finds them again.
    bootstrap = Path(rocm_ci.__file__).resolve().parents[1] / "bootstrap.py"
    return [sys.executable, str(bootstrap)] if bootstrap.is_file() else [sys.executable, "-m", "rocm_ci"]


def _outcome(results: list[StepResult]) -> Outcome:
    rows = [(result.step.command, _WORDS[result.code], result.reason) for result in results]
    width = max(len(row[0]) for row in rows)
    code = sequence.overall(results)
    bad = [f"{name}: {word}" for name, word, _ in rows if word != "passed"]
    return Outcome(
        code=code,
        message="; ".join(bad) if bad else f"all {len(rows)} steps passed",
        executed=sum(result.code is not None for result in results),
        unit="steps",
        report={"steps": [{"command": name, "result": word, "reason": reason} for name, word, reason in rows]},
        text="\n".join(f"{name:<{width}}  {word}{f'  ({reason})' if reason else ''}" for name, word, reason in rows),
        summary="\n".join(["| step | result | |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]),
    )
