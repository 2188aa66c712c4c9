"""Which files changed, or why that is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["git", "api", "given", "none"]


@dataclass(frozen=True)
class Changes:
    """The changed files of an event.

    Attributes:
        paths: paths from the repository's root with `/`, in order, both places of a moved file; None if not known.
            A byte that is not UTF-8 is a lone surrogate (`surrogateescape`).
        doubt: why `paths` is None.
        base: full id of the commit compared with, where it was found.
        head: full id of the commit whose changes these are, where it was found.
        source: where the answer comes from.
    """

    paths: tuple[str, ...] | None
    doubt: str | None = None
    base: str | None = None
    head: str | None = None
    source: Source = "none"

    def __post_init__(self) -> None:
        if (self.paths is None) != (self.doubt is not None):
            raise ValueError("either the changed paths are known or there is a doubt, and never both")


def unknown(doubt: str, *, base: str | None = None, head: str | None = None) -> Changes:
    """The answer when it cannot be known what changed."""
    return Changes(None, doubt, base, head)


def printable_path(path: str) -> str:
    """`path` as one line of printable text: control characters and bytes that are not UTF-8 as escapes."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
