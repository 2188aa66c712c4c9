"""Which parts of a file AMD's compiler sees: the conditional directives, walked once."""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from rocm_ci.hipify_check.cfamily import condition, macros
from rocm_ci.hipify_check.cfamily.macros import NONZERO, UNKNOWN, Value

_DIRECTIVE = re.compile(rb"#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif|define|undef)\b([^\n]*)")
_ERROR = re.compile(rb"\s*#[ \t]*error\b")
_MAY_BE_AMD = (b"HIP", b"ROCM", b"AMD")
_DEFINE = re.compile(r"\s*([A-Za-z_]\w*)(\()?\s*(.*)", re.DOTALL)


class State(enum.IntEnum):
    """What becomes of a part of the file in an AMD build."""

    LIVE = 0
    GUARDED = 1
    """Never compiled, because of a macro that separates AMD from NVIDIA."""
    DEAD = 2
    """Never compiled by anyone (``#if 0``)."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A conditional directive: where it stands, its words, and the state of the code around it.

    Attributes:
        offset: Of the ``#``.
        keyword: ``if``, ``ifdef``, ``elif`` ...
        argument: Offset of the text after the keyword.
        text: That text.
        outer: State of the code that the whole chain stands in.
        reached: Whether the condition is evaluated at all: no earlier branch of the chain is certainly taken.
        value: Of the condition; ``None`` = it depends on the build, or is not evaluated.
        names_amd: Whether this condition, or another one of the same chain, tests an AMD macro.
        end: Offset of the chain's ``#endif``, or of the end of the text.
    """

    offset: int
    keyword: str
    argument: int
    text: str
    outer: State
    reached: bool
    value: bool | None
    names_amd: bool
    end: int


@dataclass(frozen=True, slots=True)
class Define:
    """One ``#define``: offset of the name, the name, its body, and the state of its branch."""

    offset: int
    name: str
    body: str
    state: State


@dataclass(frozen=True, slots=True)
class Branches:
    """The map of one file.

    Attributes:
        conditionals: Every ``#if``, ``#ifdef``, ``#ifndef`` and ``#elif``, in order.
        defines: Every ``#define``, in order.
        alternatives: Start and end of each branch but the first of its chain: text that a reader who counts braces
            must skip, because it says the same thing again. An inner one ends before its outer one.
    """

    conditionals: tuple[Directive, ...] = ()
    defines: tuple[Define, ...] = ()
    alternatives: tuple[tuple[int, int], ...] = ()
    _offsets: list[int] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _states: list[State] = field(default_factory=list)

    def state(self, offset: int) -> State:
        """State of the code at an offset of the spliced text."""
        at = bisect_right(self._starts, offset)
        return self._states[at - 1] if at else State.LIVE

    def directive(self, offset: int) -> Directive | None:
        """The conditional directive whose line holds ``offset``."""
        at = bisect_right(self._offsets, offset)
        if at:
            found = self.conditionals[at - 1]
            if offset <= found.argument + len(found.text):
                return found
        return None


_Draft = tuple[int, str, int, str, State, bool, bool | None]
"""A directive without what only the end of its chain tells: offset, keyword, argument, text, outer, reached, value."""


@dataclass(slots=True)
class _Chain:
    """One ``#if`` ... ``#endif`` while it is open.

    Attributes:
        outer: State of the code around it.
        certain: The code around it is certainly compiled, not only possibly.
        taken: An earlier branch is certainly the one that is compiled.
        unknown: An earlier branch may be the one.
        platform: A condition so far separates AMD from NVIDIA.
        names_amd: A condition so far tests an AMD macro.
        members: Its directives, as far as they are known before its end: index, and what comes before ``names_amd``
            and between that and ``end``.
        body: Start of the alternative branch that is open; -1 in the first branch.
    """

    outer: State
    certain: bool
    taken: bool = False
    unknown: bool = False
    platform: bool = False
    names_amd: bool = False
    members: list[tuple[int, _Draft]] = field(default_factory=list)
    body: int = -1


def walk(code: bytes, *, hipify: bool = False) -> Branches:
    """Map the branches of a blanked, spliced text (``lexer.Source.code``).

    Args:
        code: The text.
        hipify: Whether hipify runs first and renames ``__CUDACC__``; what stands behind it is compiled then.
    """
    return _Walk(code, hipify=hipify).run() if b"#" in code else Branches()


