"""The kernel argument of a few calls, which CUDA takes by its own type and HIP as ``const void*``."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

_CAST = b"reinterpret_cast<const void*>("
_HAS_CAST = re.compile(
    rb"\s*(?:reinterpret_cast\s*<|static_cast\s*<|\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|nullptr\b)"
)
_STEP = re.compile(rb"[()\[\]{},]")
_LIMIT = 4096


class Place(NamedTuple):
    """Which argument (0-based) of how many is the kernel."""

    argument: int
    arguments: int


@lru_cache(maxsize=1)
def places() -> dict[str, Place]:
    """The calls, by their CUDA names."""
    text = (resources.files("rocm_ci.hipify_check.convert") / "data" / "kernel_arguments.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {name: Place(int(argument) - 1, int(arguments)) for name, argument, arguments, _source in rows}


def cast(code: bytes, end: int, place: Place) -> tuple[int, int] | None:
    """Start and end of the argument that needs a cast.

    Args:
        code: Text with comments and literals blanked (``lexer.Source.code``).
        end: Offset right after the function's name.
        place: Which argument it is.

    Returns:
        ``None`` where this is no call with that many arguments, or the argument has a cast already.
    """
    opening = end
    while code[opening : opening + 1].isspace():
        opening += 1
    if code[opening : opening + 1] != b"(":
        return None
    arguments = _arguments(code, opening)
    if len(arguments) < place.arguments:
        return None
    # A comma inside `kernel<float, 4>` cuts the argument as well; the calls' known length tells how many belong to it.
    extra = len(arguments) - place.arguments
    start, stop = arguments[place.argument][0], arguments[place.argument + extra][1]
    text = code[start:stop]
    start += len(text) - len(text.lstrip())
    stop -= len(text) - len(text.rstrip())
    if start >= stop or _HAS_CAST.match(code, start):
        return None
    return start, stop


def around(start: int, stop: int) -> list[tuple[int, int, bytes]]:
    """The edits that put the cast around an argument."""
    return [(start, start, _CAST), (stop, stop, b")")]


def _arguments(code: bytes, opening: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    depth = 0
    start = opening + 1
    for match in _STEP.finditer(code, opening, opening + _LIMIT):
        token = match[0]
        if token in b"([{":
            depth += 1
        elif token == b",":
            if depth == 1:
                found.append((start, match.start()))
                start = match.end()
        else:
            depth -= 1
            if depth == 0:
                found.append((start, match.start()))
                return found
    return []
