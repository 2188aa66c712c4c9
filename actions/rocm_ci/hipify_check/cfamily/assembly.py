"""``asm`` statements: PTX in them compiles for NVIDIA only, and only the assembler notices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import ptx
from rocm_ci.hipify_check.cfamily.context import is_foreign, matching

if TYPE_CHECKING:
    from rocm_ci.hipify_check.cfamily.context import Context

_OPEN = re.compile(rb"\s*(?:(?:volatile|__volatile__|__volatile|inline|goto)\s*)*\(")
_STRING = re.compile(
    rb'//[^\n]*|/\*.*?\*/|R"(?P<delimiter>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=delimiter)"|"(?P<plain>(?:[^"\\]|\\.)*)"|(?P<colon>:)',
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[ntr\"'\\])")


def statement(context: Context, start: int, end: int) -> None:
    """One ``asm`` keyword: read its template, up to the first ``:``."""
    opening = _OPEN.match(context.code, end)
    if opening is None or is_foreign(context.code, start):
        return
    close = matching(context.code, opening.end() - 1, limit=65536)
    if close < 0:
        return
    template: list[str] = []
    places: list[int] = []
    for match in _STRING.finditer(context.source.text, opening.end(), close):
        if match["colon"] is not None:
            break
        group = "raw" if match["raw"] is not None else "plain"
        if match[group] is None:
            continue
        text = match[group].decode("utf-8", "replace")
        if group == "plain":
            # Same length, so that an index in the template is still a place in the file.
            text = _ESCAPE.sub(lambda m: " \n" if m[0] == "\\n" else "  ", text)
        template.append(text)
        places.append(match.start(group))
    found = ptx.instruction("".join(template))
    if found is None:
        return
    name, index = found
    verdict = "manual" if ptx.has_counterpart(name) else "unsupported"
    context.add(
        _place(template, places, index), "ptx", "manual" if verdict == "manual" else "unsupported", name, library="ptx"
    )


def _place(template: list[str], places: list[int], index: int) -> int:
    for text, place in zip(template, places, strict=True):
        if index < len(text):
            return place + index
        index -= len(text)
    return places[0]
