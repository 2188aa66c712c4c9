"""What the parts of the validator tell each other: a flaw at an offset, a finding at a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Flaw:
    """Something wrong with the text itself, before there are keys. `offset` counts characters from 0."""

    rule: str
    offset: int
    message: str
    fix: str = ""
    path: Path = ()


@dataclass(frozen=True)
class Finding:
    """Something wrong with the value (or with the key itself) at a path of the document.

    `rule` names an entry of `rules.RULES`, which documents it and gives its severity.
    """

    rule: str
    path: Path
    message: str
    fix: str = ""
    on_key: bool = False


def dotted(path: Path) -> str:
    """`stages.kernel-tests.tests[0]` of a path; the empty path is the empty text."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
