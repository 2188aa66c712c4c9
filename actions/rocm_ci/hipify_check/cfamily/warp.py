"""Code that takes a warp for 32 lanes. AMD's data-centre GPUs (gfx9) have 64, its RDNA GPUs 32.

Sources: HIP porting guide ("warpSize"); ROCm 7.0 release notes (warpSize is no constant expression any more);
https://github.com/ROCm/hip/issues/3667 (the mask of a ``_sync`` builtin must be 64 bits wide).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.cfamily.context import first_argument, is_foreign, matching

if TYPE_CHECKING:
    from rocm_ci.hipify_check.cfamily.context import Context
    from rocm_ci.hipify_check.model import Verdict

_CONSTANT_UNTIL = (7, 0)
"""The release in which warpSize stopped being a constant expression."""

SYNC_BUILTINS = frozenset(
    b"__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __any_sync __all_sync __ballot_sync __match_any_sync "
    b"__match_all_sync".split()
)
BALLOTS = frozenset(b"__ballot __ballot_sync __activemask".split())
COUNTS = {b"__popc": "__popcll", b"__ffs": "__ffsll", b"__clz": "__clzll", b"__brev": "__brevll"}

# An integer literal without an l suffix, as far as it fits 32 bits; ~0u and -1 are 32 bits as well.
_LITERAL32 = re.compile(rb"\(?\s*[~-]?\s*(?:0[xX][0-9a-fA-F]{1,8}|0[bB][01]{1,32}|[0-9]{1,10})[uU]?\s*\)?")
_CAST32 = re.compile(
    rb"(?:\(\s*(?:unsigned(?:\s+int)?|int|uint32_t|int32_t|uint)\s*\)|(?:unsigned|int|uint32_t|uint)\s*\(|static_cast<\s*(?:unsigned(?:\s+int)?|int|uint32_t|uint)\s*>).*",
    re.DOTALL,
)
_NAMED32 = frozenset(b"UINT_MAX UINT32_MAX INT_MAX".split())
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_TYPE = (
    rb"\b(?:(?P<wide>(?:unsigned\s+)?long\s+long(?:\s+int)?|(?:unsigned\s+)?long|(?:std::)?u?int64_t|auto|size_t)"
    rb"|unsigned(?:\s+int)?|(?:std::)?u?int32_t|int|uint)"
)
_TRUNCATED = re.compile(
    rb"(?:^|[;{}(,])\s*(?:const\s+)?(?:unsigned(?:\s+int)?|uint32_t|int32_t|int|uint)\s+(?:const\s+)?[A-Za-z_]\w*\s*=\s*\Z"
)
_CUDA = re.compile(rb"cuda(?<!\wcuda)[A-Z_]|cu(?<!\wcu)[A-Z][a-z]|CU(?<!\wCU)(?:DA)?_")
_EQUALS_32 = re.compile(rb"\s*==\s*(?:0[xX][fF]{8}[uU]?|~0[uU]?|\(unsigned\)\s*-1)(?![0-9A-Za-z])")

NAME_SAYS_WARP = re.compile(
    rb"(?i:k?_*(?:[a-z0-9]+_)*warp_*(?:size|sz|width|threads|lanes)|(?:[a-z0-9]+_)*threads_per_warp)_*"
)
_SET_TO = re.compile(rb"\s*(?:=|\{)?\s*\(?\s*(32|64)[uU]?[lL]{0,2}\s*\)?\s*\}?\s*(?:;|,|\n|$)")
_COMPARED = re.compile(rb"\s*(?:==|!=)\s*32\b")
_COMPARED_64 = re.compile(rb"warpSize\s*[=!]=\s*64\b")
_COMPARED_BEFORE = re.compile(rb"\b32\s*(?:==|!=)\s*\Z")
_CONST_BEFORE = re.compile(
    rb"(?:\bconstexpr\b[^;{}=]*=|\btemplate\s*<[^;{}()>]*=|\bstatic_assert\s*\(|\benum\b[^;{}]*\{|\bcase\b|\balignas\s*\(|\b__launch_bounds__\s*\()[^;]*\Z"
)
_ARRAY_BEFORE = re.compile(
    rb"(?:^|\n|\))\s*(?:(?:extern|static|const|volatile|alignas\([^)]*\))\s+)*(?:__shared__\b[^=]*|[A-Za-z_][\w:]*(?:<[^;<>]*>)?[\s*&]+[A-Za-z_]\w*\s*(?:\[[^\]]*\])*)\[[^\]]*\Z"
)
# Foo<warpSize>, std::array<int, warpSize>: an argument of a template.
_TEMPLATE_BEFORE = re.compile(rb"[A-Za-z_]\w*<(?:[^;{}()<>]*,)?\s*\Z")
_TEMPLATE_AFTER = re.compile(rb"\s*(?:,[^;{}()<>]*)?>")
_KEYWORD = re.compile(rb"\s*(?:return|else|case|throw|delete|new|goto|if|while|for|do)\b")
_LANE = re.compile(rb"threadIdx(?<!\wthreadIdx)\s*\.\s*x\s*(?:&\s*(?:31|0x1[fF])\b|%\s*32\b|>>\s*5\b|/\s*32\b)")


def sync_mask(context: Context, start: int, end: int, token: bytes) -> None:
    """``__shfl_sync(0xffffffff, ...)``: HIP asserts at compile time that the mask has 64 bits."""
    code = context.code
    bracket = _open_bracket(code, end)
    if bracket < 0 or is_foreign(code, start):
        return
    mask = first_argument(code, bracket)
    if is_32_bit(code, mask, start):
        context.add(
            start,
            "warp-mask32",
            "manual",
            token.decode(),
            note=f"the mask {_show(mask)} has 32 bits",
            library="device",
            owned_by=token.decode(),
        )
    elif token == b"__ballot_sync":
        ballot(context, start, end, token)


def is_32_bit(code: bytes, mask: bytes, at: int) -> bool:
    """Is the mask expression at ``at`` certainly 32 bits wide? A name is looked up in the same file."""
    if _LITERAL32.fullmatch(mask.replace(b"'", b"")) or _CAST32.fullmatch(mask) or mask in _NAMED32:
        return True
    if not _IDENTIFIER.fullmatch(mask):
        return False
    macro, offsets, narrow = _declarations(code, mask)
    if macro is not None:
        return _LITERAL32.fullmatch(macro) is not None or _CAST32.fullmatch(macro) is not None
    # The nearest one above: two functions may use one name for masks of two widths.
    above = bisect_left(offsets, at) - 1
    return bool(narrow) and narrow[max(0, above)]


@lru_cache(maxsize=8)
def _declarations(code: bytes, name: bytes) -> tuple[bytes | None, list[int], list[bool]]:
    """What a name is in a file: the body of its macro, and where it is declared, each with 32 bits or with more."""
    word = re.escape(name)
    macro = re.search(rb"#[ \t]*define[ \t]+" + word + rb"[ \t]+([^\n]+)", code)
    offsets: list[int] = []
    narrow: list[bool] = []
    for match in re.finditer(_TYPE + rb"\s+(?:const\s+)?" + word + rb"\b(?=\s*[=;,){])", code):
        offsets.append(match.start())
        narrow.append(match["wide"] is None)
    return macro[1].strip() if macro else None, offsets, narrow


def ballot(context: Context, start: int, end: int, token: bytes) -> None:
    """A ballot has 64 bits on AMD: cut to 32 by its variable, or held against a 32-bit mask, it loses lanes."""
    code = context.code
    bracket = _open_bracket(code, end)
    close = matching(code, bracket) if bracket >= 0 else -1
    if close < 0 or is_foreign(code, start):
        return
    if _TRUNCATED.search(code, max(0, start - 120), start):
        note = "its 64-bit result is cut to 32 bits"
    elif _EQUALS_32.match(code, close + 1):
        note = "its 64-bit result is compared with a 32-bit mask"
    else:
        return
    # Without a mask it is HIP's own builtin (CUDA removed it for sm_70): code that has been ported, and may be meant
    # for GPUs whose wavefront has 32 lanes. In code that is CUDA still nobody has thought of either.
    ported = token == b"__ballot" and (context.is_hip or not _is_cuda(code))
    verdict: Verdict = "note" if ported else "manual"
    context.add(start, "warp-mask32", verdict, token.decode(), note=note, library="device", owned_by=token.decode())


@lru_cache(maxsize=8)
def _is_cuda(code: bytes) -> bool:
    """Does the file hold names of CUDA's run-time or driver interface?"""
    return _CUDA.search(code) is not None


