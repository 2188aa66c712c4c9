"""Scan one C-family file: a single pass over the CUDA-like words, each handed to the rule that knows it."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import mapping
from rocm_ci.hipify_check.cfamily import (
    assembly,
    branches,
    guards,
    launch,
    lexer,
    namespaces,
    own_names,
    signatures,
    strings,
    vocabulary,
    warp,
)
from rocm_ci.hipify_check.cfamily.context import Context, is_defined_here, is_foreign, qualifier, word_before
from rocm_ci.hipify_check.model import Scan
from rocm_ci.hipify_check.versions import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm_ci.hipify_check.mapping import Entry
    from rocm_ci.hipify_check.model import Verdict
    from rocm_ci.hipify_check.versions import Version

    Rule = Callable[[Context, int, int], None]

_PASTE = re.compile(rb"##(?:[ \t]*(?P<after>cu(?:da|blas|dnn)\w*))?")
_STEM = re.compile(rb"(?<!\w)(?:cu|CU|nvrtc|NVRTC)\w*[ \t]*\Z")
_LONGEST_STEM = 64
# A copy of these in the tree is as much NVIDIA's as the one of the toolkit.
_NVIDIA_ONLY = ("cutlass/", "cute/", "cub/")
_THREAD = b"threadIdx"
_HIP_HEADER = tuple(
    "hip/ hipblas hipcub hiprand hipfft hipsparse hipsolver rocprim rocblas rocwmma ck/ ck_tile/".split()  # noqa: SIM905
)
_DEVICE_PROPERTIES = re.compile(rb"\b(?:hip|cuda)DeviceProp(?:_t)?\b")
_POINTER_ATTRIBUTES = re.compile(rb"\b(?:hip|cuda)PointerAttributes?(?:_t)?\b")


def scan(raw: bytes, version: Version, *, explicit: bool = False, hipify: bool = False) -> Scan:
    """Find CUDA in one C, C++, CUDA or HIP source.

    Args:
        raw: The file's bytes, in any encoding that keeps ASCII as it is.
        version: ROCm release to hold it against.
        explicit: Whether the user named that release. If not, builtins that came with it count as missing, because
            the code should build on the releases before it as well.
        hipify: Whether hipify runs first: it turns ``__CUDACC__`` into ``__HIPCC__``, so that branch is compiled.
    """
    known = _vocabulary(version)
    words = known.words(raw)
    spliced = b"\\" in raw and lexer.splits_word(raw)
    if not (words or spliced or b"<<<" in raw or _may_paste(raw) or _has_header(raw, version)):
        return Scan(includes=lexer.quick_includes(raw))
    source = lexer.read(raw)
    if spliced:
        words = known.words(source.text)
    code = source.code
    context = Context(source, branches.walk(code, hipify=hipify), version, explicit)
    context.is_hip = any(
        include.name.startswith(_HIP_HEADER) and context.live(include.offset) for include in source.includes
    )
    defined_at = {define.offset for define in context.branches.defines}
    table = mapping.names(version)
    said = {word for word in words if strings.matters(word)}
    for start, end, word in vocabulary.places(code, words - said - {_THREAD}):
        if start in defined_at:
            _defined(context, start, end, word)
            continue
        entry = table.get(word)
        if entry is not None:
            _known(context, start, end, word, entry)
            continue
        rule = _RULES.get(word)
        if rule is not None:
            rule(context, start, end)
        elif warp.NAME_SAYS_WARP.fullmatch(word):
            warp.named_size(context, start, end, word)
        else:
            _unknown(context, start, end, word)
    _includes(context)
    _pastes(context)
    if said or (b"cuda" in words and b"/cuda" in raw):
        strings.literals(context)
    if b"<<<" in code and b"__" in code:
        launch.launches(context)
    if _THREAD in words:
        warp.lanes(context)
    own = context.defines
    hits = [hit for hit in context.hits if not (hit.owned_by and hit.owned_by in own)]
    if source.text is not source.raw:
        hits = [hit._replace(offset=source.raw_offset(hit.offset)) for hit in hits]
    last_include = source.includes[-1].offset if source.includes else -1
    early = frozenset(name for name, offset in own.items() if offset < last_include)
    return Scan(hits, frozenset(own), tuple(include.name for include in source.includes), early)


@lru_cache(maxsize=4)
def _vocabulary(version: Version) -> vocabulary.Vocabulary:
    """The words that the loop in ``scan`` does something with."""
    unknown, prefixes = _prefixes()
    known = {*mapping.names(version), *_RULES, _THREAD}
    heads = frozenset(prefix[:2].encode() for prefix in prefixes)

    def matters(word: bytes) -> bool:
        return (
            word in known
            or (word[:2] in heads and unknown.match(word.decode()) is not None)
            or strings.matters(word)
            or ((b"arp" in word or b"ARP" in word) and warp.NAME_SAYS_WARP.fullmatch(word) is not None)
        )

    return vocabulary.Vocabulary(matters)


def _pasted(code: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Names that ``##`` puts together of a part that may be CUDA's: offset, the beginning, the end (one is empty)."""
    for match in _PASTE.finditer(code):
        at = match.start()
        stem = _STEM.search(code, max(0, at - _LONGEST_STEM), at)
        if stem is not None:
            yield stem.start(), stem[0].rstrip(), b""
        elif match["after"]:
            yield at, b"", match["after"]


