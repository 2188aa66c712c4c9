"""Annotations: what GitHub shows beside a line of a file or in the list of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from rocm_ci.runner.commands import workflow_command
from rocm_ci.runner.text import cut_utf16, markdown_text, one_line, printable

Level = Literal["error", "warning", "notice"]

PER_LEVEL = 10
"""GitHub keeps 10 annotations of a level per step and drops the rest silently (REST API, check runs)."""
MESSAGE_LIMIT = 4095
"""The runner cuts a message at 4,096 characters without a word (actions/runner, ExecutionContext.cs)."""
_TITLE_LIMIT = 250


@dataclass(frozen=True)
class Annotation:
    """One remark; `path` is relative to the workspace or absolute, `line` and `column` count from 1."""

    level: Level
    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None
    title: str | None = None


@dataclass(frozen=True)
class Selection:
    """What fits into a step's annotations, and what has to go to the summary."""

    shown: tuple[Annotation, ...]
    rest: tuple[Annotation, ...]


def select(annotations: Sequence[Annotation], per_level: int = PER_LEVEL) -> Selection:
    """Keep the first `per_level` of each level, in the given order."""
    seen: Counter[str] = Counter()
    shown: list[Annotation] = []
    rest: list[Annotation] = []
    for annotation in annotations:
        seen[annotation.level] += 1
        (shown if seen[annotation.level] <= per_level else rest).append(annotation)
    return Selection(tuple(shown), tuple(rest))


def command_line(
    annotation: Annotation, *, workspace: Path | None = None, redact: Callable[[str], str] = lambda text: text
) -> str:
    """The workflow command for one annotation."""
    title = annotation.title and cut_utf16(one_line(redact(annotation.title)), _TITLE_LIMIT)
    path = annotation.path and redact(relative_path(annotation.path, workspace))
    return workflow_command(
        annotation.level,
        cut_utf16(redact(printable(annotation.message)), MESSAGE_LIMIT),
        file=path or None,
        line=(annotation.line or None) if path else None,
        col=(annotation.column or None) if path and annotation.line else None,
        title=title or None,
    )


def rest_markdown(rest: Sequence[Annotation]) -> str:
    """The annotations that did not fit, as a list for the job summary."""
    if not rest:
        return ""
    lines = [f"**{len(rest):,} more, for which GitHub has no room beside the code:**", ""]
    for annotation in rest:
        where = annotation.path or ""
        if where and annotation.line:
            where += f":{annotation.line}" + (f":{annotation.column}" if annotation.column else "")
        place = f"`{where}` " if where else ""
        lines.append(f"- {annotation.level}: {place}{markdown_text(one_line(annotation.message, 300))}")
    return "\n".join(lines) + "\n"


def relative_path(path: str, workspace: Path | None) -> str:
    """`path` as GitHub wants it: relative to the workspace, with forward slashes."""
    if workspace and path.startswith("/"):
        pure = PurePosixPath(path)
        if pure.is_relative_to(workspace.as_posix()):
            return pure.relative_to(workspace.as_posix()).as_posix()
    return path.removeprefix("./")
