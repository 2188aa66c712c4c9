"""``rocm-ci hipify-check``: the command line of the check, and its verdict."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import click

from rocm_ci import __version__
from rocm_ci.hipify_check import (
    baseline,
    changes,
    check_file,
    engine,
    files,
    migrate,
    parallel,
    policy,
    rules,
    versions,
)
from rocm_ci.hipify_check.model import VERDICTS, Finding
from rocm_ci.hipify_check.output import body, markdown, remarks, sarif, text
from rocm_ci.runner.errors import Code, InfraError, UsageError
from rocm_ci.runner.files import write_atomic
from rocm_ci.runner.options import CONTEXT_SETTINGS, LINES, report_option, timeout_option
from rocm_ci.runner.stage import Outcome, StageContext, run_stage

STAGE = "hipify-check"


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for."""

    source: tuple[str, ...]
    mode: policy.Mode
    fail_on: policy.FailOn
    version: str
    exclude: tuple[str, ...]
    jobs: int
    baseline: Path | None = None
    changed_only: bool = False
    sarif: Path | None = None


def _explain(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if not value or ctx.resilient_parsing:
        return
    rule = rules.find(value)
    if rule is None:
        known = ", ".join(rule.id for rule in rules.load())
        raise click.BadParameter(f"there is no rule {value}; the rules are {known}")
    click.echo(rules.explain(rule), nl=False)
    ctx.exit(0)


_EPILOG = """\b
Examples:
  rocm-ci hipify-check src                        what is still CUDA in src?
  rocm-ci hipify-check . --mode hipify            the build hipifies: only what it cannot convert
  rocm-ci hipify-check src --rocm-version 6.3     names as ROCm 6.3 has them
  rocm-ci hipify-check --explain HIP101           what a rule means"""


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=_EPILOG)
@click.argument("source", nargs=-1, type=LINES, envvar="INPUT_SOURCE", metavar="PATH...")
@click.option(
    "--mode",
    type=click.Choice(policy.MODES),
    default="native",
    show_default=True,
    help="native: no CUDA may be left. hipify: the build converts the sources, only the rest fails.",
)
@click.option(
    "--rocm-version",
    metavar="V",
    help=f"ROCm release to hold the sources against.  [default: {versions.show(versions.NEWEST)}]",
)
@click.option("--fail-on", type=click.Choice(policy.FAIL_ON), help="Mildest verdict that fails.  [default: by mode]")
@click.option(
    "--exclude",
    type=LINES,
    multiple=True,
    metavar="GLOB",
    help="Leave out paths, as in .gitignore; may be given again.",
)
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Known findings, which do not fail.")
@click.option("--changed-only", is_flag=True, help="Report only what the change touches.")
@click.option("--convert", type=click.Path(path_type=Path), metavar="DIR", help="Write converted sources to DIR.")
@click.option("--in-place", is_flag=True, help="Convert the sources themselves; refused on a git tree with changes.")
@click.option("--compile", is_flag=True, help="Compile the sources with hipcc.")
@click.option("--offload-arch", type=LINES, multiple=True, metavar="GFX", help="gfx targets to compile for.")
@click.option("--sarif", type=click.Path(path_type=Path), metavar="FILE", help="Write SARIF 2.1.0 for code scanning.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes.  [default: all cores]")
@click.option(
    "--explain", callback=_explain, expose_value=False, is_eager=True, metavar="ID", help="Explain a rule and exit."
)
@timeout_option
@report_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    source: tuple[str, ...],
    mode: str,
    rocm_version: str | None,
    fail_on: str | None,
    exclude: tuple[str, ...],
    baseline: Path | None,
    changed_only: bool,
    convert: Path | None,
    in_place: bool,
    compile: bool,  # noqa: A002 - the option's name
    offload_arch: tuple[str, ...],
    sarif: Path | None,
    jobs: int | None,
    timeout: float | None,
    report: Path | None,
) -> None:
    """Find what is still CUDA under PATH...: each place, its verdict, and what to write instead.

    \b
    Verdicts: convertible (HIP has another name for it), manual (to be ported by hand),
    unsupported (nothing on ROCm does it), note (never fails).
    Exit codes: 0 nothing that fails, 1 findings, 2 wrong use or nothing to check, 3 the node is at fault.
    """  # noqa: D301 - click's mark for a block that is not wrapped
    chosen = cast("policy.Mode", mode)
    request = Request(
        source=source,
        mode=chosen,
        fail_on=cast("policy.FailOn", fail_on) if fail_on else policy.default(chosen),
        version=rocm_version or "",
        exclude=exclude,
        jobs=jobs or len(os.sched_getaffinity(0)),
        baseline=baseline,
        changed_only=changed_only,
        sarif=sarif,
    )

    def check(context: StageContext) -> Outcome:
        with parallel.rare_collection():
            return run(request, migrate.Migration(convert, in_place, compile, offload_arch), context)

    ctx.exit(run_stage(STAGE, check, report=report, timeout=timeout))