class _Walk:
    """The walk over the directives; holds what the file itself has defined so far."""

    def __init__(self, code: bytes, *, hipify: bool) -> None:
        self._found = [match for match in _DIRECTIVE.finditer(code) if _opens_line(code, match.start())]
        self._length = len(code)
        self._known: dict[str, Value] = {"__CUDACC__": UNKNOWN} if hipify else {}
        self._derived: set[str] = set()
        self._stack: list[_Chain] = []
        self._state = State.LIVE
        self._certain = True
        self._starts: list[int] = []
        self._states: list[State] = []
        self._conditionals: dict[int, Directive] = {}
        self._count = 0
        self._bodies: dict[str, str] = {}
        self._defines: list[Define] = []
        self._alternatives: list[tuple[int, int]] = []
        self._guard = self._include_guard()
        self._amd_half = any(part in code for part in _MAY_BE_AMD) and any(
            macros.is_amd(name)
            for match in self._found
            if match[1] not in {b"define", b"undef", b"else", b"endif"}
            for name in condition.identifiers(match[2].decode("latin-1"))
        )

    def run(self) -> Branches:
        for match in self._found:
            keyword = match[1].decode()
            text = match[2].decode("latin-1")
            if keyword == "define":
                self._define(match.start(2), text)
            elif keyword == "undef":
                self._undefine(text)
            elif keyword in {"if", "ifdef", "ifndef"}:
                chain = _Chain(self._state, self._certain)
                self._stack.append(chain)
                self._branch(chain, match, keyword, text)
            elif self._stack and keyword == "endif":
                self._end_alternative(match.start())
                self._close(match)
            elif self._stack:
                self._end_alternative(match.start())
                self._stack[-1].body = match.end()
                self._branch(self._stack[-1], match, keyword, text)
        for chain in self._stack:
            self._settle(chain, self._length)
        conditionals = tuple(self._conditionals[index] for index in range(self._count))
        return Branches(
            conditionals,
            tuple(self._defines),
            tuple(self._alternatives),
            [directive.offset for directive in conditionals],
            self._starts,
            self._states,
        )

    def _include_guard(self) -> str:
        """The macro of ``#ifndef X`` / ``#define X`` at the top; what it encloses is as good as unconditional."""
        if len(self._found) > 1 and self._found[0][1] == b"ifndef" and self._found[1][1] == b"define":
            name = self._found[0][2].decode("latin-1").strip()
            if self._found[1][2].decode("latin-1").split()[:1] == [name]:
                return name
        return ""

    def _lookup(self, name: str) -> Value:
        if name in self._bodies:
            body = self._bodies.pop(name)
            self._known[name] = UNKNOWN  # while it is read: a body may name its own macro
            self._known[name] = self._body_value(body)
        if name in self._known:
            return self._known[name]
        if name == self._guard:
            return UNKNOWN
        return macros.value(name, has_amd_half=self._amd_half)

    def _evaluate(self, keyword: str, text: str) -> bool | None:
        if keyword in {"if", "elif"}:
            return condition.evaluate(text, self._lookup)
        words = text.split()
        value = self._lookup(words[0]) if words else UNKNOWN
        if value is UNKNOWN:
            return None
        return (value is None) == keyword.endswith("ndef")

    def _separates(self, name: str) -> bool:
        if name == self._guard:
            return False
        return name in self._derived or macros.is_amd(name) or macros.is_cuda(name) or macros.is_cuda_version(name)

    def _branch(self, chain: _Chain, match: re.Match[bytes], keyword: str, text: str) -> None:
        reached = not chain.taken
        guard = False
        result: bool | None
        if keyword == "else":
            result = None if chain.unknown else True
        else:
            names = condition.identifiers(text)
            chain.names_amd = chain.names_amd or any(map(macros.is_amd, names))
            chain.platform = chain.platform or any(map(self._separates, names))
            result = self._evaluate(keyword, text)
            if result and _ERROR.match(match.string, match.end()) and any(map(macros.is_cuda_version, names)):
                result = None  # `#ifndef CUDA_VERSION` / `#error` is no half for AMD: what follows is to be ported
            draft = (match.start(), keyword, match.start(2), text, chain.outer, reached, result)
            chain.members.append((self._count, draft))
            self._count += 1
            guard = match is self._found[0] and bool(self._guard)
        if not reached:
            result = False
        chain.unknown = chain.unknown or result is None
        chain.taken = chain.taken or result is True
        if chain.outer is not State.LIVE or result is not False:
            state = chain.outer
        else:
            state = State.GUARDED if chain.platform else State.DEAD
        self._enter(match.end(), state, certain=chain.certain and (result is True or guard))

    def _close(self, match: re.Match[bytes]) -> None:
        chain = self._stack.pop()
        self._settle(chain, match.start())
        self._enter(match.end(), chain.outer, certain=chain.certain)

    def _end_alternative(self, offset: int) -> None:
        if self._stack[-1].body >= 0:
            self._alternatives.append((self._stack[-1].body, offset))

    def _settle(self, chain: _Chain, end: int) -> None:
        """Tell the directives of a chain what is known at its end: a later branch may have named AMD."""
        for index, draft in chain.members:
            self._conditionals[index] = Directive(*draft, names_amd=chain.names_amd, end=end)

    def _enter(self, offset: int, state: State, *, certain: bool) -> None:
        self._state = state
        self._certain = certain
        self._starts.append(offset)
        self._states.append(state)

    def _in_platform_branch(self) -> bool:
        return any(chain.platform for chain in self._stack)

    def _define(self, offset: int, text: str) -> None:
        match = _DEFINE.match(text)
        if match is None:
            return
        name, call, body = match[1], match[2], match[3].strip()
        self._defines.append(Define(offset + match.start(1), name, body, self._state))
        fixed = macros.is_amd(name) or macros.is_cuda(name)
        if self._state is State.LIVE:
            if self._certain and not call:
                self._known[name] = UNKNOWN
                self._bodies[name] = body
                if self._in_platform_branch():
                    self._derived.add(name)
            elif not fixed:
                self._known[name] = UNKNOWN
                self._bodies.pop(name, None)
        elif self._state is State.GUARDED and name not in self._known and not fixed:
            # Only the NVIDIA branch defines it, so an AMD build does not have it.
            self._known[name] = None
            self._derived.add(name)

    def _body_value(self, body: str) -> Value:
        if not body:
            return NONZERO
        known = condition.evaluate(body, self._lookup)
        if known is None:
            return UNKNOWN
        number = re.fullmatch(r"\(?([0-9]{1,9})\)?", body)
        return int(number[1]) if number else (NONZERO if known else 0)

    def _undefine(self, text: str) -> None:
        words = text.split()
        if words and self._state is State.LIVE:
            self._known[words[0]] = None if self._certain else UNKNOWN
            self._bodies.pop(words[0], None)


def _opens_line(code: bytes, at: int) -> bool:
    return not code[code.rfind(b"\n", 0, at) + 1 : at].strip(b" \t\r\f\v\xef\xbb\xbf")
