"""Path patterns as users know them from ``.gitignore`` and workflow path filters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def any_match(path: str, patterns: Iterable[str]) -> bool:
    """Does a pattern match the path, or a directory that it lies in?

    ``*`` and ``?`` stay within one name, ``**`` crosses directories. A pattern without a slash matches a name at any
    depth; one with a slash counts from the top.
    """
    return any(_compile(pattern).search(path) is not None for pattern in patterns)


@lru_cache(maxsize=512)
def _compile(pattern: str) -> re.Pattern[str]:
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/").removeprefix("./")
    out: list[str] = []
    at = 0
    while at < len(body):
        if body.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif body.startswith("**", at):
            out.append(".*")
            at += 2
        elif body[at] == "*":
            out.append("[^/]*")
            at += 1
        elif body[at] == "?":
            out.append("[^/]")
            at += 1
        elif body[at] == "[" and "]" in body[at + 2 :]:
            end = body.index("]", at + 2)
            inner = body[at + 1 : end]
            negated = inner[0] in "!^"
            out.append("[" + ("^" if negated else "") + re.escape(inner[negated:]).replace(r"\-", "-") + "]")
            at = end + 1
        else:
            out.append(re.escape(body[at]))
            at += 1
    start = "^" if anchored else "(?:^|/)"
    end_of_name = "/" if pattern.endswith("/") and len(pattern) > 1 else "(?:/|$)"
    return re.compile(start + "".join(out) + end_of_name)
