"""`rocm-ci-gen plan`: which jobs run for an event, on which runner, in which concurrency group, and why or why not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocm_ci.runner.errors import UsageError
from rocm_ci.runner.options import CONTEXT_SETTINGS, LINES, report_option

if TYPE_CHECKING:
    from rocm_ci_gen.plan.model import Plan

_EPILOG = """\b
Examples:
  rocm-ci-gen plan --event pull_request --base main
  rocm-ci-gen plan --event push --base HEAD~1 --ref main --json
  rocm-ci-gen plan --event pull_request --changed src/a.cu --fork --label ok-to-test

Events that a manifest knows: push, pull_request, merge_group, schedule, workflow_dispatch. Without --event and inside a
workflow, the event is the one that started the run; the plan then also fails (exit 1) if the committed workflow is not
what the manifest asks for.
"""


@click.command("plan", context_settings=CONTEXT_SETTINGS, epilog=_EPILOG)
@click.option("--event", metavar="EVENT", help="Event to plan for, by GitHub's name.")
@click.option("--base", metavar="REF", help="Commit or branch to compare with; of a pull request, its base branch.")
@click.option("--head", metavar="REF", help="Commit or branch whose changes count.  [default: HEAD]")
@click.option("--ref", metavar="REF", help="Pushed branch, or refs/tags/NAME.")
@click.option("--number", type=click.IntRange(min=1), metavar="N", help="Number of the pull request.")
@click.option("--changed", multiple=True, type=LINES, metavar="PATH", help="Changed file, instead of asking git.")
@click.option("--label", multiple=True, type=LINES, metavar="LABEL", help="Label that this event adds.")
@click.option("--fork", is_flag=True, help="The pull request comes from a fork.")
@click.option(
    "--payload",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Webhook payload of the event (JSON).",
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The manifest. Default: .rocm-ci.yml in this folder or the nearest one above.",
)
@click.option(
    "--github-token",
    metavar="TOKEN",
    help="Token for GitHub's API, which is asked in CI where the checkout does not tell. Better in INPUT_GITHUB_TOKEN.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@report_option
@click.argument("more", nargs=-1, metavar="")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Say which jobs run for an event, on which runner, in which concurrency group, and why or why not."""
    if options["more"]:
        if not options["changed"]:
            raise UsageError(f"unexpected argument {options['more'][0]!r}", help="changed files follow --changed")
        options["changed"] += options["more"]
    if options["event"]:
        _offline(options)
    elif os.environ.get("GITHUB_EVENT_NAME") and not _described(options):
        ctx.exit(_live(options))
    else:
        raise UsageError("which event?", help="--event push, pull_request, merge_group, schedule or workflow_dispatch")


def _described(options: dict[str, Any]) -> bool:
    """Whether options tell of an event of their own, which the run's event must not silently replace."""
    return any(options[name] for name in ("base", "head", "ref", "number", "changed", "label", "fork", "payload"))


def _offline(options: dict[str, Any]) -> None:
    from dataclasses import replace

    from rocm_ci_gen.plan.decide import decide
    from rocm_ci_gen.plan.git import Git
    from rocm_ci_gen.plan.offline import Request, answer, check_event_name
    from rocm_ci_gen.plan.place import Place
    from rocm_ci_gen.plan.standing import notice

    check_event_name(options["event"])
    place = Place.find(Path.cwd(), options["manifest"])
    manifest = place.manifest()
    request = Request(
        event=options["event"],
        base=options["base"],
        head=options["head"],
        ref=options["ref"],
        number=options["number"],
        changed=tuple(options["changed"]) or None,
        labels=tuple(filter(None, options["label"])),
        fork=options["fork"],
        payload=options["payload"],
    )
    event, changes = answer(manifest, request, Git(place.root))
    plan = decide(manifest, event, changes, own_files=place.own_files())
    about_workflow = notice(place, manifest)
    if about_workflow is not None:
        plan = replace(plan, notices=(*plan.notices, about_workflow))
    _print(plan, as_json=options["as_json"])


def _print(plan: Plan, *, as_json: bool) -> None:
    import json
    import shutil
    import sys

    from rocm_ci.runner.console import Console
    from rocm_ci_gen.plan.text import text

    console = Console()
    if as_json:
        console.out(json.dumps(plan.to_json(), indent=2))
    else:
        terminal = sys.stdout.isatty()
        # Piped text has one line a job, for grep; a terminal gets it wrapped.
        width = shutil.get_terminal_size().columns if terminal else 10_000
        console.out(text(plan, color=terminal and not os.environ.get("NO_COLOR"), width=width))
    if console.failure is not None:
        raise console.failure


def _live(options: dict[str, Any]) -> int:
    from rocm_ci.runner.stage import Outcome, StageContext, run_stage
    from rocm_ci_gen.plan import live
    from rocm_ci_gen.plan.place import Place

    def check(context: StageContext) -> Outcome:
        place = Place.find(context.env.workspace or Path.cwd(), options["manifest"])
        return live.check(place, context.env.variables, options["github_token"] or "")

    return run_stage("plan", check, report=options["report"])
