"""Names that look like a library's and are the tree's own: variables, and macros whose names are put together."""

from __future__ import annotations

import re

_VARIABLE = re.compile(
    rb"(?:\A|[;{}\n])[ \t]*(?!return\b|else\b|delete\b|throw\b|case\b|new\b|goto\b|co_return\b)"
    rb"(?:(?:extern|static|const|constexpr|inline|thread_local|volatile|struct|typename)\s+)*"
    rb"[A-Za-z_][\w:]*\s*(?:<[^;{}()=]*>\s*[*&\s]*|[*&][*&\s]*)\Z"
)
_AFTER = frozenset((b"=", b";", b"{", b"[", b"("))
_LOOK_BACK = 200
_PASTED = re.compile(rb"[ \t]*##")


def is_variable(code: bytes, start: int, end: int) -> bool:
    """Does ``start:end`` declare a variable whose type ends in no word: ``std::map<K, V> name``, ``T* name``?"""
    before = code[start - 1 : start]
    if not before or before not in b" \t\n>*&":
        return False
    after = code[end : end + 48].lstrip()[:2]
    if after[:1] not in _AFTER or after == b"==":
        return False
    line = max(0, start - _LOOK_BACK)
    return _VARIABLE.search(code, line, start) is not None


def is_pasted(code: bytes, end: int) -> bool:
    """Is the word that ends at ``end`` the beginning of a name, which ``##`` puts together?"""
    return _PASTED.match(code, end) is not None


def stems(name: str, prefix: str) -> tuple[str, ...]:
    """How a macro may begin the name when it puts it together, in the form of ``stem``.

    Args:
        name: A name that the tree defines, as ``NVTX_SID_Send``.
        prefix: The library's prefix that it begins with, as ``NVTX``. Of the prefix alone nothing is known.

    Returns:
        What stands up to each underscore behind the first word, without it and with it: ``NVTX_SID##``,
        ``NVTX_SID_##``.
    """
    first = len(prefix) + 1
    ends = [at for at, char in enumerate(name) if char == "_" and at > first]
    return tuple(stem(name[:end]) for at in ends for end in (at, at + 1))


def stem(beginning: str) -> str:
    """The beginning of a name as an owner's name, which no whole name can be."""
    return beginning + "##"
