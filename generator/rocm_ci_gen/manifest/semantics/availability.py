"""Stages that the format knows and this release cannot run yet. They are no mistake of the manifest's, so: notes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rocm_ci.availability import AVAILABLE_STAGES
from rocm_ci_gen.manifest.semantics.document import PROBE, Document


def notes(doc: Document, available: Collection[str] = AVAILABLE_STAGES) -> Iterator[str]:
    """One line for each stage of the document that is not available."""
    for name in doc.keys("stages"):
        if name not in available:
            becomes = "the jobs that it wraps" if name == PROBE else "the job"
            yield f"{name} is not available in this version of rocm-ci: {becomes} will be red"
