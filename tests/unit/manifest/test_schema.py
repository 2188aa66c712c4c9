"""The schema itself: valid, complete, and safe to match against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from rocm_ci.availability import AVAILABLE_STAGES
from rocm_ci_gen.manifest import schema
from rocm_ci_gen.manifest.phrases import takes
from rocm_ci_gen.manifest.validator import anchored, validator

KEYS = list(schema.all_keys())


def patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            else:
                yield from patterns(value)
    elif isinstance(node, list):
        for item in node:
            yield from patterns(item)


def test_the_schema_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema.load_schema())


def test_the_newest_version_is_what_the_schema_accepts() -> None:
    assert schema.load_schema()["properties"]["version"]["const"] == schema.NEWEST_VERSION


@pytest.mark.parametrize("pattern", sorted(set(patterns(schema.load_schema()))))
def test_patterns_cover_the_whole_text(pattern: str) -> None:
    assert pattern.startswith("^")
    assert pattern.endswith("$")
    # The closing `$` becomes the very end; another one would keep Python's meaning. In brackets it is a character.
    assert re.sub(r"\[[^]]*\]", "", pattern).count("$") == 1
    # Without a choice at the top, which the anchors would not hold for.
    assert not re.search(r"^[^(]*\|", re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", pattern)))
    assert not anchored(pattern).search("\n")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("runners", "a", "gfx"), "gfx90a"),
        (("runners", "a", "labels"), "self-hosted"),
        (("stages", "kernel-tests", "timeout"), "45m"),
        (("container", "volumes", 0), "/a:/b"),
        (("forks", "label"), "ok to test"),
    ],
)
def test_a_line_end_does_not_slip_through(path: tuple[str | int, ...], value: str) -> None:
    document: Any = value
    for part in reversed(path):
        document = [document] if part == 0 else {part: document}
    place = list(path)
    for text, wrong in ((value, False), (f"{value}\n", True), (f"\n{value}", True), (f"{value}\nx", True)):
        found = document
        for part in path[:-1]:
            found = found[part]
        found[path[-1]] = text
        errors = [error for error in validator().iter_errors(document) if list(error.absolute_path) == place]
        assert bool(errors) is wrong, repr(text)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_every_key_is_described_with_a_valid_example(key: schema.Key) -> None:
    assert key.schema["description"].endswith(".")
    assert takes(key.schema)
    for example in (*key.schema["examples"], *([key.schema["default"]] if "default" in key.schema else [])):
        own = {**key.schema, "$defs": schema.load_schema()["$defs"]}
        assert not list(validator().evolve(schema=own).iter_errors(example)), example


def test_a_key_that_the_schema_does_not_have() -> None:
    assert schema.at(("stages", "kernel-test")) is None
    assert schema.at(("nothing", "below", 0)) is None
    with pytest.raises(KeyError, match=r"runners\.a\.labels"):
        schema.default("runners", "a", "labels")


def test_the_example_of_stages_is_one_that_this_release_runs() -> None:
    example = schema.load_schema()["properties"]["stages"]["examples"][0]
    assert set(example) <= AVAILABLE_STAGES
