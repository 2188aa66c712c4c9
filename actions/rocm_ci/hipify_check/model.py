"""The values that travel between the scanners, the engine and the reporters.

A large tree has tens of thousands of hits and findings, so these two are tuples, which are made three times as fast as
frozen dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Verdict = Literal["convertible", "manual", "unsupported", "note"]

VERDICTS: tuple[Verdict, ...] = ("unsupported", "manual", "convertible", "note")
"""All verdicts, the hardest first."""


class Finding(NamedTuple):
    """One place that is still CUDA, or worth a word.

    Attributes:
        path: As given or relative to the directory that was given, with ``/``.
        line: 1-based; 0 where the finding is about the whole file.
        column: 1-based, in characters; 0 where the finding is about the whole file.
        rule: ID of the rule, ``HIP101``.
        verdict: What it takes to port it.
        name: The CUDA name or text that was found.
        hip: What to write instead; empty where nothing replaces it one to one.
        message: One sentence for a person.
        library: Library the name belongs to (``runtime``, ``cublas``), or the kind of file.
        source: The line it stands on, without its line end, cut to ``SOURCE_LIMIT`` characters.
    """

    path: str
    line: int
    column: int
    rule: str
    verdict: Verdict
    name: str
    hip: str
    message: str
    library: str = ""
    source: str = ""


class Hit(NamedTuple):
    """What a scanner returns: a finding without its place in words.

    Attributes:
        offset: Byte offset in the file.
        slug: Name of the rule (``api``, ``warp-mask32``); the rules' data file gives its ID.
        verdict: As in ``Finding``.
        name: As in ``Finding``.
        hip: As in ``Finding``.
        note: What to add to the rule's own sentence; may be empty.
        library: As in ``Finding``.
        owned_by: The name that, when the tree itself defines it, makes this no finding; empty = never.
    """

    offset: int
    slug: str
    verdict: Verdict
    name: str
    hip: str = ""
    note: str = ""
    library: str = ""
    owned_by: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scanner learnt from one file.

    Attributes:
        hits: In any order.
        defines: CUDA-like names that this file itself defines (macros, functions, types, namespaces).
        includes: Header names that it includes, as written.
        early: Those of ``defines`` that stand before its last ``#include``, which therefore knows them.
    """

    hits: list[Hit] = field(default_factory=list)
    defines: frozenset[str] = frozenset()
    includes: tuple[str, ...] = ()
    early: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not checked, and why; reported as a note, never dropped."""

    path: str
    reason: str
