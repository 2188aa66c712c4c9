"""The whole check: files in, one result out. No output, no exit codes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import ownership, parallel, rules
from rocm_ci.hipify_check.fingerprint import fingerprints
from rocm_ci.hipify_check.model import VERDICTS, Finding, Skipped, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rocm_ci.hipify_check.check_file import Target
    from rocm_ci.hipify_check.files import Found


@dataclass(frozen=True, slots=True)
class Result:
    """What the check found.

    Attributes:
        findings: By path, line, column.
        files: Files that were read and checked.
        bytes: Their size together.
        lines: Their lines together.
        suppressed: Findings that an inline exception took away.
        skipped: Files that were not checked.
        target: What they were held against.
        fingerprints: Of all findings, also of those that a baseline or ``--changed-only`` takes out.
        known: Findings that the baseline has.
        untouched: Findings on lines that the change does not touch.
        unsure: Why it could not be told what changed; then everything is reported.
    """

    findings: tuple[Finding, ...]
    files: int
    bytes: int
    lines: int
    suppressed: int
    skipped: tuple[Skipped, ...]
    target: Target
    fingerprints: tuple[str, ...] = ()
    known: int = 0
    untouched: int = 0
    unsure: str = ""


def check(found: Found, target: Target, jobs: int) -> Result:
    """Check all files that were found."""
    results = parallel.check_all(found.files, target, jobs)
    checked = [result for result in results if not result.skipped]
    skipped = [*found.skipped, *(Skipped(result.name, result.skipped) for result in results if result.skipped)]
    findings = [finding for _, kept in ownership.drop_owned(checked) for finding in kept]
    findings += [_not_checked(one) for one in skipped]
    findings.sort(key=lambda finding: (finding.path, finding.line, finding.column, finding.rule))
    return Result(
        findings=tuple(findings),
        files=len(checked),
        bytes=sum(result.size for result in checked),
        lines=sum(result.lines for result in checked),
        suppressed=sum(result.suppressed for result in checked),
        skipped=tuple(sorted(skipped, key=lambda one: one.path)),
        target=target,
        fingerprints=tuple(fingerprints(findings)),
    )


def leave_out(result: Result, known: Collection[str], touches: Callable[[Finding], bool] | None) -> Result:
    """The result without what was there already.

    Args:
        result: The whole result.
        known: Fingerprints of findings that do not count.
        touches: Whether a finding is part of the change; ``None`` = all are.
    """
    pairs = list(zip(result.findings, result.fingerprints, strict=True))
    changed = [pair for pair in pairs if touches is None or touches(pair[0])]
    fresh = tuple(finding for finding, mark in changed if mark not in known)
    return replace(result, findings=fresh, known=len(changed) - len(fresh), untouched=len(pairs) - len(changed))


def coverage(counts: Counter[Verdict]) -> float | None:
    """Share of the findings that convert mechanically, in percent with one decimal; ``None`` where there is none."""
    whole = counts["convertible"] + counts["manual"] + counts["unsupported"]
    return round(100 * counts["convertible"] / whole, 1) if whole else None


def tally(findings: Sequence[Finding]) -> Counter[Verdict]:
    """How many findings there are of each verdict."""
    counts: Counter[Verdict] = Counter(dict.fromkeys(VERDICTS, 0))
    counts.update(finding.verdict for finding in findings)
    return counts


def _not_checked(skipped: Skipped) -> Finding:
    rule = rules.by_slug()["not-checked"]
    message = f"not checked: {skipped.reason}"
    return Finding(skipped.path, 0, 0, rule.id, "note", "", "", message, "file")
