"""YAML text -> a tree of nodes with positions, within limits and without surprises.

The tree is built from the parser's events instead of by a constructor, because a constructor hides what a
validator needs: where a key stands, how a number was written, a key given twice, and how much an alias would
expand to. Scalars are read by the core schema of YAML 1.2 (`yes` and `on` are text, a date is text).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from rocm_ci_gen.manifest import syntax
from rocm_ci_gen.manifest.findings import Flaw, Path
from rocm_ci_gen.manifest.nodes import Entry, Mapping, Node, Scalar, Sequence
from rocm_ci_gen.manifest.source import SourceText, refused_in
from rocm_ci_gen.manifest.words import show

MAX_NODES = 20_000
"""Values of the document with every alias written out."""

MAX_DEPTH = 32
"""A valid manifest is 7 deep."""

_CORE = "tag:yaml.org,2002:"
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 18


class _Stop(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    """The document cannot be read any further."""


@dataclass
class _Open:
    """A collection that is being read; `key` is the key of a mapping that waits for its value."""

    node: Sequence | Mapping
    anchor: str | None
    key: Scalar | None = None


class _Builder:
    def __init__(self, source: SourceText) -> None:
        self._source = source
        self.flaws: list[Flaw] = []
        self.root: Node | None = None
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._documents = 0

    def feed(self, event: Any) -> None:
        """Take one event of the parser; raises _Stop where going on makes no sense."""
        start, end = event.start_mark.index, event.end_mark.index
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self._document(event, start)
        elif kind == "ScalarEvent":
            self._scalar(event, start, end)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._open(event, start)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            opened = self._stack.pop()
            opened.node.end = end
            self._add(opened.node, opened.anchor)
        elif kind == "AliasEvent":
            self._alias(str(event.anchor), start)

    def _document(self, event: Any, start: int) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(
                "several-documents",
                start,
                "a manifest is one YAML document; a second one starts here",
                "remove the line `---` and what follows it",
            )
        if event.version and tuple(event.version) != (1, 2):
            self._stop("yaml-version", 0, "a manifest is read as YAML 1.2", "remove the line `%YAML …`")

    def _open(self, event: Any, start: int) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._stop(
                "too-large",
                start,
                f"more than {MAX_DEPTH} levels inside each other are not accepted",
                "close the brackets",
            )
        is_mapping = type(event).__name__ == "MappingStartEvent"
        self._tag(event, start, "map" if is_mapping else "seq")
        node: Sequence | Mapping = Mapping(start, start) if is_mapping else Sequence(start, start)
        if self._stack and isinstance(self._stack[-1].node, Mapping) and self._stack[-1].key is None:
            self._stop(
                "not-a-key",
                start,
                "a list or a mapping cannot be a key",
                "a key is text; put it in quotes where it starts with `[` or `{`",
            )
        self._stack.append(_Open(node, event.anchor))

    def _scalar(self, event: Any, start: int, end: int) -> None:
        text, is_plain = str(event.value), not event.style
        self._tag(event, start, "str")
        unwanted = refused_in(text)
        if unwanted is not None:
            message = f"the value holds the control character U+{ord(unwanted):04X}"
            self.flaws.append(Flaw("control-character", start, message, fix="remove its escape", path=self._path()))
        explicit = event.tag is not None and not event.implicit[0]
        value = text if explicit or not is_plain else self._read(text, start)
        self._add(Scalar(start, end, text, is_plain and not explicit, value), event.anchor)

    def _read(self, text: str, start: int) -> bool | int | float | str | None:
        """A plain scalar by YAML 1.2's core schema (https://yaml.org/spec/1.2.2/#103-core-schema)."""
        if _NULL.fullmatch(text):
            return None
        if _BOOL.fullmatch(text):
            return text.lower() == "true"
        is_int = _INT.fullmatch(text)
        if is_int and len(text.lstrip("+-")) <= _MAX_DIGITS:
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        if is_int or _NOT_FINITE.fullmatch(text) or (_FLOAT.fullmatch(text) and not math.isfinite(float(text))):
            problem = "is not a finite number" if _NOT_FINITE.fullmatch(text) else "is too large for a number"
            self.flaws.append(
                Flaw(
                    "number",
                    start,
                    f"{show(text)} {problem}",
                    fix="put it in quotes where text is meant",
                    path=self._path(),
                )
            )
            return text
        return float(text) if _FLOAT.fullmatch(text) else text

    def _tag(self, event: Any, start: int, allowed: str) -> None:
        tag = event.tag
        if tag is not None and str(tag) not in ("!", _CORE + allowed):
            self.flaws.append(
                Flaw(
                    "yaml-tag",
                    start,
                    f"the YAML tag {show(str(tag).replace(_CORE, '!!'))} is not accepted here",
                    fix="remove it",
                    path=self._path(),
                )
            )

    def _alias(self, anchor: str, start: int) -> None:
        target = self._anchors.get(anchor)
        if target is None:
            inside = any(opened.anchor == anchor for opened in self._stack)
            what = "stands inside what it names" if inside else "names no anchor above it"
            self._stop("alias", start, f"the alias {show('*' + anchor)} {what}", "write the value out")
        self._add(target, None, alias_at=start)

    def _add(self, node: Node, anchor: str | None, alias_at: int | None = None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._stack:
            self.root = node
            return
        parent = self._stack[-1]
        parent.node.size += 1 if isinstance(node, Scalar) else node.size
        if parent.node.size > MAX_NODES:
            self._stop(
                "too-large",
                node.start if alias_at is None else alias_at,
                f"the document has more than {MAX_NODES} values (with every alias written out)",
                "a manifest has some hundred; write less, or use fewer aliases",
            )
        if isinstance(parent.node, Sequence):
            parent.node.items.append(node)
        elif parent.key is None:
            parent.key = self._as_key(node, alias_at)
        else:
            self._put(parent.node, parent.key, node)
            parent.key = None

    def _as_key(self, node: Node, alias_at: int | None) -> Scalar:
        if not isinstance(node, Scalar):
            self._stop(
                "not-a-key",
                node.start if alias_at is None else alias_at,
                "a list or a mapping cannot be a key",
                "a key is text",
            )
        if not node.text:
            self.flaws.append(
                Flaw(
                    "not-a-key",
                    node.start,
                    "the key is empty",
                    fix="write a key before the colon",
                    path=(*self._path(), ""),
                )
            )
        return node

    def _put(self, mapping: Mapping, key: Scalar, node: Node) -> None:
        if key.plain and key.text == "<<":
            self._merge(mapping, node)
            return
        earlier = mapping.entries.get(key.text)
        if earlier is not None and earlier.start >= mapping.start:
            self.flaws.append(
                Flaw(
                    "duplicate-key",
                    key.start,
                    f"the key {show(key.text)} is given twice; the first is in line {self._line(earlier.start)}",
                    fix="keep one of them",
                    path=self._path(),
                )
            )
            return
        mapping.entries[key.text] = Entry(key.start, key.end, node)

    def _merge(self, mapping: Mapping, node: Node) -> None:
        """`<<: *a` or `<<: [*a, *b]`: their keys where the mapping has none of its own (the first one wins)."""
        sources = node.items if isinstance(node, Sequence) else [node]
        for source in sources:
            if not isinstance(source, Mapping):
                self.flaws.append(
                    Flaw(
                        "alias",
                        source.start,
                        "`<<` takes a mapping or a list of mappings",
                        fix="write the keys out",
                        path=self._path(),
                    )
                )
                return
            for key, entry in source.entries.items():
                mapping.entries.setdefault(key, entry)

    def _line(self, start: int) -> int:
        return self._source.position(start)[0]

    def _path(self) -> Path:
        """Path of what is being read, for dropping later findings at the same place."""
        path: list[str | int] = []
        for opened in self._stack:
            if isinstance(opened.node, Sequence):
                path.append(len(opened.node.items))
            elif opened.key is not None:
                path.append(opened.key.text)
        return tuple(path)

    def _stop(self, rule: str, start: int, message: str, fix: str) -> NoReturn:
        self.flaws.append(Flaw(rule, start, message, fix=fix))
        raise _Stop


def read(source: SourceText) -> tuple[Node | None, list[Flaw]]:
    """The tree of a manifest's text and what is wrong with it as YAML.

    None for the tree where the text stops being readable. Terminates within the limits of this module and of
    `source`, whatever the text.
    """
    # Imported here: the package's names are needed by commands that never read a manifest.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import Reader

    class CheckedReader(Reader):
        """Reads characters that `source` has looked at: it refuses more than YAML does.

        The pattern of ruamel's own check costs more to compile than a small manifest to read.
        """

        def check_printable(self, data: object) -> None:
            """Nothing is left to check."""

    yaml = YAML(typ="safe", pure=True)
    yaml.Reader = CheckedReader
    builder = _Builder(source)
    last = 0
    try:
        for event in yaml.parse(source.text):
            last = event.start_mark.index
            builder.feed(event)
    except _Stop:
        return None, builder.flaws
    except MarkedYAMLError as error:
        problem = str(error.problem or error.context or "")
        mark = error.problem_mark or error.context_mark
        if problem == "found unexpected end of stream" and error.context_mark:
            mark = error.context_mark  # where the quote was opened, instead of the end of the file
        place = mark.index if mark else last
        message, fix = syntax.explain(problem, source.text, place)
        return None, [*builder.flaws, Flaw("yaml-syntax", place, message, fix=fix)]
    except Exception as error:
        # The parser has several ways to fail on bad text beside its own errors, such as chr() out of range.
        message = f"this cannot be read as YAML ({type(error).__name__})"
        return None, [*builder.flaws, Flaw("yaml-syntax", last, message, fix="look at this value and the next one")]
    if builder.root is None:
        return None, [
            *builder.flaws,
            Flaw("empty", 0, "the manifest is empty", fix="run `rocm-ci-gen init` to get one"),
        ]
    return builder.root, builder.flaws
