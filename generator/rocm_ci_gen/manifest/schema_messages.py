"""Errors of the JSON Schema validator in plain English: what was expected, what was found, and the fix."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as Map
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocm_ci_gen.manifest import nodes, schema
from rocm_ci_gen.manifest.findings import Finding, Path, dotted
from rocm_ci_gen.manifest.flow import flow
from rocm_ci_gen.manifest.nodes import Mapping, Node, Scalar, Sequence
from rocm_ci_gen.manifest.validator import anchored
from rocm_ci_gen.manifest.words import closest, did_you_mean, names, show

if TYPE_CHECKING:
    from jsonschema import ValidationError

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
_WHOLE = re.compile("[0-9]{1,18}")
_NO_TIME = re.compile("0+(?:ms|s|m|h)")
_SIMPLE = re.compile(r"[A-Za-z0-9./_][A-Za-z0-9./_ *-]{0,58}")


@dataclass(frozen=True)
class Case:
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
    def schema(self) -> Map[str, Any]:
        """The subschema that the value failed."""
        found = self.error.schema
        return found if isinstance(found, dict) else {}

    @property
    def form(self) -> str:
        """What a text must look like, such as `a path inside the repository`; empty where the schema has no words."""
        definitions = schema.load_schema()["$defs"].values()
        words = next((item.get("description", "") for item in definitions if item is self.schema), "")
        return f"{words[0].lower()}{words[1:].rstrip('.')}" if words and "string" in self.schema["type"] else ""

    @property
    def example(self) -> str:
        """`key: value` as the schema shows it for the key, or for the list that this is an entry of."""
        return _example(self.path) or _example(self.path[:-1])

    @property
    def keyword_value(self) -> Any:
        """Value of the schema's keyword that failed."""
        return self.error.validator_value


def explain(case: Case) -> Finding:
    """The message for one error of the validator."""
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


def _type(case: Case) -> Finding:
    types = [case.keyword_value] if isinstance(case.keyword_value, str) else list(case.keyword_value)
    expected = _either([_WORDS[name] for name in types if name != "null"])
    expected += f" ({case.form})" if case.form else ""
    if isinstance(case.node, Scalar) and case.node.value is None:
        message = f"{_place(case.path)} has no value; it must be {expected}"
    else:
        message = f"{_place(case.path)} must be {expected}, not {describe(case.node)}"
    return Finding("type", case.path, message, fix=_type_fix(case, types) or _see(case.path))


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _type_fix(case: Case, types: list[str]) -> str:
    node, text = case.node, case.text
    example = f"for example {case.example}" if case.example else ""
    if not case.path:
        return "begin with `version: 1`"
    if not isinstance(node, Scalar):
        is_wrapped = isinstance(node, Sequence) and len(node.items) == 1 and "string" in types
        return "write the value without the list" if is_wrapped else example
    if node.value is None:
        return f"give it a value, {example}" if example else "give it a value, or remove it"
    if "string" in types and not isinstance(node.value, str):
        fits = anchored(case.schema.get("pattern", "")).search(text)
        return f'put it in quotes: "{text}"' if fits else example
    if "boolean" in types and text.lower() in _YAML_1_1:
        return f"write `{_YAML_1_1[text.lower()]}`: in YAML 1.2 only `true` and `false` are booleans"
    if ("boolean" in types and text in ("true", "false")) or (types == ["integer"] and _WHOLE.fullmatch(text)):
        return "remove the quotes"
    if "array" in types:
        # `[3]` is a list, and no list of names.
        if _SIMPLE.fullmatch(text) and (isinstance(node.value, str) or _takes_numbers(case.path)):
            return f"write a list: [{text}]"
        return f"write a list, {example}" if example else "write a list"
    return example


def _takes_numbers(path: Path) -> bool:
    """Whether an entry of the list may be a number."""
    types = (schema.at((*path, 0)) or {}).get("type", ())
    return "integer" in types or "number" in types


def _see(path: Path) -> str:
    """Where to read on, for a key that the schema knows."""
    keys = [part for part in path if isinstance(part, str)]
    return f"see `rocm-ci-gen explain {'.'.join(keys)}`" if keys and schema.at(path) else ""


def _example(path: Path) -> str:
    examples = (schema.at(path) or {}).get("examples")
    return f"`{path[-1]}: {flow(examples[0])}`" if examples and path and isinstance(path[-1], str) else ""


def _enum(case: Case) -> Finding:
    allowed = [str(value) for value in case.keyword_value]
    match = closest(case.text, allowed)
    message = f"{_place(case.path)} must be one of {names(allowed, 'or')}, not {describe(case.node)}"
    fix = f"write {show(match) if match else names(allowed, 'or')}"
    return Finding("value", case.path, message + did_you_mean(case.text, allowed), fix=fix)


