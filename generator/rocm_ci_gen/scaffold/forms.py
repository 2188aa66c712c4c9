"""Whether a text has the form that the manifest's schema asks for: nothing is written that `validate` refuses."""

from __future__ import annotations

import re

from rocm_ci_gen.manifest.schema import load_schema


def accepts(form: str, text: str) -> bool:
    """Hold a text against a string form of the schema.

    Args:
        form: Name in the schema's `$defs`, such as `runner-label`, `image`, `gfx` or `own-uses`.
        text: The text.
    """
    schema = load_schema()["$defs"][form]
    return len(text) <= schema.get("maxLength", len(text)) and re.search(schema["pattern"], text) is not None
