r"""JSON Schema validation whose errors carry a place: jsonschema's Draft 2020-12 with some keywords made stricter.

* `pattern` is matched up to the very end: `$` of Python's `re` also matches before a line end at the end, so that
  `gfx90a\n` would pass.
* `additionalProperties` and `propertyNames` yield one error for each key, at that key.
* `uniqueItems` yields the index of each repeated item.
* An integer is an integer: 2.0 is none, since it would be shown and rendered as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.protocols import Validator

from rocm_ci_gen.manifest.schema import load_schema

_Errors = Iterator[ValidationError]


@cache
def anchored(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the schema so that a closing `$` means the very end of the text."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> _Errors:
    del schema
    if validator.is_type(instance, "string") and not anchored(pattern).search(instance):
        yield ValidationError("does not match")


def _additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> _Errors:
    if not validator.is_type(instance, "object"):
        return
    for key, value in instance.items():
        if key in schema.get("properties", {}):
            continue
        if allowed is False:
            yield ValidationError("unknown key", path=[key])
        else:
            yield from validator.descend(value, allowed, path=key)


def _property_names(validator: Any, names: Any, instance: Any, schema: Any) -> _Errors:
    del schema
    if not validator.is_type(instance, "object"):
        return
    for key in instance:
        # The first error is enough: two about one name would say the same.
        for error in validator.descend(key, names):
            yield ValidationError("bad key", path=[key], instance=key, context=[error])
            break


def _unique(validator: Any, unique: bool, instance: Any, schema: Any) -> _Errors:
    del schema
    if not (unique and validator.is_type(instance, "array")):
        return
    seen: dict[tuple[type, Any], int] = {}
    for index, item in enumerate(instance):
        # Only lists of scalars are unique in this schema; another item is an error of its own.
        if isinstance(item, (dict, list)):
            continue
        first = seen.setdefault((type(item), item), index)
        if first != index:
            yield ValidationError(str(first), path=[index])


def _required(validator: Any, required: list[str], instance: Any, schema: Any) -> _Errors:
    del schema
    if validator.is_type(instance, "object"):
        for key in required:
            if key not in instance:
                yield ValidationError(key)


def _dependent_required(validator: Any, dependencies: Any, instance: Any, schema: Any) -> _Errors:
    del schema
    if validator.is_type(instance, "object"):
        for key, others in dependencies.items():
            for other in others:
                if key in instance and other not in instance:
                    yield ValidationError(other, path=[key])


def _is_integer(checker: Any, instance: Any) -> bool:
    del checker
    return isinstance(instance, int) and not isinstance(instance, bool)


@cache
def validator() -> Validator:
    """The validator of the manifest's schema.

    Its errors hold the place in `absolute_path`; for `required` and `dependentRequired` the missing key, and for
    `uniqueItems` the index of the first of the equal items, is the message.
    """
    strict: Any = validators.extend(  # type: ignore[no-untyped-call] # types-jsonschema has no types for it
        Draft202012Validator,
        {
            "pattern": _pattern,
            "additionalProperties": _additional,
            "propertyNames": _property_names,
            "uniqueItems": _unique,
            "required": _required,
            "dependentRequired": _dependent_required,
        },
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
    )
    made: Validator = strict(load_schema())
    return made
