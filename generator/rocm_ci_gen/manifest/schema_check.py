"""What the schema says about a document, in plain English: one finding for each root cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rocm_ci_gen.manifest import nodes, schema
from rocm_ci_gen.manifest.findings import Finding, Path, dotted
from rocm_ci_gen.manifest.nodes import Mapping, Node, Scalar, Sequence
from rocm_ci_gen.manifest.validator import validator
from rocm_ci_gen.manifest.words import closest, did_you_mean, names, show

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_FINDINGS = 200
"""Somebody who has more mistakes than this has the wrong file."""

_YAML_1_1 = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping (`key: value`)",
    "null": "nothing",
}
# Of several errors at one place, the one that explains the others.
_ORDER = ("type", "const", "enum", "pattern")


def findings(root: Node) -> list[Finding]:
    """Every violation of the schema, at most 200, one for each place."""
    chosen: dict[tuple[Path, bool, str], ValidationError] = {}
    for error in islice(validator().iter_errors(nodes.plain(root)), MAX_FINDINGS):
        path = tuple(error.absolute_path)
        on_key = error.validator in ("additionalProperties", "propertyNames", "dependentRequired")
        # Several missing keys, and several repeated items, are several causes.
        several = error.message if error.validator in ("required", "dependentRequired") else ""
        known = chosen.get((path, on_key, several))
        if known is None or _rank(error) < _rank(known):
            chosen[(path, on_key, several)] = error
    unknown = {path for path, on_key, _ in chosen if on_key}
    meant = {(*path[:-1], closest(str(path[-1]), _keys_of(path[:-1]))) for path in unknown}
    return [
        _finding(_Case(root, path, error))
        for (path, on_key, missing), error in chosen.items()
        # What stands under an unknown key cannot be judged, and a misspelt key is not missing as well.
        if (on_key or not any(path[:length] in unknown for length in range(1, len(path) + 1)))
        and not (missing and (*path, missing) in meant)
    ]


def _keys_of(path: Path) -> list[str]:
    return list((schema.at(path) or {}).get("properties", {}))


def _rank(error: ValidationError) -> int:
    return _ORDER.index(error.validator) if error.validator in _ORDER else len(_ORDER)


@dataclass(frozen=True)
class _Case:
    """One error of the validator and where it is."""

    root: Node
    path: Path
    error: ValidationError

    @property
    def node(self) -> Node | None:
        """What stands there."""
        return nodes.at(self.root, self.path)

    @property
    def text(self) -> str:
        """What the scalar there says; empty for anything else."""
        return self.node.text if isinstance(self.node, Scalar) else ""

    @property
    def keyword_value(self) -> Any:
        """Value of the schema's keyword that failed."""
        return self.error.validator_value


def _finding(case: _Case) -> Finding:
    return _EXPLAIN.get(str(case.error.validator), _other)(case)


def _place(path: Path) -> str:
    return show(dotted(path)) if path else "the manifest"


def describe(node: Node | None) -> str:
    """What was found, in a message."""
    if isinstance(node, Mapping):
        return "a mapping (`key: value`)"
    if isinstance(node, Sequence):
        return "a list"
    if node is None or node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return f"{show(node.text)} (true or false)"
    if isinstance(node.value, (int, float)):
        return f"the number {show(node.text)}"
    return f"the text {show(node.text)}" if node.text else "an empty text"


def _expected(path: Path, types: list[str]) -> str:
    wanted = [_WORDS[name] for name in types if name != "null"]
    text = " or ".join(wanted)
    form = (schema.at(path) or {}).get("x-format")
    return f"{text} ({form.rstrip('.')[0].lower()}{form.rstrip('.')[1:]})" if form and wanted == ["text"] else text


def _type(case: _Case) -> Finding:
    types = [case.keyword_value] if isinstance(case.keyword_value, str) else list(case.keyword_value)
    message = f"{_place(case.path)} must be {_expected(case.path, types)}, not {describe(case.node)}"
    return Finding("type", case.path, message, fix=_type_fix(case.path, types, case.node))


def _type_fix(path: Path, types: list[str], node: Node | None) -> str:
    example = _example(path)
    if not isinstance(node, Scalar):
        if isinstance(node, Sequence) and len(node.items) == 1 and "string" in types:
            return "write the value without the list"
        return f"for example {example}" if example else ""
    if node.value is None:
        return f"give it a value, for example {example}" if example else "give it a value, or remove it"
    if "string" in types and not isinstance(node.value, str):
        return f'put it in quotes: "{node.text}"'
    if "boolean" in types and node.text.lower() in _YAML_1_1:
        return f"write `{_YAML_1_1[node.text.lower()]}`: in YAML 1.2 only `true` and `false` are booleans"
    if "boolean" in types and node.text.lower() in ("true", "false"):
        return "remove the quotes"
    if types == ["integer"] and re.fullmatch(r"[0-9]{1,18}", node.text):
        return "remove the quotes"
    if "array" in types:
        return f"write a list: [{node.text}]" if len(node.text) < 60 and isinstance(node.value, str) else "write a list"
    return f"for example {example}" if example else ""


def _example(path: Path) -> str:
    examples = (schema.at(path) or {}).get("examples")
    return f"`{path[-1]}: {flow(examples[0])}`" if examples and path and isinstance(path[-1], str) else ""


