"""Checks that a schema cannot express. In: the tree, and what the schema has refused. Out: findings.

Each module has one `check(document)`; what is wrong once is told once, by the check that explains the cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.nodes import Node
from rocm_ci_gen.manifest.semantics import (
    container,
    environment,
    filters,
    graph,
    kubernetes,
    runners,
    safety,
    stages,
    steps,
    triggers,
)
from rocm_ci_gen.manifest.semantics.document import Document

_CHECKS = (
    runners.check,
    graph.check,
    container.check,
    environment.check,
    kubernetes.check,
    triggers.check,
    filters.check,
    steps.check,
    stages.check,
)


def findings(root: Node, refused: Iterable[Path]) -> list[Finding]:
    """Every finding about a document, in no particular order.

    Args:
        root: the document.
        refused: places that are told already; nothing at or below them is looked at again.
    """
    unsafe = [finding for finding in safety.words(root) if finding.path not in refused]
    doc = Document(root, frozenset(refused) | {finding.path for finding in unsafe})
    return [*unsafe, *chain.from_iterable(check(doc) for check in _CHECKS)]
