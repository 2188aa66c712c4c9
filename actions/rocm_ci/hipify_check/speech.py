"""What a script says to a person names programs and paths that it does not use: `echo "nvidia-smi is not here"`."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"")
# Up to the end of the simple command. Quotes are hidden when this is searched.
_ECHO = re.compile(r"(?:^|(?<=[\s;&|(@{]))(?:echo|printf)\s[^;&|>\n]*")
# What becomes of the words: into a file or another program, where they count after all.
_KEPT = re.compile(r"\s*(?:\d?>>?\s*(?!&|/dev/(?:stderr|stdout|null|tty)\b)|\|(?!\|))")
_TITLE = re.compile(r"^\s*(?:-\s+)?(?:name|description|summary|title)\s*:\s*(.*)$")
_LABEL = re.compile(r"^\s*(?:LABEL|MAINTAINER)\b.*$", re.IGNORECASE)


def unsaid(code: str) -> str:
    """The line of shell code with spaces for what ``echo`` and ``printf`` print on the terminal."""
    if "echo" not in code and "printf" not in code:
        return code
    hidden = _QUOTED.sub(lambda match: "x" * len(match[0]), code)
    for match in _ECHO.finditer(hidden):
        start, end = match.span()
        said = code[start:end]
        if "$(" not in said and "`" not in said and _KEPT.match(hidden, end) is None:
            code = code[:start] + " " * (end - start) + code[end:]
    return code


def untitled(code: str) -> str:
    """The line of YAML without the value of a key that is a title."""
    match = _TITLE.match(code)
    return code[: match.start(1)] + " " * len(match[1]) if match else code


def unlabelled(code: str) -> str:
    """The line of a Dockerfile, empty where it is a label."""
    return _LABEL.sub(lambda match: " " * len(match[0]), code)