def count(context: Context, start: int, end: int, token: bytes) -> None:
    """``__popc(__ballot(p))`` counts only 32 of 64 lanes."""
    bracket = _open_bracket(context.code, end)
    if bracket < 0:
        return
    inner = context.code[bracket + 1 : bracket + 40].lstrip()
    if any(inner.startswith(name) and inner[len(name) : len(name) + 1] in b"( \t" for name in BALLOTS):
        context.add(
            start, "warp-mask32", "manual", token.decode(), COUNTS[token], note="a ballot has 64 bits", library="device"
        )


def warp_size(context: Context, start: int, end: int) -> None:
    """``warpSize`` used as a constant expression, or held against 32."""
    code = context.code
    if _COMPARED.match(code, end) or _COMPARED_BEFORE.search(code, max(0, start - 16), start):
        if _COMPARED_64.search(code, max(0, start - 120), end + 120):
            return  # both sizes are thought of
        context.add(start, "warpsize-32", "manual", "warpSize", library="device", owned_by="warpSize")
        return
    if is_foreign(code, start):
        return  # hipDeviceProp_t.warpSize is a run-time value that the host may use as it likes
    if context.version < _CONSTANT_UNTIL:
        return
    before = _statement_before(code, start)
    argument = _TEMPLATE_BEFORE.search(before) is not None and _TEMPLATE_AFTER.match(code, end) is not None
    if context.directive(start) or argument or _is_constant(before):
        context.add(start, "warpsize-const", "manual", "warpSize", library="device", owned_by="warpSize")


