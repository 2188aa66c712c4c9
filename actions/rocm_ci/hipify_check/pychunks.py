"""Which statements of a Python source are worth parsing. The parser is what costs, and most statements hold nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The words that the rules for Python know, grouped by their first letters so that the engine fails early. A test holds
# them against the data files.
_TRIGGER = re.compile(
    rb"""n(?:v(?:idia|cc|prof|-nsight|disasm)|sys\b|cu\b)
    |pt(?:xas|x-)|prec-
    |lib(?:cu|nv|nccl|nppc|raries[ \t]*=)
    |C(?:UDA(?:_(?!VISIBLE)|ARCHS|CXX|HOSTCXX|DIR)|UDNN_|UBLAS_WORK)
    |N(?:VIDIA_|VCC_)
    |TORCH_(?:CUDA|NVCC)
    |get_device_(?:cap|name)|g(?:en(?:code|erate-)|pu-arch)
    |version\.cuda
    |inline_asm
    |(?:im|ex)port[ \t]|from[ \t]
    |ex(?:tra\.cuda|pt-|tended-l)
    |sm_\d|source-in-ptx
    |whl/(?:\w+/)?cu
    |cu(?:1\d\d|da(?:rt|-[gm])|obj)|com(?:pute[_-][s\d]|press-all|piler-opt)|c(?:cbin|ode=sm)
    |f(?:atbinary|ind_library|mad=|tz=)
    |maxrreg
    |/cuda\b|-(?:rdc|lineinfo|cudart)
    |__CUDA|use_fast|arch=(?:sm|compute)|relocatable-d|d(?:efault-stream|iag-supp)
    |X(?:ptxas|compiler|cudafe|fatbin)
    """,
    re.VERBOSE,
)
# An import counts only by the module; the other statements with these words are of no interest.
_MODULES = re.compile(
    rb"[^\n]*\b(?:nvidia|p(?:y(?:nvml|3nvml|cuda|nvrtc|libraft|torch_quant)|y3nvml)|nv(?:tx|itop)|numba|GPUtil|cud(?:a|f)|cupti"
    rb"|cu(?:ml|graph|spatial|cim|vs|quantum|tlass)|skcuda|rmm|tensorrt|torch_tensorrt|modelopt|dask_cuda|flashinfer|triton)"
)
_STRINGS = re.compile(
    rb"""\#[^\n]*
    |"(?:""(?:[^"\\]|\\.|"(?!""))*(?:\"\"\")?|[^"\\\n]*(?:\\.[^"\\\n]*)*"?)
    |'(?:''(?:[^'\\]|\\.|'(?!''))*(?:''')?|[^'\\\n]*(?:\\.[^'\\\n]*)*'?)
    """,
    re.DOTALL | re.VERBOSE,
)
_BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))
# A line that begins a statement at the left margin: no blank line, closing bracket, or later part of a statement.
_OPENS = rb"(?![ \t\r\n#)\]}\\,:]|(?:else|elif|except|finally|and|or)\b)"
_TOP = re.compile(rb"^" + _OPENS, re.MULTILINE)
_CLASS = re.compile(rb"(?:@(?:[^\n]*\n(?!(?:class|def|async)\b))*[^\n]*\n)?class\b")
_BODY = re.compile(rb":[ \t]*\n(?:[ \t]*\n)*(?P<indent>[ \t]+)(?=\S)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole statements.

    Attributes:
        wrapped: 1 where they are indented and are put under an ``if``, which takes a line of its own; else 0.
        start: Offset of their first line.
        end: Offset behind their last line.
    """

    wrapped: int
    start: int
    end: int

    def text(self, raw: bytes) -> bytes:
        """The statements, as a text that parses."""
        return (b"if 1:\n" if self.wrapped else b"") + raw[self.start : self.end]


def triggers(raw: bytes) -> list[int]:
    """Offsets of the words that a rule may know, in order."""
    found = []
    for match in _TRIGGER.finditer(raw):
        if match[0][-1:] in b" \t" and _MODULES.match(raw, match.end()) is None:
            continue
        found.append(match.start())
    return found


def split(raw: bytes, words_at: Sequence[int]) -> list[Chunk]:
    """The top-level statements, or members of classes, that hold one of the words.

    A guess by layout, which is right for all but odd code; where it is wrong the chunk does not parse, and the caller
    parses the file as a whole.
    """
    code = _STRINGS.sub(_blank, raw)
    starts = _starts(code, _TOP, 0, len(code))
    chunks: list[Chunk] = []
    for start, end in _spans(starts, len(code)):
        if not _holds(words_at, start, end):
            continue
        if end - start > 2000 and _CLASS.match(code, start):
            chunks += _members(code, words_at, start, end)
        else:
            chunks.append(Chunk(0, start, end))
    return chunks


def _members(code: bytes, words_at: Sequence[int], start: int, end: int) -> list[Chunk]:
    body = _BODY.search(code, start, end)
    if body is None:
        return [Chunk(0, start, end)]
    first = body.start("indent")
    if _holds(words_at, start, first):
        return [Chunk(0, start, end)]
    opens = re.compile(rb"^" + re.escape(body["indent"]) + _OPENS, re.MULTILINE)
    starts = _starts(code, opens, first, end)
    return [Chunk(1, at, after) for at, after in _spans(starts, end) if _holds(words_at, at, after)]


def _starts(code: bytes, opens: re.Pattern[bytes], start: int, end: int) -> list[int]:
    """Where statements begin; a decorator and what it decorates are one."""
    starts: list[int] = []
    decorated = False
    for match in opens.finditer(code, start, end):
        if not decorated:
            starts.append(match.start())
        decorated = code[match.end() : match.end() + 1] == b"@"
    return starts


def _spans(starts: Sequence[int], end: int) -> list[tuple[int, int]]:
    """From each start to the next, and from the last to the end; none where nothing starts."""
    return list(zip(starts, [*starts[1:], end], strict=False))


def _holds(words_at: Sequence[int], start: int, end: int) -> bool:
    at = bisect_left(words_at, start)
    return at < len(words_at) and words_at[at] < end


def _blank(match: re.Match[bytes]) -> bytes:
    token = match[0]
    # The first quote stays, so that a line that begins with a string still begins a statement.
    return token[:1] + token[1:].translate(_BLANK) if token[:1] != b"#" else b" " * len(token)
