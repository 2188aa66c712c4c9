"""Patterns that match no file of the repository: a stage whose only pattern is misspelt never runs, silently.

Only asked where somebody can list the files: `validate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rocm_ci_gen import filter_patterns
from rocm_ci_gen.filter_patterns import PatternLists
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.semantics.filters import file_lists
from rocm_ci_gen.manifest.words import closest, show

Listing = Callable[[], Sequence[str] | None]
"""The files of the repository, relative to its top, with `/`; None where they cannot all be known."""

_GENERATED = (".github/", ".rocm-ci.yml")
"""What a repository may have before it has files of its own."""
_SPECIAL = re.compile(r"(?<!\\)[*?+\[]")
_ESCAPE = re.compile(r"\\(.)")
_EXTENSION = re.compile(r"(.*\*)(\.[A-Za-z0-9]+)")
_MOST_EXPLAINED = 20
"""Each explanation reads the list of files again; a manifest with more such patterns has one cause for them all."""


def check(doc: Document, listing: Listing) -> Iterator[Finding]:
    """A warning for each pattern without `!`, of `paths` or `ignore`, that matches no file."""
    wanted = [(place, text) for path in file_lists(doc) for place, text in doc.texts(*path) if _valid(text)]
    files = listing() if wanted else None
    if not files or all(file.startswith(_GENERATED) for file in files):
        return
    missing = unmatched([text for _, text in wanted], files)
    told = 0
    for place, text in wanted:
        if text in missing:
            told += 1
            yield _finding(place, text, files if told <= _MOST_EXPLAINED else ())


def unmatched(patterns: Sequence[str], files: Sequence[str]) -> set[str]:
    """Those of the (valid) patterns that match none of the files."""
    left = set(patterns)
    lists = PatternLists({pattern: [pattern] for pattern in left})
    for file in files:
        if not left:
            break
        left -= {pattern for pattern, decision in lists.decide(file).items() if decision.included}
    return left


def _valid(pattern: str) -> bool:
    return not pattern.startswith("!") and filter_patterns.check(pattern) is None


def _finding(place: Path, pattern: str, files: Sequence[str]) -> Finding:
    message = f"{show(pattern)} matches no file of the repository"
    below = f"{pattern.removesuffix('/*')}/**"
    if files and below != pattern and not unmatched([below], files):
        what = "it names a folder, and" if not _SPECIAL.search(pattern) else "what it names are folders, and"
        return Finding("matches-no-file", place, f"{message}: {what} changes have files", fix=f"write {show(below)}")
    near = _near(pattern, files)
    fix = f"write {show(near)}" if near else "correct it; `git ls-files` lists the files that a pattern can match"
    return Finding("matches-no-file", place, f"{message}{f'; did you mean {show(near)}?' if near else ''}", fix=fix)


def _near(pattern: str, files: Sequence[str]) -> str | None:
    """The pattern with one folder, file name or extension spelt as in the repository, so that it matches."""
    parts = pattern.split("/")
    siblings = set(files)
    for index, part in enumerate(parts):
        if _SPECIAL.search(part):
            break
        folder = "".join(f"{_literal(name)}/" for name in parts[:index])
        names = {file[len(folder) :].split("/", 1)[0] for file in siblings if file.startswith(folder)}
        if _literal(part) in names:
            continue
        match = closest(_literal(part), names)
        return _if_matching([*parts[:index], _escaped(match), *parts[index + 1 :]], files) if match else None
    extension = _EXTENSION.fullmatch(parts[-1])
    if extension is None:
        return None
    present = {f".{file.rpartition('.')[2]}" for file in files if "." in file.rpartition("/")[2]}
    # An extension is short: two letters too many make another one of `.cu`.
    near = [name for name in present if name.startswith(extension[2]) or extension[2].startswith(name)]
    for name in sorted(near, key=lambda name: (abs(len(name) - len(extension[2])), name)):
        found = _if_matching([*parts[:-1], extension[1] + name], files)
        if found:
            return found
    return None


def _if_matching(parts: Sequence[str], files: Sequence[str]) -> str | None:
    pattern = "/".join(parts)
    return pattern if filter_patterns.check(pattern) is None and not unmatched([pattern], files) else None


def _literal(part: str) -> str:
    return _ESCAPE.sub(r"\1", part)


def _escaped(name: str) -> str:
    return re.sub(r"([*?+\[\]!\\])", r"\\\1", name)
