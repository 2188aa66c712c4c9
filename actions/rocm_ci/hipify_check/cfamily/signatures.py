"""Calls that keep their name from one CUDA release to the next and change their arguments.

HIP has one form of each (``data/signatures.tsv``). A call in the other form gets the right name from hipify and then
does not compile, so it is no name to be replaced. Where the arguments cannot be counted, nothing is said.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rocm_ci.hipify_check import mapping

_LIMIT = 4096
"""Bytes of an argument list that are read."""
_MARK = re.compile(rb"[()\[\]{},#]|\.\.\.|__VA_ARGS__")
# Template arguments are certain only before a bracket, a brace or `::`; elsewhere `<` may as well say "less than".
_TEMPLATE = re.compile(rb"(?<=\w)[ \t]*<[^<>()\[\]{};]*>(?=\s*(?:\(|\{|::))")
_WORD = re.compile(rb"\w+")


class Signature(NamedTuple):
    """What HIP takes where CUDA has more than one form.

    ``telling`` is the index of an argument whose type HIP does not take where it is one of ``words``; -1 = none.
    """

    least: int
    most: int
    telling: int
    words: tuple[bytes, ...]
    hip: str
    note: str


@lru_cache(maxsize=1)
def table() -> dict[bytes, Signature]:
    """The rows of ``data/signatures.tsv`` by CUDA name."""
    found: dict[bytes, Signature] = {}
    for name, least, most, telling, _changed, hip, note, _source in mapping.rows("signatures.tsv"):
        index, _, words = telling.partition(":")
        types = tuple(word.encode() for word in words.split("|")) if words else ()
        found[name.encode()] = Signature(int(least), int(most), int(index) if index else -1, types, hip, note)
    return found


def refused(code: bytes, end: int, name: bytes) -> Signature | None:
    """The row of ``name`` if the call whose name ends at ``end`` has arguments that HIP does not take.

    Returns:
        ``None`` where HIP takes them, where it cannot be told, and where nothing is called.
    """
    row = table().get(name)
    if row is None:
        return None
    given = arguments(code, end)
    if given is None or not given:
        return None
    if not row.least <= len(given) <= row.most:
        return row
    if 0 <= row.telling < len(given) and _is_of_type(code, given[row.telling], row.words):
        return row
    return None


def arguments(code: bytes, end: int) -> list[bytes] | None:
    """The arguments of the call whose name ends at ``end``, trimmed; ``None`` where they cannot be told apart."""
    window = code[end : end + _LIMIT]
    opening = len(window) - len(window.lstrip())
    if window[opening : opening + 1] != b"(":
        return None
    # Blanked to the same length, so that the commas of a template are none of the call's.
    plain = _TEMPLATE.sub(lambda match: b" " * len(match[0]), window)
    depth = 0
    commas: list[int] = []
    for match in _MARK.finditer(plain, opening):
        mark = match[0]
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
            if depth == 0:
                return _cut(window, plain, opening, commas, match.start())
        elif mark != b",":
            return None  # a directive, a pack, or a macro's rest: there may be more than is seen
        elif depth == 1:
            commas.append(match.start())
    return None


def _cut(window: bytes, plain: bytes, opening: int, commas: list[int], closing: int) -> list[bytes] | None:
    first, last = plain.find(b"<", opening, closing), plain.replace(b"->", b"  ").rfind(b">", opening, closing)
    if first >= 0 and any(first < comma < last for comma in commas):
        return None  # `a < b, c > d` is two arguments, or one with a template
    found = [window[before + 1 : after].strip() for before, after in pairwise([opening, *commas, closing])]
    return [] if found == [b""] else found


def _is_of_type(code: bytes, argument: bytes, words: tuple[bytes, ...]) -> bool:
    if any(word in argument for word in words):
        return True
    name = argument.removeprefix(b"*").strip()
    if _WORD.fullmatch(name) is None:
        return False
    types = b"|".join(map(re.escape, words))
    return re.search(rb"\b(?:" + types + rb")\b[\s&*]*" + name + rb"\b", code) is not None
