"""Lists of filter patterns: valid ones, and lists that can select something.

Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax, *Filter pattern cheat sheet*.
`rocm_ci_gen.filter_patterns` gives the patterns their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm_ci_gen import filter_patterns
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.words import show

_SYNTAX = "write GitHub's filter syntax: * ** ? + [a-z0-9] !, and `\\` before one of these itself"
_MOST_COMPARED = 300
"""Longer lists come from a program; comparing each pattern with each would take seconds."""


def check(doc: Document) -> Iterator[Finding]:
    """All findings about `paths`, `ignore`, and the branch and tag filters."""
    lists = [(path, True) for path in file_lists(doc)]
    for event in ("push", "pull_request"):
        lists += [(("triggers", event, key), False) for key in doc.keys("triggers", event)]
    for path, files in lists:
        patterns = doc.texts(*path)
        valid = True
        for place, pattern in patterns:
            problem = problem_of(pattern) or (_unmatchable(pattern) if files else None)
            if problem is not None:
                valid = False
                yield Finding("pattern", place, f"{show(pattern)}: {problem[0]}", fix=problem[1])
        if valid and 0 < len(patterns) <= _MOST_COMPARED and doc.intact(*path):
            yield from _list(path, patterns)


def file_lists(doc: Document) -> list[Path]:
    """Places of the lists whose patterns are for files."""
    stages = [(*stage.path, "paths") for stage in doc.stages()]
    return [("ignore",), *stages, *(("jobs", job, "paths") for job in doc.keys("jobs"))]


def problem_of(pattern: str) -> tuple[str, str] | None:
    """What GitHub's syntax does not allow in a pattern, and the fix; None for a valid one."""
    problem = filter_patterns.check(pattern)
    return (problem, _SYNTAX) if problem else None


def _unmatchable(pattern: str) -> tuple[str, str] | None:
    """Why a pattern for files can match no path that git lists: relative, with `/`, and never of a folder."""
    bang = "!" if pattern.startswith("!") else ""
    body = pattern.removeprefix("!")
    if body.startswith("/"):
        return (
            "paths start at the top of the repository, without `/`",
            f"write {show(bang + (body.lstrip('/') or '**'))}",
        )
    if body.startswith("./"):
        return "paths start at the top of the repository, without `./`", f"write {show(bang + (body[2:] or '**'))}"
    if re.match("[A-Za-z]:/", body) or body.startswith("~"):
        return "a path outside the repository is never part of a change", "write it from the top of the repository"
    if ".." in body.split("/"):
        return "a path with `..` is never part of a change", "write it from the top of the repository"
    if body.endswith("/"):
        return "this names a folder, and changes have files", f"write {show(bang + body + '**')}"
    return None


def _list(path: Path, patterns: tuple[tuple[Path, str], ...]) -> Iterator[Finding]:
    texts = [text for _, text in patterns]
    if all(text.startswith("!") for text in texts):
        yield Finding(
            "never-matches",
            path,
            f"every pattern of {show(str(path[-1]))} begins with `!`: without one before them, nothing is selected",
            fix='put "**" first',
            on_key=True,
        )
        return
    if str(path[-1]).endswith("-ignore") and texts[-1] == "**":
        place, _ = patterns[-1]
        yield Finding("never-matches", place, f"{show(str(path[-1]))} with `**` leaves nothing", fix="narrow it")
        return
    first = next(index for index, text in enumerate(texts) if not text.startswith("!"))
    for place, text in patterns[:first]:
        yield Finding(
            "pattern-without-effect",
            place,
            f"{show(text)} excludes nothing: the patterns after it decide",
            fix="move it behind what it takes away from",
        )
    dead = [
        (index, _excluded_by(texts, index)) for index in range(first, len(texts)) if not texts[index].startswith("!")
    ]
    excluding = [by for _, by in dead if by is not None]
    if len(excluding) == len(dead):
        place, text = patterns[max(excluding)]
        yield Finding(
            "never-matches",
            place,
            f"{show(text)} excludes everything that is selected before it",
            fix="narrow it, or put what shall be selected behind it",
        )
        return
    for index, by in dead:
        if by is not None:
            yield Finding(
                "pattern-without-effect",
                patterns[index][0],
                f"{show(texts[index])} selects nothing: {show(texts[by])} behind it excludes all of it",
                fix="remove it, or move it behind the exclusion",
            )


def _excluded_by(texts: list[str], index: int) -> int | None:
    """Index of a later exclusion that covers all that the pattern at `index` selects; certain cases only."""
    for later in range(index + 1, len(texts)):
        if texts[later].startswith("!") and _covers(texts[later][1:], texts[index]):
            return later
    return None


def _covers(wide: str, narrow: str) -> bool:
    if wide in (narrow, "**", "**/*"):
        return True
    if wide == "*" and "/" not in narrow and "**" not in narrow:
        return True
    folder = wide.removesuffix("**")
    return folder != wide and folder.endswith("/") and not re.search(r"[*?+\[\\]", folder) and narrow.startswith(folder)
