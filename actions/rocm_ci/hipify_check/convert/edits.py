"""Apply convertible findings to one text: bytes in, bytes out, everything else untouched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import rules
from rocm_ci.hipify_check.cfamily import lexer
from rocm_ci.hipify_check.convert import casts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_ci.hipify_check.model import Finding

Edit = tuple[int, int, bytes]
"""Replace ``[start, end)`` by the bytes."""

_BOM = b"\xef\xbb\xbf"
# What may stand inside a word, and between the words of a qualified name.
_SPLICE = rb"(?:\\[ \t]*\r?\n)*"
_GAP = rb"(?:\s|\\[ \t]*\r?\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|//[^\n]*\n)*"
_SCOPE = _GAP + rb":" + _SPLICE + rb":" + _GAP


@dataclass(frozen=True, slots=True)
class Applied:
    """A text after its edits, and how many findings they took care of."""

    text: bytes
    findings: int


_IN_STRINGS = ("library-file", "path", "nvcc-flag", "tool")
"""What the check finds in string literals: a person decides, for a string may be matched elsewhere."""


def apply(text: bytes, findings: Iterable[Finding]) -> Applied:
    """Convert the places of ``findings`` (all of this text, all convertible).

    A place that cannot be located, or whose replacement is not word for word, is left as it is; the next check of
    the text tells.
    """
    in_strings = {rules.by_slug()[slug].id for slug in _IN_STRINGS}
    todo = [finding for finding in findings if finding.rule not in in_strings]
    lines = _Lines(text)
    edits: dict[tuple[int, int], bytes] = {}
    done = 0
    # One a logical line is reported for a compiler macro, but all of them have to change together: the first one
    # alone would make the condition look ported.
    macro = rules.by_slug()["compiler-macro"].id
    header = rules.by_slug()["header"].id
    for finding in todo:
        found = (
            _header(lines, finding)
            if finding.rule == header
            else _macros(lines, finding)
            if finding.rule == macro
            else _words(lines, finding)
        )
        fresh = {(start, end): new for start, end, new in found if (start, end) not in edits}
        if found:
            done += 1
        edits.update(fresh)
    edits.update({(start, end): new for start, end, new in _kernel_arguments(text, todo, edits)})
    return Applied(_replace(text, edits), done)


def insert_include(text: bytes, header: str) -> bytes:
    """Add ``#include "header"`` as a line of its own, where nvcc's own ``cuda_runtime.h`` would have been.

    Before the first ``#include`` that no conditional encloses (macros above it may configure what follows), else at
    the top.
    """
    ending = b"\r\n" if b"\r\n" in text else b"\n"
    line = b'#include "' + header.encode() + b'"' + ending
    at = _first_include(text)
    return text[:at] + line + text[at:]


def _replace(text: bytes, edits: dict[tuple[int, int], bytes]) -> bytes:
    parts: list[bytes] = []
    last = 0
    for (start, end), new in sorted(edits.items()):
        if start < last:
            continue
        parts += [text[last:start], new]
        last = end
    parts.append(text[last:])
    return b"".join(parts)


class _Lines:
    """A text and where its lines begin."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", text))]

    def locate(self, finding: Finding, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The match of ``pattern`` that begins at the finding's line and column."""
        if not 1 <= finding.line <= len(self.starts):
            return None
        text = self.text
        start = self.starts[finding.line - 1]
        stop = self.starts[finding.line] if finding.line < len(self.starts) else len(text)
        first = start + len(_BOM) if start == 0 and text.startswith(_BOM) else start
        line = text[first:stop]
        try:
            offset = first + len(line.decode("utf-8")[: finding.column - 1].encode("utf-8"))
        except UnicodeDecodeError:
            # Columns count what a reader of the report sees, so compare with what the check counted.
            for match in pattern.finditer(text, first):
                if match.start() >= stop:
                    return None
                if len(text[first : match.start()].decode("utf-8", "replace")) == finding.column - 1:
                    return match
            return None
        return pattern.match(text, offset)


@lru_cache(maxsize=4096)
def _word(name: str) -> bytes:
    return _SPLICE.join(re.escape(bytes([byte])) for byte in name.encode())


@lru_cache(maxsize=4096)
def _path(words: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<!\w)" + _SCOPE.join(b"(" + _word(word) + b")" for word in words) + rb"(?!\w)")


def _words(lines: _Lines, finding: Finding) -> list[Edit]:
    """``cub::X`` to ``hipcub::X``, ``at::cuda::f`` (told where ``cuda`` stands) to ``at::hip::g``: word by word."""
    old, new = finding.name.split("::"), finding.hip.split("::")
    if len(old) != len(new) or not all(new):
        return []
    for skip in range(len(old)):
        match = lines.locate(finding, _path(tuple(old[skip:])))
        if match:
            return [
                (*match.span(index + 1), after.encode())
                for index, (before, after) in enumerate(zip(old[skip:], new[skip:], strict=True))
                if before != after
            ]
    return []


def _header(lines: _Lines, finding: Finding) -> list[Edit]:
    pattern = re.compile(rb"[ \t]*(" + re.escape(finding.name.encode()) + rb")")
    match = lines.locate(finding, pattern)
    return [(*match.span(1), finding.hip.encode())] if match and finding.hip else []


def _macros(lines: _Lines, finding: Finding) -> list[Edit]:
    pattern = _path((finding.name,))
    first = lines.locate(finding, pattern)
    if first is None or not finding.hip.isidentifier():
        return []
    stop = _logical_end(lines.text, first.end())
    rest = re.split(rb"//|/\*", lines.text[first.start() : stop], maxsplit=1)[0]
    end = first.start() + len(rest)
    return [(*match.span(), finding.hip.encode()) for match in pattern.finditer(lines.text, first.start(), end)]


def _logical_end(text: bytes, at: int) -> int:
    while True:
        end = text.find(b"\n", at)
        if end < 0:
            return len(text)
        if not text[:end].rstrip(b" \t\r").endswith(b"\\"):
            return end
        at = end + 1


def _kernel_arguments(text: bytes, findings: list[Finding], edits: dict[tuple[int, int], bytes]) -> list[Edit]:
    """Casts for the calls of which ``edits`` renames the function."""
    names = {finding.hip.encode(): finding.name for finding in findings if finding.name in casts.places()}
    if not names:
        return []
    source = lexer.read(text)
    if source.text is not source.raw:
        # With line continuations an offset of the blanked text is another one in the file; blank them in place.
        source = lexer.read(re.sub(rb"\\[ \t]*\r?\n", lambda match: b" " * len(match[0]), text))
    added: list[Edit] = []
    for (_, end), new in edits.items():
        if new in names:
            span = casts.cast(source.code, end, casts.places()[names[new]])
            if span:
                added += casts.around(*span)
    return added


_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|include)\b", re.MULTILINE)


def _first_include(text: bytes) -> int:
    top = len(_BOM) if text.startswith(_BOM) else 0
    source = lexer.read(text)
    if source.text is not source.raw:
        return top
    depth = 0
    for match in _CONDITIONAL.finditer(source.code, top):
        if match[1] == b"include":
            return match.start() if depth == 0 else top
        depth += -1 if match[1] == b"endif" else 1
    return top
