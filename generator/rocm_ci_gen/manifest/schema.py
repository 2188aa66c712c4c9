"""Reading `schema.json`: the subschema of a key, defaults, and the list of all keys.

The schema is the one place that says what a key means, what it may hold and what holds when it is left out;
validation, `resolve`, `explain` and the manual are all made from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from rocm_ci_gen import resources

Schema = dict[str, Any]

NEWEST_VERSION = 1
"""The manifest version that this release reads; the schema says it too (`const`), and a test holds them together."""


def schema_text() -> str:
    """The JSON Schema as it is published, byte for byte."""
    return resources.data_text("manifest/schema.json")


@cache
def load_schema() -> Schema:
    """The JSON Schema as data; do not change it."""
    loaded: Schema = json.loads(schema_text())
    return loaded


def follow(schema: Schema) -> Schema:
    """The schema with its `$ref` followed; what stands beside the `$ref` wins.

    `x-def` is the name of what was referred to, and `x-format` its description: a `$defs` entry describes the form
    of a value, a property describes its meaning.
    """
    reference = schema.get("$ref")
    if reference is None:
        return schema
    name = reference.removeprefix("#/$defs/")
    target = load_schema()["$defs"][name]
    merged = {**target, "x-def": name, **{key: value for key, value in schema.items() if key != "$ref"}}
    if "description" in target:
        merged["x-format"] = target["description"]
    return merged


def child(schema: Schema, key: str | int) -> Schema | None:
    """Subschema of a key or list item, with its `$ref` followed; None where the schema has no such place."""
    if isinstance(key, int):
        items = schema.get("items") or schema.get("then", {}).get("items")
        return follow(items) if items else None
    known: Schema | None = schema.get("properties", {}).get(key)
    if known is None and isinstance(schema.get("additionalProperties"), dict):
        known = schema["additionalProperties"]
    return follow(known) if known is not None else None


def at(path: tuple[str | int, ...]) -> Schema | None:
    """Subschema of a path of the document, such as `("stages", "kernel-tests", "shards")`."""
    schema: Schema | None = load_schema()
    for part in path:
        schema = child(schema, part) if schema is not None else None
    return schema


def names_at(path: tuple[str | int, ...]) -> list[str]:
    """Names of the keys that a mapping at a path may have."""
    return list((at(path) or {}).get("properties", {}))


def default(*path: str) -> Any:
    """Default of a key.

    Raises:
        KeyError: the schema gives none; asking is a mistake in the caller.
    """
    schema = at(path)
    if schema is None or "default" not in schema:
        raise KeyError(".".join(path))
    return schema["default"]


@dataclass(frozen=True)
class Key:
    """A key of the manifest. In `path`, `NAME` stands for a name that the user chooses and `[]` for a list item."""

    path: str
    name: str
    schema: Schema
    required: bool


def all_keys() -> Iterator[Key]:
    """Every key, parents first, in the order of the schema."""
    yield from _keys(load_schema(), "")


def _keys(schema: Schema, prefix: str) -> Iterator[Key]:
    required = schema.get("required", ())
    own = schema.get("additionalProperties")
    for name, raw in schema.get("properties", {}).items():
        key = Key(f"{prefix}{name}", name, follow(raw), name in required)
        # A well-known name among names of the user's (`runners.cpu`) has the keys of the others.
        yield from (key,) if isinstance(own, dict) and raw.get("$ref") == own.get("$ref") else _key(key)
    # A mapping of names to mappings (`runners`, `jobs`); a mapping of names to scalars (`env`) has no keys of its own.
    if isinstance(own, dict) and "properties" in follow(own):
        yield from _key(Key(f"{prefix}NAME", "NAME", follow(own), required=False))


def _key(key: Key) -> Iterator[Key]:
    yield key
    yield from _keys(key.schema, f"{key.path}.")
    items = child(key.schema, 0)
    if items is not None and "properties" in items:
        yield from _keys(items, f"{key.path}[].")
