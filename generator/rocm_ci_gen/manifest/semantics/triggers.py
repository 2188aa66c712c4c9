"""What starts the workflow: does anything, and does the fork policy fit?"""

from __future__ import annotations

from collections.abc import Iterator

from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.findings import Finding
from rocm_ci_gen.manifest.semantics import cron
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.words import show


def check(doc: Document) -> Iterator[Finding]:
    """All findings about triggers and forks."""
    if doc.has("triggers"):
        yield from _none(doc)
        yield from _both(doc)
        yield from _schedule(doc)
    yield from _forks(doc)


def _enabled(doc: Document, event: str) -> bool:
    """Whether an event starts the workflow; a mapping of filters does, `false` and an empty list do not."""
    if not doc.has("triggers"):
        return event in ("push", "pull_request", "merge_group", "manual")
    if event == "schedule":
        return bool(doc.texts("triggers", "schedule"))
    return doc.has("triggers", event) and doc.value("triggers", event) is not False


def _none(doc: Document) -> Iterator[Finding]:
    events = ("push", "pull_request", "merge_group", "schedule", "manual")
    mirror = doc.text("forks", "policy") == "mirror"
    if doc.intact("triggers") and not mirror and not any(_enabled(doc, event) for event in events):
        yield Finding(
            "no-trigger",
            ("triggers",),
            "nothing starts the workflow",
            fix="add `pull_request: true` or `manual: true`, or remove `triggers:` for the defaults",
            on_key=True,
        )


def _both(doc: Document) -> Iterator[Finding]:
    for event in ("push", "pull_request"):
        for kind in ("branches", "tags"):
            path = ("triggers", event, f"{kind}-ignore")
            if doc.has("triggers", event, kind) and doc.has(*path):
                yield Finding(
                    "filters-conflict",
                    path,
                    f"GitHub takes {show(kind)} or {show(path[-1])} for one event, not both",
                    fix=f"keep {show(kind)}, and exclude with `!`: a pattern with `!` at the end of the list",
                    on_key=True,
                )


def _schedule(doc: Document) -> Iterator[Finding]:
    shortest = facts()["schedule"]["shortest_interval_minutes"]
    for place, line in doc.texts("triggers", "schedule"):
        try:
            parsed = cron.parse(line)
        except cron.CronError as error:
            yield Finding("cron", place, str(error), fix=error.fix)
            continue
        if parsed.shortest_gap < shortest:
            yield Finding(
                "cron-too-often",
                place,
                f"{show(line)} asks for runs {parsed.shortest_gap} min apart; GitHub keeps at least {shortest} min",
                fix=f"for example `*/{shortest}` as the minute",
            )


def _forks(doc: Document) -> Iterator[Finding]:
    policy = doc.text("forks", "policy") or "never"
    pull_requests = _enabled(doc, "pull_request")
    path = ("forks", "policy")
    if policy == "label" and not pull_requests:
        yield Finding(
            "fork-policy",
            path,
            "`policy: label` has no effect: `triggers` has no `pull_request`",
            fix="add `pull_request: true` to `triggers`, or remove the policy",
        )
    if policy == "mirror" and pull_requests:
        yield Finding(
            "fork-policy",
            path,
            "with `policy: mirror` the `pull_request` run of a fork can verify nothing; only its mirror branch can",
            fix="remove `pull_request` from `triggers`, and require the checks of the mirror branches",
        )
    if policy != "label" and doc.has("forks", "label"):
        yield Finding(
            "no-effect",
            ("forks", "label"),
            f"`label` has no effect with `policy: {policy}`",
            fix="remove it, or write `policy: label`",
            on_key=True,
        )
