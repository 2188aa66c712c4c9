"""The result for people: each place with its line, a caret and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm_ci.hipify_check import engine, versions
from rocm_ci.hipify_check.model import VERDICTS

if TYPE_CHECKING:
    from rocm_ci.hipify_check.engine import Result
    from rocm_ci.hipify_check.model import Finding

SHOWN = 500
"""Findings that are printed; the report has all of them."""

_QUIET = frozenset({"HIP190", "HIP191"})
_WIDTH = 140


def text(result: Result, report: str = "the report") -> str:
    """All that a person wants to read on the terminal."""
    shown = [finding for finding in result.findings if finding.rule not in _QUIET]
    hardness = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
    if len(shown) > SHOWN:
        # With more than anyone reads, show what is hard first.
        shown.sort(key=lambda finding: hardness[finding.verdict])
    lines: list[str] = []
    for finding in shown[:SHOWN]:
        lines += _block(finding)
    if len(shown) > SHOWN:
        lines += [f"... and {len(shown) - SHOWN:,} more, all of them in {report}", ""]
    lines += _totals(result)
    return "\n".join(lines) + "\n"


def coverage_words(result: Result) -> str:
    """The coverage in words."""
    percent = engine.coverage(engine.tally(result.findings))
    return "no CUDA to convert" if percent is None else f"{percent:g} % converts mechanically"


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 file, 2,000 files."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _block(finding: Finding) -> list[str]:
    place = f"{finding.path}:{finding.line}:{finding.column}" if finding.line else finding.path
    lines = [f"{place}: {finding.verdict} {finding.rule}: {finding.message}"]
    if finding.line and finding.source:
        source = finding.source.expandtabs(4)[:_WIDTH]
        column = len(finding.source[: finding.column - 1].expandtabs(4))
        gutter = f"{finding.line:>6} | "
        lines.append(gutter + source)
        if column < _WIDTH:
            width = max(1, min(len(finding.name.split("(")[0]), len(source) - column))
            lines.append(
                " " * (len(gutter) - 2) + "| " + " " * column + "^" * width + (f" {finding.hip}" if finding.hip else "")
            )
    lines.append("")
    return lines


def _totals(result: Result) -> list[str]:
    counts = engine.tally(result.findings)
    parts = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if verdict != "note")
    read = (
        f"{plural(result.files, 'file')}, {plural(result.lines, 'line')}, ROCm {versions.show(result.target.version)}"
    )
    lines = [f"{read}: {parts}; {plural(counts['note'], 'note')}; {coverage_words(result)}"]
    if result.suppressed:
        lines.append(f"left out by inline exceptions: {plural(result.suppressed, 'finding')}")
    if result.known:
        lines.append(f"known from the baseline: {plural(result.known, 'finding')}")
    if result.untouched:
        lines.append(f"on lines that the change does not touch: {plural(result.untouched, 'finding')}")
    if result.unsure:
        lines.append(f"everything is reported, because it cannot be told what changed: {result.unsure}")
    if result.skipped:
        lines.append(f"not checked: {plural(len(result.skipped), 'file')}")
    return lines
