"""The conversion from end to end: refuse what cannot be undone, copy, convert, check again, publish."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import check_file, files
from rocm_ci.hipify_check.convert import place, rounds, tools, tree
from rocm_ci.hipify_check.convert.model import ConvertRequest, ConvertResult, FileConversion, Status
from rocm_ci.runner.errors import InfraError, UsageError
from rocm_ci.runner.files import cannot_write
from rocm_ci.runner.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocm_ci.hipify_check.convert.rounds import Converted
    from rocm_ci.hipify_check.files import Found, SourceFile
    from rocm_ci.hipify_check.model import Finding
    from rocm_ci.runner.stage import StageContext


def run(request: ConvertRequest, context: StageContext) -> ConvertResult:
    """Convert a tree.

    Nothing of the sources changes unless ``request.in_place`` says so, and ``request.out`` appears whole or not at
    all. A conversion never fails because of what it finds: what is left is in the result, for the caller to judge.

    Raises:
        UsageError: A path is missing or holds no source; ``out`` would replace, or be read as, a source, or holds
            what no conversion made; in place without a clean git tree; the named tool is not installed.
        InfraError: A file cannot be written.
    """
    if not request.source:
        raise UsageError("no path was given", help="name the sources to convert")
    if (request.out is None) != request.in_place:
        raise UsageError(
            "no folder to convert to was given"
            if request.out is None
            else "--convert DIR and in place: give one of the two",
            help="for example: --convert ../converted",
        )
    out = place.check(request.out, request.source, request.exclude) if request.out else None
    found = _discover(request, out)
    program = tools.choose(request.tool, context.env.variables)
    external = tools.External(program, context.processes, request.tool_timeout) if program else None
    context.progress(f"converting {plural(len(found.files), 'files')}" + (f" with {program}" if program else ""))
    return _into(request, out, found, external) if out else _in_place(request, found, external)


def _into(request: ConvertRequest, out: Path, found: Found, external: tools.External | None) -> ConvertResult:
    layout = tree.plan(request.source, out)
    with place.staging(out) as staged:
        try:
            unread = tree.copy(layout, staged)
        except OSError as error:
            raise cannot_write(staged, error) from error
        targets = {str(item.location): item.target for item in layout.items}
        here = {
            file.name: replace(file, location=str(staged / targets[file.location]))
            for file in found.files
            if file.location in targets
        }
        _confined(here.values(), staged)
        done = rounds.run(list(here.values()), _target(request), request.jobs, external)
        place.publish(staged, out)
    converted = {
        name: replace(file, location=str(out / os.path.relpath(file.location, staged))) for name, file in here.items()
    }
    reasons = dict([*layout.skipped, *unread])
    outputs = {item.name: item.target for item in layout.items if item.name not in reasons}
    links = {item.name for item in layout.items if item.link}
    # A link to a directory of the tree is not followed by the check, and needs not to be: it was made again.
    found = files.Found(found.files, [one for one in found.skipped if one.path not in links], found.ignored)
    names = [*outputs, *reasons]
    roots = tuple((Path(given), out / base) for given, base in layout.roots)
    return _result(found, converted, done, external, names, outputs, reasons, out, roots)


def _in_place(request: ConvertRequest, found: Found, external: tools.External | None) -> ConvertResult:
    place.refuse_dirty(request.source)
    here = {file.name: file for file in found.files}
    done = rounds.run(found.files, _target(request), request.jobs, external)
    outputs = {name: name for name in here}
    roots = tuple((Path(given), Path(given)) for given in request.source)
    return _result(found, here, done, external, list(outputs), outputs, {}, None, roots)


def _result(
    found: Found,
    here: Mapping[str, SourceFile],
    done: Converted,
    external: tools.External | None,
    names: Sequence[str],
    outputs: Mapping[str, str],
    reasons: Mapping[str, str],
    out: Path | None,
    roots: tuple[tuple[Path, Path], ...],
) -> ConvertResult:
    left: dict[str, list[Finding]] = defaultdict(list)
    unchecked = {skipped.path: skipped.reason for skipped in found.skipped}
    for result, findings in done.results:
        left[result.name] += findings
        if result.skipped:
            unchecked[result.name] = result.skipped
    failures = external.failures if external else {}
    rows = []
    for name in sorted(set(names) | set(unchecked)):
        output = outputs.get(name, "")
        count = done.findings[name]
        added = done.added.get(name, ())
        if name in reasons or not output:
            rows.append(FileConversion(name, "", "skipped", reason=reasons.get(name) or unchecked.get(name, "")))
        elif name in unchecked:
            reason = f"not converted: {unchecked[name]}"
            rows.append(FileConversion(name, output, "skipped", reason=reason))
        elif count or added:
            rows.append(
                FileConversion(name, output, "converted", count, added, _tally(left[name]), failures.get(name, ""))
            )
        else:
            status: Status = "unchanged" if name in here and here[name].kind == "c" else "copied"
            rows.append(FileConversion(name, output, status, left=_tally(left[name]), reason=failures.get(name, "")))
    remaining = sorted(
        (finding for many in left.values() for finding in many),
        key=lambda finding: (finding.path, finding.line, finding.column, finding.rule),
    )
    return ConvertResult(
        out=out,
        tool=external.program if external else "built-in",
        files=tuple(rows),
        left=tuple(remaining),
        found=files.Found([here[name] for name in sorted(here)], list(found.skipped), found.ignored),
        roots=roots,
    )


def _tally(findings: Sequence[Finding]) -> dict[str, int]:
    return dict(Counter[str](finding.verdict for finding in findings))


def _confined(staged: Iterable[SourceFile], folder: Path) -> None:
    """A link must not lead an edit out of the folder that we made."""
    root = os.path.realpath(folder)
    for file in staged:
        if not os.path.realpath(file.location).startswith(root + os.sep):
            raise InfraError(f"{file.name} leads out of the converted tree", help="exclude it, and report this")


def _target(request: ConvertRequest) -> check_file.Target:
    # Always as native code: what a build that hipifies converts by itself is what is converted here.
    return check_file.Target(request.version, explicit=request.explicit)


def _discover(request: ConvertRequest, out: Path | None) -> Found:
    try:
        found = files.discover(request.source, request.exclude)
    except files.MissingPathError as error:
        raise UsageError(
            f"{error} does not exist", help="check the paths, which count from the working directory"
        ) from error
    if out is not None:
        inner = os.path.realpath(out) + os.sep
        found.files = [file for file in found.files if not os.path.realpath(file.location).startswith(inner)]
    if not found.files:
        raise UsageError(
            f"nothing to convert: there is no source file that hipify-check can read under {', '.join(request.source)}",
            help="check the paths and --exclude",
        )
    return found