def flow(value: Any) -> str:
    """A value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z/.][A-Za-z0-9_./@:-]*[A-Za-z0-9_/]", value):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def _enum(case: _Case) -> Finding:
    allowed = [str(value) for value in case.keyword_value]
    match = closest(case.text, allowed)
    message = f"{_place(case.path)} must be one of {names(allowed, 'or')}, not {describe(case.node)}"
    fix = f"write {show(match) if match else names(allowed, 'or')}"
    return Finding("value", case.path, message + did_you_mean(case.text, allowed), fix=fix)


def _pattern(case: _Case) -> Finding:
    found = schema.at(case.path) or {}
    if found.get("type") == ["string", "integer"] and case.text.isdigit():
        return Finding(
            "value",
            case.path,
            f"{_place(case.path)} is the text {show(case.text)} where a number is meant",
            fix=f"remove the quotes: {case.text}",
        )
    if case.text.endswith("\n"):
        return Finding(
            "value",
            case.path,
            f"{_place(case.path)} ends with a line end",
            fix="write it on one line, without `|` and without `\\n`",
        )
    form = found.get("x-format", "")
    expected = f": expected {form[0].lower()}{form[1:].rstrip('.')}" if form else ""
    example = _example(case.path) or _example(case.path[:-1])
    fix = f"for example {example}" if example else ""
    return Finding("value", case.path, f"{_place(case.path)} cannot be {describe(case.node)}{expected}", fix=fix)


def _required(case: _Case) -> Finding:
    place = f" in {_place(case.path)}" if case.path else ""
    example = _example((*case.path, case.error.message))
    return Finding(
        "missing-key",
        case.path,
        f"the key {show(case.error.message)} is missing{place}",
        fix=f"add {example}" if example else f"add `{case.error.message}:`",
        on_key=True,
    )


def _dependent(case: _Case) -> Finding:
    return Finding(
        "missing-key",
        case.path,
        f"{_place(case.path)} needs the key {show(case.error.message)} beside it",
        fix=f"add `{case.error.message}:`",
        on_key=True,
    )


def _unknown(case: _Case) -> Finding:
    key, parent = str(case.path[-1]), case.path[:-1]
    allowed = _keys_of(parent)
    match = closest(key, allowed)
    place = f"in {_place(parent)}" if parent else "at the top of the manifest"
    message = f"{show(key)} is not a key {place}{did_you_mean(key, allowed)}"
    elsewhere = [found.path for found in schema.all_keys() if found.name == key]
    if match:
        fix = f"write {show(match)}"
    elif elsewhere:
        fix = f"it belongs under {names([path.rpartition('.')[0] or 'the top' for path in elsewhere[:3]], 'or')}"
    else:
        fix = (
            f"remove it; the keys are {names(allowed)}" if len(allowed) < 12 else "remove it; see `rocm-ci-gen explain`"
        )
    return Finding("unknown-key", case.path, message, fix=fix, on_key=True)


def _name(case: _Case) -> Finding:
    key, place = str(case.path[-1]), _place(case.path[:-1])
    inner = case.error.context[0] if case.error.context else case.error
    if inner.validator == "enum":
        allowed = [str(value) for value in _Case(case.root, case.path, inner).keyword_value]
        return Finding(
            "unknown-key",
            case.path,
            f"{show(key)} is not a key in {place}{did_you_mean(key, allowed)}",
            fix=f"the keys are {names(allowed)}",
            on_key=True,
        )
    if case.path[-2:-1] == ("env",):
        form = "letters, digits and `_`, not starting with a digit"
    elif case.path[-2:-1] == ("ulimits",):
        form = "lower-case letters"
    elif case.path[-2:-1] == ("with",):
        form = "letters, digits, `_` and `-`"
    else:
        form = "lower-case letters, digits and `-`, starting with a letter, at most 63"
    suggestion = re.sub(r"[^a-z0-9-]+", "-", key.lower()).strip("-")
    fix = f"for example {show(suggestion)}" if form.endswith("63") and re.match("[a-z]", suggestion) else ""
    return Finding("name", case.path, f"{show(key)} cannot be a name in {place}: it has {form}", fix=fix, on_key=True)


def _unique(case: _Case) -> Finding:
    return Finding(
        "repeated",
        case.path,
        f"{show(case.text)} is already entry {int(case.error.message) + 1} of {_place(case.path[:-1])}",
        fix="remove one of them",
    )


def _bound(case: _Case) -> Finding:
    limit = "at least" if case.error.validator == "minimum" else "at most"
    return Finding(
        "value", case.path, f"{_place(case.path)} must be {limit} {case.keyword_value}, not {describe(case.node)}"
    )


def _length(case: _Case) -> Finding:
    what = {"minItems": "has no entry", "minProperties": "has no entry", "minLength": "is empty"}.get(
        str(case.error.validator)
    )
    message = f"{_place(case.path)} {what or f'has more than {case.keyword_value} characters'}"
    example = _example(case.path) or _example(case.path[:-1])
    return Finding(
        "empty-value" if what else "value", case.path, message, fix=f"for example {example}" if example else ""
    )


def _other(case: _Case) -> Finding:
    return Finding("value", case.path, f"{_place(case.path)} cannot be {describe(case.node)}")


_EXPLAIN: dict[str, Callable[[_Case], Finding]] = {
    "type": _type,
    "enum": _enum,
    "pattern": _pattern,
    "required": _required,
    "dependentRequired": _dependent,
    "additionalProperties": _unknown,
    "propertyNames": _name,
    "uniqueItems": _unique,
    "minimum": _bound,
    "maximum": _bound,
    "minItems": _length,
    "minProperties": _length,
    "minLength": _length,
    "maxLength": _length,
}
