"""What the single rules of the C family share: one file, its branches, and the hits found so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.cfamily.branches import Branches, Directive, State
from rocm_ci.hipify_check.model import Hit

if TYPE_CHECKING:
    from rocm_ci.hipify_check.cfamily.lexer import Source
    from rocm_ci.hipify_check.model import Verdict
    from rocm_ci.hipify_check.versions import Version

_WORD_BYTE = bytes(int(chr(byte).isalnum() or byte == 95) for byte in range(128)) + bytes(128)
_QUALIFIER = re.compile(rb"([A-Za-z_]\w*)[ \t]*(?:<[^<>;{}]*>)?[ \t]*::[ \t]*\Z")
_LOOK_BACK = 128

# A word before a name that does not make the name a declarator: what follows is still a use.
_NO_TYPE = frozenset(
    b"return else case throw new delete goto do sizeof alignof typename const volatile struct class enum union static "
    b"inline extern constexpr register mutable and or not xor co_return co_yield operator typedef friend in public "
    b"private protected __restrict__ __restrict restrict _Static_assert decltype noexcept".split()
)
_DEFINER = frozenset(b"using namespace".split())
_TAG = frozenset(b"struct class enum union".split())


@dataclass(slots=True)
class Context:
    """One file while its rules run.

    Attributes:
        source: The text.
        branches: Its conditional branches.
        version: ROCm release it is held against.
        explicit: Whether the user named that release; if not, the code should build on earlier ones too.
        is_hip: Whether the file includes a HIP header in a live branch: it has been ported, or was written for HIP.
        hits: What the rules found.
        defines: CUDA-like names that the file defines itself, and where it first does.
    """

    source: Source
    branches: Branches
    version: Version
    explicit: bool = False
    is_hip: bool = False
    hits: list[Hit] = field(default_factory=list)
    defines: dict[str, int] = field(default_factory=dict)

    @property
    def code(self) -> bytes:
        """The blanked text that the rules search."""
        return self.source.code

    def add(
        self,
        offset: int,
        slug: str,
        verdict: Verdict,
        name: str,
        hip: str = "",
        *,
        note: str = "",
        library: str = "",
        owned_by: str = "",
    ) -> None:
        """Record a hit; in a branch AMD never compiles it becomes a note that says so."""
        state = self.branches.state(offset)
        if state is State.GUARDED:
            slug, verdict, note = "guarded", "note", ""
        elif state is State.DEAD:
            slug, verdict, note = "dead-code", "note", ""
        self.hits.append(Hit(offset, slug, verdict, name, hip, note, library, owned_by))

    def define(self, name: str, offset: int) -> None:
        """Record that the file itself defines a name."""
        self.defines.setdefault(name, offset)

    def live(self, offset: int) -> bool:
        """Does AMD's compiler see this offset?"""
        return self.branches.state(offset) is State.LIVE

    def directive(self, offset: int) -> Directive | None:
        """The conditional directive whose line holds ``offset``."""
        return self.branches.directive(offset)


def word_before(code: bytes, offset: int) -> bytes:
    """The identifier that stands before ``offset``, separated by white space only; empty if there is none."""
    end = offset
    while end and code[end - 1] in b" \t\r\n":
        end -= 1
    start = end
    if end == offset:
        return b""
    while start and _WORD_BYTE[code[start - 1]]:
        start -= 1
    word = code[start:end]
    # The name of a header is blanked, so the next line's first word seems to follow `#include`.
    return b"" if word == b"include" else word


def is_foreign(code: bytes, offset: int) -> bool:
    """Is the name at ``offset`` a member (``x.f``, ``x->f``) or qualified (``lib::f``), and so not the API itself?"""
    before = code[offset - 1 : offset]
    if before in b" \t\n\r":
        before = code[max(0, offset - 32) : offset].rstrip()[-2:]
    elif before in b".>:":
        before = code[max(0, offset - 2) : offset]
    else:
        return False
    if before[-1:] == b".":
        return True
    if before == b"->":
        return True
    return before == b"::" and qualifier(code, offset) != b""


def qualifier(code: bytes, offset: int) -> bytes:
    """The name before ``::`` in front of ``offset``; empty for ``::name`` and for a bare name."""
    match = _QUALIFIER.search(code, max(0, offset - _LOOK_BACK), offset)
    return match[1] if match and match[1] not in _NO_TYPE else b""


def is_defined_here(code: bytes, start: int, end: int) -> bool:
    """Does the text at ``start:end`` define the name, rather than use it?

    Knows functions with a body, ``using X =``, ``namespace X {``, ``struct X {``, ``typedef ... X;`` and
    initialised constants.
    """
    word = word_before(code, start)
    after = code[end : end + 48].lstrip()[:2]
    if not word:
        return _is_enumerator(code, start, after) or (after[:1] == b";" and _is_typedef(code, start))
    if word in _DEFINER:
        return after[:1] in {b"=", b"{"} and after != b"=="
    if word in _TAG:
        return after[:1] in {b"{", b":"} and after != b"::"
    if word in _NO_TYPE:
        return False
    if after[:1] == b"(":
        return _has_body(code, code.index(b"(", end))
    return after[:1] in {b"=", b";", b"["} and after != b"=="


_ENUM = re.compile(rb"\benum\b[^;{}()=]*\Z")
_TYPEDEF = re.compile(rb"(?:\btypedef\b[^;{}#]*|\})\s*\Z")


def _is_enumerator(code: bytes, start: int, after: bytes) -> bool:
    """`enum E { NAME = 1, NAME }`: the name is made here."""
    before = code[max(0, start - 400) : start].rstrip()[-1:]
    if before not in {b"{", b","} or after[:1] not in {b"=", b",", b"}"} or after == b"==":
        return False
    opening = code.rfind(b"{", 0, start)
    return opening > code.rfind(b"}", 0, start) and _ENUM.search(code, max(0, opening - 160), opening) is not None


def _is_typedef(code: bytes, start: int) -> bool:
    """`typedef struct x* NAME;`, and the end of `typedef struct { ... } NAME;`."""
    return _TYPEDEF.search(code, max(0, start - 200), start) is not None


_AFTER_PARAMETERS = re.compile(rb"\s*(?:(?:const|noexcept|override|final|volatile)\b\s*)*(?:->[^;{}()]*)?\{")


def _has_body(code: bytes, bracket: int) -> bool:
    end = matching(code, bracket)
    return end > 0 and _AFTER_PARAMETERS.match(code, end + 1) is not None


_BRACKETS = re.compile(rb"[()]")


def matching(code: bytes, bracket: int, limit: int = 8192) -> int:
    """Offset of the ``)`` that closes the ``(`` at ``bracket``; -1 where there is none within ``limit`` bytes."""
    depth = 0
    for match in _BRACKETS.finditer(code, bracket, bracket + limit):
        depth += 1 if match[0] == b"(" else -1
        if depth == 0:
            return match.start()
    return -1


def first_argument(code: bytes, bracket: int) -> bytes:
    """The first argument of the call whose ``(`` is at ``bracket``, white space trimmed."""
    depth = 0
    for at in range(bracket, min(len(code), bracket + 400)):
        char = code[at]
        if char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
            if depth == 0:
                return code[bracket + 1 : at].strip()
        elif char == 44 and depth == 1:
            return code[bracket + 1 : at].strip()
    return b""
