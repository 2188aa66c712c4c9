"""The plan for people: a table on a terminal or in a log, and Markdown for the job summary."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import TextWrapper

import click

from rocm_ci_gen.plan.model import Expect, Job, Plan, first_few

_HEADINGS = ("job", "runs", "runner", "instances", "why")
_STATES = {"yes": "green", "no": "bright_black", "withheld": "yellow"}
_RUNNER_WIDTH = 44
_SUMMARY_UNOWNED = 50
_ENTITIES = {ord(char): f"&#{ord(char)};" for char in "&<>\\`*_[]|~#@"}


def state(job: Job) -> str:
    """`yes`, `no` or `withheld`."""
    return "yes" if job.run else "withheld" if job.withheld else "no"


def text(plan: Plan, *, color: bool = False, width: int = 120) -> str:
    """The plan as an aligned table, with what else a person should know below it.

    Args:
        plan: the plan.
        color: use ANSI colours.
        width: columns of the terminal; reasons are wrapped into what the other columns leave.
    """
    rows = [
        (job.name, state(job), _cut(runner(job), _RUNNER_WIDTH), str(job.instances), job.reason) for job in plan.jobs
    ]
    widths = [max(len(row[column]) for row in (_HEADINGS, *rows)) for column in range(4)]
    indent = 2 + sum(widths) + 2 * len(widths)
    wrapper = TextWrapper(max(width - indent, 40), break_long_words=False, break_on_hyphens=False)
    lines = [headline(plan), ""]
    lines.append(_dim("  " + _row(_HEADINGS, widths) + _HEADINGS[4], color))
    for row in rows:
        style = {1: _STATES[row[1]], 0: "bold" if row[1] == "yes" else ""}
        first, *rest = wrapper.wrap(row[4]) or [""]
        lines.append("  " + _row(row, widths, style if color else {}) + first)
        lines.extend(" " * indent + line for line in rest)
    facts = []
    if plan.triggered:
        fate = "a newer run of the group cancels this one" if plan.concurrency.cancel_in_progress else "never cancelled"
        facts.append(("concurrency", f"{plan.concurrency.group} ({fate})"))
    if plan.unowned:
        facts.append(("not covered", f"{_count(len(plan.unowned))} that no stage covers: {first_few(plan.unowned, 5)}"))
    facts.extend(("note", notice) for notice in plan.notices)
    if facts:
        lines.append("")
    label_width = max((len(label) for label, _ in facts), default=0)
    facts_wrapper = TextWrapper(
        max(width, 60), break_long_words=False, break_on_hyphens=False, subsequent_indent=" " * (label_width + 4)
    )
    for label, value in facts:
        label = label.ljust(label_width)
        wrapped = facts_wrapper.fill(f"  {label}  {value}")
        lines.append(wrapped.replace(label, _dim(label, color), 1))
    return "\n".join(lines) + "\n"


def headline(plan: Plan) -> str:
    """One line: what happened, how much changed, and how much runs."""
    running = sum(job.instances for job in plan.jobs if job.run)
    if not plan.triggered:
        return f"{plan.event}: the workflow does not start"
    parts = [plan.event]
    if plan.changed is not None:
        parts.append(f"{_count(plan.changed)} changed")
    if plan.base and plan.head:
        parts.append(f"{plan.base[:12]} → {plan.head[:12]}")
    if plan.doubt:
        parts.append("everything runs: " + plan.doubt)
    elif not running:
        parts.append("nothing to run")
    else:
        parts.append("1 of 1 job runs" if len(plan.jobs) == 1 else f"{len(plan.run)} of {len(plan.jobs)} jobs run")
    return " · ".join(parts)


def runner(job: Job) -> str:
    """Where the job runs: labels of its runner, names of its runners if it has several, or the user's own workflow."""
    if job.uses is not None:
        return job.uses
    names = dict.fromkeys(expect.runner for expect in job.expect)
    return " | ".join(names) if len(names) > 1 else _place(job.expect[0])


def _place(expect: Expect) -> str:
    group = (f"group {expect.group}",) if expect.group is not None else ()
    return ", ".join((*group, *expect.runs_on))


def markdown(plan: Plan) -> str:
    """The plan for the job summary. Paths and patterns are a stranger's text: they stay text."""
    lines = [f"### rocm-ci plan: {_escape(headline(plan))}", ""]
    lines += ["| job | runs | runner | instances | why |", "| --- | --- | --- | --- | --- |"]
    marks = {"yes": "**yes**", "no": "no", "withheld": "**withheld**"}
    for job in plan.jobs:
        cells = (_code(job.name), marks[state(job)], _code(runner(job)), str(job.instances), _escape(job.reason))
        lines.append(f"| {' | '.join(cells)} |")
    if plan.triggered:
        lines += ["", f"Concurrency group: {_code(plan.concurrency.group)}"]
    for notice in plan.notices:
        lines += ["", f"> {_escape(notice)}"]
    if plan.unowned:
        lines += ["", f"<details><summary>{_count(len(plan.unowned))} that no stage covers</summary>", ""]
        lines += [f"- {_code(path)}" for path in plan.unowned[:_SUMMARY_UNOWNED]]
        if len(plan.unowned) > _SUMMARY_UNOWNED:
            lines.append(f"- … and {len(plan.unowned) - _SUMMARY_UNOWNED:,} more")
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str], widths: Sequence[int], style: dict[int, str] | None = None) -> str:
    out = []
    for column, width in enumerate(widths):
        cell = cells[column].rjust(width) if column == 3 else cells[column].ljust(width)
        look = (style or {}).get(column)
        out.append(click.style(cell, bold=True) if look == "bold" else click.style(cell, fg=look) if look else cell)
    return "  ".join(out) + "  "


def _dim(text: str, color: bool) -> str:
    return click.style(text, fg="bright_black") if color else text


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _escape(text: str) -> str:
    """Text that Markdown and HTML leave alone, on one line, also inside a table."""
    return " ".join(text.translate(_ENTITIES).split())


def _code(text: str) -> str:
    return f"<code>{_escape(text)}</code>"
