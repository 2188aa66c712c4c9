"""A text as a YAML scalar that every YAML version reads as this text."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[A-Za-z_/.][A-Za-z0-9_./@+=-]*(?::[A-Za-z0-9_./@+=-]+)*")
_NOT_TEXT = re.compile(r"(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan|\.{3})$|\.?\d", re.IGNORECASE)


def scalar(text: str) -> str:
    """The text, plain where that is safe in block and in flow context, else double-quoted.

    JSON's double-quoted form is YAML's; characters outside ASCII stand as themselves.
    """
    if _PLAIN.fullmatch(text) and not _NOT_TEXT.match(text):
        return text
    return json.dumps(text, ensure_ascii=False)
