"""Inline exceptions: ``// rocm-ci: ignore[HIP101] reason``."""

from __future__ import annotations

import re

from rocm_ci.hipify_check import rules

_WORDS = (b"rocm-ci", b"hipify-check")

_PATTERN = re.compile(r"\b(?:rocm-ci|hipify-check)\s*:\s*ignore\b(?:\s*\[([^\]]*)\])?")
_ALONE = re.compile(r"\s*(?://|#|/\*|<!--|;|rem\b)", re.IGNORECASE)


def may_have(raw: bytes) -> bool:
    """A quick look for whether a file has any exception; see ``exceptions``."""
    return b"ignore" in raw and any(word in raw for word in _WORDS)


def exceptions(text: str) -> dict[int, frozenset[str] | None]:
    """Lines (1-based) that carry an exception, with the rule IDs it is for; ``None`` = all rules.

    A comment that stands alone on its line speaks for the next line.
    """
    found: dict[int, frozenset[str] | None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _PATTERN.search(line)
        if match is None:
            continue
        target = number + 1 if _ALONE.match(line) else number
        if match[1] is None:
            found[target] = None
        elif found.get(target, frozenset()) is not None:
            known = {rule.id for rule in map(rules.find, match[1].split(",")) if rule}
            found[target] = (found.get(target) or frozenset()) | known
    return found
