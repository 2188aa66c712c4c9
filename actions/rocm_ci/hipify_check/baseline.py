"""Known findings: the JSON report of an earlier run says what was there already, so that only new residue fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class BaselineError(Exception):
    """The file cannot serve as a baseline; the text says why."""


def load(path: Path) -> frozenset[str]:
    """The fingerprints of an earlier report.

    Raises:
        BaselineError: The file is missing, unreadable, or no report of hipify-check.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BaselineError(f"is no JSON: {error}") from error
    known = data.get("fingerprints") if isinstance(data, dict) else None
    if not isinstance(known, list) or not all(isinstance(one, str) for one in known):
        raise BaselineError("is no report of hipify-check: it has no fingerprints")
    return frozenset(known)
