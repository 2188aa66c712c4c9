"""Matches many patterns against a text at once, in time that grows with the text only.

Backtracking regular expressions take exponential or high polynomial time on patterns such as `a?a?a?…` or
`**a**a**a`, and a pull request chooses both the paths and the patterns. Here all patterns are one nondeterministic
automaton whose set of live states is an integer (one bit a state); the deterministic automaton is built from it as
texts come, so that the usual step is one dictionary look-up. The tables are bounded: when they fill up they are
thrown away and built anew.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MAX_TRANSITIONS = 50_000


class Repeat(enum.Enum):
    """How often a token may occur."""

    ONE = enum.auto()
    OPTIONAL = enum.auto()
    PLUS = enum.auto()
    STAR = enum.auto()
    FOLDERS = enum.auto()
    """Nothing, or any text that ends with a slash."""


@dataclass(frozen=True)
class Charset:
    """A set of characters: those given, or with `negated` all others."""

    chars: frozenset[str] = frozenset()
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        return self.is_any or (char in self.chars) != self.negated

    @property
    def is_any(self) -> bool:
        """Every character: the empty set stands for it, since no pattern needs an empty one."""
        return not self.chars

    def is_only(self, char: str) -> bool:
        """Whether this is exactly the one character."""
        return not self.negated and self.chars == {char}


@dataclass(frozen=True)
class Token:
    """One element of a pattern."""

    chars: Charset
    repeat: Repeat = Repeat.ONE


class _State(dict[str, "_State"]):
    """A state of the deterministic automaton: the next state by character, worked out when first asked for."""

    __slots__ = ("hits", "live", "owner")

    def __init__(self, owner: Automaton, live: int) -> None:
        super().__init__()
        self.owner = owner
        self.live = live
        self.hits = owner.hits(live)

    def __missing__(self, char: str) -> _State:
        return self.owner.advance(self, char)


class Automaton:
    """The patterns, ready to match.

    Args:
        patterns: the tokens of each pattern. Its index is its number in the answers.
    """

    def __init__(self, patterns: Sequence[Sequence[Token]]) -> None:
        self._chars: list[tuple[Charset, int]] = []
        self._stay = 0
        self._move = 0
        self._skip_one = 0
        self._skip_three = 0
        self._finals: list[tuple[int, int]] = []
        start = 0
        by_chars: dict[Charset, int] = {}
        position = 0
        for number, tokens in enumerate(patterns):
            start |= 1 << position
            for token in tokens:
                position = self._add(token, position, by_chars)
            self._finals.append((1 << position, 1 << number))
            position += 1
        self._chars = list(by_chars.items())
        self._final_mask = sum(final for final, _ in self._finals)
        self._consumers: dict[str, int] = {}
        self._states: dict[int, _State] = {}
        self._transitions = 0
        self._start = self._closure(start)

    def match(self, text: str) -> int:
        """The patterns that match the whole text: bit n is set for pattern n."""
        state = self._state(self._start)
        for char in text:
            state = state[char]
        return state.hits

    def hits(self, live: int) -> int:
        """The patterns that have matched when these states are live."""
        if not live & self._final_mask:
            return 0
        return sum(bit for final, bit in self._finals if live & final)

    def advance(self, state: _State, char: str) -> _State:
        """Work out, and remember, where `char` leads from `state`."""
        live = state.live & self._can_consume(char)
        following = self._state(self._closure((live & self._stay) | ((live & self._move) << 1)))
        self._transitions += 1
        if self._transitions > _MAX_TRANSITIONS:
            self._forget()
        else:
            state[char] = following
        return following

    def _add(self, token: Token, position: int, by_chars: dict[Charset, int]) -> int:
        """Add the states of one token from `position` on; return where the next token starts."""
        bit = 1 << position
        if token.repeat is Repeat.FOLDERS:
            # Three states: the entrance, from which all of it may be skipped; any text; the slash after it.
            by_chars[token.chars] = by_chars.get(token.chars, 0) | bit << 1
            slash = Charset(frozenset("/"))
            by_chars[slash] = by_chars.get(slash, 0) | bit << 2
            self._skip_one |= bit | bit << 1
            self._skip_three |= bit
            self._stay |= bit << 1
            self._move |= bit << 2
            return position + 3
        by_chars[token.chars] = by_chars.get(token.chars, 0) | bit
        if token.repeat in (Repeat.PLUS, Repeat.STAR):
            self._stay |= bit
        if token.repeat is not Repeat.STAR:
            self._move |= bit
        if token.repeat in (Repeat.OPTIONAL, Repeat.STAR):
            self._skip_one |= bit
        return position + 1

    def _closure(self, live: int) -> int:
        """`live` and all states that can be reached without a character."""
        frontier = live
        while frontier:
            reached = ((frontier & self._skip_one) << 1) | ((frontier & self._skip_three) << 3)
            frontier = reached & ~live
            live |= reached
        return live

    def _can_consume(self, char: str) -> int:
        mask = self._consumers.get(char)
        if mask is None:
            mask = _union(bits for chars, bits in self._chars if char in chars)
            if len(self._consumers) >= _MAX_TRANSITIONS:
                self._consumers.clear()
            self._consumers[char] = mask
        return mask

    def _state(self, live: int) -> _State:
        state = self._states.get(live)
        if state is None:
            state = self._states[live] = _State(self, live)
        return state

    def _forget(self) -> None:
        for state in self._states.values():
            state.clear()
        self._states.clear()
        self._transitions = 0


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union
