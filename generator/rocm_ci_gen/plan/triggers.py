"""Whether an event starts the workflow: GitHub's branch and tag filters, as the manifest's `triggers` have them.

Source: GitHub's documentation, "Workflow syntax for GitHub Actions",
`on.push.<branches|tags|branches-ignore|tags-ignore>` and `on.pull_request.<branches|branches-ignore>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm_ci_gen.filter_patterns import Verdict, decide
from rocm_ci_gen.manifest.model import Manifest, RefFilter
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.workflow.triggers import MIRROR_BRANCHES, effective

KNOWN_EVENTS = ("push", "pull_request", "merge_group", "schedule", "workflow_dispatch")
"""Events that a manifest can ask for."""


@dataclass(frozen=True)
class Trigger:
    """Whether an event starts the workflow, and the filter that says so."""

    starts: bool
    reason: str


def is_mirror(manifest: Manifest, event: Event) -> bool:
    """Whether the event is the push of a vetted pull request to its mirror branch."""
    branch = event.branch
    return (
        manifest.forks.policy == "mirror"
        and event.name == "push"
        and branch is not None
        and decide([MIRROR_BRANCHES], branch).included
    )


def trigger(manifest: Manifest, event: Event) -> Trigger:
    """Say whether `event` starts the workflow.

    An event that no manifest can ask for starts it: it evidently did, and `decide` treats it as a doubt.
    """
    triggers = effective(manifest)
    if event.name == "push":
        return _push(triggers.push, event)
    if event.name == "pull_request":
        return _pull_request(triggers.pull_request, event)
    if event.name == "merge_group":
        return _switch(triggers.merge_group, "merge_group")
    if event.name == "schedule":
        return _switch(bool(triggers.schedule), "schedule")
    if event.name == "workflow_dispatch":
        return _switch(triggers.manual, "manual")
    return Trigger(True, f"the event {event.name or 'without a name'} is none that a manifest asks for")


def _switch(on: bool, key: str) -> Trigger:
    return Trigger(on, f"triggers.{key} is {'set' if on else 'not set'}")


def _push(filters: RefFilter | None, event: Event) -> Trigger:
    if filters is None:
        return _switch(False, "push")
    tag, branch = event.tag, event.branch
    if tag is None and branch is None:
        # Without a name no filter can be read; whether anything runs is then not ours to deny.
        return Trigger(True, "triggers.push is set; the pushed branch or tag is not known")
    on_branches = filters.branches is not None or filters.branches_ignore is not None
    on_tags = filters.tags is not None or filters.tags_ignore is not None
    if tag is not None:
        if on_branches and not on_tags:
            return Trigger(False, f"triggers.push has only branch filters, and {tag} is a tag")
        return _named("tag", tag, "push.tags", filters.tags, filters.tags_ignore)
    assert branch is not None  # noqa: S101 - one of the two is set here
    if on_tags and not on_branches:
        return Trigger(False, f"triggers.push has only tag filters, and {branch} is a branch")
    return _named("branch", branch, "push.branches", filters.branches, filters.branches_ignore)


def _pull_request(filters: RefFilter | None, event: Event) -> Trigger:
    if filters is None:
        return _switch(False, "pull_request")
    if event.base_branch is None:
        return Trigger(True, "triggers.pull_request is set; the base branch is not known")
    key = "pull_request.branches"
    return _named("base branch", event.base_branch, key, filters.branches, filters.branches_ignore)


def _named(what: str, name: str, key: str, include: Sequence[str] | None, ignore: Sequence[str] | None) -> Trigger:
    """Read one pair of filters. GitHub forbids both at once; if both are there, both have to agree."""
    if ignore is not None:
        decision = decide(ignore, name)
        if decision.included:
            return Trigger(False, f"{what} {name} matches {decision.pattern} of triggers.{key}-ignore")
        if include is None:
            return Trigger(True, f"{what} {name} matches nothing of triggers.{key}-ignore")
    if include is None:
        return Trigger(True, f"{what} {name}: triggers.{key} sets no filter")
    decision = decide(include, name)
    if decision.included:
        return Trigger(True, f"{what} {name} matches {decision.pattern} of triggers.{key}")
    if decision.verdict is Verdict.EXCLUDED:
        return Trigger(False, f"{what} {name} matches {decision.pattern} of triggers.{key}")
    return Trigger(False, f"{what} {name} matches none of triggers.{key}: {', '.join(include)}")