def _may_paste(raw: bytes) -> bool:
    return b"##" in raw and next(_pasted(raw), None) is not None


def _has_header(raw: bytes, version: Version) -> bool:
    return b"include" in raw and any(mapping.header(name, version) for name in lexer.quick_includes(raw))


def _defined(context: Context, start: int, end: int, token: bytes) -> None:
    """``#define NAME``: from here on the name is the file's own."""
    name = token.decode()
    if context.live(start):
        context.define(name, start)
        known = _prefixes()[0].match(name)
        for stem in own_names.stems(name, known[1]) if known else ():
            context.define(stem, start)
    warp.named_size(context, start, end, token)


def _known(context: Context, start: int, end: int, token: bytes, entry: Entry) -> None:
    code = context.code
    name = token.decode()
    if own_names.is_pasted(code, end):
        return  # the beginning of another name: see _pastes
    if entry.kind in "vca":
        guards.macro(context, start, name, entry)
        return
    if is_foreign(code, start) and not _enumerated(context, start):
        return
    if b"#" in code and (context.directive(start) or word_before(code, start) == b"undef"):
        return  # #ifdef NAME and #undef NAME only ask whether it exists
    if is_defined_here(code, start, end):
        if context.live(start):
            context.define(name, start)
        return
    slug = "api"
    if entry.kind == "i":
        if _has_builtin(context, name):
            return
        slug = "intrinsic"
    elif entry.library == "device" and entry.kind == "f":
        slug = "intrinsic"
    elif entry.verdict == "convertible" and entry.kind == "f":
        other = signatures.refused(code, end, token)
        if other is not None and not _declares(code, start):
            slug = "arguments"
            entry = entry._replace(verdict="manual", hip=other.hip, note=other.note)
    context.add(start, slug, entry.verdict, name, entry.hip, note=entry.note, library=entry.library, owned_by=name)


def _enumerated(context: Context, start: int) -> bool:
    """``cudaMemcpyKind::cudaMemcpyHostToDevice``: qualified by a CUDA type, so it is the API after all."""
    return qualifier(context.code, start) in mapping.names(context.version)


@lru_cache(maxsize=4)
def _builtins_since() -> dict[str, Version]:
    return {row[0]: parse(row[5]) for row in mapping.rows("extra_names.tsv") if row[1] == "i" and row[5]}


def _has_builtin(context: Context, name: str) -> bool:
    """Does the target have this device builtin? Ported code says so by using it."""
    since = _builtins_since().get(name)
    return since is not None and since <= context.version and (context.explicit or context.is_hip)


@lru_cache(maxsize=1)
def _prefixes() -> tuple[re.Pattern[str], dict[str, tuple[str, Verdict, str]]]:
    table: dict[str, tuple[str, Verdict, str]] = {}
    for prefix, library, verdict, note, _source in mapping.rows("prefixes.tsv"):
        table[prefix] = (library, "unsupported" if verdict == "unsupported" else "manual", note)
    words = "|".join(sorted(table, key=len, reverse=True))
    return re.compile(rf"({words})(?=[A-Z_])"), table


def _unknown(context: Context, start: int, end: int, token: bytes) -> None:
    """A name of a CUDA library that no table has. Only a call is unmistakable where the name could be the user's."""
    name = token.decode()
    pattern, table = _prefixes()
    match = pattern.match(name)
    if match is None:
        return
    library, verdict, note = table[match[1]]
    code = context.code
    called = code[end : end + 16].lstrip()[:1] == b"("
    mine = "no table" in note or library == "cudnn"
    if mine and (not called or name[0].isupper()):
        if word_before(code, start) in {b"using", b"struct", b"class", b"namespace"}:
            context.define(name, start)
        return
    if is_foreign(code, start) or context.directive(start):
        return
    if own_names.is_pasted(code, end):
        name = own_names.stem(name)
    elif (
        is_defined_here(code, start, end)
        or (called and _declares(code, start))
        or own_names.is_variable(code, start, end)
    ):
        context.define(name, start)
        return
    context.add(start, "unknown-name" if mine else "library", verdict, name, note=note, library=library, owned_by=name)


