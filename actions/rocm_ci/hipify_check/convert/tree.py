"""Lay a source tree out in a new folder: which files and links go where, and what cannot go."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.files import list_tree
from rocm_ci.runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Item:
    """One file to lay out.

    Attributes:
        name: As the check shows it.
        location: The file.
        target: Where it goes, relative to the new folder, with ``/``.
        link: Text of the symbolic link to make; empty = copy the content.
    """

    name: str
    location: Path
    target: str
    link: str = ""


@dataclass(slots=True)
class Layout:
    """The plan: what to copy, what cannot be copied (name and reason), and where each given path lands."""

    items: list[Item] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    roots: list[tuple[str, str]] = field(default_factory=list)


def plan(sources: Sequence[str], out: Path | None) -> Layout:
    """Plan the copy of ``sources``.

    One folder lands in the new folder itself. Of several paths each lands below it: a relative one by its own path,
    any other by its last name. What the check excludes is copied all the same, because the tree has to build.

    Args:
        sources: Paths that exist.
        out: The folder that will be made; what lies in it already is never copied.

    Raises:
        UsageError: Two paths would land in the same place.
    """
    layout = Layout()
    single = len(sources) == 1 and Path(sources[0]).is_dir()
    taken: dict[str, str] = {}
    seen: set[str] = set()
    for given in dict.fromkeys(sources):
        base = "" if single else _landing(given)
        if base in taken:
            raise UsageError(
                f"{taken[base]} and {given} would both be converted to {base}", help="convert them one by one"
            )
        taken[base] = given
        layout.roots.append((given, base))
        for name, location, inner in _files(given):
            absolute = os.path.abspath(location)  # noqa: PTH100 - links must not be followed
            if absolute in seen or (out is not None and _within(absolute, str(out))):
                continue
            seen.add(absolute)
            target = str(PurePosixPath(base) / inner) if Path(given).is_dir() else base
            _consider(layout, Item(name, location, target))
    return _settle_links(layout)


def copy(layout: Layout, to: Path) -> list[tuple[str, str]]:
    """Carry the plan out below ``to``, an empty folder.

    Returns:
        Name and reason of each file that could not be read.

    Raises:
        OSError: ``to`` cannot be written.
    """
    failed: list[tuple[str, str]] = []
    for item in layout.items:
        target = to / item.target
        target.parent.mkdir(parents=True, exist_ok=True)
        if item.link:
            target.symlink_to(item.link)
            continue
        try:
            source = item.location.open("rb")
        except OSError as error:
            failed.append((item.name, f"cannot be read: {error.strerror or error}"))
            continue
        with source, target.open("xb") as copied:
            shutil.copyfileobj(source, copied)
            os.fchmod(copied.fileno(), stat.S_IMODE(os.fstat(source.fileno()).st_mode) | stat.S_IWUSR)
    return failed


def _files(given: str) -> Iterator[tuple[str, Path, str]]:
    """Name, location and path below ``given`` of each file."""
    root = Path(given)
    if not root.is_dir():
        yield str(PurePosixPath(given)), root, root.name
        return
    pending = [("", inner) for inner in list_tree(root)]
    while pending:
        prefix, inner = pending.pop()
        relative = f"{prefix}{inner}"
        location = root / relative
        if location.is_dir() and not location.is_symlink():  # a submodule: git names it, and lists nothing of it
            pending += [(f"{relative}/", deeper) for deeper in list_tree(location)]
        else:
            yield str(PurePosixPath(given) / relative), location, relative


def _consider(layout: Layout, item: Item) -> None:
    try:
        found = item.location.lstat()
        if stat.S_ISLNK(found.st_mode):
            reached = item.location.stat()
            link = str(item.location.readlink())
            layout.items.append(Item(item.name, item.location, item.target, link))
            if stat.S_ISREG(reached.st_mode) or stat.S_ISDIR(reached.st_mode):
                return
            layout.items.pop()
            found = reached
    except OSError as error:
        if item.location.is_symlink():
            layout.skipped.append((item.name, f"symbolic link that leads nowhere: {error.strerror or error}"))
        elif os.path.lexists(item.location):
            layout.skipped.append((item.name, f"cannot be read: {error.strerror or error}"))
        return  # git lists files that are deleted and not committed yet
    if stat.S_ISREG(found.st_mode):
        layout.items.append(item)
    else:
        layout.skipped.append((item.name, "no regular file"))


def _settle_links(layout: Layout) -> Layout:
    """Keep the links that lead to something that is copied too; of the others copy what they lead to."""
    places = {os.path.realpath(item.location): item for item in layout.items if not item.link}
    folders = {parent for place in places for parent in map(str, Path(place).parents)}
    kept: list[Item] = []
    for item in layout.items:
        if not item.link:
            kept.append(item)
            continue
        reached = os.path.realpath(item.location)
        inside = reached in places or reached in folders
        if inside and not os.path.isabs(item.link) and _same_place(item, reached, places):  # noqa: PTH117 - a text
            kept.append(item)
        elif Path(reached).is_file():
            kept.append(Item(item.name, item.location, item.target))
        else:
            layout.skipped.append((item.name, "symbolic link to a directory outside of the tree, not followed"))
    layout.items = kept
    return layout


def _same_place(item: Item, reached: str, places: dict[str, Item]) -> bool:
    """Does the link's text, read in the new folder, lead to the copy of what it leads to now?"""
    target = os.path.normpath(str(PurePosixPath(item.target).parent / item.link))
    if target.startswith(".."):
        return False
    if reached in places:
        return places[reached].target == target or Path(item.location).parent.joinpath(item.link).is_symlink()
    return any(other.target.startswith(f"{target}/") or target == "." for other in places.values())


def _landing(given: str) -> str:
    path = PurePosixPath(given)
    if path.is_absolute() or ".." in path.parts or str(path) == ".":
        return Path(given).resolve().name
    return str(path)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
