"""The decision: manifest, event and changed files in, plan out. Pure.

The rule above all others: on any doubt everything runs, and the plan says why. A job is left out for a reason that
names the files and patterns, and kept from a stranger's code for a reason that names the policy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rocm_ci.availability import AVAILABLE_STAGES
from rocm_ci_gen.files import LIST_PATH
from rocm_ci_gen.filter_patterns import PatternLists
from rocm_ci_gen.manifest.hosted import is_self_hosted
from rocm_ci_gen.manifest.model import Manifest, RefFilter, Runner, Stage, UserJob
from rocm_ci_gen.manifest.references import local_path
from rocm_ci_gen.manifest.resolve import PROBE
from rocm_ci_gen.plan.changes import Changes, printable_path
from rocm_ci_gen.plan.concurrency import adds_label, concurrency, is_other_label
from rocm_ci_gen.plan.event import Event, full_id
from rocm_ci_gen.plan.model import Expect, Job, Plan, first_few, shorten
from rocm_ci_gen.plan.triggers import KNOWN_EVENTS, is_mirror, trigger
from rocm_ci_gen.workflow import WORKFLOW_PATH

OWN_FILES = (".rocm-ci.yml", WORKFLOW_PATH, LIST_PATH)
"""Files of the CI itself, where the caller names no others. A change of one makes every job run."""

_IGNORE = "ignore"
_JOB = "job:"
_PATH_LIMIT = 120
_RUNS_ALL = {"schedule": "a scheduled run runs everything", "workflow_dispatch": "a manual run runs everything"}


def decide(
    manifest: Manifest,
    event: Event,
    changes: Changes,
    *,
    own_files: Collection[str] = OWN_FILES,
    available: Collection[str] = AVAILABLE_STAGES,
) -> Plan:
    """Say which jobs run, and why or why not.

    Args:
        manifest: the manifest, with defaults.
        event: what happened.
        changes: the changed files, or why they are not known.
        own_files: the CI's own files: manifest, workflow and whatever else is generated.
        available: stages that this release really has.

    Raises:
        PatternError: a pattern of the manifest is not valid.
    """
    started = trigger(manifest, event)
    triggered = started.starts or event.started
    doubt = _doubt(event, changes, surprise=None if started.starts else started.reason)
    files = _Files.sort(manifest, changes.paths or (), own_files)
    if not triggered:
        jobs = [_Wish(job, False, f"not triggered: {started.reason}") for job in _entries(manifest)]
    elif is_other_label(manifest, event) and event.rendered_workflow and not event.counts_as_fork:
        # Nothing is to be approved here, and the gate of such a run has a name of its own (workflow.expressions).
        reason = f"the label {event.label or '(unknown)'} changes nothing: the run of the commit itself counts"
        jobs = [_Wish(job, False, reason) for job in _entries(manifest)]
        doubt = None
    elif event.name in _RUNS_ALL and not doubt:
        jobs = [_Wish(job, True, _RUNS_ALL[event.name]) for job in _entries(manifest)]
    elif doubt:
        jobs = [_Wish(job, True, f"everything runs: {doubt}") for job in _entries(manifest)]
    else:
        jobs = [_wanted(manifest, job, files) for job in _entries(manifest)]
    decided = tuple(_withhold(manifest, event, wish) for wish in jobs)
    return Plan(
        event=event.name,
        triggered=triggered,
        base=changes.base,
        head=changes.head or full_id(event.head),
        changed=None if changes.paths is None else len(changes.paths),
        concurrency=concurrency(manifest, event),
        jobs=decided,
        unowned=tuple(map(printable_path, files.unowned)) if triggered and not doubt else (),
        forks_withheld=manifest.forks.withheld,
        notices=tuple(_notices(manifest, event, decided, available)),
        doubt=doubt if triggered else None,
    )


def _doubt(event: Event, changes: Changes, *, surprise: str | None) -> str | None:
    if event.name not in KNOWN_EVENTS:
        return f"the event {event.name or 'without a name'} is none that the manifest knows"
    if surprise is not None and event.started:
        return f"this run was started although {surprise}"
    if event.name in _RUNS_ALL:
        return None
    if changes.paths is None:
        return changes.doubt
    if event.doubt and changes.source != "given":
        return event.doubt
    return None


@dataclass(frozen=True)
class _Entry:
    """A stage or a user's job, alike for the decision."""

    name: str
    paths: tuple[str, ...]
    job: Job
    self_hosted: bool
    definition: str | None = None


