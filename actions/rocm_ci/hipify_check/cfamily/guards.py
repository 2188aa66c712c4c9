"""Macros of NVIDIA's compiler and libraries: in ``#if`` they decide silently, and nothing tells when they are wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.cfamily import condition, macros
from rocm_ci.hipify_check.cfamily.branches import State

if TYPE_CHECKING:
    from rocm_ci.hipify_check.cfamily.branches import Directive
    from rocm_ci.hipify_check.cfamily.context import Context
    from rocm_ci.hipify_check.mapping import Entry

_NEXT = re.compile(rb"#[ \t]*(?:elif|else|endif|if|ifdef|ifndef)\b")
# The chain writes HIP in one of its branches: its author knows of both compilers.
_HIP_BRANCH = re.compile(rb"\b(?:hip[A-Z_]|HIP_|__HIP|__hip|roc[a-z]*_|ROCM)")
_PRAGMAS = re.compile(rb"\s*(?:#[ \t]*pragma[^\n]*\s*)+")
_SLUGS = {"v": "version-guard", "c": "compiler-macro", "a": "arch-guard"}


def macro(context: Context, start: int, name: str, entry: Entry) -> None:
    """A version, compiler or architecture macro (kinds v, c, a).

    A condition that also names an AMD macro, in the same chain, is already portable: no finding. So is one that
    stands in code AMD never sees, or behind a branch that AMD certainly takes.
    """
    directive = context.directive(start)
    verdict = entry.verdict
    if directive is not None:
        if directive.names_amd or not directive.reached or directive.outer is not State.LIVE:
            return
        if entry.kind == "v" and directive.value is not None and _others_decide(directive):
            return
        if entry.kind == "c" and _HIP_BRANCH.search(context.code, directive.offset, directive.end):
            return
    elif entry.kind == "a" and not _in_directive(context.code, start):
        # Outside #if the name is used as a value, and an AMD build does not have it.
        verdict = "manual"
    if context.hits and context.hits[-1].name == name and b"\n" not in context.code[context.hits[-1].offset : start]:
        return
    if directive is not None and entry.kind == "c" and _only_pragmas(context.code, directive):
        return
    context.add(
        start, _SLUGS[entry.kind], verdict, name, entry.hip, note=entry.note, library="preprocessor", owned_by=name
    )


def _others_decide(directive: Directive) -> bool:
    """Does the condition also test a macro that AMD builds never have, whatever the version?"""
    names = condition.identifiers(directive.text)
    return any(macros.is_cuda(name) and not name.startswith("__CUDACC_VER_") for name in names)


def _in_directive(code: bytes, offset: int) -> bool:
    return code[code.rfind(b"\n", 0, offset) + 1 : offset].lstrip().startswith(b"#")


def _only_pragmas(code: bytes, directive: Directive) -> bool:
    """Does the branch hold only pragmas, which silence a warning of nvcc? Then nothing is lost without it."""
    start = directive.argument + len(directive.text)
    following = _NEXT.search(code, start)
    return _PRAGMAS.fullmatch(code, start, following.start() if following else len(code)) is not None
