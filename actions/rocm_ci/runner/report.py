"""The stage's JSON report: the stage's own body in the envelope that all stages share."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from rocm_ci.runner.errors import Code, result_name
from rocm_ci.runner.files import write_atomic

SCHEMA = 1
RESERVED = frozenset({"schema", "stage", "result", "code", "message", "executed", "unit"})
"""Keys of the envelope; a body must not have them."""


def envelope_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the envelope; each stage adds its own fields."""
    text = resources.files("rocm_ci.runner").joinpath("report.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def build_report(
    stage: str, code: Code, message: str, *, executed: int, unit: str, body: Mapping[str, object]
) -> dict[str, object]:
    """A report: the envelope's fields first, then the body's.

    Raises:
        ValueError: the body has a field of the envelope.
    """
    taken = RESERVED.intersection(body)
    if taken:
        raise ValueError(f"the report of {stage} has fields of the envelope: {', '.join(sorted(taken))}")
    return {
        "schema": SCHEMA,
        "stage": stage,
        "result": result_name(code),
        "code": int(code),
        "message": message,
        "executed": executed,
        "unit": unit,
        **body,
    }


def encode_report(report: Mapping[str, object]) -> str:
    """A report as JSON text, UTF-8 characters kept: a line a field, and a line an item of a list.

    Raises:
        ValueError: a number is NaN or infinite; an unknown figure is `null`, with a reason beside it.
        TypeError: something in it is no JSON.
    """
    # Not `indent=`: it has a line a value, which nobody can grep, and no C code behind it.
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain).encode
    fields = []
    for name, value in report.items():
        if isinstance(value, list | tuple) and value:
            text = "[\n    " + ",\n    ".join(map(encode, value)) + "\n  ]"
        else:
            text = encode(value)
        fields.append(f"  {encode(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def write_report(path: Path, text: str) -> None:
    """Write an encoded report; a reader never sees half of it.

    Raises:
        InfraError: the file cannot be written.
    """
    write_atomic(path, text)


def _plain(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON")
