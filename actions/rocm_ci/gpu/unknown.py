"""What stands in the place of a figure that could not be read."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COUNT = re.compile(r"\A[0-9]{1,20}\Z")
_HEX = re.compile(r"\A(?:0[xX])?([0-9a-fA-F]{1,16})\Z")
_SAYS_NOTHING = frozenset({"n/a", "na", "none", "unknown", "not supported", "not available"})
MOST = 2**64 - 1
"""No counter of the kernel is larger."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not known.

    Attributes:
        reason: why, in words, with the file or key that was asked.
        errno: the system's error number when a file could not be read.
    """

    reason: str
    errno: int | None = None


def count(text: str, what: str) -> int | Unknown:
    """The unsigned 64 bit number that `text` is, decimal; `what` names it in the reason."""
    text = text.strip()
    if _COUNT.match(text):
        number = int(text)
        if number <= MOST:
            return number
        return Unknown(f"{what} is larger than any counter")
    return Unknown(_not_a_number(text, what))


def hexadecimal(text: str, what: str) -> int | Unknown:
    """The unsigned 64 bit number that `text` is, hexadecimal with or without `0x`."""
    text = text.strip()
    found = _HEX.match(text)
    return int(found.group(1), 16) if found else Unknown(_not_a_number(text, what))


def says_nothing(text: str) -> bool:
    """Whether `text` is one of the ways in which files and tools say that they have no value."""
    text = text.strip().lower()
    return not text or text in _SAYS_NOTHING


def known(value: str, what: str) -> str | Unknown:
    """`value` unless it says nothing."""
    value = value.strip()
    return Unknown(_not_a_number(value, what)) if says_nothing(value) else value


def _not_a_number(text: str, what: str) -> str:
    if not text:
        return f"{what} is empty"
    if says_nothing(text):
        return f"{what} says {shown(text)}"
    return f"{what} is no number: {shown(text)}"


def shown(text: str, limit: int = 40) -> str:
    """`text` as it may stand in a message: quoted, one line, short."""
    return ascii(text if len(text) <= limit else text[:limit] + "…")
