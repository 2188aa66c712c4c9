"""The tables: which HIP name stands for which CUDA name, in a given ROCm release.

Reads ``data/names.tsv`` (HIPIFY's tables) and ``data/extra_*.tsv`` (what they lack or get wrong). All parsing is
done once a process and release.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, cast

from rocm_ci.hipify_check.versions import COVERED, NEWEST, Version, parse, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_ci.hipify_check.model import Verdict


class Entry(NamedTuple):
    """What the tables say about one CUDA name.

    ``kind`` is the tables' letter: f function, t type, e enum value, m macro, h header, i device builtin, v version
    macro, c compiler macro, a architecture macro.
    """

    verdict: Verdict
    hip: str
    kind: str
    library: str
    note: str


def rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a package data file as lists of cells; ``#`` lines are its header."""
    text = (resources.files("rocm_ci.hipify_check") / "data" / name).read_text(encoding="utf-8")
    for line in text.split("\n"):
        if line and line[0] != "#":
            yield line.split("\t")


@lru_cache(maxsize=4)
def names(version: Version = NEWEST) -> dict[bytes, Entry]:
    """All CUDA names except headers that need a change on ``version``; names HIP shares are left out."""
    table: dict[bytes, Entry] = {}
    for name, kind, library, *targets, roc in rows("names.tsv"):
        if kind == "h":
            continue
        entry = _entry(kind, library, targets, roc, version)
        if entry is not None and entry.hip != name:
            table[name.encode()] = entry
    for name, kind, library, verdict, hip, since, note, _source in rows("extra_names.tsv"):
        if verdict == "same":
            table.pop(name.encode(), None)
        elif kind != "i" and since and parse(since) > version:
            table[name.encode()] = Entry("unsupported", "", kind, library, f"HIP has {hip} from ROCm {since}")
        else:
            table[name.encode()] = Entry(cast("Verdict", verdict), hip, kind, library, note)
    return table


@lru_cache(maxsize=4)
def _headers(version: Version) -> tuple[dict[str, Entry], list[tuple[str, str, Entry]]]:
    exact: dict[str, Entry] = {}
    patterns: list[tuple[str, str, Entry]] = []
    for name, kind, library, *targets, roc in rows("names.tsv"):
        if kind == "h":
            entry = _entry(kind, library, targets, roc, version)
            if entry is not None:
                exact[name] = entry
    for pattern, verdict, hip, note, _source in rows("extra_headers.tsv"):
        entry = Entry(cast("Verdict", verdict), hip, "h", pattern.split("/")[0].removesuffix(".h").rstrip("*_"), note)
        if "*" in pattern:
            head, _, tail = pattern.partition("*")
            patterns.append((head, tail, entry))
        else:
            exact[pattern] = entry
    return exact, patterns


@lru_cache(maxsize=4096)
def header(name: str, version: Version = NEWEST) -> Entry | None:
    """What to do about ``#include <name>``; ``None`` where ROCm has no quarrel with it."""
    exact, patterns = _headers(version)
    entry = exact.get(name)
    if entry is None:
        for head, tail, candidate in patterns:
            if name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail):
                rest = name[len(head) : len(name) - len(tail)]
                entry = candidate._replace(hip=candidate.hip.replace("*", rest.replace("CUDA", "HIP")))
                break
    # mypy knows only the four verdicts; the data has a fifth word for "legal as it is".
    return None if entry is None or cast("str", entry.verdict) == "same" else entry


def _entry(kind: str, library: str, targets: list[str], roc: str, version: Version) -> Entry | None:
    """Choose the target for ``version``; ``targets`` has one cell a release of ``COVERED``, the oldest first."""
    # The newest table that is no newer than the release, else the oldest there is.
    column = max(0, bisect_right(COVERED, version) - 1)
    at = column
    while at and targets[at] == "=":
        at -= 1
    cell = targets[at]
    later = [target for target in targets[column + 1 :] if target not in {"", "-", "="}]
    if cell in {"", "-"}:
        cell = next((target for target in later if _added(target) <= version), cell)
    if cell == "-":
        # HIPIFY learnt of the CUDA name after this release, so this release has nothing for it.
        cell = ""
    if not cell:
        if roc:
            return Entry(
                "manual",
                roc,
                kind,
                library,
                "HIP has no name of its own; the ROCm library's call is close, not the same",
            )
        coming = _added(later[0]) if later else None
        note = f"HIP has it from ROCm {show(coming)}" if coming and coming > version else ""
        return Entry("unsupported", "", kind, library, note)
    hip, added, removed, experimental = [*cell.split("@"), "", "", ""][:4]
    if added and parse(added) > version:
        return Entry("unsupported", "", kind, library, f"HIP has {hip} from ROCm {show(parse(added))}")
    if removed and parse(removed) <= version:
        return Entry("unsupported", "", kind, library, f"HIP removed {hip} in ROCm {show(parse(removed))}")
    return Entry("convertible", hip, kind, library, "experimental in HIP" if experimental else "")


def _added(cell: str) -> Version:
    parts = cell.split("@")
    return parse(parts[1]) if len(parts) > 1 and parts[1] else (0, 0)
