"""JSON that decides about a merge: read strictly, for what a lenient reader guesses at may be a forgery."""

from __future__ import annotations

import json
from typing import NoReturn

_LONGEST = 4 * 1024 * 1024


class BadJsonError(ValueError):
    """The text is no JSON, or not the JSON that was expected; the message says why, without the text."""


def loads(text: str) -> object:
    """Parse JSON; a key that occurs twice, NaN and Infinity are errors.

    Raises:
        BadJsonError: it cannot be parsed.
    """
    if len(text) > _LONGEST:
        raise BadJsonError("it is too long")
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except BadJsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise BadJsonError("it is not JSON") from error
    return value


def mapping(value: object, what: str) -> dict[str, object]:
    """`value` as a JSON object.

    Raises:
        BadJsonError: it is something else.
    """
    if not isinstance(value, dict):
        raise BadJsonError(f"{what} is not an object")
    return value


def sequence(value: object, what: str) -> list[object]:
    """`value` as a JSON array.

    Raises:
        BadJsonError: it is something else.
    """
    if not isinstance(value, list):
        raise BadJsonError(f"{what} is not a list")
    return value


def string(value: object, what: str) -> str:
    """`value` as a string.

    Raises:
        BadJsonError: it is something else.
    """
    if not isinstance(value, str):
        raise BadJsonError(f"{what} is not text")
    return value


def integer(value: object, what: str, least: int = 0) -> int:
    """`value` as a whole number of at least `least`.

    Raises:
        BadJsonError: it is something else.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadJsonError(f"{what} is not a whole number of at least {least}")
    return value


def boolean(value: object, what: str) -> bool:
    """`value` as true or false.

    Raises:
        BadJsonError: it is something else.
    """
    if not isinstance(value, bool):
        raise BadJsonError(f"{what} is neither true nor false")
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise BadJsonError("a key occurs twice")
        found[key] = value
    return found


def _constant(_: str) -> NoReturn:
    raise BadJsonError("it has a number that is not finite")
