"""String literals that name the CUDA toolkit: a library to load, a path, an option of the compiler, a program to run.

What a string says to a person is left alone: only a string without a space is a value, and a program counts only where
it is handed to the shell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import words
from rocm_ci.hipify_check.cfamily import lexer

if TYPE_CHECKING:
    from rocm_ci.hipify_check.cfamily.context import Context
    from rocm_ci.hipify_check.model import Hit

_WORDS = frozenset((b"nvcc", b"nvidia", b"gencode"))
_TARGET = re.compile(rb"(?:sm|compute)_\d{2,3}[af]?")
_SHELL = re.compile(rb"\b(?:system|popen|_popen|exec[lv]p?e?)\s*\(\s*\Z")
_SPACE = re.compile(r"\s")


def matters(word: bytes) -> bool:
    """Can a string with this word in it name the toolkit?"""
    return (
        word in _WORDS
        or _TARGET.fullmatch(word) is not None
        or (word[:3] == b"lib" and words.library(word[3:].removesuffix(b"_static").decode()) is not None)
    )


def literals(context: Context) -> None:
    """Look at each string literal, adjacent ones by themselves."""
    source = context.source
    for start, end in lexer.strings(source.text):
        if not context.live(start):
            continue
        text = source.text[start:end].decode("latin-1")
        shell = _SHELL.search(source.code, max(0, start - 40), start - 1) is not None
        hits: list[Hit] = []
        if shell or _SPACE.search(text) is None:
            hits += [*words.library_files(text), *words.roots(text), *words.flags(text)]
        if shell:
            hits += words.tools(text)
        for hit in hits:
            at = start + hit.offset
            context.add(at, hit.slug, hit.verdict, hit.name, hit.hip, note=hit.note, library=hit.library)
