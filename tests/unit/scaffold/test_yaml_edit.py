"""Adding to a YAML file of the user's: only insertions, and the meaning that was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from rocm_ci_gen.scaffold.yaml_edit import add, block, present

LABELS = ("self-hosted-runner", "labels")
POLICIES = ("rules", "unpinned-uses", "config", "policies")


def load(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def is_subsequence(old: str, new: str) -> bool:
    """Whether `new` is `old` with insertions only."""
    rest = iter(new)
    return all(char in rest for char in old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "self-hosted-runner:\n  labels:\n    - new\n"),
        ("# mine\n", "# mine\nself-hosted-runner:\n  labels:\n    - new\n"),
        ("x: 1", "x: 1\nself-hosted-runner:\n  labels:\n    - new\n"),
        (
            "self-hosted-runner:\n  labels:\n    - a # why\n    - b\n\n# tail\nx: null\n",
            "self-hosted-runner:\n  labels:\n    - a # why\n    - b\n    - new\n\n# tail\nx: null\n",
        ),
        (
            "self-hosted-runner:\n    labels:\n    -   a\n    # after\n",
            "self-hosted-runner:\n    labels:\n    -   a\n    - new\n    # after\n",
        ),
        ("self-hosted-runner:\n  labels: [a]  # c\nx: {}\n", "self-hosted-runner:\n  labels: [a, new]  # c\nx: {}\n"),
        ("self-hosted-runner:\n  labels: []\n", "self-hosted-runner:\n  labels: [new]\n"),
        ("self-hosted-runner:\n  labels: [\n    a,\n  ]\n", "self-hosted-runner:\n  labels: [\n    a, new\n  ]\n"),
        ("self-hosted-runner:\n  labels:\nx: 1\n", "self-hosted-runner:\n  labels:\n    - new\nx: 1\n"),
        ("self-hosted-runner:  # q\n", "self-hosted-runner:  # q\n  labels:\n    - new\n"),
        ("self-hosted-runner: {labels: [a]}\n", "self-hosted-runner: {labels: [a, new]}\n"),
        ("self-hosted-runner: {}\n", "self-hosted-runner: {labels: [new]}\n"),
        ("self-hosted-runner:\r\n  labels:\r\n  - a\r\n", "self-hosted-runner:\r\n  labels:\r\n  - a\r\n  - new\r\n"),
        ("\ufeffx: 1\n", "\ufeffx: 1\nself-hosted-runner:\n  labels:\n    - new\n"),
    ],
)
def test_a_label_is_inserted(old: str, new: str) -> None:
    assert add(old, LABELS, ["new"]) == new
    assert add(new, LABELS, ["new"]) == new


@pytest.mark.parametrize("null", ["~", "null"])
def test_a_key_without_a_value_gets_one(null: str) -> None:
    assert (
        add(f"self-hosted-runner: {null}\nx: 1\n", LABELS, ["new"])
        == "self-hosted-runner:\n  labels:\n    - new\nx: 1\n"
    )


@pytest.mark.parametrize(
    "old",
    [
        "- a\n",
        "a: b: c\n",
        "x: 1\n---\ny: 2\n",
        "self-hosted-runner: 3\n",
        "self-hosted-runner: {labels: x}\n",
        "a: 1\na: 2\n",
        "\t",
        "\x00",
        "text\n",
    ],
)
def test_what_is_not_understood_is_left_alone(old: str) -> None:
    assert add(old, LABELS, ["new"]) is None


def test_existing_entries_win() -> None:
    old = "rules:\n  unpinned-uses:\n    config:\n      policies:\n        a/b: hash-pin  # ours\n"
    new = add(old, POLICIES, {"a/b": "ref-pin", "c/*": "ref-pin"})
    assert new == old + '        "c/*": ref-pin\n'
    assert add(old, POLICIES, {"a/b": "ref-pin"}) == old


def test_keys_that_are_missing_in_the_middle_are_made() -> None:
    old = "rules:\n  unpinned-uses:\n    ignore: [x.yml]\n  other: {disable: true}\n"
    new = add(old, POLICIES, {"a": "any"})
    assert new == (
        "rules:\n  unpinned-uses:\n    ignore: [x.yml]\n    config:\n      policies:\n        a: any\n"
        "  other: {disable: true}\n"
    )


def test_present() -> None:
    assert present("a: {b: [1]}\n", ("a", "b")) == [1]
    assert present("a: {b: [1]}\n", ("a", "c")) is None
    assert present("a: [", ("a",)) is None
    assert present("a: 1\n", ("a", "b")) is None


def test_block_is_what_it_says() -> None:
    assert load(block(POLICIES, {"a/*": "any"})) == {
        "rules": {"unpinned-uses": {"config": {"policies": {"a/*": "any"}}}}
    }


KEYS = st.sampled_from(["self-hosted-runner", "labels", "x", "y"])
LEAVES = st.one_of(st.none(), st.sampled_from(["a", "n", "true", "x y", "#"]), st.integers(0, 9), st.booleans())
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(KEYS, TREES, max_size=3),
    st.booleans(),
    st.lists(st.sampled_from(["new", "more", "yes"]), min_size=1, unique=True),
)
def test_any_document_is_only_added_to(document: dict[str, Any], flow: bool, items: list[str]) -> None:
    import io

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = flow
    stream = io.StringIO()
    yaml.dump(document, stream)
    old = stream.getvalue()
    new = add(old, LABELS, items)
    if new is None:
        runner = load(old).get("self-hosted-runner")
        assert not isinstance(runner, dict | None) or not isinstance(runner.get("labels"), list | None)
        return
    assert is_subsequence("".join(old.split()), "".join(new.split())) or "null" in old or "{}" in old
    assert set(items) <= set(map(str, load(new)["self-hosted-runner"]["labels"]))
    assert add(new, LABELS, items) == new
