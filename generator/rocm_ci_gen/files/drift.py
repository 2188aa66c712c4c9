"""Drift: the committed files differ from what the manifest gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocm_ci_gen.files import compare
from rocm_ci_gen.files.generated import LIST_PATH, list_text

Kind = Literal["changed", "missing", "foreign", "orphan"]


@dataclass(frozen=True)
class FileDiff:
    """A file that `render` would change.

    Attributes:
        path: in the repository, with `/`.
        kind: `changed`; `missing`: not there yet; `foreign`: there, and not written by rocm-ci-gen, so that only
            `render --force` replaces it; `orphan`: written by it once, and no longer asked for.
        diff: unified, from the committed content to the generated one.
    """

    path: str
    kind: Kind
    diff: str


def drift(root: Path, files: Mapping[str, str]) -> list[FileDiff]:
    """Compare the repository at `root` with the generated `files`; empty if it is up to date.

    Line ends do not count. Neither does a list of generated files that is not there: without one there is nothing to
    remove, and nothing that a run depends on.

    Raises:
        RocmCiError: a path leads out of the repository, or a file cannot be read.
    """
    found = []
    for file in compare.wanted(root, {**files, LIST_PATH: list_text(files)}):
        if file.state == "equal" or (file.state == "missing" and file.name == LIST_PATH):
            continue
        diff = compare.unified(file.name, file.current, file.text)
        found.append(FileDiff(file.name, file.state, diff))
    found += [
        FileDiff(orphan.name, "orphan", compare.unified(orphan.name, orphan.current, None))
        for orphan in compare.orphans(root, files)
        if not orphan.keep
    ]
    return found
