"""Writing the generated files: everything is looked at first, and nothing is written if anything is in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.files import atomic, compare
from rocm_ci_gen.files.generated import LIST_PATH, list_text


@dataclass(frozen=True)
class Changes:
    """What was done, by path in the repository; `kept` holds a sentence for each listed file that was not removed."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def write_generated(root: Path, files: Mapping[str, str], *, force: bool = False) -> Changes:
    """Write `files` and their list, and remove the files of the old list that are not among them.

    A file with the right content is left alone, whatever its line ends.

    Args:
        root: the repository's folder.
        files: path with `/` → text.
        force: also overwrite files that this tool did not write, and read-only ones. Nothing foreign is ever deleted.

    Raises:
        UsageError: a file is in the way, or a path leads out of the repository. Nothing was written.
        InfraError: the disk is full or read-only. Every file is whole, old or new.
    """
    wanted = compare.wanted(root, {**files, LIST_PATH: list_text(files)})
    orphans = compare.orphans(root, files)
    if not force:
        _refuse(wanted)
    written = [file for file in wanted if file.state != "equal"]
    for file in written:
        atomic.write(file.path, file.text)
    removed = [orphan for orphan in orphans if not orphan.keep]
    for orphan in removed:
        if orphan.path is not None:
            atomic.remove(orphan.path)
    return Changes(
        written=tuple(file.name for file in written),
        unchanged=tuple(file.name for file in wanted if file.state == "equal"),
        removed=tuple(orphan.name for orphan in removed),
        kept=tuple(orphan.keep for orphan in orphans if orphan.keep),
    )


def _refuse(wanted: list[compare.Wanted]) -> None:
    foreign = [file.name for file in wanted if file.state == "foreign"]
    if foreign:
        raise UsageError(
            f"{', '.join(foreign)}: not written by rocm-ci-gen, so not overwritten.",
            help="Look at the file; `rocm-ci-gen render --force` replaces it.",
        )
    locked = [file.name for file in wanted if file.state != "equal" and atomic.is_read_only(file.path)]
    if locked:
        raise UsageError(
            f"{', '.join(locked)}: read-only.",
            help=f"`chmod u+w {locked[0]}`, or `rocm-ci-gen render --force`.",
        )
