"""Add entries to a YAML file of the user's without touching a byte of what is there.

A round trip through a YAML library re-indents and re-wraps; here the text is only ever inserted into, at places that
the parser names, and the result is parsed again and held against what it should mean.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from rocm_ci_gen.scaffold.scalars import scalar

Value = list[str] | dict[str, str]


def add(text: str, path: Sequence[str], value: Value) -> str | None:
    """Add list items or mapping entries at a path of keys, making the keys where they are missing.

    Args:
        text: The file; may be empty or hold comments only.
        path: Keys from the top.
        value: Items that are appended where they are not yet, or entries that are added where their key is not yet.

    Returns:
        The new text, `text` itself where nothing was missing; None where it cannot be done with certainty: no valid
        YAML, something else than a mapping on the way, a layout that is not understood.
    """
    try:
        old = _load(text)
        expected = _merged({} if old is None else old, path, value)
        if expected is None:
            return None
        if expected == old:
            return text
        new = _edited(text, path, value)
        return new if new is not None and _load(new) == expected else None
    except Exception:  # a file in any state whatever: the caller then says what to add by hand
        return None


def present(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys; None where there is none or the text is no YAML."""
    try:
        value = _load(text)
    except Exception:  # as above
        return None
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def block(path: Sequence[str], value: Value, indent: int = 0) -> str:
    """The keys of a path below each other, and the value under the last."""
    lines = [f"{' ' * (indent + 2 * level)}{scalar(key)}:" for level, key in enumerate(path)]
    inner = " " * (indent + 2 * len(path))
    if isinstance(value, list):
        lines += [f"{inner}- {scalar(item)}" for item in value]
    else:
        lines += [f"{inner}{scalar(key)}: {scalar(entry)}" for key, entry in value.items()]
    return "\n".join(lines) + "\n"


def _load(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(text)


def _merged(old: Any, path: Sequence[str], value: Value) -> Any:
    """What the file should mean afterwards; None where something else is in the way."""
    new = copy.deepcopy(old)
    place: Any = new
    for level, key in enumerate(path):
        if not isinstance(place, dict):
            return None
        if place.get(key) is None:
            place[key] = [] if level == len(path) - 1 and isinstance(value, list) else {}
        place = place[key]
    if isinstance(value, list):
        if not isinstance(place, list):
            return None
        place.extend(item for item in value if item not in place)
    else:
        if not isinstance(place, dict):
            return None
        for key, entry in value.items():
            place.setdefault(key, entry)
    return new


def _edited(text: str, path: Sequence[str], value: Value) -> str | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    node = YAML(typ="safe", pure=True).compose(text)
    if node is None:
        return _at_line_start(text, len(text), block(path, value))
    for level, key in enumerate(path):
        if not isinstance(node, MappingNode):
            return None
        child = next((entry for name, entry in node.value if name.value == key), None)
        if child is None:
            return _insert(text, node, path[level:], value)
        if _is_null(child):
            return _fill(text, node, child, path[level + 1 :], value)
        node = child
    if isinstance(value, list) and isinstance(node, SequenceNode):
        known = {item.value for item in node.value if isinstance(item, ScalarNode)}
        return _append_items(text, node, [item for item in value if item not in known])
    if isinstance(value, dict) and isinstance(node, MappingNode):
        known = {name.value for name, _ in node.value if isinstance(name, ScalarNode)}
        return _insert(text, node, (), {key: entry for key, entry in value.items() if key not in known})
    return None


def _is_null(node: Any) -> bool:
    return bool(node.tag and str(node.tag).endswith(":null"))


def _insert(text: str, node: Any, path: Sequence[str], value: Value) -> str | None:
    """Add keys at the end of a mapping."""
    if node.flow_style:
        return _before_bracket(text, node, _flow_body(path, value))
    if not node.value:
        return None
    indent = node.value[0][0].start_mark.column
    return _at_line_start(text, _end(text, node), block(path, value, indent))


def _append_items(text: str, node: Any, items: list[str]) -> str | None:
    if node.flow_style:
        return _before_bracket(text, node, ", ".join(scalar(item) for item in items))
    return _at_line_start(text, _end(text, node), block((), items, node.start_mark.column))


def _fill(text: str, parent: Any, child: Any, rest: Sequence[str], value: Value) -> str | None:
    """Give a value to a key that has none (`rules:`, `rules: ~`)."""
    start, end = child.start_mark.index, child.end_mark.index
    if parent.flow_style:
        opening, closing = ("[", "]") if isinstance(value, list) and not rest else ("{", "}")
        return f"{text[:start].rstrip()} {opening}{_flow_body(rest, value)}{closing}{text[end:]}"
    indent = parent.value[0][0].start_mark.column + 2
    without = text[:start].rstrip(" ") + text[end:] if end > start else text
    return _at_line_start(without, _line_end(without, text[:start].rstrip().__len__()), block(rest, value, indent))


def _flow_body(path: Sequence[str], value: Value) -> str:
    if isinstance(value, list):
        body = ", ".join(scalar(item) for item in value)
        inner = f"[{body}]"
    else:
        body = ", ".join(f"{scalar(key)}: {scalar(entry)}" for key, entry in value.items())
        inner = f"{{{body}}}"
    if not path:
        return body
    for key in reversed(path[1:]):
        inner = f"{{{scalar(key)}: {inner}}}"
    return f"{scalar(path[0])}: {inner}"


def _before_bracket(text: str, node: Any, body: str) -> str:
    """Insert before the closing bracket of a flow collection, with a comma where one is needed."""
    close = node.end_mark.index - 1
    head = text[:close].rstrip()
    gap = text[len(head) : close]
    comma = ", " if node.value and not head.endswith(",") else " " if node.value else ""
    return f"{head}{comma}{body}{gap}{text[close:]}"


def _end(text: str, node: Any) -> int:
    """Where the line after a block collection's last entry begins."""
    while getattr(node, "flow_style", None) is False and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    end: int = node.end_mark.index
    if end and text[end - 1] == "\n":
        return end
    return _line_end(text, end)


def _line_end(text: str, index: int) -> int:
    newline = text.find("\n", index)
    return len(text) if newline < 0 else newline + 1


def _at_line_start(text: str, index: int, lines: str) -> str:
    """Insert whole lines at a line start, or after a last line without an end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    head = text[:index]
    if head and not head.endswith("\n"):
        head += newline
    return head + lines.replace("\n", newline) + text[index:]
