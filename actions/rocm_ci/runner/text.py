"""Small pure functions on text that goes to logs, outputs and annotations."""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s+")
# C0 and C1 controls but tab, newline and carriage return; ANSI sequences start with one of them.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_MARKDOWN = re.compile(r"[\\`*_\[\]|~#@]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """`text` without ANSI sequences and control characters, and with lone surrogates made visible."""
    text = _CONTROL.sub("", _ANSI.sub("", text))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def one_line(text: str, limit: int = 1000) -> str:
    """`text` as one printable line of at most `limit` characters."""
    line = _SPACE.sub(" ", printable(text)).strip()
    return line if len(line) <= limit else line[: max(0, limit - 2)].rstrip() + " …"


def utf16_length(text: str) -> int:
    """Length as the GitHub runner counts it: in UTF-16 code units (a .NET string)."""
    return len(text) + sum(1 for char in text if ord(char) > 0xFFFF)


def cut_utf16(text: str, limit: int, note: str = " … (cut)") -> str:
    """`text` if it has at most `limit` UTF-16 code units, else its beginning and `note`, together within `limit`."""
    if utf16_length(text) <= limit:
        return text
    room = limit - utf16_length(note)
    kept = 0
    for index, char in enumerate(text):
        kept += 2 if ord(char) > 0xFFFF else 1
        if kept > room:
            return text[:index].rstrip() + note
    return text


def markdown_text(text: str) -> str:
    """`text` on one line, so that it stays text in Markdown, in a table cell too."""
    text = one_line(text, len(text) + 1).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\g<0>", text)


def plural(count: int, unit: str) -> str:
    """`count` with its unit, whose plural is given: `1 file`, `3 files`."""
    if count == 1:
        singular = unit[:-3] + "y" if unit.endswith("ies") else unit.removesuffix("s")
        return f"1 {singular}"
    return f"{count:,} {unit}"
