"""The manifest's bytes as text, with positions: the only place that knows about encodings and line ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from rocm_ci_gen.manifest.findings import Flaw

MAX_BYTES = 256 * 1024
"""A hand-written manifest has a few KiB; the pure-Python YAML scanner needs about a second for this much."""

MAX_LINE = 32 * 1024
"""Longest line in characters: some scanner paths take quadratic time in it."""

_BOM = "\ufeff"
_BREAK = re.compile(r"\r\n|\n|\r")
_INVISIBLE = frozenset(
    map(chr, [*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF, 0xFFFE, 0xFFFF])
) - {"\t", "\n"}
"""What YAML does not call printable, line separators that editors do not show as line ends, text-direction controls
(they make a line read differently from what it does), and a byte order mark inside the file."""

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


def refused_in(text: str) -> str | None:
    """A character of a value that no manifest may have, or None; an escape in double quotes can bring one in."""
    found = _INVISIBLE.intersection(text) or {char for char in text if "\ud800" <= char <= "\udfff"}
    return min(found) if found else None


def _refused(source: SourceText) -> list[Flaw]:
    flaws: list[Flaw] = []
    wanted = _INVISIBLE.intersection(source.text) - {"\r"}
    places = (offset for offset, char in enumerate(source.text) if char in wanted) if wanted else iter(())
    for offset in islice(places, _MAX_REFUSED):
        char = source.text[offset]
        message = f"the control character U+{ord(char):04X} is not accepted in a manifest"
        fix = "remove the NUL" if char == "\0" else "remove it; it is invisible in most editors"
        flaws.append(Flaw("control-character", offset, message, fix=fix))
    if not flaws and len(source.text) > MAX_LINE:
        offset, length = source.longest_line
        if length > MAX_LINE:
            message = f"the line has {length} characters; at most {MAX_LINE} are accepted"
            flaws.append(Flaw("too-large", offset, message, fix="break the line, or move the text into a file"))
    return flaws
