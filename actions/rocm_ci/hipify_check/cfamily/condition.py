"""``#if`` expressions in three-valued logic: true, false, or not known for an AMD build."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.cfamily.macros import NONZERO, UNKNOWN, Symbolic, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Lookup = Callable[[str], Value]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlLzZ]*(?![\w.])"
    r"|(?P<name>[A-Za-z_$]\w*)|(?P<op>&&|\|\||[=!<>]=|<<|>>|[-+*/%&|^~!<>?:(),.])|(?P<other>\S))"
)
_WORDS: Mapping[str, str] = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "compl": "~",
    "bitand": "&",
    "bitor": "|",
    "not_eq": "!=",
}
_LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"|"}),
    frozenset({"^"}),
    frozenset({"&"}),
    frozenset({"==", "!="}),
    frozenset({"<", ">", "<=", ">="}),
    frozenset({"<<", ">>"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
_DEPTH = 100

Known = int | Symbolic


class _TooDeepError(Exception):
    pass


def evaluate(expression: str, lookup: Lookup) -> bool | None:
    """Evaluate one ``#if`` expression; ``None`` = it depends on the build, or is nothing that can be read."""
    try:
        return truth(_Parser(expression, lookup).ternary())
    except _TooDeepError:
        return None


def truth(value: Known) -> bool | None:
    """Is the value true, false, or not known?"""
    if value is UNKNOWN:
        return None
    return value is NONZERO or value != 0


@lru_cache(maxsize=8192)
def identifiers(expression: str) -> tuple[str, ...]:
    """All names in an expression, ``defined`` and word operators left out."""
    found = (match["name"] for match in _TOKEN.finditer(expression))
    return tuple(name for name in found if name and name != "defined" and name not in _WORDS)


class _Parser:
    """Recursive descent; what it cannot read becomes UNKNOWN, never an error."""

    def __init__(self, expression: str, lookup: Lookup) -> None:
        self._tokens = [
            (match.lastgroup or "other", match[match.lastgroup or 0]) for match in _TOKEN.finditer(expression)
        ]
        self._at = 0
        self._depth = 0
        self._lookup = lookup

    def _peek(self) -> str:
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            return _WORDS.get(text, text) if kind == "name" else text
        return ""

    def _take(self, wanted: str) -> bool:
        if self._peek() == wanted:
            self._at += 1
            return True
        return False

    def ternary(self) -> Known:
        self._depth += 1
        if self._depth > _DEPTH:
            raise _TooDeepError
        condition = self._or()
        if self._take("?"):
            yes = self.ternary()
            self._take(":")
            no = self.ternary()
            condition = _choose(truth(condition), yes, no)
        self._depth -= 1
        return condition

    def _or(self) -> Known:
        left = self._and()
        while self._take("||"):
            left = _either(truth(left), truth(self._and()))
        return left

    def _and(self) -> Known:
        left = self._binary(0)
        while self._take("&&"):
            left = _both(truth(left), truth(self._binary(0)))
        return left

    def _binary(self, level: int) -> Known:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _LEVELS[level]:
            operator = self._peek()
            self._at += 1
            left = _apply(operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> Known:
        self._depth += 1
        if self._depth > _DEPTH:
            raise _TooDeepError
        operator = self._peek()
        if operator in {"!", "-", "+", "~"} and self._tokens[self._at][1] != "not_eq":
            self._at += 1
            result = _negate(operator, self._unary())
        else:
            result = self._primary()
        self._depth -= 1
        return result

    def _primary(self) -> Known:
        if self._at >= len(self._tokens):
            return UNKNOWN
        kind, text = self._tokens[self._at]
        self._at += 1
        if text == "(":
            inner = self.ternary()
            self._take(")")
            return inner
        if kind == "number":
            return _number(text)
        if kind != "name":
            return UNKNOWN
        if text == "defined":
            return self._defined()
        if self._peek() == "(":
            return self._call(text)
        if text in {"true", "false"}:
            return int(text == "true")
        value = self._lookup(text)
        return 0 if value is None else value

    def _defined(self) -> Known:
        bracket = self._take("(")
        name = ""
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "name":
            name = self._tokens[self._at][1]
            self._at += 1
        if bracket:
            self._take(")")
        value = self._lookup(name) if name else UNKNOWN
        return 0 if value is None else (UNKNOWN if value is UNKNOWN else 1)

    def _call(self, name: str) -> Known:
        depth = 0
        words: list[str] = []
        while self._at < len(self._tokens):
            text = self._tokens[self._at][1]
            self._at += 1
            depth += (text == "(") - (text == ")")
            words.append(text)
            if depth == 0:
                break
        if name in {"__has_include", "__has_include_next"}:
            return _has_include("".join(words[1:-1]).strip('<>"'))
        return UNKNOWN


def _has_include(header: str) -> Known:
    if header.startswith(("hip/", "hip_", "rocm")):
        return 1
    return 0 if header in {"cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda_fp16.h", "cuda_bf16.h"} else UNKNOWN


def _number(text: str) -> Known:
    digits = text.replace("'", "")
    try:
        if digits[:2] in {"0x", "0X", "0b", "0B"}:
            return int(digits, 0)
        return int(digits, 8) if len(digits) > 1 and digits[0] == "0" else int(digits)
    except ValueError:
        return UNKNOWN


def _choose(condition: bool | None, yes: Known, no: Known) -> Known:
    if condition is None:
        return yes if truth(yes) is truth(no) else UNKNOWN
    return yes if condition else no


def _either(left: bool | None, right: bool | None) -> Known:
    if left or right:
        return 1
    return UNKNOWN if left is None or right is None else 0


def _both(left: bool | None, right: bool | None) -> Known:
    if left is False or right is False:
        return 0
    return UNKNOWN if left is None or right is None else 1


def _negate(operator: str, value: Known) -> Known:
    if operator == "!":
        known = truth(value)
        return UNKNOWN if known is None else int(not known)
    if isinstance(value, Symbolic):
        return UNKNOWN
    return {"-": -value, "+": value, "~": ~value}[operator]


def _apply(operator: str, left: Known, right: Known) -> Known:
    if isinstance(left, Symbolic) or isinstance(right, Symbolic):
        return _apply_symbolic(operator, left, right)
    if operator in {"/", "%"} and right == 0:
        return UNKNOWN
    if operator in {"<<", ">>"} and not 0 <= right < 64:
        return UNKNOWN
    operations: dict[str, Callable[[int, int], int]] = {
        "|": int.__or__,
        "^": int.__xor__,
        "&": int.__and__,
        "==": lambda a, b: int(a == b),
        "!=": lambda a, b: int(a != b),
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
        "<<": int.__lshift__,
        ">>": int.__rshift__,
        "+": int.__add__,
        "-": int.__sub__,
        "*": int.__mul__,
        "/": int.__floordiv__,
        "%": int.__mod__,
    }
    return operations[operator](left, right)


def _apply_symbolic(operator: str, left: Known, right: Known) -> Known:
    """Only comparisons with zero are known of a value that is certainly not zero."""
    if (left, right) in {(NONZERO, 0), (0, NONZERO)} and operator in {"==", "!="}:
        return int(operator == "!=")
    if left is NONZERO and right == 0 and operator == ">":
        return 1
    return UNKNOWN
