"""SARIF 2.1.0 for code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from rocm_ci.hipify_check import rules
from rocm_ci.hipify_check.fingerprint import fingerprints
from rocm_ci.hipify_check.model import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocm_ci.hipify_check.model import Finding
    from rocm_ci.hipify_check.rules import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LIMIT = 25_000
"""Results in one run; GitHub refuses a file with more (code scanning, "SARIF results exceed one or more limits")."""

_LEVELS = {"unsupported": "error", "manual": "error", "convertible": "warning", "note": "note"}
_QUIET = frozenset({"HIP190", "HIP191"})
"""Notes that nothing is to be done about; an alert for each would bury the others."""


def sarif(findings: Sequence[Finding], version: str, place: Callable[[str], str] = str) -> str:
    """Write findings as one SARIF run.

    Args:
        findings: What was found.
        version: Of this tool.
        place: Makes of a finding's path the path from the repository's root.
    """
    known = rules.load()
    index = {rule.id: number for number, rule in enumerate(known)}
    pairs = [
        (finding, mark)
        for finding, mark in zip(findings, fingerprints(findings), strict=True)
        if finding.rule not in _QUIET
    ]
    if len(pairs) > LIMIT:
        pairs = sorted(pairs, key=lambda pair: VERDICTS.index(pair[0].verdict))[:LIMIT]
    run = {
        "tool": {
            "driver": {
                "name": "rocm-ci hipify-check",
                "semanticVersion": version,
                "rules": [_rule(rule) for rule in known],
            }
        },
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": "rocm-ci/hipify-check/"},
        "results": [_result(finding, mark, index[finding.rule], place) for finding, mark in pairs],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=True) + "\n"


def _rule(rule: Rule) -> dict[str, object]:
    described: dict[str, object] = {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.slug.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.explanation},
        "help": {"text": f"{rule.explanation}\n\n{rule.fix}", "markdown": _markdown(rule)},
        "properties": {"tags": ["rocm", "hip", "portability"], "precision": "high"},
    }
    return described


def _markdown(rule: Rule) -> str:
    parts = [rule.explanation]
    if rule.example:
        parts.append(f"Found:\n\n```\n{rule.example.code}```")
    if rule.clean:
        parts.append(f"Left alone:\n\n```\n{rule.clean.code}```")
    parts.append(f"**What to do:** {rule.fix}")
    return "\n\n".join(parts)


def _result(finding: Finding, mark: str, index: int, place: Callable[[str], str]) -> dict[str, object]:
    location: dict[str, object] = {
        "artifactLocation": {"uri": quote(place(finding.path), errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}
    }
    if finding.line:
        # A name may be spelled otherwise in the source (find_package( CUDA )); then only its start is told.
        end = finding.column + len(finding.name)
        shown = finding.source[finding.column - 1 : end - 1] == finding.name
        region = {"startLine": finding.line, "startColumn": finding.column}
        location["region"] = {**region, "endColumn": end} if shown else region
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.verdict],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"rocmCi/v1": mark},
        "properties": {"verdict": finding.verdict, "name": finding.name, "hip": finding.hip},
    }
