"""The body of the JSON report."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import engine, versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocm_ci.hipify_check.engine import Result
    from rocm_ci.hipify_check.model import Finding, Verdict
    from rocm_ci.hipify_check.policy import FailOn, Mode

NO_COVERAGE = "nothing that AMD compiles is CUDA, so there is nothing to convert"


def body(result: Result, mode: Mode, fail_on: FailOn) -> dict[str, object]:
    """Everything that was found, as plain values."""
    counts = engine.tally(result.findings)
    percent = engine.coverage(counts)
    summary: dict[str, object] = {
        "files": result.files,
        "bytes": result.bytes,
        "lines": result.lines,
        **{verdict: counts[verdict] for verdict in ("convertible", "manual", "unsupported", "note")},
        "suppressed": result.suppressed,
        "known": result.known,
        "untouched": result.untouched,
        "not_checked": len(result.skipped),
        "coverage_percent": percent,
    }
    if result.unsure:
        summary["changed_only_reason"] = result.unsure
    if percent is None:
        summary["coverage_reason"] = NO_COVERAGE
    return {
        "mode": mode,
        "fail_on": fail_on,
        "rocm_version": versions.show(result.target.version),
        "summary": summary,
        "libraries": groups(result, lambda finding: finding.library),
        "directories": groups(result, directory),
        "fingerprints": list(result.fingerprints),
        "skipped": [{"path": one.path, "reason": one.reason} for one in result.skipped],
        "findings": [
            {
                "path": one.path,
                "line": one.line,
                "column": one.column,
                "rule": one.rule,
                "verdict": one.verdict,
                "name": one.name,
                "hip": one.hip,
                "message": one.message,
            }
            for one in result.findings
        ],
    }


def groups(result: Result, key: Callable[[Finding], str]) -> list[dict[str, object]]:
    """Counts and coverage per group of findings, notes left out; the one with most left to do by hand first."""
    counted = Counter((key(finding), finding.verdict) for finding in result.findings if finding.verdict != "note")
    grouped: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for (name, verdict), count in counted.items():
        grouped[name][verdict] = count
    rows = [
        (-counts["unsupported"] - counts["manual"], -counts["convertible"], name, counts)
        for name, counts in grouped.items()
    ]
    return [
        {
            "name": name,
            "convertible": counts["convertible"],
            "manual": counts["manual"],
            "unsupported": counts["unsupported"],
            "coverage_percent": engine.coverage(counts),
        }
        for _, _, name, counts in sorted(rows, key=lambda row: row[:3])
    ]


def directory(finding: Finding) -> str:
    """The directory a finding's file lies in, ``.`` for the top."""
    return finding.path.rpartition("/")[0] or "."