def run(request: Request, migration: migrate.Migration, context: StageContext) -> Outcome:
    """The check behind the command.

    Raises:
        UsageError: A path does not exist, holds nothing that could be checked, or the release is no number.
    """
    target = _target(request, context.progress)
    known = _known(request.baseline)
    converted = migrate.convert(migration, request.source, request.exclude, request.jobs, target, context)
    found = converted.found if converted else _discover(request)
    context.progress(f"checking {text.plural(len(found.files), 'file')}")
    result = engine.check(found, target, request.jobs)
    result = _what_counts(request, result, known, context)
    failing = policy.failing(request.fail_on)
    bad = [finding for finding in result.findings if finding.verdict in failing]
    percent = engine.coverage(engine.tally(result.findings))
    report = body.body(result, request.mode, request.fail_on)
    outputs = {"findings": str(len(bad)), "coverage": "" if percent is None else f"{percent:g}"}
    unwritten = _write_sarif(request, result, outputs, context)
    if unwritten and not bad:
        raise unwritten  # findings stay the first cause; a pass without the file that was asked for is none
    roots = converted.roots if converted else tuple((Path(source), Path(source)) for source in request.source)
    compiled = migrate.compile_test(migration, found, roots, request.jobs, target, context)
    outcome = Outcome(
        code=Code.FAILED if bad else Code.PASSED,
        message=_message(result, bad),
        executed=result.files,
        unit="files",
        report=report,
        text=text.text(result),
        outputs=outputs,
        annotations=remarks.remarks(result, failing),
        summary=markdown.summary(result, failed=bool(bad)),
    )
    return migrate.joined(outcome, converted, compiled)


def _write_sarif(
    request: Request, result: engine.Result, outputs: dict[str, str], context: StageContext
) -> InfraError | None:
    """Write the SARIF file that was asked for; why it could not be written."""
    if not request.sarif:
        return None
    try:
        write_atomic(request.sarif, sarif.sarif(result.findings, __version__, _from_root(context)))
    except InfraError as error:
        context.progress(error.message)
        return error
    outputs["sarif"] = str(request.sarif)
    return None


def _known(path: Path | None) -> frozenset[str]:
    try:
        return baseline.load(path) if path else frozenset()
    except baseline.BaselineError as error:
        raise UsageError(
            f"--baseline: {path} {error}",
            help=f"make one by a run of today: rocm-ci hipify-check … --report {path}",
        ) from error


def _what_counts(
    request: Request, result: engine.Result, known: frozenset[str], context: StageContext
) -> engine.Result:
    """Leave out what the baseline knows and what the change does not touch; on any doubt leave out nothing."""
    touches = None
    if request.changed_only:
        trees: list[changes.Changes] = []
        try:
            trees = [changes.find(Path(source), context.env.variables) for source in request.source]
        except changes.UnknownChangeError as error:
            context.progress(f"everything is reported, because it cannot be told what changed: {error}")
            result = replace(result, unsure=str(error))
        else:
            touches = lambda finding: any(tree.touches(finding) for tree in trees)  # noqa: E731
    return engine.leave_out(result, known, touches)


def _from_root(context: StageContext) -> Callable[[str], str]:
    """Makes of a shown path the path from the repository's root, as code scanning wants it."""
    root = context.env.workspace or Path.cwd()

    def place(path: str) -> str:
        inside = os.path.relpath(Path(path).absolute(), root.absolute())
        return path if inside.startswith("..") else inside

    return place


def _target(request: Request, progress: Callable[[str], None]) -> check_file.Target:
    try:
        version = versions.parse(request.version) if request.version else versions.NEWEST
    except ValueError as error:
        raise UsageError(f"--rocm-version: {error}", help="for example: --rocm-version 6.3") from error
    if version < versions.OLDEST or version[0] > versions.NEWEST[0]:
        oldest, newest = versions.show(versions.OLDEST), versions.show(versions.NEWEST)
        raise UsageError(
            f"--rocm-version {request.version}: nothing is known of that release",
            help=f"name one from {oldest} on; the newest that this version knows is {newest}",
        )
    if version > versions.NEWEST:
        known = versions.show(versions.NEWEST)
        progress(f"ROCm {versions.show(version)} is newer than the tables: names are those of {known}")
    return check_file.Target(version, explicit=bool(request.version), hipify=request.mode == "hipify")


def _discover(request: Request) -> files.Found:
    if not all(request.source) or not request.source:
        raise UsageError(
            "no path was given, or an empty one",
            help="name the sources to check, for example: rocm-ci hipify-check src",
        )
    try:
        found = files.discover(request.source, request.exclude)
    except files.MissingPathError as error:
        raise UsageError(
            f"{error} does not exist", help="check the paths, which count from the working directory"
        ) from error
    if not found.files:
        where = ", ".join(request.source)
        other = f"; {found.ignored:,} files are of other kinds" if found.ignored else ""
        refused = (
            f"; {len(found.skipped):,} could not be checked, first {found.skipped[0].path}: {found.skipped[0].reason}"
            if found.skipped
            else ""
        )
        raise UsageError(
            f"nothing was checked: there is no source file that hipify-check can read under {where}{other}{refused}",
            help="check the paths and --exclude",
        )
    return found


def _message(result: engine.Result, bad: list[Finding]) -> str:
    if not bad:
        unread = f"; NOT checked: {text.plural(len(result.skipped), 'file')}" if result.skipped else ""
        return f"no failing finding in {text.plural(result.files, 'file')} ({text.coverage_words(result)}){unread}"
    hardest = min(bad, key=lambda finding: VERDICTS.index(finding.verdict))
    more = f", and {len(bad) - 1:,} more" if len(bad) > 1 else ""
    return f"{hardest.path}:{hardest.line}: {hardest.message}{more}"
