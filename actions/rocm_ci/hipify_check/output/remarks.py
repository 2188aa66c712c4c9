"""Annotations: the failing findings beside the code, the hardest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm_ci.hipify_check import rules
from rocm_ci.hipify_check.model import VERDICTS
from rocm_ci.runner.annotations import Annotation

if TYPE_CHECKING:
    from collections.abc import Collection

    from rocm_ci.hipify_check.engine import Result
    from rocm_ci.hipify_check.model import Verdict

LIMIT = 200
"""GitHub shows ten of each level, and the summary the rest; nobody reads thousands there."""


def remarks(result: Result, failing: Collection[Verdict]) -> list[Annotation]:
    """One annotation a finding that fails the check, or a warning for one that could not be checked."""
    titles = {rule.id: f"{rule.id} {rule.title}" for rule in rules.load()}
    found: list[Annotation] = []
    for verdict in VERDICTS:
        for finding in result.findings:
            if finding.verdict != verdict or len(found) >= LIMIT:
                continue
            if verdict in failing:
                found.append(
                    Annotation(
                        "error", finding.message, finding.path, finding.line, finding.column, titles[finding.rule]
                    )
                )
            elif finding.line == 0:
                found.append(Annotation("warning", finding.message, finding.path, title=titles[finding.rule]))
    return found
