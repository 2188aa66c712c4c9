"""Names of jobs, and what waits for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.semantics.document import PROBE, STAGE_NAMES, Document
from rocm_ci_gen.manifest.words import closest, did_you_mean, names, show

RESERVED = ("plan", "gate", *STAGE_NAMES)


def check(doc: Document) -> Iterator[Finding]:
    """All findings about job names and `needs`."""
    for name in doc.keys("jobs"):
        if name.lower() in RESERVED:
            yield Finding(
                "reserved-name",
                ("jobs", name),
                f"{show(name)} is the name of a job of rocm-ci's own",
                fix=f"give it another name, such as `my-{name.lower()}`",
                on_key=True,
            )
    jobs = {stage.name: stage.path for stage in doc.stages()}
    # Of two jobs with one name the first finding is enough; the graph keeps the stage.
    jobs.update({name: ("jobs", name) for name in doc.keys("jobs") if name not in jobs})
    graph: dict[str, list[str]] = {name: [] for name in jobs}
    for name, path in jobs.items():
        for place, need in doc.texts(*path, "needs"):
            finding = _need(name, place, need, tuple(jobs))
            if finding is not None:
                yield finding
            else:
                graph[name].append(need)
    yield from _cycles(doc, graph, jobs)


def _need(name: str, place: Path, need: str, jobs: tuple[str, ...]) -> Finding | None:
    if need == name:
        return Finding("needs", place, f"{show(name)} cannot need itself", fix="remove it")
    if need in jobs:
        return None
    if need == PROBE:
        return Finding("needs", place, f"{show(PROBE)} is not a job: it runs inside the GPU stages", fix="remove it")
    if need == "plan":
        return Finding("needs", place, "every job needs `plan` already", fix="remove it")
    if need == "gate":
        return Finding("needs", place, "`gate` is the last job and needs all others", fix="remove it")
    if need in STAGE_NAMES:
        return Finding(
            "needs",
            place,
            f"the stage {show(need)} is not in this manifest",
            fix="add it to `stages`, or remove it here",
        )
    match = closest(need, jobs)
    return Finding(
        "needs",
        place,
        f"there is no stage or job {show(need)}{did_you_mean(need, jobs)}",
        fix=f"write {show(match)}" if match else f"there are {names(jobs)}",
    )


def _cycles(doc: Document, graph: dict[str, list[str]], jobs: dict[str, Path]) -> Iterator[Finding]:
    """One finding for each cycle, at the `needs` of its first job in the file."""
    waiting = _core(graph)
    done: set[str] = set()
    for start in waiting:
        if start in done:
            continue
        cycle = _cycle_through(waiting, start)
        if cycle is None or done.intersection(cycle):
            continue
        done.update(cycle)
        path = jobs[start]
        place = next((spot for spot, need in doc.texts(*path, "needs") if need == cycle[1]), path)
        yield Finding(
            "needs-cycle",
            place,
            f"these jobs wait for each other and none could start: {' → '.join(map(show, cycle))}",
            fix="remove one of these `needs`",
        )


def _core(graph: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The graph without jobs that cannot be in a cycle: they wait for nobody, or nobody waits for them."""
    core = {name: list(needs) for name, needs in graph.items()}
    while True:
        needed = {need for needs in core.values() for need in needs}
        kept = {name for name, needs in core.items() if needs and name in needed}
        if len(kept) == len(core):
            return core
        core = {name: [need for need in core[name] if need in kept] for name in core if name in kept}


def _cycle_through(graph: dict[str, list[str]], start: str) -> list[str] | None:
    """Shortest way from `start` back to itself along `needs`, or None."""
    came_from: dict[str, str] = {}
    queue = [start]
    for name in queue:
        for need in graph[name]:
            if need == start:
                way = [name]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return [*reversed(way), start]
            if need not in came_from:
                came_from[need] = name
                queue.append(need)
    return None
