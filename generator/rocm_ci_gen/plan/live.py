"""The plan in CI: the root action's `command: plan`.

Reads the event from the environment, decides, and holds the committed workflow against the manifest: a run of a
workflow that no longer says what the manifest says proves nothing.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence

from rocm_ci.runner.annotations import Annotation, Level
from rocm_ci.runner.errors import Code, UsageError
from rocm_ci.runner.stage import Outcome
from rocm_ci_gen.files import FileDiff
from rocm_ci_gen.manifest import ManifestError
from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.plan.collect import collect
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.git import Git
from rocm_ci_gen.plan.github import Api
from rocm_ci_gen.plan.model import Plan, first_few
from rocm_ci_gen.plan.place import Place
from rocm_ci_gen.plan.standing import drift_of
from rocm_ci_gen.plan.text import markdown, text
from rocm_ci_gen.plan.triggers import is_mirror

_DIFF_LINES = 400


def check(place: Place, environ: Mapping[str, str], token: str = "") -> Outcome:
    """Decide, compare, and say it all in one outcome.

    Args:
        place: the repository and its manifest.
        environ: the runner's environment.
        token: token for GitHub's API, where the checkout does not tell what changed.
    """
    try:
        manifest = place.manifest()
    except ManifestError as error:
        return _bad_manifest(place, error)
    plan = make_plan(place, manifest, environ, token)
    return _outcome(plan, drift_of(place, manifest))


def make_plan(place: Place, manifest: Manifest, environ: Mapping[str, str], token: str = "") -> Plan:
    """The plan for the event that started this run."""
    event = Event.from_environ(environ)
    api = Api.from_environ(environ, event.repository, token) if event.repository else None
    changes = collect(event, Git(place.root, environ), api=api, mirror=is_mirror(manifest, event))
    return decide(manifest, event, changes, own_files=place.own_files())


def _outcome(plan: Plan, drifted: Sequence[FileDiff]) -> Outcome:
    body = plan.to_json()
    printed = text(plan, width=10_000)
    summary = markdown(plan)
    code, message, advice = Code.PASSED, _success(plan), ""
    if drifted:
        paths = first_few([found.path for found in drifted], 3)
        code = Code.FAILED
        message = f"not up to date with the manifest: {paths}"
        force = " --force" if any(found.kind == "foreign" for found in drifted) else ""
        advice = f"run `rocm-ci-gen render{force}` and commit the result"
        printed += "\n" + "\n".join(_capped(found.diff) for found in drifted) + f"\n{message}: {advice}\n"
        summary += _drift_markdown(drifted, message, advice)
    return Outcome(
        code=code,
        message=message,
        executed=len(plan.jobs),
        unit="jobs",
        report={"plan": body, "drift": [found.path for found in drifted]},
        text=printed,
        outputs={
            "plan": json.dumps(body, separators=(",", ":"), ensure_ascii=False),
            "run": json.dumps(list(plan.run), separators=(",", ":")),
        },
        annotations=[*_drift_annotations(drifted, advice), *_annotations(plan)],
        summary=summary,
        help=advice,
    )


def _success(plan: Plan) -> str:
    if not plan.run:
        return "nothing to run: " + (plan.jobs[0].reason if plan.jobs else "the manifest has no jobs")
    running = "1 of 1 job runs" if len(plan.jobs) == 1 else f"{len(plan.run)} of {len(plan.jobs)} jobs run"
    return f"{running}: {first_few(plan.run, 8)}"


def _annotations(plan: Plan) -> Iterator[Annotation]:
    for job in plan.jobs:
        if job.withheld:
            level: Level = "warning" if plan.forks_withheld == "fail" else "notice"
            yield Annotation(level, f"{job.name}: {job.reason}", title=f"rocm-ci: {job.name} is withheld")
    if plan.unowned:
        number = "1 changed file is" if len(plan.unowned) == 1 else f"{len(plan.unowned):,} changed files are"
        message = f"{number} covered by no stage: {first_few(plan.unowned, 5)}"
        yield Annotation("notice", message, title="rocm-ci: files that no stage covers")
    for notice in plan.notices:
        yield Annotation("notice", notice, title="rocm-ci: plan")


def _drift_annotations(drifted: Sequence[FileDiff], advice: str) -> Iterator[Annotation]:
    for found in drifted:
        message = f"This file is not what the manifest asks for: {advice}."
        yield Annotation("error", message, path=found.path, line=1, title="rocm-ci: out of date")


def _drift_markdown(drifted: Sequence[FileDiff], message: str, advice: str) -> str:
    # <pre> and not a fence: the diff could hold a fence of its own.
    blocks = "\n".join(f"<pre>{html.escape(_capped(found.diff))}</pre>" for found in drifted)
    return f"\n### {html.escape(message)}\n\n{html.escape(advice)}\n\n{blocks}\n"


def _capped(diff: str) -> str:
    lines = diff.rstrip("\n").split("\n")
    if len(lines) <= _DIFF_LINES:
        return diff.rstrip("\n")
    return "\n".join(lines[:_DIFF_LINES]) + f"\n… {len(lines) - _DIFF_LINES:,} more lines"


def _bad_manifest(place: Place, error: ManifestError) -> Outcome:
    annotations = [
        Annotation(
            diagnostic.severity,
            diagnostic.message + (f" ({diagnostic.fix})" if diagnostic.fix else ""),
            path=place.manifest_name,
            line=diagnostic.line,
            column=diagnostic.column,
            title=f"rocm-ci: {diagnostic.key or 'manifest'}",
        )
        for diagnostic in error.diagnostics
    ]
    first, _, rest = error.message.partition("\n")
    return Outcome(
        code=UsageError.code,
        message=first,
        executed=0,
        unit="jobs",
        report={"diagnostics": [diagnostic.to_json() for diagnostic in error.diagnostics]},
        text=rest,
        annotations=annotations,
        summary=f"### rocm-ci plan: {html.escape(first)}\n\n<pre>{html.escape(rest)}</pre>\n" if rest else "",
        help=error.help,
    )