def _pattern(case: Case) -> Finding:
    place, fix = _place(case.path), f"for example {case.example}" if case.example else _see(case.path)
    message = f"{place} must be {case.form or 'written differently'}, not {describe(case.node)}"
    if case.text.isdigit() and "integer" in case.schema["type"]:
        message = f"{place} is the text {show(case.text)} where a number is meant"
        fix = f"remove the quotes: {case.text}"
    elif _NO_TIME.fullmatch(case.text) and case.schema is schema.load_schema()["$defs"]["duration"]:
        message, fix = f"{place} must be at least 1, not {show(case.text)}", fix
    elif case.text.endswith("\n"):
        message = f"{place} ends with a line end"
        fix = "write it on one line, without `|` and without `\\n`"
    return Finding("value", case.path, message, fix=fix)


def _required(case: Case) -> Finding:
    place = f" in {_place(case.path)}" if case.path else ""
    example = _example((*case.path, case.error.message))
    return Finding(
        "missing-key",
        case.path,
        f"the key {show(case.error.message)} is missing{place}",
        fix=f"add {example}" if example else f"add `{case.error.message}:`",
        on_key=True,
    )


def _dependent(case: Case) -> Finding:
    return Finding(
        "missing-key",
        case.path,
        f"{_place(case.path)} needs the key {show(case.error.message)} beside it",
        fix=f"add `{case.error.message}:`",
        on_key=True,
    )


def _unknown(case: Case) -> Finding:
    key, parent = str(case.path[-1]), case.path[:-1]
    allowed = schema.names_at(parent)
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


def _name(case: Case) -> Finding:
    key, place = str(case.path[-1]), _place(case.path[:-1])
    inner = case.error.context[0] if case.error.context else case.error
    if inner.validator == "enum":
        allowed = [str(value) for value in Case(case.root, case.path, inner).keyword_value]
        match = closest(key, allowed)
        return Finding(
            "unknown-key",
            case.path,
            f"{show(key)} is not a key in {place}{did_you_mean(key, allowed)}",
            fix=f"write {show(match)}" if match else f"the keys are {names(allowed)}",
            on_key=True,
        )
    if case.path[-2:-1] == ("env",):
        form = "letters, digits and `_`, not starting with a digit"
        suggestion = re.sub("[^A-Za-z0-9_]+", "_", key).strip("_")
        suggestion = f"_{suggestion}" if suggestion[:1].isdigit() else suggestion or "MAX_JOBS"
    elif case.path[-2:-1] == ("ulimits",):
        form, suggestion = "lower-case letters", re.sub("[^a-z]+", "", key.lower()) or "memlock"
    elif case.path[-2:-1] == ("with",):
        form, suggestion = "letters, digits, `_` and `-`", re.sub("[^A-Za-z0-9_-]+", "-", key).strip("-") or "path"
    else:
        form = "lower-case letters, digits and `-`, starting with a letter, at most 63"
        suggestion = re.sub(r"[^a-z0-9-]+", "-", key.lower()).strip("-")[:63]
        suggestion = suggestion if re.match("[a-z]", suggestion) else f"x-{suggestion}"[:63].strip("-")
    fix = f"for example {show(suggestion)}"
    return Finding("name", case.path, f"{show(key)} cannot be a name in {place}: it has {form}", fix=fix, on_key=True)


def _unique(case: Case) -> Finding:
    return Finding(
        "repeated",
        case.path,
        f"{show(case.text)} is already entry {int(case.error.message) + 1} of {_place(case.path[:-1])}",
        fix="remove one of them",
    )


def _bound(case: Case) -> Finding:
    at_least = case.error.validator == "minimum"
    message = f"{_place(case.path)} must be {'at least' if at_least else 'at most'} {case.keyword_value}"
    fix = f"write {case.keyword_value} or {'more' if at_least else 'less'}"
    return Finding("value", case.path, f"{message}, not {case.text}", fix=fix)


def _length(case: Case) -> Finding:
    if case.error.validator == "maxLength":
        message, rule = f"{_place(case.path)} has more than {case.keyword_value} characters", "value"
    else:
        message, rule = f"{_place(case.path)} is empty", "empty-value"
    return Finding(rule, case.path, message, fix=f"for example {case.example}" if case.example else _see(case.path))


def _other(case: Case) -> Finding:
    return Finding("value", case.path, f"{_place(case.path)} cannot be {describe(case.node)}")


_EXPLAIN: dict[str, Callable[[Case], Finding]] = {
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
