"""Which words of a C-family text a rule or a table may know, and where they stand.

A text is split into words as a whole, which costs less than a search for thousands of names; almost all words have
been seen before and are known to be of no interest. Only those that are left are looked up, and then found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

_WORD_BYTE = re.compile(rb"\w")
_WORD = re.compile(rb"[A-Za-z_]\w+")
_SPACED = bytes(byte if _WORD_BYTE.match(bytes((byte,))) else 32 for byte in range(256))
_PART = 1 << 20
_REMEMBERED = 400_000
"""Words of no interest that are kept, so that memory does not grow with the tree."""
_FEW = 12
"""Up to so many different words are searched one by one; for more, one search for all of them is quicker."""


class Place(NamedTuple):
    """One word of interest: its offsets in the text, and itself."""

    start: int
    end: int
    word: bytes


class Vocabulary:
    """Tells the words that matter from the others.

    Args:
        matters: Whether a rule or a table has something to say about a word.
    """

    def __init__(self, matters: Callable[[bytes], bool]) -> None:
        self._matters = matters
        self._others: set[bytes] = set()

    def words(self, raw: bytes) -> frozenset[bytes]:
        """The words of a text that matter, those in comments and strings as well."""
        found: set[bytes] = set()
        spaced = raw.translate(_SPACED)
        for part in (spaced,) if len(spaced) <= _PART else _parts(spaced):
            fresh = set(part.split()) - self._others
            for word in fresh:
                if self._matters(word):
                    found.add(word)
                elif len(word) <= _LONGEST:
                    self._others.add(word)
            if len(self._others) > _REMEMBERED:
                self._others.clear()
        return frozenset(found)


def places(code: bytes, words: Collection[bytes]) -> list[Place]:
    """Where ``words`` stand in a blanked text, in order."""
    if len(words) > _FEW:
        return _all_places(code, words)
    found = [place for word in words for place in _word_places(code, word)]
    found.sort()
    return found


_LONGEST = 80
"""Bytes of a word that is remembered; generated files have words of megabytes."""


def _parts(spaced: bytes) -> Iterable[bytes]:
    """A large text in pieces that end between words."""
    start = 0
    while start < len(spaced):
        end = spaced.find(b" ", start + _PART)
        end = len(spaced) if end < 0 else end
        yield spaced[start:end]
        start = end


def _word_places(code: bytes, word: bytes) -> Iterable[Place]:
    size = len(word)
    start = code.find(word)
    while start >= 0:
        end = start + size
        if not _WORD_BYTE.match(code, end) and not (start and _WORD_BYTE.match(code, start - 1)):
            yield Place(start, end, word)
        start = code.find(word, end)


def _all_places(code: bytes, words: Collection[bytes]) -> list[Place]:
    found = []
    for match in _WORD.finditer(code):
        word = match[0]
        if word in words:
            found.append(Place(*match.span(), word))
    return found
