"""The manifest's bytes as text, with positions: the only place that knows about encodings and line ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rocm_ci_gen.manifest.findings import Flaw

MAX_BYTES = 256 * 1024
"""A hand-written manifest has a few KiB; the pure-Python YAML scanner needs about a second for this much."""

MAX_LINE = 32 * 1024
"""Longest line in characters: some scanner paths take quadratic time in it."""

_BOM = "\ufeff"
_BREAK = re.compile(r"\r\n|\n|\r")
_PRINTABLE = "\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
"""What YAML calls printable, without line separators that editors do not show as line ends, text-direction controls
(they make a line read differently from what it does), and a byte order mark inside the file."""

_REFUSED = re.compile(f"[^\t\n\r{_PRINTABLE}]")
REFUSED_IN_VALUE = re.compile(f"[^\t\n{_PRINTABLE}]")
"""What an escape in double quotes can bring into a value in spite of that, lone surrogates included."""

_MAX_REFUSED = 10


@dataclass(frozen=True)
class SourceText:
    """The text of a manifest; offsets count characters from 0, lines and columns from 1."""

    name: str
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _BREAK.finditer(self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset; an offset outside the text is moved to its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Text of a line without its line end."""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    @property
    def longest_line(self) -> tuple[int, int]:
        """Offset and length of the longest line."""
        bounds = [*self._starts, len(self.text)]
        lengths = [end - start for start, end in pairwise(bounds)]
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        return self._starts[longest], lengths[longest]


def decode(data: bytes, name: str) -> tuple[SourceText, list[Flaw]]:
    """Text of the manifest's bytes, and what makes it unreadable.

    A byte order mark of UTF-8 is accepted and dropped. With flaws the text is only good for showing lines.
    """
    if len(data) > MAX_BYTES:
        text = data[:200].decode("utf-8", "replace").splitlines()[0] if data[:200].strip() else ""
        message = f"the file has {len(data)} bytes; a manifest has at most {MAX_BYTES}"
        return SourceText(name, text), [
            Flaw("too-large", 0, message, fix="check that this is the manifest; move scripts into files of their own")
        ]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        readable = data[: error.start].decode("utf-8")
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            message = "the file is UTF-16, not UTF-8"
        else:
            message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        source = SourceText(name, data.decode("utf-8", "replace").removeprefix(_BOM))
        return source, [Flaw("not-utf8", len(readable.removeprefix(_BOM)), message, fix="save the file as UTF-8")]
    source = SourceText(name, text.removeprefix(_BOM))
    return source, _refused(source)


def _refused(source: SourceText) -> list[Flaw]:
    flaws = []
    for match in _REFUSED.finditer(source.text):
        code = f"U+{ord(match.group()):04X}"
        message = f"the control character {code} is not accepted in a manifest"
        fix = "save the file as UTF-8" if match.group() == "\0" else "remove it; it is invisible in most editors"
        flaws.append(Flaw("control-character", match.start(), message, fix=fix))
        if len(flaws) == _MAX_REFUSED:
            break
    if not flaws:
        offset, length = source.longest_line
        if length > MAX_LINE:
            message = f"the line has {length} characters; at most {MAX_LINE} are accepted"
            flaws.append(Flaw("too-large", offset, message, fix="break the line, or move the text into a file"))
    return flaws
