"""Values written as one line of YAML, with quotes only where some reader needs them."""

from __future__ import annotations

import re
from typing import Any

# Text that is text without quotes too, for every YAML reader, in a flow collection and outside.
_PLAIN = re.compile("[A-Za-z0-9/.](?:[A-Za-z0-9_./@:%+-]| (?!#))*(?<![: ])")
_NEEDS_QUOTES = re.compile(r": |^[-+.0-9][-+.0-9:exo_]*$|^(?:true|false|yes|no|on|off|null|y|n)$")


def flow(value: Any) -> str:
    """A value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and (_NEEDS_QUOTES.search(value.lower()) or not _PLAIN.fullmatch(value)):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
