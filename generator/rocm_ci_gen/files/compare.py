"""What stands in the repository beside what should: equal, different, foreign, or no longer asked for.

Line ends do not count: git may check files out with CRLF.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocm_ci_gen.files import atomic
from rocm_ci_gen.files.generated import LIST_PATH, listed
from rocm_ci_gen.files.header import is_ours
from rocm_ci_gen.files.paths import OutsideError, inside

State = Literal["equal", "changed", "missing", "foreign"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """A wanted file and what is there now; `foreign` is one that this tool did not write."""

    name: str
    path: Path
    text: str
    current: bytes | None
    state: State


@dataclass(frozen=True, eq=False)
class Orphan:
    """A file of the list that nothing asks for; `keep` says why it is not removed, and is empty where it may be."""

    name: str
    path: Path | None
    current: bytes
    keep: str = ""


def wanted(root: Path, files: Mapping[str, str]) -> list[Wanted]:
    """Compare each wanted file with the one in the repository.

    Raises:
        OutsideError: a path leads out of the repository.
        RocmCiError: a file cannot be read.
    """
    found = []
    for name, text in files.items():
        path = inside(root, name)
        current = atomic.read(path)
        found.append(Wanted(name, path, text, current, _state(name, text, current)))
    return found


def orphans(root: Path, files: Mapping[str, str]) -> list[Orphan]:
    """Files that the committed list names and `files` does not; those that are gone are left out."""
    data = atomic.read(inside(root, LIST_PATH))
    found = []
    for name in (listed(data) if data is not None else None) or ():
        if name in files:
            continue
        try:
            path = inside(root, name)
            current = atomic.read(path)
        except OutsideError as error:
            found.append(Orphan(name, None, b"", str(error)))
            continue
        if current is None:
            continue
        keep = "" if is_ours(current) else f"{shown(name)} does not carry the header of rocm-ci-gen."
        found.append(Orphan(name, path, current, keep))
    return found


def unified(name: str, old: bytes | None, new: str | None) -> str:
    """Unified diff from the committed content to the generated one; None stands for no file.

    Control characters are shown as escapes, and equal line ends are assumed.
    """
    import difflib  # only where there is a difference

    before = _lines(_normal(old)) if old is not None else []
    after = _lines(new) if new is not None else []
    label = shown(name)
    from_name = f"a/{label}" if old is not None else "/dev/null"
    to_name = f"b/{label}" if new is not None else "/dev/null"
    lines = difflib.unified_diff(before, after, from_name, to_name, n=3)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def shown(text: str) -> str:
    """The text with what a terminal would act on written as an escape: anybody may have committed it."""
    return re.sub(r"[^\n\t -~]", _escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _state(name: str, text: str, current: bytes | None) -> State:
    if current is None:
        return "missing"
    if _normal(current) == text:
        return "equal"
    ours = listed(current) is not None if name == LIST_PATH else is_ours(current)
    return "changed" if ours else "foreign"


def _normal(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one, as in git."""
    return [part for part in re.split(r"(?<=\n)", shown(text)) if part]
