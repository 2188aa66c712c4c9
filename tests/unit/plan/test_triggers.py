"""Branch and tag filters as GitHub documents them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocm_ci_gen.manifest import Manifest
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.triggers import is_mirror, trigger

Make = Callable[..., Manifest]
STAGES = """
version: 1
runners: {gpu: {labels: [self-hosted, x], gfx: gfx90a, gpus: 1}}
stages: {hipify-check: {}}
"""


def starts(manifest: Manifest, event: Event) -> bool:
    return trigger(manifest, event).starts


def push(ref: str) -> Event:
    return Event("push", ref=ref)


@pytest.mark.parametrize(
    ("filters", "yes", "no"),
    [
        ("true", ["refs/heads/a", "refs/heads/a/b", "refs/tags/v1"], []),
        ("{branches: [main, 'releases/**', '!releases/**-alpha']}", ["refs/heads/main", "refs/heads/releases/10"],
         ["refs/heads/releases/10-alpha", "refs/heads/dev", "refs/tags/main"]),
        ("{branches: ['!dev', '**']}", ["refs/heads/dev"], ["refs/tags/v1"]),
        ("{branches: ['**', '!dev']}", ["refs/heads/main"], ["refs/heads/dev"]),
        ("{branches-ignore: [mona/octocat, 'releases/**-alpha']}", ["refs/heads/main", "refs/heads/mona/x"],
         ["refs/heads/mona/octocat", "refs/heads/releases/beta/3-alpha", "refs/tags/v2"]),
        ("{tags: ['v*']}", ["refs/tags/v1"], ["refs/tags/x", "refs/heads/v1"]),
        ("{tags-ignore: [v2, 'v1.*']}", ["refs/tags/v3"], ["refs/tags/v2", "refs/tags/v1.9", "refs/heads/main"]),
        ("{branches: [main], tags: ['v*']}", ["refs/heads/main", "refs/tags/v1"], ["refs/heads/v1", "refs/tags/main"]),
        ("{branches-ignore: [dev], tags: [v1]}", ["refs/heads/x", "refs/tags/v1"], ["refs/heads/dev", "refs/tags/v2"]),
    ],
)  # fmt: skip
def test_push(make: Make, filters: str, yes: list[str], no: list[str]) -> None:
    manifest = make(f"triggers: {{push: {filters}}}", base=STAGES)
    assert [ref for ref in yes if not starts(manifest, push(ref))] == []
    assert [ref for ref in no if starts(manifest, push(ref))] == []


def test_the_reason_names_the_filter(make: Make) -> None:
    manifest = make("triggers: {push: {branches: [main, '!main-*']}}", base=STAGES)
    reasons = {
        ref: trigger(manifest, push(ref)).reason for ref in ("refs/heads/dev", "refs/heads/main", "refs/tags/v1")
    }
    assert reasons["refs/heads/dev"] == "branch dev matches none of triggers.push.branches: main, !main-*"
    assert reasons["refs/heads/main"] == "branch main matches main of triggers.push.branches"
    assert reasons["refs/tags/v1"] == "triggers.push has only branch filters, and v1 is a tag"


@pytest.mark.parametrize(
    ("filters", "yes", "no"),
    [
        ("true", ["main", "dev"], []),
        ("{branches: [main, 'release/*']}", ["main", "release/1"], ["dev", "release/1/x"]),
        ("{branches-ignore: ['wip/**']}", ["main"], ["wip/a"]),
    ],
)
def test_pull_request_filters_look_at_the_base(make: Make, filters: str, yes: list[str], no: list[str]) -> None:
    manifest = make(f"triggers: {{pull_request: {filters}}}", base=STAGES)

    def event(base: str) -> Event:
        return Event("pull_request", base_branch=base, ref="refs/pull/1/merge")

    assert [base for base in yes if not starts(manifest, event(base))] == []
    assert [base for base in no if starts(manifest, event(base))] == []


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("push: true", "push"),
        ("pull_request: true", "pull_request"),
        ("merge_group: true", "merge_group"),
        ("schedule: ['0 3 * * *']", "schedule"),
        ("manual: true", "workflow_dispatch"),
    ],
)
def test_only_events_that_are_asked_for(make: Make, key: str, name: str) -> None:
    manifest = make(f"triggers: {{{key}}}", base=STAGES)
    events = ("push", "pull_request", "merge_group", "schedule", "workflow_dispatch")
    assert [event for event in events if starts(manifest, Event(event, ref="refs/heads/main"))] == [name]


def test_what_is_not_known_does_not_deny(make: Make) -> None:
    manifest = make("triggers: {push: {branches: [main]}, pull_request: {branches: [main]}}", base=STAGES)
    assert starts(manifest, Event("push"))
    assert starts(manifest, Event("pull_request"))
    assert starts(manifest, Event("pull_request_target"))


@pytest.mark.parametrize("filters", ["{branches: [main]}", "{tags: ['v*']}", "true", "false"])
def test_mirrored_branches_start_under_the_mirror_policy_only(make: Make, filters: str) -> None:
    triggers = f"triggers: {{push: {filters}, manual: true}}\n"
    mirror = make(triggers + "forks: {policy: mirror}", base=STAGES)
    never = make(triggers, base=STAGES)
    vetted = push("refs/heads/pull-request/17")
    assert starts(mirror, vetted)
    assert is_mirror(mirror, vetted)
    assert starts(never, vetted) == (filters == "true")
    assert not is_mirror(never, vetted)
    for ref in (
        "refs/heads/pull-request/x",
        "refs/heads/pull-request/1/2",
        "refs/heads/pull-request/",
        "refs/tags/pull-request/1",
    ):
        assert not is_mirror(mirror, push(ref))
