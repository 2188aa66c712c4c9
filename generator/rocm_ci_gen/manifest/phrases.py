"""What a key takes, in words: for `explain` and for the manual."""

from __future__ import annotations

from typing import Any

from rocm_ci_gen.manifest.findings import Path
from rocm_ci_gen.manifest.flow import flow
from rocm_ci_gen.manifest.schema import Schema, at, child, follow

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "mapping",
    "array": "list",
}


def takes(schema: Schema) -> str:
    """The values of a key: `whole number, 1 to 64`, `list of paths inside the repository`, `one of a, b`."""
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    given = schema.get("type", "object")
    types = [name for name in ([given] if isinstance(given, str) else given) if name != "null"]
    if types == ["boolean", "object"]:
        return "`true`, `false` or a mapping of filters"
    if types == ["string", "array"]:
        return f"{_one('string', schema)}, or a list of such"
    parts = [_one(name, schema) for name in types]
    text = " or ".join(dict.fromkeys(parts))
    return text + _bounds(schema)


def _one(name: str, schema: Schema) -> str:
    if name == "array":
        item = child(schema, 0) or {}
        return f"list of: {_form(item)}" if _form(item) else "list"
    if name == "string":
        return _form(schema) or _form(_scalar_branch(schema)) or "text"
    if name == "object" and "properties" not in schema and isinstance(schema.get("additionalProperties"), dict):
        return "mapping of names to values" if "properties" not in (child(schema, "NAME") or {}) else "mapping by name"
    return _TYPES[name]


def _scalar_branch(schema: Schema) -> Schema:
    """Schema of the single value, where a key takes one value or a list."""
    return follow(schema["else"]) if "else" in schema else {}


def _form(schema: Schema) -> str:
    form = str(schema.get("x-format", ""))
    return form[:1].lower() + form[1:].rstrip(".") if schema.get("type") != "object" else "mapping"


def _bounds(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "string" in str(schema.get("type")) or (low is None and high is None):
        return ""
    return f", {low} to {high}" if high is not None else f", at least {low}"


def default_of(schema: Schema) -> str | None:
    """The default as YAML, or None where there is none."""
    return flow(schema["default"]) if "default" in schema else None


def example_of(name: str, schema: Schema) -> str | None:
    """`key: value` with the schema's first example."""
    examples: list[Any] = schema.get("examples", [])
    if not examples:
        return None
    return f"{name}: {flow(examples[0])}"


def number_fix(path: Path) -> str:
    """What to write where a number is none and the key takes no text; empty where text may be meant."""
    schema = at(path)
    types = (schema or {}).get("type", "string")
    if schema is None or not {"integer", "number"} & {*([types] if isinstance(types, str) else types)}:
        return ""
    if "string" in types:
        return ""
    example = example_of(str(path[-1]), schema)
    return f"write a number, for example `{example}`" if example else "write a number"
