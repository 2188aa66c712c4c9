"""Which lines a change adds or modifies, by git: from where it branched off to the working tree."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocm_ci.hipify_check.model import Finding

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_NO_COMMIT = re.compile(r"0*")
_SECONDS = 120

Lines = list[tuple[int, int]]
"""First and last line of each changed block, counted from 1."""


class UnknownChangeError(Exception):
    """It cannot be told what changed; the text says why. The caller reports everything then."""


class Changes:
    """The changed lines of one git work tree.

    Args:
        top: The root of the work tree.
        lines: Changed blocks by path from the root; ``None`` = the whole file is new.
    """

    def __init__(self, top: Path, lines: Mapping[str, Lines | None]) -> None:
        self._top = top
        self._lines = lines

    def touches(self, finding: Finding) -> bool:
        """Does the change touch the line of the finding, or the file of a finding without one?"""
        path = Path(finding.path)
        inside = os.path.relpath(path.parent.resolve() / path.name, self._top)
        if inside not in self._lines:
            return False
        blocks = self._lines[inside]
        return blocks is None or finding.line == 0 or any(first <= finding.line <= last for first, last in blocks)


def find(root: Path, environ: Mapping[str, str]) -> Changes:
    """Ask git what changed in the work tree that ``root`` lies in.

    Raises:
        UnknownChangeError: No git, no base to compare with, or a base that this clone does not have.
    """
    top = Path(_git(root, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    base = _base(top, environ)
    lines: dict[str, Lines | None] = {}
    diff = _git(
        top, "-c", "core.quotePath=false", "diff", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff",
        "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", base, "--",
    )  # fmt: skip
    current = ""
    for line in diff.split(b"\n"):
        if line.startswith(b"+++ "):
            current = _path(line[4:])
            if current:
                lines.setdefault(current, [])
        elif current and (hunk := _HUNK.match(line)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            blocks = lines[current]
            if count and blocks is not None:
                blocks.append((first, first + count - 1))
    for name in _git(top, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0"):
        if name:
            lines[os.fsdecode(name)] = None
    return Changes(top.resolve(), lines)


def _base(top: Path, environ: Mapping[str, str]) -> str:
    """The commit that the change started from: where it branched off, not what the branch has become since."""
    tried = _candidates(environ)
    for candidate in tried:
        base = _merge_base(top, candidate)
        if base:
            return base
    named = ", ".join(tried)
    raise UnknownChangeError(f"this clone has no common commit with {named}; fetch the history (fetch-depth: 0)")


def _merge_base(top: Path, candidate: str) -> str:
    try:
        return _git(top, "merge-base", candidate, "HEAD").decode().strip()
    except UnknownChangeError:
        return ""


def _candidates(environ: Mapping[str, str]) -> Sequence[str]:
    found: list[str] = []
    event = _event(environ.get("GITHUB_EVENT_PATH", ""))
    for keys in (("pull_request", "base", "sha"), ("merge_group", "base_sha"), ("before",)):
        value: object = event
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and not _NO_COMMIT.fullmatch(value):
            found.append(value)
    if environ.get("GITHUB_BASE_REF"):
        found.append(f"origin/{environ['GITHUB_BASE_REF']}")
    return found or ["@{upstream}", "origin/HEAD", "origin/main", "origin/master"]


def _event(path: str) -> object:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        return {}


def _path(word: bytes) -> str:
    """The path of a ``+++`` line; empty for a deleted file. Git quotes a path with control characters or quotes."""
    word = word.rstrip(b"\t\r")
    if word.startswith(b'"') and word.endswith(b'"'):
        word = word[1:-1].decode("latin-1").encode().decode("unicode_escape").encode("latin-1", "replace")
    return os.fsdecode(word[2:]) if word.startswith(b"b/") else ""


def _git(root: Path, *arguments: str) -> bytes:
    folder = root if root.is_dir() else root.parent
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnknownChangeError(f"git cannot be asked: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise UnknownChangeError(said or f"git {arguments[0]} failed")
    return done.stdout
