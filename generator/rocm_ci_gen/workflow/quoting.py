"""YAML text of single values, such that a value can never become syntax.

Text that comes from the manifest is always written as a double-quoted scalar, or, where that gives back exactly the
same text, as a literal block. GitHub's own `${{ }}` may stand only in an `Expression`, which this project makes.
The functions that templates use return `Yaml`; the template engine prints nothing else (see `template`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.expressions import MARK, Expression

Scalar = str | int | float | bool
"""A value of the workflow; an `Expression` is a `str`."""


class Yaml(str):
    """Text that is already YAML."""

    __slots__ = ()


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Double quotes, backslashes, and all that YAML 1.2 does not count as printable (section 5.1) or that a YAML 1.1 reader
# takes for a line break (NEL, LS, PS).
_TO_ESCAPE = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
_PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PLAIN_REFERENCE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*(@[A-Za-z0-9_./-]+)?")
_COMMENT = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*")
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
    return quoted(value)


def quoted(text: str) -> Yaml:
    """Write text as a double-quoted scalar on one line."""
    refuse_expression(text)
    return _in_quotes(text)


def block(value: Scalar, indent: int) -> Yaml:
    r"""Write a value whose lines may stand below each other.

    A literal block (`|` or `|-`) is used for text of several lines that it gives back exactly; anything else is written
    by `scalar`.

    Args:
        value: the value.
        indent: column of the block's lines.
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
    if _PLAIN_WORD.fullmatch(text) and text.lower() not in _RESERVED:
        return Yaml(text)
    return quoted(text)


def words(names: Iterable[str]) -> Yaml:
    """Write names as a list on one line."""
    return Yaml("[" + ", ".join(word(name) for name in names) + "]")


def flow(value: object) -> Yaml:
    """Write a value, a list or a mapping on one line, with every text quoted."""
    return scalar(value) if isinstance(value, (str, int, float)) else _nested(value)


def mapping(items: Mapping[str, Scalar], indent: int) -> Yaml:
    """Write a mapping, a line or a block an entry, from column `indent`."""
    pad = " " * indent
    return Yaml("\n".join(f"{pad}{word(key)}: {block(value, indent + 2)}" for key, value in items.items()))


def entries(items: Iterable[str], indent: int) -> Yaml:
    """Write a list, a line an entry, from column `indent`."""
    return Yaml("\n".join(f"{' ' * indent}- {scalar(item)}" for item in items))


def reference(text: str, comment: str = "") -> Yaml:
    """Write what `uses:` names, with the version that a commit stands for as a comment."""
    refuse_expression(text)
    written = text if _PLAIN_REFERENCE.fullmatch(text) else quoted(text)
    return Yaml(f"{written} # {in_comment(comment)}" if comment else written)


def in_comment(text: str) -> Yaml:
    """Text inside a comment.

    Raises:
        RenderError: the text would end the comment.
    """
    if not _COMMENT.fullmatch(text):
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


def _nested(value: object) -> Yaml:
    if isinstance(value, Expression):
        return _in_quotes(value)  # its braces would end a mapping around it
    if isinstance(value, (str, int, float)):
        return scalar(value)
    if isinstance(value, Mapping):
        return Yaml("{" + ", ".join(f"{word(key)}: {_nested(item)}" for key, item in value.items()) + "}")
    if isinstance(value, Sequence):
        return Yaml("[" + ", ".join(_nested(item) for item in value) + "]")
    raise TypeError(f"no YAML for {type(value).__name__}")


def _in_quotes(text: str) -> Yaml:
    return Yaml('"' + _TO_ESCAPE.sub(_escape, text) + '"')


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise RenderError(f"the text has half a character (U+{code:04X}), which no file can hold.")
    return _ESCAPES.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


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
    return not any(match.group() not in '"\\\n\t' for match in _TO_ESCAPE.finditer(body))
