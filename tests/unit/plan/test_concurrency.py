"""The group that plan names is the one that the workflow's own expression gives."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

from rocm_ci_gen.manifest import Manifest
from rocm_ci_gen.plan.concurrency import concurrency
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.workflow import expressions

Make = Callable[..., Manifest]


class Text(str):
    """A string that compares as in GitHub's expressions: without regard to case."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def evaluate(expression: str, github: dict[str, Any]) -> str:
    """A template of GitHub's with the operators that the workflow uses: `||`, `&&`, `==`, `!=`, `format`."""

    def look_up(match: re.Match[str]) -> str:
        value: Any = github
        for key in match[0].split(".")[1:]:
            value = value.get(key) if isinstance(value, dict) else None
        return repr(value) if not isinstance(value, str) else f"Text({value!r})"

    def one(match: re.Match[str]) -> str:
        code = re.sub(r"github(?:\.\w+)+", look_up, match[1].strip())
        code = code.replace("&&", " and ").replace("||", " or ")
        value = eval(code, {"Text": Text, "format": lambda form, *args: form.format(*args)})  # noqa: S307
        return str(value).lower() if isinstance(value, bool) else str(value)

    return re.sub(r"\$\{\{(.*?)\}\}", one, expression)


EVENTS = [
    Event("pull_request", number=12, ref="refs/pull/12/merge", run_id="9", action="synchronize"),
    Event("pull_request", number=12, ref="refs/pull/12/merge", run_id="9", action="labeled", label="ok-to-test"),
    Event("pull_request", number=12, ref="refs/pull/12/merge", run_id="9", action="labeled", label="OK-To-Test"),
    Event("pull_request", number=12, ref="refs/pull/12/merge", run_id="9", action="labeled", label="docs"),
    Event("pull_request", number=12, ref="refs/pull/12/merge", run_id="9", action="unlabeled"),
    Event("push", ref="refs/heads/main", run_id="9"),
    Event("push", ref="refs/heads/pull-request/12", run_id="9"),
    Event("push", ref="refs/tags/v1", run_id="9"),
    Event("merge_group", ref="refs/heads/gh-readonly-queue/main/pr-12-abc", run_id="9"),
    Event("schedule", ref="refs/heads/main", run_id="9"),
    Event("workflow_dispatch", ref="refs/heads/main", run_id="9"),
]


@pytest.mark.parametrize(
    ("event", "policy", "cancel"), list(itertools.product(EVENTS, ["never", "label", "mirror"], [True, False]))
)
def test_same_as_the_workflows_expression(make: Make, event: Event, policy: str, cancel: bool) -> None:
    manifest = make(f"forks: {{policy: {policy}}}\nconcurrency: {{cancel-in-progress: {str(cancel).lower()}}}")
    payload: dict[str, Any] = {"action": event.action}
    if event.number:
        payload["pull_request"] = {"number": event.number}
    if event.label:
        payload["label"] = {"name": event.label}
    github = {
        "workflow": "rocm-ci",
        "event_name": event.name,
        "ref": event.ref,
        "run_id": event.run_id,
        "event": payload,
    }
    found = concurrency(manifest, event)
    assert found.group == evaluate(expressions.concurrency_group(manifest.forks), github)
    expected = expressions.cancel_in_progress(manifest.cancel_in_progress)
    assert found.cancel_in_progress == (evaluate(expected, github) == "true" if isinstance(expected, str) else expected)


def test_two_forks_with_equal_branch_names_never_meet(manifest: Manifest) -> None:
    groups = {concurrency(manifest, Event("pull_request", number=number)).group for number in (1, 2)}
    assert len(groups) == 2


@pytest.mark.parametrize(
    ("event", "group", "cancels"),
    [
        (Event("pull_request"), "rocm-ci-pull_request-<number>", True),
        (Event("push"), "rocm-ci-push-<ref>", True),
        (Event("push", ref="refs/heads/main"), "rocm-ci-push-refs/heads/main", True),
        (Event("merge_group"), "rocm-ci-merge_group-<run id>", False),
        (Event("schedule", number=None), "rocm-ci-schedule-<run id>", False),
    ],
)
def test_what_is_not_known_offline(manifest: Manifest, event: Event, group: str, cancels: bool) -> None:
    found = concurrency(manifest, event)
    assert (found.group, found.cancel_in_progress) == (group, cancels)
