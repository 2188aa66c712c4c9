"""Kernel launches from device code. HIP takes `k<<<...>>>()` on the host as it is, and has no dynamic parallelism."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.cfamily.context import matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm_ci.hipify_check.cfamily.context import Context

_LAUNCH = re.compile(rb"<<<")
_KERNEL = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[^<>;{}()]*>\s*)?\Z")
_LOOK_BACK = 160
_DEVICE = re.compile(rb"__(?<!\w__)(?:global|device)__\b")
_HEAD_END = re.compile(rb"[{};(=]")
_BRACES = re.compile(rb"[{}]")


def launches(context: Context) -> None:
    """Each launch inside a `__global__` or `__device__` function."""
    code = context.code
    bodies = _device_bodies(code, context.branches.alternatives)
    starts = [start for start, _ in bodies]
    for match in _LAUNCH.finditer(code):
        at = bisect_right(starts, match.start())
        if at and match.start() < bodies[at - 1][1]:
            kernel = _KERNEL.search(code, max(0, match.start() - _LOOK_BACK), match.start())
            if kernel:
                context.add(kernel.start(), "launch", "unsupported", kernel[1].decode(), library="runtime")


def _device_bodies(code: bytes, alternatives: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Start and end of each body of device code that is not host code as well, in order."""
    spans = sorted(alternatives)
    ahead = 0  # index of the first span that begins behind the body's opening
    around: list[int] = []  # ends of the spans that hold it, the innermost last
    bodies: list[tuple[int, int]] = []
    for match in _DEVICE.finditer(code):
        if bodies and match.start() < bodies[-1][1]:
            continue
        opening = _body(code, match.end())
        line = code.rfind(b"\n", 0, match.start()) + 1
        if opening < 0 or b"__host__" in code[line:opening]:
            continue
        while ahead < len(spans) and spans[ahead][0] <= opening:
            start, end = spans[ahead]
            while around and around[-1] <= start:
                around.pop()
            around.append(end)
            ahead += 1
        while around and around[-1] <= opening:
            around.pop()
        bodies.append((opening, _closing(code, opening, around[-1] if around else len(code), spans, ahead)))
    return bodies


def _body(code: bytes, at: int) -> int:
    """Offset of the `{` of the function whose declaration goes on at `at`; -1 for a declaration or a variable."""
    for _ in range(16):  # attributes such as __launch_bounds__(256) have brackets of their own
        match = _HEAD_END.search(code, at)
        if match is None or match[0] in b"};=":
            return -1
        if match[0] == b"{":
            return match.start()
        at = matching(code, match.start()) + 1
        if at == 0:
            return -1
    return -1


def _closing(code: bytes, opening: int, end: int, spans: Sequence[tuple[int, int]], at: int) -> int:
    """Offset of the `}` for the `{` at `opening`, or the end of the innermost branch that holds it.

    Branches that say again what their `#if` said are jumped over: `spans`, from index `at` on. One that holds the `{`
    itself is not, for its braces are the body's own.
    """
    depth = 0
    for match in _BRACES.finditer(code, opening, end):
        offset = match.start()
        while at < len(spans) and spans[at][1] <= offset:
            at += 1
        if at < len(spans) and spans[at][0] <= offset:
            continue
        depth += 1 if match[0] == b"{" else -1
        if depth == 0:
            return offset
    return end
