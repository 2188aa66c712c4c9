"""What clang says, line by line, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLACED = re.compile(r"(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?P<level>fatal error|error|note): (?P<text>.*)")
_BARE = re.compile(
    r"(?:\S*clang(?:\+\+)?(?:-\d+)?|\S*lld|hipcc|\S*clang-offload-bundler): (?:fatal )?error: (?P<text>.*)"
    r"|(?:fatal )?error: (?P<other>(?!.*\bgenerated\b).*)"
    r"|(?:LLVM ERROR|fatal error: error in backend): (?P<backend>.*)"
)
_CRASH = re.compile(r"PLEASE submit a bug report|Stack dump:|Segmentation fault")
_ASSEMBLY = "<inline asm>"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error.

    Attributes:
        path: File, as the compiler wrote it; empty where the error is about no file.
        line: 1-based; ``None`` without a file.
        column: 1-based; ``None`` without a file.
        text: The message.
        assembly: It was the assembler that found it, in an ``asm`` statement.
    """

    path: str
    line: int | None
    column: int | None
    text: str
    assembly: bool = False


def parse(lines: Iterable[str]) -> list[Diagnostic]:
    """The errors of one compiler run, in order; warnings and notes are left out."""
    found: list[Diagnostic] = []
    for line in lines:
        placed = _PLACED.match(line)
        if placed and placed["level"] == "note":
            if placed["path"] == _ASSEMBLY and found:
                last = found[-1]
                found[-1] = Diagnostic(last.path, last.line, last.column, last.text, assembly=True)
            continue
        if placed:
            found.append(
                Diagnostic(
                    "" if placed["path"] == _ASSEMBLY else placed["path"],
                    int(placed["line"]),
                    int(placed["column"]),
                    placed["text"],
                    assembly=placed["path"] == _ASSEMBLY,
                )
            )
            continue
        bare = _BARE.match(line)
        if bare:
            found.append(Diagnostic("", None, None, bare["text"] or bare["other"] or bare["backend"] or line))
        elif _CRASH.search(line) and not found:
            found.append(Diagnostic("", None, None, f"the compiler crashed: {line.strip()}"))
    return found
