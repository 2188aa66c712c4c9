"""The JSON in a tool's output, which may have warnings in front, behind and in between."""

from __future__ import annotations

import json
from typing import NoReturn

from rocm_ci.gpu.unknown import Unknown, count, known

MOST_TEXT = 16 << 20
_STARTS = frozenset('{}[]"0123456789-tfn')


def values(text: str) -> list[object] | Unknown:
    """All JSON arrays and objects that begin at the start of a line; unknown when there is none.

    A document that was cut off is none, whatever whole pieces are in it.
    """
    if len(text) > MOST_TEXT:
        return Unknown("the output is too large")
    found = _documents(text)
    if not found:
        found = _documents("\n".join(line for line in text.split("\n") if line.lstrip()[:1] in _STARTS))
    if found:
        return found
    lines = [line for line in text.splitlines() if line.strip()]
    return Unknown(
        f"there is no JSON in the output, which begins {lines[0][:80]!a}" if lines else "the output is empty"
    )


def _documents(text: str) -> list[object]:
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    found: list[object] = []
    place = 0
    while 0 <= place < len(text):
        if text[place] in "[{":
            try:
                value, place = decoder.raw_decode(text, place)
            except json.JSONDecodeError as error:
                # "[WARN] …" fails at once; a document that was cut fails further down, and its pieces are no documents.
                place = max(place, error.pos)
            except (ValueError, RecursionError):
                return []
            else:
                found.append(value)
        place = text.find("\n", place)
        place = place + 1 if place >= 0 else place
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def whole_lines(text: str, most: int = MOST_TEXT) -> str:
    """`text` up to its last line feed: a line that was cut off may end within a number."""
    text = text[:most]
    return text[: text.rfind("\n") + 1]


def number(value: object, what: str) -> int | Unknown:
    """A whole number that is not negative, given as one or as its digits."""
    if isinstance(value, bool) or value is None:
        return Unknown(f"{what} is no number" if value is not None else f"there is no {what}")
    if isinstance(value, int):
        return count(str(value), what) if -1 < value < 1 << 65 else Unknown(f"{what} is out of range")
    if isinstance(value, str):
        return count(value, what)
    return Unknown(f"{what} is no whole number")


def words(value: object, what: str) -> str | Unknown:
    """A text that says something."""
    if isinstance(value, str):
        return known(value[:200], what)
    return Unknown(f"there is no {what}" if value is None else f"{what} is no text")


class Reasons(dict[str, str]):
    """Field → why it is None; `take` fills it."""

    def number(self, field: str, value: int | Unknown) -> int | None:
        """The number, or None with the reason kept."""
        if isinstance(value, Unknown):
            self[field] = value.reason
            return None
        return value

    def text(self, field: str, value: str | Unknown) -> str | None:
        """The text, or None with the reason kept."""
        if isinstance(value, Unknown):
            self[field] = value.reason
            return None
        return value
