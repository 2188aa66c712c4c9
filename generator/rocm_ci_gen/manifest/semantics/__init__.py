"""Checks that a schema cannot express. In: the tree, and what the schema has refused. Out: findings.

Each module has one `check(document)`; what is wrong once is told once, by the check that explains the cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.nodes import Node
from rocm_ci_gen.manifest.semantics import (
    availability,
    container,
    environment,
    filters,
    graph,
    kubernetes,
    named_files,
    runners,
    safety,
    stages,
    steps,
    triggers,
    unmatched,
)
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.semantics.named_files import Exists
from rocm_ci_gen.manifest.semantics.unmatched import Listing

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


def findings(
    root: Node, refused: Iterable[Path], exists: Exists | None = None, listing: Listing | None = None
) -> list[Finding]:
    """Every finding about a document, in no particular order.

    Args:
        root: the document.
        refused: places that are told already; nothing at or below them is looked at again.
        exists: tells whether the repository has a path; without it nobody asks.
        listing: lists the repository's files; without it no pattern is held against them.
    """
    unsafe = [finding for finding in safety.words(root) if finding.path not in refused]
    doc = Document(root, frozenset(refused) | {finding.path for finding in unsafe})
    missing = named_files.check(doc, exists) if exists is not None else ()
    found = [*unsafe, *chain.from_iterable(check(doc) for check in _CHECKS), *missing]
    if listing is None:
        return found
    told = doc.refused | {finding.path for finding in found}
    return [*found, *unmatched.check(Document(root, told), listing)]


def notes(root: Node) -> tuple[str, ...]:
    """What a valid document relies on outside of itself, or this release does not have, where no finding says it."""
    doc = Document(root)
    return (*availability.notes(doc), *kubernetes.notes(doc))
