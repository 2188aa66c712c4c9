"""The result as GitHub-flavoured Markdown for the job summary: coverage, then the hard bones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rocm_ci.hipify_check import engine, versions
from rocm_ci.hipify_check.output import body
from rocm_ci.runner.text import markdown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm_ci.hipify_check.engine import Result

_ROWS = 20


def summary(result: Result, *, failed: bool) -> str:
    """The job summary."""
    counts = engine.tally(result.findings)
    percent = engine.coverage(counts)
    said = f"{percent:g} %" if percent is not None else "n/a"
    lines = [
        f"### {'❌' if failed else '✅'} hipify-check",
        "",
        f"{result.files:,} files, {result.lines:,} lines, held against ROCm {versions.show(result.target.version)}.",
        "",
        "| Convertible | Manual | Unsupported | Coverage |",
        "|---:|---:|---:|---:|",
        f"| {counts['convertible']:,} | {counts['manual']:,} | {counts['unsupported']:,} | {said} |",
        "",
    ]
    lines += _bones(result)
    lines += _groups("By library", body.groups(result, lambda finding: finding.library))
    lines += _groups("By directory", body.groups(result, body.directory))
    if result.skipped:
        lines += [f"**Not checked ({len(result.skipped):,})**", ""]
        lines += [f"- `{one.path}`: {markdown_text(one.reason)}" for one in result.skipped[:_ROWS]]
        lines.append("")
    return "\n".join(lines)


def _bones(result: Result) -> list[str]:
    """What a person has to do: names that do not convert, the most frequent first."""
    hard = [finding for finding in result.findings if finding.verdict in {"unsupported", "manual"}]
    if not hard:
        return []
    often = Counter((finding.verdict, finding.name, finding.rule) for finding in hard)
    first = {(finding.verdict, finding.name, finding.rule): finding for finding in reversed(hard)}
    ranked = sorted(often.items(), key=lambda item: (item[0][0] != "unsupported", -item[1], item[0][1]))
    lines = [
        "**Hard bones**",
        "",
        "| Name | Verdict | Rule | Places | First | What to do |",
        "|---|---|---|---:|---|---|",
    ]
    for key, places in ranked[:_ROWS]:
        verdict, name, rule = key
        one = first[key]
        lines.append(
            f"| {markdown_text(name)} | {verdict} | {rule} | {places:,} | `{one.path}:{one.line}` "
            f"| {markdown_text(one.message)} |"
        )
    if len(ranked) > _ROWS:
        lines.append(f"\n… and {len(ranked) - _ROWS:,} more names.")
    lines.append("")
    return lines


def _groups(title: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = [
        f"<details><summary>{title}</summary>",
        "",
        "| | Convertible | Manual | Unsupported | Coverage |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {markdown_text(row['name'])} | {row['convertible']:,} | {row['manual']:,} | {row['unsupported']:,} "
        f"| {row['coverage_percent']:g} % |"
        for row in rows[:_ROWS]
    ]
    if len(rows) > _ROWS:
        lines.append(f"\n… and {len(rows) - _ROWS:,} more.")
    return [*lines, "", "</details>", ""]
