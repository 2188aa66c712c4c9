"""Events from payloads of any shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci_gen.plan.event import Event, from_payload, is_zero, read_payload

BASE, HEAD = "a" * 40, "b" * 40


def pull_request(**changes: Any) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "action": "synchronize",
        "number": 12,
        "pull_request": {
            "number": 12,
            "base": {"ref": "main", "sha": BASE, "repo": {"full_name": "org/project"}},
            "head": {"ref": "patch-1", "sha": HEAD, "repo": {"full_name": "org/project"}},
        },
        "repository": {"full_name": "org/project", "default_branch": "main"},
    }
    return payload | changes


def from_files(tmp_path: Path, name: str, payload: object, **environ: str) -> Event:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    return Event.from_environ({"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), **environ})


def test_pull_request(tmp_path: Path) -> None:
    event = from_files(
        tmp_path,
        "pull_request",
        pull_request(),
        GITHUB_REF="refs/pull/12/merge",
        GITHUB_SHA="c" * 40,
        GITHUB_REPOSITORY="org/project",
        GITHUB_RUN_ID="77",
        GITHUB_WORKFLOW="rocm-ci",
        GITHUB_WORKFLOW_REF="org/project/.github/workflows/rocm-ci.yml@refs/pull/12/merge",
    )
    assert event == Event(
        name="pull_request",
        action="synchronize",
        ref="refs/pull/12/merge",
        base=BASE,
        head=HEAD,
        base_branch="main",
        number=12,
        fork=False,
        repository="org/project",
        default_branch="main",
        run_id="77",
        workflow="rocm-ci",
        rendered_workflow=True,
        started=True,
    )


@pytest.mark.parametrize(
    ("head_repo", "fork"),
    [
        ({"full_name": "stranger/project", "fork": True}, True),
        ({"full_name": "ORG/Project"}, False),
        (None, True),
        ({}, None),
        ({"full_name": 3}, None),
        ("org/project", None),
    ],
)
def test_fork(head_repo: object, fork: bool | None) -> None:
    payload = pull_request()
    payload["pull_request"]["head"]["repo"] = head_repo
    event = from_payload("pull_request", payload)
    assert event.fork is fork
    assert event.counts_as_fork == (fork is not False)


def test_a_pull_request_without_a_word_on_its_origin_counts_as_a_fork() -> None:
    for payload in ({}, None, [], {"pull_request": {}}, {"pull_request": {"head": {}}}, "x"):
        assert from_payload("pull_request", payload).counts_as_fork


@pytest.mark.parametrize("name", ["push", "merge_group", "schedule", "workflow_dispatch"])
def test_events_of_the_repository_itself_are_no_forks(name: str) -> None:
    assert from_payload(name, {}).fork is False


@pytest.mark.parametrize("name", ["issue_comment", "workflow_run", "pull_request_review", "anything"])
def test_other_events_count_as_forks_unless_they_say_otherwise(name: str) -> None:
    assert from_payload(name, {}).counts_as_fork
    assert from_payload(name, pull_request()).fork is False


def test_push(tmp_path: Path) -> None:
    payload = {"ref": "refs/heads/main", "before": BASE, "after": HEAD, "repository": {"default_branch": "main"}}
    event = from_files(tmp_path, "push", payload, GITHUB_REF="refs/heads/main", GITHUB_SHA=HEAD)
    assert (event.base, event.head, event.branch, event.tag, event.doubt) == (BASE, HEAD, "main", None, None)


def test_merge_group(tmp_path: Path) -> None:
    payload = {
        "action": "checks_requested",
        "merge_group": {"base_sha": BASE, "head_sha": HEAD, "base_ref": "refs/heads/main"},
    }
    event = from_files(tmp_path, "merge_group", payload, GITHUB_REF="refs/heads/gh-readonly-queue/main/pr-1-x")
    assert (event.base, event.head, event.base_branch, event.doubt) == (BASE, HEAD, "main", None)


def test_label_only_of_the_event_that_adds_it() -> None:
    labeled = from_payload("pull_request", pull_request(action="labeled", label={"name": "ok-to-test"}))
    unlabeled = from_payload("pull_request", pull_request(action="unlabeled", label={"name": "ok-to-test"}))
    carried = pull_request()
    carried["pull_request"]["labels"] = [{"name": "ok-to-test"}]
    assert labeled.label == "ok-to-test"
    assert unlabeled.label is None
    assert from_payload("pull_request", carried).label is None


def test_an_empty_push_payload_is_a_doubt_and_keeps_what_the_environment_knows(tmp_path: Path) -> None:
    event = from_files(tmp_path, "push", {}, GITHUB_REF="refs/heads/main", GITHUB_SHA=HEAD)
    assert event.doubt == "the payload of push names no base commit"
    assert (event.base, event.head, event.branch, event.fork) == (None, HEAD, "main", False)


def test_no_payload_at_all() -> None:
    event = Event.from_environ({"GITHUB_EVENT_NAME": "push"})
    assert event.doubt == "GITHUB_EVENT_PATH is not set"
    assert event.started


def test_the_merge_commit_of_a_pull_request_is_not_its_head(tmp_path: Path) -> None:
    event = from_files(tmp_path, "pull_request", {}, GITHUB_SHA="c" * 40)
    assert event.head is None


def test_a_workflow_of_a_persons_own(tmp_path: Path) -> None:
    ref = "org/project/.github/workflows/mine.yml@refs/heads/main"
    assert not from_files(tmp_path, "push", {}, GITHUB_WORKFLOW_REF=ref).rendered_workflow
    assert not from_files(tmp_path, "push", {}).rendered_workflow


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN'])
def test_damaged_payloads(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(data)
    assert read_payload(path) == (None, "the event's payload is not valid JSON")


def test_a_payload_that_cannot_be_read(tmp_path: Path) -> None:
    value, doubt = read_payload(tmp_path / "absent.json")
    assert value is None
    assert doubt == "the event's payload cannot be read: No such file or directory"


@pytest.mark.parametrize("sha", ["", "main", "-x", "a" * 39, "A" * 40, "g" * 40, "a" * 40 + "\n", 7, None, ["a" * 40]])
def test_only_full_commit_ids_are_believed(sha: object) -> None:
    event = from_payload("push", {"before": sha, "after": HEAD})
    assert event.base is None
    assert event.doubt


@pytest.mark.parametrize("number", [True, -1, 0, "12", 1.5, None])
def test_only_positive_numbers_are_believed(number: object) -> None:
    payload = pull_request(number=number)
    payload["pull_request"]["number"] = number
    assert from_payload("pull_request", payload).number is None


def test_zero_commits() -> None:
    assert is_zero("0" * 40)
    assert is_zero("0" * 64)
    assert not is_zero("0" * 41)
    assert not is_zero(None)


KEYS = st.sampled_from(
    [
        "action",
        "after",
        "base",
        "base_sha",
        "before",
        "default_branch",
        "full_name",
        "head",
        "head_sha",
        "label",
        "merge_group",
        "name",
        "number",
        "pull_request",
        "ref",
        "repo",
        "repository",
        "sha",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from([BASE, HEAD]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(st.sampled_from(["push", "pull_request", "merge_group", "schedule", "release", ""]), JSON)
def test_any_payload_gives_an_event(name: str, payload: object) -> None:
    event = from_payload(name, payload)
    for text in (event.ref, event.label, event.base_branch, event.repository, event.default_branch):
        assert text is None or text.isprintable()
    for commit in (event.base, event.head):
        assert commit in (None, BASE, HEAD)
    assert name != "pull_request" or event.doubt or (event.base and event.head)
