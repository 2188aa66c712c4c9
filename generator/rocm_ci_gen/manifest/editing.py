"""Changing a manifest that somebody wrote: only what has to change, every comment kept.

A pin is exchanged in the text itself, so that nothing else of the file moves. A conversion to a newer version changes
the structure; it goes through ruamel.yaml's round trip, which keeps comments, quotes and order.
"""

from __future__ import annotations

import io
from collections.abc import Mapping as Map
from typing import Any

from rocm_ci_gen.manifest import versions, yaml_reader
from rocm_ci_gen.manifest.flow import flow
from rocm_ci_gen.manifest.nodes import Entry, Mapping, Sequence, walk
from rocm_ci_gen.manifest.schema import NEWEST_VERSION, default
from rocm_ci_gen.manifest.source import SourceText

_BOM = "\ufeff"
_NO_WRAP = 1 << 20


def convert(text: str, converters: Map[int, versions.Converter], newest: int = NEWEST_VERSION) -> str:
    """The manifest moved to the newest version, from converter to converter; unchanged where it is there already.

    Raises:
        KeyError: there is no converter for a version on the way.
    """
    from ruamel.yaml import YAML

    version = _version(text)
    if version == newest:
        return text
    body = text.removeprefix(_BOM)
    mark, crlf = text[: len(text) - len(body)], "\r\n" in body
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _NO_WRAP
    mapping, offset = _indents(text)
    yaml.indent(mapping=mapping, sequence=offset + 2, offset=offset)
    document: Any = yaml.load(body.replace("\r\n", "\n"))
    while version != newest:
        converters[version](document)
        version += 1
        document["version"] = version
    out = io.StringIO()
    yaml.dump(document, out)
    return mark + (out.getvalue().replace("\n", "\r\n") if crlf else out.getvalue())


def set_pin(text: str, sha: str) -> str:
    """The manifest with `pin: sha`, beside `uses` or below `version`."""
    return _set(text, "pin", sha)


def set_ref(text: str, ref: str) -> str:
    """The manifest with another ref in `uses`, which stays where it is."""
    root = _root(text)
    entry = root.entries.get("uses")
    uses = getattr(entry.node, "text", "") if entry else default("uses")
    return _set(text, "uses", f"{str(uses).partition('@')[0]}@{ref}")


def remove_pin(text: str) -> str:
    """The manifest without `pin`; in a block its whole line goes, with a comment at its end."""
    entry = _root(text).entries.get("pin")
    if entry is None:
        return text
    body = text.removeprefix(_BOM)
    start, end = body.rfind("\n", 0, entry.start) + 1, _line_end(body, entry.node.end)
    if body[start : entry.start].strip():  # in a flow mapping, others stand before it in the line
        start, end = body.rfind(",", 0, entry.start), entry.node.end
    return text[: len(text) - len(body)] + body[:start] + body[end:]


def _indents(text: str) -> tuple[int, int]:
    """How far the file indents the keys of a mapping, and the dashes of a list, below their key."""
    source, root = SourceText("", text.removeprefix(_BOM)), _root(text)
    mapping = offset = None
    for _, node in walk(root):
        for entry in node.entries.values() if isinstance(node, Mapping) else ():
            line, column = source.position(entry.start)
            inner_line, inner_column = source.position(entry.node.start)
            if inner_line == line:
                continue
            if isinstance(entry.node, Mapping) and mapping is None:
                mapping = inner_column - column
            if isinstance(entry.node, Sequence) and offset is None:
                offset = inner_column - column
    return mapping or 2, offset or 0


def _version(text: str) -> int:
    node = _root(text).get("version")
    value = getattr(node, "value", None)
    return value if isinstance(value, int) else NEWEST_VERSION


def _root(text: str) -> Mapping:
    root, _ = yaml_reader.read(SourceText("", text.removeprefix(_BOM)))
    return root if isinstance(root, Mapping) else Mapping(0, 0)


def _set(text: str, key: str, value: str) -> str:
    root, body = _root(text), text.removeprefix(_BOM)
    mark, written = text[: len(text) - len(body)], flow(value)
    entry = root.entries.get(key)
    if entry is not None:
        if getattr(entry.node, "text", None) == value:
            return text
        quote = body[entry.node.start]
        written = f"{quote}{value}{quote}" if quote in "'\"" else written
        return mark + body[: entry.node.start] + written + body[entry.node.end :]
    before = root.entries.get("uses") or root.entries["version"]
    if body[root.start] == "{":
        at = before.node.end
        return f"{mark}{body[:at]}, {key}: {written}{body[at:]}"
    return mark + _insert_line(body, before, f"{key}: {written}")


def _insert_line(body: str, before: Entry, line: str) -> str:
    """A line below an entry of a block mapping, indented as that and with the file's line end."""
    end = _line_end(body, before.node.end)
    indent = body[body.rfind("\n", 0, before.start) + 1 : before.start]
    newline = "\r\n" if "\r\n" in body else "\n"
    lead = "" if body[:end].endswith("\n") else newline
    return f"{body[:end]}{lead}{indent}{line}{newline}{body[end:]}"


def _line_end(body: str, offset: int) -> int:
    found = body.find("\n", offset)
    return len(body) if found < 0 else found + 1
