"""YAML text of values, such that a value can never become syntax.

Text that comes from the manifest is always written as a double-quoted scalar, or, where that gives back exactly the
same text, as a literal block. GitHub's own `${{ }}` may stand only in an `Expression`, which this project makes.
The functions that templates use return `Yaml`; the template engine prints nothing else (see `template`).

Characters are looked up in sets, and the one pattern names none beyond ASCII: this module is imported by every render,
and `re` needs milliseconds to compile a class of characters beyond Latin-1.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping, Sequence

from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.expressions import MARK, Expression
from rocm_ci_gen.workflow.views import Names, Noted, Scalar


class Yaml(str):
    """Text that is already YAML."""

    __slots__ = ()


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What YAML 1.2 does not count as printable (section 5.1), what a YAML 1.1 reader takes for a line break (NEL, LS, PS),
# and what cannot be seen or changes the direction of the text around it. Fixed, so that every Python writes the same.
_UNSEEN = (
    (0x00, 0x1F),
    (0x7F, 0xA0),
    (0xAD, 0xAD),
    (0x061C, 0x061C),
    (0x200B, 0x200F),
    (0x2028, 0x202F),
    (0x205F, 0x206F),
    (0x3000, 0x3000),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xFFF0, 0xFFFF),
    (0xE0000, 0xE007F),
)
_SUSPECT = re.compile(r"[^ !#-\[\]-~]")
_WORD_START = frozenset(string.ascii_letters + "_")
_WORD = _WORD_START | frozenset(string.digits + ".-")
_REFERENCE_START = frozenset(string.ascii_letters + string.digits + ".$")
_REFERENCE = _WORD | frozenset("/@")
# Words that some YAML reader takes for a boolean or for nothing (YAML 1.1 and 1.2).
_RESERVED = frozenset({"", "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"})


def scalar(value: Scalar) -> Yaml:
    """Write one value on one line.

    Raises:
        RenderError: text with `${{` that is no `Expression`, a lone surrogate, or a number that YAML does not have.
    """
    if isinstance(value, Expression):
        return Yaml(value) if value.is_plain else _in_quotes(value)
    if isinstance(value, bool):
        return Yaml("true" if value else "false")
    if isinstance(value, int):
        return Yaml(str(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RenderError(f"{value} is no number that a workflow can have.")
        # YAML 1.1 takes 1e-05 for text and 1.0e-05 for a number.
        return Yaml(re.sub(r"^(-?\d+)e", r"\1.0e", repr(value)))
    refuse_expression(value)
    return _in_quotes(value)


def block(value: Scalar, indent: int) -> Yaml:
    """Write a value whose lines may stand below each other, from column `indent`.

    A literal block (`|` or `|-`) is used for text of several lines that it gives back exactly; anything else is written
    by `scalar`.
    """
    if not isinstance(value, str) or "\n" not in value or not _fits_block(value):
        return scalar(value)
    if not isinstance(value, Expression):
        refuse_expression(value)
    style = "|" if value.endswith("\n") else "|-"
    lines = value.removesuffix("\n").split("\n")
    return Yaml(style + "".join("\n" + " " * indent + line if line else "\n" for line in lines))


def word(text: str) -> Yaml:
    """Write a name: bare where every YAML reader takes it for text, else quoted. For keys, job names and the like."""
    return Yaml(text) if _is_word(text) else scalar(text)


def noted(value: Noted) -> Yaml:
    """Write a name of ours or a reference, bare where that is safe, with its comment."""
    refuse_expression(value.text)
    text = value.text if _is_word(value.text) or _is_reference(value.text) else scalar(value.text)
    return Yaml(f"{text} # {in_comment(value.comment)}" if value.comment else text)


def flow(value: object) -> Yaml:
    """Write a value, a list or a mapping on one line: names as they are, every other text quoted."""
    if isinstance(value, Names):
        return Yaml("[" + ", ".join(word(name) for name in value) + "]")
    return scalar(value) if isinstance(value, (str, int, float)) else _nested(value)


def field(value: object, key: str, indent: int) -> Yaml:
    """Write a key with its value, line end included; nothing for None.

    A mapping and a `list` stand below the key, an entry a line; a tuple and what is inside a list stand on one line. A
    mapping of one key in a list needs no braces.

    Args:
        value: text, a number, a boolean, `Noted`, `Names`, or a mapping, list or tuple of these.
        key: the key.
        indent: its column.
    """
    if value is None:
        return Yaml("")
    head = " " * indent + word(key) + ":"
    if isinstance(value, Mapping) and value:
        return Yaml(f"{head}\n" + "".join(field(entry, name, indent + 2) for name, entry in value.items()))
    if isinstance(value, list) and value:
        return Yaml(f"{head}\n" + "".join(_entry(entry, indent + 2) for entry in value))
    if isinstance(value, Noted):
        return Yaml(f"{head} {noted(value)}\n")
    if isinstance(value, str):
        return Yaml(f"{head} {block(value, indent + 2)}\n")
    return Yaml(f"{head} {flow(value)}\n")


def _entry(value: object, indent: int) -> Yaml:
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, only),) = value.items()
        return item(field(only, key, indent + 2))
    return Yaml(f"{' ' * indent}- {flow(value)}\n")


def item(text: str) -> Yaml:
    """Make the lines of a mapping an entry of a list: the first key stands after a dash."""
    column = len(text) - len(text.lstrip(" "))
    return Yaml(text[: column - 2] + "- " + text[column:])


def in_comment(text: str) -> Yaml:
    """Text inside a comment.

    Raises:
        RenderError: the text would end the comment, or cannot be seen.
    """
    if any(_unseen(ord(char)) for char in text):
        raise RenderError(f"{text!r} cannot stand in a comment of the workflow.")
    return Yaml(text)


def refuse_expression(text: str) -> None:
    """Raise RenderError where text from the manifest would become a GitHub expression."""
    if MARK in text:
        at = text.index(MARK)
        raise RenderError(
            f"the value {text[max(0, at - 20) : at + 40]!r} contains '{MARK}'.",
            help="GitHub would run it as an expression. Put the value into `env` or `secrets` and use the variable.",
        )


def _is_word(text: str) -> bool:
    return text[:1] in _WORD_START and _WORD.issuperset(text) and text.lower() not in _RESERVED


def _is_reference(text: str) -> bool:
    name, _, rest = text.partition("/")
    plain = _REFERENCE_START.issuperset(name[:1]) and _REFERENCE.issuperset(name[1:] + rest)
    return plain and bool(name and rest) and "@" not in name


def _nested(value: object) -> Yaml:
    if isinstance(value, Expression):
        return _in_quotes(value)  # its braces would end a mapping around it
    if isinstance(value, (str, int, float)):
        return scalar(value)
    if isinstance(value, Mapping):
        return Yaml("{" + ", ".join(f"{word(key)}: {_nested(entry)}" for key, entry in value.items()) + "}")
    if isinstance(value, Sequence):
        return Yaml("[" + ", ".join(_nested(entry) for entry in value) + "]")
    raise TypeError(f"no YAML for {type(value).__name__}")


def _in_quotes(text: str) -> Yaml:
    return Yaml('"' + _SUSPECT.sub(_escape, text) + '"')


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise RenderError(f"the text has half a character (U+{code:04X}), which no file can hold.")
    if char in _ESCAPES:
        return _ESCAPES[char]
    if not _unseen(code):
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unseen(code: int) -> bool:
    return any(first <= code <= last for first, last in _UNSEEN)


def _fits_block(text: str) -> bool:
    """Whether a literal block gives back exactly this text in every YAML reader.

    Not: text whose first line is empty or indented (it would set the block's indentation), that ends in several line
    ends (chomping), or that has characters that need an escape. Blanks at the end of a line are exact too, but editors
    and commit hooks cut them off.
    """
    body = text.removesuffix("\n")
    if not body or body[0] in " \t\n" or body[-1] == "\n":
        return False
    if any(line[-1:] in (" ", "\t") for line in body.split("\n")):
        return False
    return not any(_unseen(ord(match.group())) for match in _SUSPECT.finditer(body) if match.group() not in "\n\t")
