"""Translation phases 1 to 3 as far as a name search needs them, on bytes, so that no encoding can stop it.

The result keeps every offset: comments and literals become spaces of the same length, so a match in the blanked
text is at the same place in the spliced one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPLIT_WORD = re.compile(rb"\\(?<=\w\\)[ \t]*\r?\n\w")
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")

# Every alternative begins with a plain character: that lets the regex engine skip to the next candidate quickly.
_COMMON = rb"""/(?:/[^\n]*(?:\n[ \t]*//[^\n]*)*|\*[^*]*\*+(?:[^/*][^*]*\*+)*/|\*(?s:.*))
    |"[^"\\\n]*(?:\\(?s:.)[^"\\\n]*)*"?
    |'(?:[^'\\\n]|\\.){1,24}'
    """
# A digit separator (1'000) is taken as a number so that its quote does not open a character literal. Digits are
# everywhere, so these two alternatives join only where a text has the characters they are for.
_RARE = rb"""
    |[0-9](?<![A-Za-z_][0-9])(?:[0-9A-Za-z_.]|(?<=[0-9A-Za-z])'(?=[0-9A-Za-z]))*'[0-9A-Za-z_.']*
    |R(?<![A-TV-Za-km-tv-z0-79_]R)"(?P<delimiter>[^()\\\s"]{0,16})\((?s:.*?)\)(?P=delimiter)"
    """
_TOKENS = re.compile(_COMMON, re.VERBOSE)
_ALL_TOKENS = re.compile(_COMMON + _RARE, re.VERBOSE)
_SEPARATOR = re.compile(rb"'(?<=[0-9A-Fa-f]')[0-9A-Fa-f]")
_GAP = rb"(?:[ \t]|/\*[^\n]*?\*/)*"
_INCLUDE = re.compile(rb"#" + _GAP + rb"include(?:_next)?" + _GAP + rb'[<"]([^>"\n]*)')
# Found where comments are blanked already; the name is then read from the text, in which they are not.
_DIRECTIVE = re.compile(rb"#[ \t]*include(?:_next)?\b")
_NAME = re.compile(rb'(?:[ \t]|/\*[^\n]*?\*/)*(?:<(?P<angle>[^>\n]*)>|"(?P<quoted>[^"\n]*)")')

_BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))


@dataclass(frozen=True, slots=True)
class Include:
    """One ``#include``: offset of the name in the spliced text, the name, and whether it stands in quotes."""

    offset: int
    name: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Source:
    """A source text in its three states.

    Attributes:
        raw: The file as read.
        text: ``raw`` with line continuations taken out.
        code: ``text`` with comments, literals and include names blanked.
        includes: In order of appearance, whether or not a branch compiles them.
    """

    raw: bytes
    text: bytes
    code: bytes
    includes: tuple[Include, ...]
    _cuts: list[int] = field(default_factory=list)
    _gaps: list[int] = field(default_factory=list)

    def raw_offset(self, offset: int) -> int:
        """Offset in ``raw`` of an offset in ``text``."""
        if not self._cuts:
            return offset
        at = bisect_right(self._cuts, offset)
        return offset + (self._gaps[at - 1] if at else 0)


def read(raw: bytes) -> Source:
    """Splice and blank one source text."""
    text, cuts, gaps = _splice(raw) if b"\\" in raw else (raw, [], [])
    code, includes = _blank(text)
    return Source(raw, text, code, includes, cuts, gaps)


def quick_includes(raw: bytes) -> tuple[str, ...]:
    """Header names of all ``#include`` lines, those in comments as well; for a file that need not be scanned."""
    text = raw.replace(b"%:", b"# ") if b"%:" in raw else raw
    return tuple(name.decode("utf-8", "replace").strip() for name in _INCLUDE.findall(text))


def splits_word(raw: bytes) -> bool:
    """Does a line continuation stand in the middle of a word?"""
    return _SPLIT_WORD.search(raw) is not None


def strings(text: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of what stands between the quotes of each string literal of a spliced text."""
    for match in _ALL_TOKENS.finditer(text):
        start, end = match.span()
        if text[start] == 34:
            yield start + 1, end - text.endswith(b'"', start + 1, end)
        elif text[start] == 82:
            yield text.index(b"(", start) + 1, text.rindex(b")", start, end)


def _splice(raw: bytes) -> tuple[bytes, list[int], list[int]]:
    parts: list[bytes] = []
    cuts: list[int] = []
    gaps: list[int] = []
    last = length = gap = 0
    for match in _SPLICE.finditer(raw):
        start, end = match.span()
        parts.append(raw[last:start])
        length += start - last
        gap += end - start
        cuts.append(length)
        gaps.append(gap)
        last = end
    if not cuts:
        return raw, cuts, gaps
    parts.append(raw[last:])
    return b"".join(parts), cuts, gaps


def _blank(text: bytes) -> tuple[bytes, tuple[Include, ...]]:
    if b'R"' in text or (b"'" in text and _SEPARATOR.search(text) is not None):
        code = _ALL_TOKENS.sub(_spaces_but_numbers, text)
    else:
        code = _TOKENS.sub(_spaces, text)
    if b"%:" in code:  # the digraph of #
        code = code.replace(b"%:", b"# ")
    return _hide_includes(text, code) if b"include" in code else (code, ())


def _spaces(token: re.Match[bytes]) -> bytes:
    return token[0].translate(_BLANK)


def _spaces_but_numbers(token: re.Match[bytes]) -> bytes:
    found = token[0]
    return found if 48 <= found[0] <= 57 else found.translate(_BLANK)


def _hide_includes(text: bytes, code: bytes) -> tuple[bytes, tuple[Include, ...]]:
    """The header names of the text, and the code without them: keep the directive, hide the name."""
    includes: list[Include] = []
    hidden = bytearray(code)
    for directive in _DIRECTIVE.finditer(code):
        match = _NAME.match(text, directive.end())
        if match is None:
            continue
        quoted = match["angle"] is None
        start, end = match.span("quoted" if quoted else "angle")
        includes.append(Include(start, text[start:end].decode("utf-8", "replace").strip(), quoted))
        hidden[start - 1 : end + 1] = b" " * (end - start + 2)
    return bytes(hidden), tuple(includes)
