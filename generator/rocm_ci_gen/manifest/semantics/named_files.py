"""Files that a manifest names and that the repository should have. Only asked where somebody can look: `validate`."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.references import local_path
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.words import show

Exists = Callable[[str], bool]
"""Whether the repository has a file or folder; the path is relative to its top, with `/`."""

# Keys of a stage that name files which are read; `convert`, `sarif`, `junit` and `prometheus` are written.
_READ = ("source", "tests", "baseline", "known-failures", "benchmark")
_GLOB = frozenset("*?[{")


def check(doc: Document, exists: Exists) -> Iterator[Finding]:
    """A warning for each file that is named and not there; it may still be made by a step."""
    for path, name in _named(doc):
        local = local_path(name) if path[-1] == "uses" else None
        named = name.partition("::")[0] if path[-2:-1] == ("tests",) else local or name
        place = posixpath.normpath(named)
        if _GLOB.isdisjoint(place) and not exists(place):
            yield Finding(
                "missing-file",
                path,
                f"{show(name)} is not in the repository",
                fix="correct it, or commit the file; a file that a step makes can be missing here",
            )


def _named(doc: Document) -> Iterator[tuple[Path, str]]:
    yield from doc.texts("requirements")
    for stage in doc.stages():
        for key in _READ:
            yield from doc.texts(*stage.path, key)
        for key in ("before", "after"):
            for step in doc.mappings(*stage.path, key):
                yield from _local(doc, (*step, "uses"))
    for job in doc.keys("jobs"):
        yield from _local(doc, ("jobs", job, "uses"))


def _local(doc: Document, path: Path) -> Iterator[tuple[Path, str]]:
    uses = doc.text(*path)
    if uses is not None and local_path(uses) is not None:
        yield path, uses
