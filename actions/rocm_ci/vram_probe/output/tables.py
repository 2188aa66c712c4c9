"""The figures as a table: Markdown for the job summary, plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rocm_ci.runner.text import markdown_text, one_line, plural
from rocm_ci.vram_probe.output.body import Story
from rocm_ci.vram_probe.output.chart import mermaid
from rocm_ci.vram_probe.sizes import show
from rocm_ci.vram_probe.source import Holder

HEAD = ("GPU", "gfx", "capacity", "before", "peak", "after", "leaked", "baseline")
_MOST_TESTS = 10
_MOST_HOLDERS = 20
_MARKS = {"ok": "✅", "leak": "❌", "growth": "⚠️", "lost": "🛑", "dirty-start": "🛑"}


def rows(story: Story) -> list[tuple[str, ...]]:
    """One row a device, in the columns of `HEAD`."""
    growth = {entry.device: entry for entry in story.growth}
    found: list[tuple[str, ...]] = []
    for index, gpu in enumerate(story.measured.gpus):
        entry = growth.get(index)
        compared = "-"
        if entry is not None and entry.grown is not None:
            share = f" ({(entry.ratio - 1) * 100:+.1f} %)" if entry.ratio is not None else ""
            compared = f"{'+' if entry.grown >= 0 else ''}{show(entry.grown)}{share}"
        found.append(
            (
                gpu.device.title,
                gpu.device.gfx or "-",
                show(gpu.device.capacity_bytes),
                show(gpu.before),
                "lost" if index in story.measured.lost and gpu.peak is None else show(gpu.peak),
                "lost" if index in story.measured.lost else show(gpu.after),
                "unknown" if gpu.leaked is None else show(gpu.leaked),
                compared,
            )
        )
    return found


def text(story: Story) -> str:
    """The table for a terminal."""
    table = [HEAD, *rows(story)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    lines = []
    for row in table:
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    measured = story.measured
    unread = sum(measured.unreadable)
    failed = f"; {plural(unread, 'readings')} failed, so a peak may have been missed" if unread else ""
    lines.append(f"{plural(measured.samples, 'samples')} in {measured.seconds:.1f} s from {measured.source}{failed}")
    return "\n".join(lines)


def markdown(story: Story) -> str:
    """The job summary: verdict, table, chart, processes, tests."""
    measured = story.measured
    word = story.verdict or "unknown"
    parts = [
        f"### vram-probe: {_MARKS.get(word, '❔')} {word}",
        "",
        markdown_text(story.message),
        "",
        f"Watched: {_code(story.title)}",
        "",
        _table(HEAD, rows(story), numbers=range(2, len(HEAD))),
    ]
    chart = mermaid(measured)
    if chart:
        parts += [chart]
    parts.append(
        f"{plural(measured.samples, 'samples')} in {measured.seconds:.1f} s, every "
        f"{measured.interval * 1000:g} ms, from {measured.source}"
        + (f"; {markdown_text(measured.note)}" if measured.note else "")
        + ".\n"
    )
    rising = [entry for entry in story.trends if entry.rising]
    for trend in rising:
        title = measured.gpus[trend.device].device.title
        parts.append(f"⚠️ {title}: the idle floor rose by {show(trend.rise)} over {trend.runs} runs.\n")
    holders = _holders(story)
    if holders:
        parts += ["<details><summary>Who holds VRAM</summary>", "", holders, "</details>", ""]
    if story.tests:
        parts += ["<details><summary>Peaks of single tests</summary>", "", _tests(story), "</details>", ""]
    return "\n".join(parts)


def dirty_markdown(title: str, message: str, advice: str) -> str:
    """The job summary where the command was not run."""
    head = f"### vram-probe: {_MARKS['dirty-start']} dirty-start"
    return f"{head}\n\n{markdown_text(message)}\n\n{markdown_text(advice)}\n\nNot run: {_code(title)}\n"


def _code(text: str) -> str:
    return "`" + one_line(text, 300).replace("`", "'") + "`"


def _holders(story: Story) -> str:
    measured = story.measured
    found: list[tuple[str, ...]] = []
    groups: tuple[tuple[str, Sequence[Holder]], ...] = (
        ("before", measured.holders_before),
        ("peak", measured.holders_peak),
        ("after", measured.holders_after),
    )
    for when, holders in groups:
        for holder in sorted(holders, key=lambda each: -each.bytes)[:_MOST_HOLDERS]:
            title = measured.gpus[holder.device].device.title
            found.append((when, title, str(holder.pid), markdown_text(holder.name), show(holder.bytes)))
    return _table(("when", "GPU", "pid", "program", "VRAM"), found, numbers=(2, 4)) if found else ""


def _tests(story: Story) -> str:
    found = [
        (markdown_text(str(test["test"])), show(_int(test["allocated_bytes"])), show(_int(test["reserved_bytes"])))
        for test in story.tests[:_MOST_TESTS]
    ]
    table = _table(("test", "allocated", "reserved"), found, numbers=(1, 2))
    more = len(story.tests) - len(found)
    return table + (f"\nand {plural(more, 'more tests')}, in the report\n" if more > 0 else "")


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _table(head: Sequence[str], body: Sequence[Sequence[str]], *, numbers: Sequence[int]) -> str:
    rule = ["---:" if column in numbers else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body)) + "\n"
