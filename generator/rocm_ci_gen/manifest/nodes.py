"""The tree of a YAML document, with the place of every key and value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rocm_ci_gen.manifest.findings import Path


@dataclass(frozen=True)
class Scalar:
    """A value without parts. `text` is what the file says, without quotes; `plain` means it had none."""

    start: int
    end: int
    text: str
    plain: bool
    value: bool | int | float | str | None


@dataclass
class Sequence:
    """A list."""

    start: int
    end: int
    items: list[Node] = field(default_factory=list)
    size: int = 1


@dataclass(frozen=True)
class Entry:
    """One key of a mapping: where the key stands, and its value."""

    start: int
    end: int
    node: Node


@dataclass
class Mapping:
    """A mapping, in the order of the file."""

    start: int
    end: int
    entries: dict[str, Entry] = field(default_factory=dict)
    size: int = 1

    def get(self, key: str) -> Node | None:
        """Value of a key, or None where it is not given."""
        entry = self.entries.get(key)
        return entry.node if entry else None


Node: TypeAlias = Scalar | Sequence | Mapping


def plain(node: Node) -> Any:
    """The node as Python data: dict, list, str, int, float, bool, None."""
    if isinstance(node, Mapping):
        return {key: plain(entry.node) for key, entry in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.value


def at(root: Node, path: Path) -> Node | None:
    """The node at a path, or None."""
    node: Node | None = root
    for part in path:
        if isinstance(node, Mapping) and isinstance(part, str):
            node = node.get(part)
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        else:
            return None
    return node


def offset(root: Node, path: Path, *, on_key: bool) -> int:
    """Where a finding at a path is shown: at the key, or at the value; an empty value is shown at its key."""
    if not path:
        return root.start
    parent, node = at(root, path[:-1]), at(root, path)
    entry = parent.entries.get(str(path[-1])) if isinstance(parent, Mapping) else None
    if entry is not None and (on_key or entry.node.start == entry.node.end):
        return entry.start
    if node is not None:
        return node.start
    return offset(root, path[:-1], on_key=on_key)


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node with its path, parents first."""
    yield path, node
    if isinstance(node, Mapping):
        for key, entry in node.entries.items():
            yield from walk(entry.node, (*path, key))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from walk(item, (*path, index))
