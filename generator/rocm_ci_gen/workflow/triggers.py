"""From the manifest's triggers to the workflow's `on:`."""

from __future__ import annotations

from rocm_ci_gen.manifest.model import Manifest, RefFilter, Triggers
from rocm_ci_gen.workflow.errors import RenderError

MIRROR_BRANCHES = "pull-request/[0-9]+"
"""Branches that a bot fills with vetted commits of pull requests; a pattern of GitHub's filter syntax."""

_PULL_REQUEST_TYPES = ("opened", "synchronize", "reopened")  # GitHub's default, needed as soon as one is added


def mirror_filter(push: RefFilter | None) -> RefFilter:
    """Filter of pushes that also lets the mirrored branches in.

    Nothing changes where all branches count already, or where branches are named by exclusion.
    """
    if push is None:
        return RefFilter(branches=(MIRROR_BRANCHES,))
    if push == RefFilter() or push.branches_ignore is not None:
        return push
    branches = push.branches or ()
    if MIRROR_BRANCHES in branches[-1:]:
        return push
    # Last, because the last pattern that matches decides.
    return RefFilter((*branches, MIRROR_BRANCHES), None, push.tags, push.tags_ignore)


def effective(manifest: Manifest) -> Triggers:
    """The triggers as the workflow has them, with what the fork policy adds."""
    triggers = manifest.triggers
    if manifest.forks.policy != "mirror":
        return triggers
    return Triggers(
        mirror_filter(triggers.push),
        triggers.pull_request,
        triggers.merge_group,
        triggers.schedule,
        triggers.manual,
    )


def events(manifest: Manifest) -> dict[str, object]:
    """The events of the workflow with their filters: its `on:`.

    Raises:
        RenderError: nothing starts the workflow.
    """
    triggers = effective(manifest)
    found: dict[str, object] = {}
    if triggers.push is not None:
        found["push"] = _filters(triggers.push)
    if triggers.pull_request is not None:
        filters = _filters(triggers.pull_request)
        if manifest.forks.policy == "label":
            filters = {"types": (*_PULL_REQUEST_TYPES, "labeled"), **filters}
        found["pull_request"] = filters
    if triggers.merge_group:
        found["merge_group"] = {}
    if triggers.manual:
        found["workflow_dispatch"] = {}
    if triggers.schedule:
        found["schedule"] = [{"cron": line} for line in triggers.schedule]
    if not found:
        raise RenderError("no trigger starts the workflow.", help="Add one to `triggers`, such as `manual: true`.")
    return found


def _filters(refs: RefFilter) -> dict[str, tuple[str, ...]]:
    named = {
        "branches": refs.branches,
        "branches-ignore": refs.branches_ignore,
        "tags": refs.tags,
        "tags-ignore": refs.tags_ignore,
    }
    return {key: value for key, value in named.items() if value is not None}