def _declares(code: bytes, start: int) -> bool:
    """``Type cudaThing(args)``: a declaration, of a function or of a variable, is not a call of CUDA."""
    word = word_before(code, start)
    return bool(word) and word not in {
        b"return",
        b"else",
        b"do",
        b"case",
        b"throw",
        b"co_return",
        b"and",
        b"or",
        b"not",
    }


def _includes(context: Context) -> None:
    for include in context.source.includes:
        entry = mapping.header(include.name, context.version)
        if entry is None:
            continue
        context.add(
            include.offset,
            "header",
            entry.verdict,
            include.name,
            entry.hip,
            note=entry.note,
            library=entry.library,
            owned_by=""
            if include.name.startswith(_NVIDIA_ONLY)
            else f"include{':' if include.quoted else '<'}{include.name}",
        )


def _pastes(context: Context) -> None:
    if b"##" not in context.code:
        return
    for offset, beginning, ending in _pasted(context.code):
        if context.live(offset) and (ending or _begins_a_name(beginning, context.version)):
            name = f"{beginning.decode()}##{ending.decode()}"
            own = own_names.stem(beginning.decode()) if beginning else ""
            context.add(offset, "token-paste", "manual", name, library="preprocessor", owned_by=own)


@lru_cache(maxsize=4)
def _sorted_names(version: Version) -> list[bytes]:
    return sorted(mapping.names(version))


def _begins_a_name(stem: bytes, version: Version) -> bool:
    """Does a CUDA name begin so: ``CUBLAS_STATUS_``?"""
    names = _sorted_names(version)
    at = bisect_left(names, stem)
    return at < len(names) and names[at].startswith(stem)


def _warp_size(context: Context, start: int, end: int) -> None:
    """``warpSize``: the builtin variable, unless the file makes its own."""
    if is_defined_here(context.code, start, end):
        context.define("warpSize", start)
        warp.named_size(context, start, end, b"warpSize")
    else:
        warp.warp_size(context, start, end)


def _removed_field(context: Context, start: int, end: int, *, struct: re.Pattern[bytes], hip: str, note: str) -> None:
    """A field that ROCm 6 took out of a HIP struct: ported code that no longer compiles."""
    code = context.code
    before = code[max(0, start - 2) : start]
    if context.version < (6, 0) or not (before.endswith(b".") or before == b"->"):
        return
    if struct.search(code):
        context.add(start, "hip-removed", "manual", code[start:end].decode(), hip, note=note, library="runtime")


_RULES: dict[bytes, Rule] = {
    b"asm": assembly.statement,
    b"__asm__": assembly.statement,
    b"__asm": assembly.statement,
    b"cub": namespaces.cub,
    b"thrust": namespaces.thrust,
    b"cuda": namespaces.cuda,
    b"cutlass": namespaces.cutlass,
    b"cute": namespaces.cutlass,
    b"cudnn_frontend": namespaces.cudnn_frontend,
    b"nvcuda": namespaces.wmma,
    b"wmma": namespaces.wmma,
    b"cg": namespaces.cooperative,
    b"cooperative_groups": namespaces.cooperative,
    b"nvtx3": namespaces.nvtx3,
    b"warpSize": _warp_size,
    b"memoryType": partial(
        _removed_field,
        struct=_POINTER_ATTRIBUTES,
        hip="type",
        note="ROCm 6.0 removed the field from hipPointerAttribute_t",
    ),
    b"gcnArch": partial(
        _removed_field,
        struct=_DEVICE_PROPERTIES,
        hip="gcnArchName",
        note="ROCm 6.0 removed the field from hipDeviceProp_t",
    ),
}


def _with_token(rule: Callable[[Context, int, int, bytes], None], token: bytes) -> Rule:
    return lambda context, start, end: rule(context, start, end, token)


_RULES.update({token: _with_token(warp.sync_mask, token) for token in warp.SYNC_BUILTINS})
_RULES.update({token: _with_token(warp.ballot, token) for token in (b"__ballot", b"__activemask")})
_RULES.update({token: _with_token(warp.count, token) for token in warp.COUNTS})
