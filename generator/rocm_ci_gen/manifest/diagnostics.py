"""Diagnostics as people and programs read them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rocm_ci_gen.manifest.findings import Severity
from rocm_ci_gen.manifest.words import printable

_WIDTH = 100
_BEFORE = 60
_TAB = 4
_CODES = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "place": "\x1b[1m", "gutter": "\x1b[34m", "fix": "\x1b[36m"}
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class Diagnostic:
    """One thing wrong with a manifest.

    `path` is the file as the user named it; `line` and `column` count characters from 1; `key` is the dotted key or
    empty; `source_line` is the line of the file; `rule` names the check (docs/manifest.md lists them).
    """

    severity: Severity
    path: str
    line: int
    column: int
    message: str
    fix: str
    key: str
    source_line: str
    rule: str = ""

    def to_json(self) -> dict[str, object]:
        """The fields by name, as `validate --format json` prints them."""
        return asdict(self)


def format_diagnostics(diagnostics: Sequence[Diagnostic], color: bool) -> str:
    """`file:line:column: error: message [rule]`, the line with a caret, and the fix, for each diagnostic."""
    return "\n".join(_format(diagnostic, color) for diagnostic in diagnostics)


def count(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors and 1 warning`."""
    parts = []
    for severity in ("error", "warning"):
        number = sum(diagnostic.severity == severity for diagnostic in diagnostics)
        if number:
            parts.append(f"{number} {severity}{'' if number == 1 else 's'}")
    return " and ".join(parts) or "no errors"


def _format(diagnostic: Diagnostic, color: bool) -> str:
    def paint(style: str, text: str) -> str:
        return f"{_CODES[style]}{text}{_RESET}" if color else text

    place = f"{printable(diagnostic.path)}:{diagnostic.line}:{diagnostic.column}:"
    lines = [f"{paint('place', place)} {paint(diagnostic.severity, diagnostic.severity + ':')} {diagnostic.message}"]
    if diagnostic.rule:
        lines[0] += paint("gutter", f" [{diagnostic.rule}]")
    text, indent = _excerpt(diagnostic.source_line, diagnostic.column - 1)
    if text.strip():
        gutter = f"{diagnostic.line:>6} | "
        lines.append(paint("gutter", gutter) + text)
        lines.append(paint("gutter", " " * 6 + " | ") + " " * indent + paint(diagnostic.severity, "^"))
    if diagnostic.fix:
        lines.append(f"       {paint('fix', 'fix:')} {diagnostic.fix}")
    return "\n".join(lines)


def _excerpt(line: str, index: int) -> tuple[str, int]:
    """The line as a terminal shows it, cut around the character at `index`, and the display column of that."""
    start = max(0, index - _BEFORE) if len(line) > _WIDTH else 0
    cells = [_cell(char) for char in line[start : start + _WIDTH]]
    lead = "…" if start else ""
    tail = "…" if start + _WIDTH < len(line) else ""
    indent = len(lead) + sum(_columns(cell) for cell in cells[: index - start])
    return lead + "".join(cells) + tail, indent


def _cell(char: str) -> str:
    return " " * _TAB if char == "\t" else printable(char) if not unicodedata.combining(char) else char


def _columns(cell: str) -> int:
    """Columns that a terminal gives to a text: two for wide characters (UAX #11), none for combining ones."""
    return sum(
        0
        if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(char) in ("W", "F")
        else 1
        for char in cell
    )