def _entries(manifest: Manifest) -> list[_Entry]:
    return [*map(_stage, manifest.stages), *map(_user_job, manifest.jobs)]


def _stage(stage: Stage) -> _Entry:
    job = Job(stage.name, "stage", False, "", tuple(_expect(stage)), gpu=stage.gpu)
    return _Entry(stage.name, stage.paths, job, any(map(is_self_hosted, stage.runners)))


def _expect(stage: Stage) -> Iterator[Expect]:
    """Instances in the order of the rendered matrix: runner by runner, shard by shard."""
    number = 0
    for runner in stage.runners:
        for shard in range(1, stage.shards + 1):
            number += 1
            yield Expect(
                instance=number,
                runner=runner.name,
                runs_on=runner.labels,
                group=runner.group,
                gfx=runner.gfx if stage.gpu else (),
                gpus=runner.gpus if stage.gpu else None,
                shard=f"{shard}/{stage.shards}" if stage.shards > 1 else None,
            )


def _user_job(user: UserJob) -> _Entry:
    job = Job(user.name, "user", False, "", uses=user.uses)
    return _Entry(user.name, user.paths, job, user.self_hosted, local_path(user.uses))


@dataclass
class _Files:
    """The changed files, sorted by what they mean."""

    total: int = 0
    own: str | None = None
    """The first changed file of the CI itself."""
    matched: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Job → the first changed file that it covers and the pattern; the others only count."""
    counts: dict[str, int] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    unowned: list[str] = field(default_factory=list)

    @classmethod
    def sort(cls, manifest: Manifest, paths: Sequence[str], own_files: Collection[str]) -> _Files:
        entries = _entries(manifest)
        lists: dict[str, Sequence[str]] = {_JOB + entry.name: entry.paths for entry in entries}
        matcher = PatternLists(lists | {_IGNORE: manifest.ignore})
        definitions: dict[str, list[str]] = {}
        for entry in entries:
            if entry.definition:
                definitions.setdefault(entry.definition, []).append(entry.name)
        own = frozenset(own_files)
        files = cls(total=len(paths))
        for path in paths:
            if path in own:
                files.own = files.own or path
                continue
            owners = dict.fromkeys(definitions.get(path, ()), "its own workflow")
            decisions = matcher.decide(path)
            if not owners and decisions[_IGNORE].included:
                files.ignored.append(path)
                continue
            for entry in entries:
                decision = decisions[_JOB + entry.name]
                if decision.included and decision.pattern is not None:
                    owners.setdefault(entry.name, decision.pattern)
            for name, pattern in owners.items():
                files.counts[name] = files.counts.get(name, 0) + 1
                files.matched.setdefault(name, [(path, pattern)])
            if not owners:
                files.unowned.append(path)
        return files


@dataclass(frozen=True)
class _Wish:
    """Whether a job should run, before the rules for forks."""

    entry: _Entry
    run: bool
    reason: str


def _wanted(manifest: Manifest, entry: _Entry, files: _Files) -> _Wish:
    if files.own is not None:
        return _Wish(entry, True, f"{_shown(files.own)} changed: the CI's own files make everything run")
    if entry.name in files.matched:
        path, pattern = files.matched[entry.name][0]
        more = files.counts[entry.name] - 1
        rest = f" (and {more:,} more {'file' if more == 1 else 'files'})" if more else ""
        return _Wish(entry, True, f"{_shown(path)} matches {pattern}{rest}")
    if files.unowned and manifest.unowned == "run":
        return _Wish(entry, True, f"no stage covers {_shown(files.unowned[0])}: unowned files make everything run")
    return _Wish(entry, False, _not_needed(entry, files))


def _not_needed(entry: _Entry, files: _Files) -> str:
    if not files.total:
        return "nothing changed"
    reason = f"no changed file matches {first_few(entry.paths, 3)}"
    if len(files.ignored) == files.total:
        reason += f"; all are ignored: {first_few([_shown(path) for path in files.ignored], 2)}"
    return reason


def _withhold(manifest: Manifest, event: Event, wish: _Wish) -> Job:
    job = replace(wish.entry.job, run=wish.run, reason=wish.reason)
    if not wish.run or not wish.entry.self_hosted or not event.counts_as_fork:
        return job
    forks = manifest.forks
    origin = "a fork's pull request" if event.fork else "code that may come from a fork"
    if forks.policy == "label":
        if event.name == "pull_request" and adds_label(event, forks.label):
            head = f" at {event.head[:12]}" if event.head else ""
            return replace(job, reason=f"label {forks.label} was added{head}; {wish.reason}")
        cause = f"forks.policy label: {origin} runs only when the label {forks.label} is added"
    elif forks.policy == "mirror":
        cause = f"forks.policy mirror: {origin} runs only as a pushed pull-request/N branch"
    else:
        cause = f"forks.policy never: {origin} does not reach self-hosted runners"
    return replace(job, run=False, withheld=True, reason=f"{cause} (needed: {wish.reason})")


def _notices(manifest: Manifest, event: Event, jobs: Sequence[Job], available: Collection[str]) -> Iterator[str]:
    if event.counts_as_fork:
        if event.fork is None:
            yield "The payload does not say where the code comes from, so it counts as a fork's."
        if is_self_hosted(manifest.cpu):
            yield (
                f"The runner cpu ({', '.join(_labels(manifest.cpu))}) is self-hosted: plan and gate run there "
                "before any policy can say no. Use a GitHub-hosted runner for cpu."
            )
    yield from _absent(manifest, jobs, available)
    withheld = [job.name for job in jobs if job.withheld]
    if withheld:
        yield f"Withheld from a fork ({manifest.forks.policy}): {first_few(withheld, 5)}. Nothing of it was verified."
    if event.action == "labeled" and event.name == "pull_request":
        if manifest.forks.policy != "label":
            yield f"Adding a label starts no run: forks.policy is {manifest.forks.policy}."
        elif is_other_label(manifest, event):
            yield f"The label {event.label or '(unknown)'} is not {manifest.forks.label}, so it gives no right to run."
    if is_mirror(manifest, event):
        yield f"{event.branch} is a vetted pull request: it is compared with the default branch."
    triggers = manifest.triggers
    if event.name == "push" and event.ref is None and triggers.push not in (None, RefFilter()):
        yield "The pushed branch is not known, so the filters of triggers.push were not checked (--ref)."
    if event.name == "pull_request" and event.base_branch is None and triggers.pull_request not in (None, RefFilter()):
        yield "The name of the base branch is not known, so the filters of triggers.pull_request were not checked."


def _absent(manifest: Manifest, jobs: Sequence[Job], available: Collection[str]) -> Iterator[str]:
    for job in jobs:
        if job.run and job.kind == "stage" and job.name not in available:
            yield f"{job.name} is not available in this version of rocm-ci: the job will be red"
    wrapped = [job.name for job in jobs if job.run and job.gpu]
    if manifest.probe is not None and wrapped and PROBE not in available:
        yield f"{PROBE} is not available in this version of rocm-ci: {first_few(wrapped, 5)} will be red"


def _labels(runner: Runner) -> Sequence[str]:
    return runner.labels or (f"group {runner.group}",)


def _shown(path: str) -> str:
    return shorten(printable_path(path), _PATH_LIMIT)
