"""From a measurement to the outcome: comparison, verdict, files, label."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.annotations import Annotation
from rocm_ci.runner.errors import Code, InfraError, UsageError
from rocm_ci.runner.files import write_atomic
from rocm_ci.runner.outcome import Outcome
from rocm_ci.vram_probe import baseline, label
from rocm_ci.vram_probe.figures import Measurement
from rocm_ci.vram_probe.judge import LABEL, CommandEnd, Judgement, judge
from rocm_ci.vram_probe.measuring import Start
from rocm_ci.vram_probe.output import body, chart, page, prometheus, tables
from rocm_ci.vram_probe.request import Request
from rocm_ci.vram_probe.source import Device


@dataclass(frozen=True)
class Past:
    """The earlier runs: the file (None: none is kept), all that is in it, and the name of this command in it."""

    path: Path | None
    all: baseline.Baseline
    name: str

    @property
    def runs(self) -> Sequence[baseline.Run]:
        """Earlier runs of this command, oldest first."""
        return self.all.get(self.name, ())


def past(request: Request, environ: Mapping[str, str]) -> Past:
    """Read the baseline before anything runs, so that a broken file costs no GPU time.

    Raises:
        UsageError: the file is none.
    """
    limits = request.limits
    path = request.baseline
    if path is None and (limits.max_growth or limits.warn_growth):
        path = default_path(environ)
    name = request.title if request.argv else f"job {environ.get('GITHUB_JOB') or 'local'}"
    if path is None:
        return Past(None, {}, name)
    try:
        return Past(path, baseline.load(path), name)
    except baseline.BaselineError as error:
        raise UsageError(f"--baseline: {path} {error}", help="remove the file; the next run makes a new one") from error


def default_path(environ: Mapping[str, str]) -> Path | None:
    """Where figures are kept when no file is named: in the runner's tool cache, which outlives jobs, or the user's."""
    cache = environ.get("RUNNER_TOOL_CACHE") or environ.get("XDG_CACHE_HOME")
    if not cache:
        home = environ.get("HOME")
        if not home:
            return None
        cache = f"{home}/.cache"
    names = ("GITHUB_REPOSITORY", "GITHUB_WORKFLOW", "GITHUB_JOB")
    here = "\n".join(environ.get(name, "") for name in names) if environ.get("GITHUB_REPOSITORY") else str(Path.cwd())
    return Path(cache) / "rocm-ci" / "vram-baseline" / f"{hashlib.sha256(os.fsencode(here)).hexdigest()[:16]}.json"


def outcome(
    request: Request,
    measured: Measurement,
    earlier: Past,
    environ: Mapping[str, str],
    *,
    end: CommandEnd | None = None,
    command: Mapping[str, object] | None = None,
    tests: Sequence[Mapping[str, object]] = (),
    table_on_stdout: bool = False,
) -> tuple[Outcome, str]:
    """The outcome of a run that was measured, and its table; a file that cannot be written is no pass."""
    limits = request.limits
    growth = (
        baseline.compare(
            measured, earlier.runs, fail=limits.max_growth, warn=limits.warn_growth, least=limits.min_growth
        )
        if earlier.path
        else ()
    )
    trends = baseline.trends(measured, earlier.runs) if earlier.path else ()
    told = judge(measured, growth, trends, limits, end)
    notes = [*told.annotations]
    if earlier.path and not earlier.runs:
        text = f"growth is not judged: {earlier.path} has no earlier run of this command"
        notes.append(Annotation("notice", text, title="vram-probe"))
    if _kept(request, told, environ) and earlier.path:
        now = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
        baseline.store(earlier.path, earlier.all, earlier.name, baseline.run_of(measured, now))
    if request.label and told.verdict in {"growth", "leak"}:
        note = label.add(LABEL, environ)
        notes += [note] if note else []
    story = body.Story(
        title=request.title,
        measured=measured,
        verdict=told.verdict,
        message=told.message,
        growth=growth,
        trends=trends,
        command=command,
        baseline=str(earlier.path or ""),
        tests=tests,
    )
    unwritten = _write(request, story)
    notes += [Annotation("error", f"{error.message}", title="vram-probe") for error in unwritten]
    table = "\n".join([tables.text(story), *(error.message for error in unwritten)])
    # A file that is missing makes no pass; a verdict of the code's stays the first cause.
    lost = unwritten[0] if unwritten and told.code is Code.PASSED else None
    found = Outcome(
        code=Code.INFRA if lost else told.code,
        message=lost.message if lost else told.message,
        executed=measured.samples,
        unit="samples",
        report=body.body(story),
        text=table if table_on_stdout else "",
        outputs={
            "peak-bytes": "" if measured.peak is None else str(measured.peak),
            "leaked-bytes": "" if measured.leaked is None else str(measured.leaked),
        },
        annotations=notes,
        summary=tables.markdown(story),
        gpus=evidence([gpu.device for gpu in measured.gpus]),
        help=lost.help if lost else told.help,
    )
    return found, table


def dirty_outcome(request: Request, devices: Sequence[Device], start: Start, told: Judgement) -> Outcome:
    """The outcome where the memory was not free, so nothing was run."""
    report = body.dirty_body(devices, start.before, start.holders, told.verdict)
    return Outcome(
        code=told.code,
        message=told.message,
        executed=1,
        unit="samples",
        report=report,
        outputs={"peak-bytes": "", "leaked-bytes": ""},
        summary=tables.dirty_markdown(request.title, told.message, told.help),
        gpus=evidence(devices),
        help=told.help,
    )


def evidence(devices: Sequence[Device]) -> list[dict[str, object]]:
    """The GPUs that were seen, for `gate`."""
    return [{"bdf": device.bdf, "gfx": device.gfx, "product": device.product} for device in devices]


def _kept(request: Request, told: Judgement, environ: Mapping[str, str]) -> bool:
    """Whether this run becomes part of the baseline: a bad one never, that of a pull request only when asked."""
    if request.update_baseline == "never" or told.verdict is None or told.code is not Code.PASSED:
        return False
    if request.update_baseline == "always":
        return True
    event = environ.get("GITHUB_EVENT_NAME", "")
    return told.verdict == "ok" and not event.startswith("pull_request") and event != "merge_group"


def _write(request: Request, story: body.Story) -> list[InfraError]:
    """Write the files that were asked for; what could not be written."""
    wanted: list[tuple[Path | None, Callable[[], str]]] = [
        (request.prometheus, lambda: prometheus.finished(story.measured, story.verdict)),
        (request.svg, lambda: chart.svg(story.measured, f"VRAM in use: {story.title}")),
        (request.html, lambda: page.page(story)),
    ]
    return [error for path, text in wanted if path and (error := _unwritten(path, text()))]


def _unwritten(path: Path, text: str) -> InfraError | None:
    try:
        write_atomic(path, text)
    except InfraError as error:
        return error
    return None