def named_size(context: Context, start: int, end: int, token: bytes) -> None:
    """``#define WARP_SIZE 64``: right on one half of AMD's GPUs only."""
    if not NAME_SAYS_WARP.fullmatch(token):
        return
    match = _SET_TO.match(context.code, end)
    if match is None or context.code[end : end + 1] not in b" \t={":
        return
    size = match[1].decode()
    slug = "warp64-hardcoded" if size == "64" else "warp32-hardcoded"
    context.add(start, slug, "note", token.decode(), library="device")


def lanes(context: Context) -> None:
    """``threadIdx.x & 31``: a lane number that counts to 32."""
    for match in _LANE.finditer(context.code):
        if context.live(match.start()):
            text = b" ".join(match[0].split()).decode()
            context.add(match.start(), "lane-arithmetic", "note", text, library="device")


def _is_constant(before: bytes) -> bool:
    if _CONST_BEFORE.search(before):
        return True
    return _ARRAY_BEFORE.search(before) is not None and _KEYWORD.match(before) is None


def _statement_before(code: bytes, offset: int) -> bytes:
    window = code[max(0, offset - 300) : offset]
    last = max(window.rfind(b";"), window.rfind(b"{"), window.rfind(b"}"))
    return window[last + 1 :]


def _open_bracket(code: bytes, end: int) -> int:
    rest = code[end : end + 16]
    stripped = rest.lstrip()
    return end + len(rest) - len(stripped) if stripped[:1] == b"(" else -1


def _show(mask: bytes) -> str:
    return mask.decode("ascii", "replace")
