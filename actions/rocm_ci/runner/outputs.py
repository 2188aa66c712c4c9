"""Outputs of a step: `name<<delimiter` blocks in the file that `$GITHUB_OUTPUT` names."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from rocm_ci.runner.files import append_whole

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def output_block(name: str, value: str, new_delimiter: Callable[[], str] | None = None) -> str:
    """One output as the runner reads it.

    The delimiter is random and verified absent from the value: a value that could contain it could set any other
    output of the step (GitHub, workflow commands, multiline strings).

    Raises:
        ValueError: `name` is no name of an output.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an output")
    make = new_delimiter or (lambda: f"ghadelimiter_{uuid.uuid4().hex}")
    delimiter = make()
    while delimiter in value:
        delimiter = make()
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_outputs(path: Path, outputs: Mapping[str, str]) -> None:
    """Append all outputs in one write, UTF-8, whole lines only.

    Raises:
        InfraError: the file cannot be written.
    """
    text = "".join(output_block(name, value) for name, value in outputs.items())
    append_whole(path, text.encode("utf-8", "backslashreplace"))
