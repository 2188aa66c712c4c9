"""Which folder of a repository is for what, and the shortest list of folders that names a set of files."""

from __future__ import annotations

import enum
import functools
import json
from collections import Counter
from collections.abc import Iterable, Sequence

from rocm_ci_gen.resources import data_text


class Role(enum.Enum):
    """What a file is for, by the folders that it is in."""

    PRODUCT = "product"
    VENDORED = "vendored"
    TESTS = "tests"
    BENCHMARKS = "benchmarks"
    EXAMPLES = "examples"
    TOOLING = "tooling"


@functools.cache
def names_of_folders() -> dict[str, frozenset[str]]:
    """The table of `data/folders.json`."""
    data = json.loads(data_text("scaffold/data/folders.json"))
    return {key: frozenset(value) for key, value in data.items() if key != "note"}


def role(path: str) -> Role:
    """The role of a file: that of the first folder above it whose name tells one."""
    names = names_of_folders()
    for part in path.lower().split("/")[:-1]:
        for candidate in (Role.VENDORED, Role.TESTS, Role.BENCHMARKS, Role.EXAMPLES, Role.TOOLING):
            if part in names[candidate.value]:
                return candidate
    return Role.PRODUCT


def top_folders(paths: Iterable[str]) -> tuple[str, ...]:
    """First components of the paths' folders, sorted; `.` for files at the root."""
    return tuple(sorted({path.split("/", 1)[0] if "/" in path else "." for path in paths}))


def vendored_folders(paths: Iterable[str]) -> tuple[str, ...]:
    """The vendored folders that the paths are in, each as far as the component that says so."""
    vendored = names_of_folders()[Role.VENDORED.value]
    found = set()
    for path in paths:
        parts = path.split("/")[:-1]
        for index, part in enumerate(parts):
            if part.lower() in vendored:
                found.add("/".join(parts[: index + 1]))
                break
    return tuple(sorted(found))


def test_folders(tests: Sequence[str]) -> tuple[str, ...]:
    """The folders (or files) to hand to pytest so that it collects the kernel tests among `tests`.

    Folders that are called after kernels win where they hold a good part of the tests; otherwise it is the topmost
    folder that holds them.
    """
    if not tests:
        return ()
    names = names_of_folders()
    strong = _named(tests, names["kernel_tests"])
    strong_share = _covered(tests, strong)
    if strong and (strong_share * 3 >= len(tests) or (strong_share >= 8 and strong_share * 10 >= len(tests))):
        return strong
    weak = _named(tests, names["gpu_tests"])
    if weak and _covered(tests, weak) * 2 >= len(tests):
        return weak
    tops = Counter(path.split("/", 1)[0] if "/" in path else "." for path in tests)
    inside = [name for name in sorted(tops) if name != "."]
    if tops["."] and not inside:
        return tuple(sorted(path for path in tests if "/" not in path))
    # A stray test beside the sources is left to the maintainer.
    kept = [name for name in inside if tops[name] * 10 >= len(tests)] or inside[:1]
    return tuple(_descend(tests, name) for name in kept)


def _descend(tests: Sequence[str], folder: str) -> str:
    """Go down while everything is in one sub-folder."""
    while True:
        below = {path[len(folder) + 1 :].split("/", 1)[0] for path in tests if path.startswith(folder + "/")}
        if len(below) != 1:
            return folder
        (only,) = below
        if not any(path.startswith(f"{folder}/{only}/") for path in tests):
            return folder
        folder = f"{folder}/{only}"


def _named(tests: Iterable[str], names: frozenset[str]) -> tuple[str, ...]:
    """The topmost folders below a tests folder whose names are among `names`."""
    found = set()
    for path in tests:
        parts = path.split("/")[:-1]
        for index, part in enumerate(parts):
            if part.lower() in names and any(_is_tests(name) for name in parts[: index + 1]):
                found.add("/".join(parts[: index + 1]))
                break
    return tuple(sorted(found))


def _is_tests(name: str) -> bool:
    return name.lower() in names_of_folders()[Role.TESTS.value]


def _covered(paths: Iterable[str], folders: Iterable[str]) -> int:
    prefixes = tuple(folder + "/" for folder in folders)
    return sum(path.startswith(prefixes) for path in paths) if prefixes else 0
