"""A name for a finding that stays when lines move: for baselines and for code scanning."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_ci.hipify_check.model import Finding


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """One fingerprint a finding, in order: 16 hexadecimal digits.

    It is made of the path, the rule, the name and the line's text without white space; equal ones are counted, in
    order of appearance. Another line above, or another indentation, leaves it as it is.
    """
    seen: Counter[str] = Counter()
    made: list[str] = []
    for finding in findings:
        text = "".join(finding.source.split())
        key = "\0".join((finding.path.removeprefix("./"), finding.rule, finding.name, text))
        digest = hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogateescape")).hexdigest()
        seen[key] += 1
        made.append(digest[:16])
    return made
