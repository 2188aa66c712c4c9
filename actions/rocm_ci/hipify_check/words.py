"""Words that scripts, build files and strings have in common: tools, environment variables, libraries, options.

Reads ``data/words.tsv``. All functions take one piece of text and give hits relative to its start.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from rocm_ci.hipify_check.mapping import rows
from rocm_ci.hipify_check.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_ci.hipify_check.model import Verdict


class Word(NamedTuple):
    """One row of the table."""

    verdict: Verdict
    hip: str
    note: str


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, Word]]:
    table: dict[str, dict[str, Word]] = {"env": {}, "tool": {}, "library": {}, "flag": {}}
    for kind, word, verdict, hip, note, _source in rows("words.tsv"):
        table[kind][word] = Word(cast("Verdict", verdict), hip, note)
    return table


def _alternatives(kind: str) -> str:
    return "|".join(re.escape(word) for word in sorted(_table()[kind], key=len, reverse=True))


@lru_cache(maxsize=1)
def _tool() -> re.Pattern[str]:
    # As a command: not a part of a path, an option or a longer word. `nvcc:` and `nvcc=` are keys, not commands.
    return re.compile(rf"(?<![\w./$\\{{-])({_alternatives('tool')})(?![\w./:=-])")


@lru_cache(maxsize=1)
def _library() -> re.Pattern[str]:
    # A static library counts like its shared one.
    return re.compile(rf"\blib({_alternatives('library')})(?:_static)?\.(?:so|a)\b(?:\.[\d.]+)?")


@lru_cache(maxsize=1)
def _link() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])-l({_alternatives('library')})(?:_static)?(?![\w-])")


@lru_cache(maxsize=1)
def _flag() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])({_alternatives('flag')})")


@lru_cache(maxsize=1)
def _variable() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])({_alternatives('env')})(?!\w)")


_ROOT = re.compile(r"(?:(?<![\w.])|(?<=-[IL]))(?:/usr/local/cuda|/opt/nvidia/cuda|/usr/lib/cuda)(?:-[\d.]+)?(?![\w-])")
_ARCH = re.compile(r"(?<![\w-])(?:sm|compute)_\d{2,3}[af]?\b")
# Other indexes of wheels for CUDA: NVIDIA's own, and those that name a CUDA release.
_OTHER_INDEX = re.compile(
    r"(?:--(?:extra-)?index-url|--find-links|-i|-f)[ =]\s*"
    r"(\S*(?:pypi(?:\.ngc)?\.nvidia\.com|cu(?:da)?\d{2,3}\b|cuda_releases)\S*)"
)
_INDEX = re.compile(r"(?:download(?:-r2)?\.pytorch\.org|mirrors?[\w./-]*)/whl/(?:nightly/|test/)?cu(\d{2,3})\b")

# PyTorch publishes an index a ROCm release; the CUDA index of the same PyTorch releases stands beside it.
# Source: https://pytorch.org/get-started/previous-versions/
_SAME_AGE = {
    "116": "5.2", "117": "5.4.2", "118": "6.1", "121": "6.0", "124": "6.2", "126": "6.3", "128": "6.4", "129": "6.4",
    "130": "7.0",
}  # fmt: skip


def tools(text: str) -> Iterator[Hit]:
    """Programs that are called."""
    for match in _tool().finditer(text):
        word = _table()["tool"][match[1]]
        yield Hit(match.start(), "tool", word.verdict, match[1], word.hip, word.note, "tools")


def tool(name: str) -> Word | None:
    """The row of one program."""
    return _table()["tool"].get(name)


def library_files(text: str) -> Iterator[Hit]:
    """Shared and static libraries by file name."""
    for match in _library().finditer(text):
        word = _table()["library"][match[1]]
        hip = f"lib{word.hip}.so" if word.hip else ""
        yield Hit(match.start(), "library-file", word.verdict, match[0], hip, word.note, "libraries")


def library(name: str) -> Word | None:
    """The row of one library, by its name without ``lib`` and suffix."""
    return _table()["library"].get(name)


def linked(text: str) -> Iterator[Hit]:
    """``-lcudart`` and its like."""
    for match in _link().finditer(text):
        word = _table()["library"][match[1]]
        yield Hit(
            match.start(),
            "library-file",
            word.verdict,
            match[0],
            f"-l{word.hip}" if word.hip else "",
            word.note,
            "libraries",
        )


def flags(text: str) -> Iterator[Hit]:
    """Options that only nvcc knows."""
    for match in _flag().finditer(text):
        word = _table()["flag"][match[1]]
        yield Hit(match.start(), "nvcc-flag", word.verdict, match[1].rstrip("="), word.hip, word.note, "nvcc")


def architectures(text: str) -> Iterator[Hit]:
    """``sm_90`` where no option has told already."""
    for match in _ARCH.finditer(text):
        yield Hit(match.start(), "nvcc-flag", "manual", match[0], "", "name the gfx target: gfx90a, gfx942 ...", "nvcc")


def variables(text: str) -> Iterator[Hit]:
    """Environment variables of CUDA that mean nothing, or something else, on ROCm."""
    for match in _variable().finditer(text):
        yield variable(match[1], match.start())


def variable(name: str, offset: int) -> Hit:
    """The hit for one variable that the table has."""
    word = _table()["env"][name]
    return Hit(offset, "env", word.verdict, name, word.hip, word.note, "environment")


def is_variable(name: str) -> bool:
    """Does the table have this variable?"""
    return name in _table()["env"]


def roots(text: str) -> Iterator[Hit]:
    """Where the CUDA toolkit lies."""
    for match in _ROOT.finditer(text):
        yield Hit(match.start(), "path", "convertible", match[0], "/opt/rocm", "better: $ROCM_PATH", "paths")


def indexes(text: str, release: str) -> Iterator[Hit]:
    """Package indexes of PyTorch for CUDA. ``release`` is the ROCm release the user named, or empty."""
    for match in _INDEX.finditer(text):
        name = f"whl/cu{match[1]}"
        rocm = release or _SAME_AGE.get(match[1], "")
        hip = f"whl/rocm{rocm}" if rocm else ""
        at = match.start() + match[0].rindex("cu")
        yield Hit(at, "py-index", "convertible" if hip else "manual", name, hip, "", "python packages")
    for match in _OTHER_INDEX.finditer(text):
        if _INDEX.search(match[1]) is None:
            yield Hit(match.start(1), "py-index", "manual", match[1], "", "", "python packages")
