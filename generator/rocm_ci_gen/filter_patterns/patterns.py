r"""GitHub's filter patterns for branches, tags and paths: syntax, meaning, and which pattern decides.

The source is GitHub's documentation, "Workflow syntax for GitHub Actions", *Filter pattern cheat sheet*:

* `*` is zero or more characters but `/`; `**` is zero or more of any character.
* `?` is zero or one, `+` one or more of the preceding character (or bracket).
* `[]` is one letter or digit of those listed; ranges lie within `a-z`, `A-Z` or `0-9`.
* `!` at the start negates. A list is read in order, and the last pattern that matches decides.
* A pattern matches the whole name or path, from the repository's root. `\` makes a special character literal.

The documented examples `**/README.md` and `docs/**/*.md` also match `README.md` and `docs/README.md`: a `**/` that
begins a path segment stands for zero or more whole folders. What the documentation leaves open is an error here, not
a guess: `?` or `+` with nothing to repeat, brackets with anything but letters and digits, `\` before a character
that is not special.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.filter_patterns.automaton import Automaton, Charset, Repeat, Token

_ESCAPABLE = frozenset("*?+[]!\\")
_RANGES = (("a", "z"), ("A", "Z"), ("0", "9"))
_ANY = Charset()
_NOT_SLASH = Charset(frozenset("/"), negated=True)


class PatternError(UsageError):
    """A pattern that GitHub's syntax does not allow.

    Attributes:
        pattern: the whole pattern.
        position: 0-based index of the character at fault.
        reason: what is wrong with it and what to write instead.
    """

    def __init__(self, pattern: str, position: int, reason: str) -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"pattern {pattern!r}, character {position + 1}: {reason}")


@dataclass(frozen=True)
class Pattern:
    """One parsed pattern: its text, whether `!` negates it, and what it is made of."""

    text: str
    negated: bool
    tokens: tuple[Token, ...] = field(repr=False)

    @property
    def body(self) -> str:
        """The text without the `!`."""
        return self.text[1:] if self.negated else self.text


def parse(text: str) -> Pattern:
    """Parse one pattern.

    Raises:
        PatternError: the pattern is not valid; says where and why.
    """
    negated = text.startswith("!")
    start = 1 if negated else 0
    if len(text) == start:
        raise PatternError(text, 0, "`!` needs a pattern after it" if negated else "a pattern cannot be empty")
    return Pattern(text, negated, tuple(_Parser(text, start).tokens()))


def check(text: str) -> str | None:
    """Why `text` is no valid pattern, with the place, or None if it is one."""
    try:
        parse(text)
    except PatternError as error:
        return f"character {error.position + 1}: {error.reason}"
    return None


class _Parser:
    """One pass over a pattern from left to right."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start

    def tokens(self) -> list[Token]:
        out: list[Token] = []
        segment_start = True
        repeatable = False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "?+":
                if not repeatable:
                    raise self._error(self._nothing_to_repeat(char))
                out[-1] = Token(out[-1].chars, Repeat.OPTIONAL if char == "?" else Repeat.PLUS)
                self.at += 1
                repeatable, segment_start = False, False
            elif char == "*":
                out.append(self._star(segment_start))
                # `**/` swallowed its slash, so a segment starts after it.
                segment_start, repeatable = out[-1].repeat is Repeat.FOLDERS, False
            else:
                out.append(Token(self._bracket() if char == "[" else Charset(frozenset(self._literal()))))
                segment_start, repeatable = out[-1].chars.is_only("/"), True
        return out

    def _star(self, segment_start: bool) -> Token:
        double = self.text.startswith("**", self.at)
        # In `**/?` and `**/+` the slash belongs to the quantifier.
        quantified = self.text[self.at + 3 : self.at + 4] in ("?", "+")
        folders = segment_start and self.text.startswith("**/", self.at) and not quantified
        self.at += 3 if folders else 2 if double else 1
        if folders:
            return Token(_ANY, Repeat.FOLDERS)
        return Token(_ANY if double else _NOT_SLASH, Repeat.STAR)

    def _literal(self) -> str:
        char = self.text[self.at]
        if char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following not in _ESCAPABLE:
                what = f"before `{following}`" if following else "at the end"
                hint = "a folder is separated by `/`" if following.isalnum() else "remove it"
                raise self._error(
                    f"`\\` {what} has no meaning: it makes * ? + [ ] ! and \\ literal, nothing else; {hint}"
                )
            self.at += 1
            char = following
        self.at += 1
        return char

    def _bracket(self) -> Charset:
        opened = self.at
        close = self.text.find("]", opened + 1)
        if close < 0:
            raise self._error("`[` has no closing `]`; write `\\[` for the character itself")
        if close == opened + 1:
            raise self._error("`[]` is empty: list letters, digits or ranges of them")
        chars: set[str] = set()
        self.at += 1
        while self.at < close:
            first = self._member()
            if self.text[self.at] == "-":
                dash = self.at
                self.at += 1
                if self.at >= close:
                    raise self._error("the range has no end", dash)
                last = self._member()
                if not any(low <= first <= last <= high for low, high in _RANGES):
                    raise self._error(
                        f"the range `{first}-{last}` is none: ranges go upward within a-z, A-Z or 0-9", dash - 1
                    )
                chars.update(map(chr, range(ord(first), ord(last) + 1)))
            else:
                chars.add(first)
        self.at = close + 1
        return Charset(frozenset(chars))

    def _member(self) -> str:
        char = self.text[self.at]
        if not (char.isascii() and char.isalnum()):
            raise self._error(f"`{char}` cannot stand in brackets: only letters, digits and ranges of them can")
        self.at += 1
        return char

    def _nothing_to_repeat(self, char: str) -> str:
        count = "zero or one" if char == "?" else "one or more"
        return (
            f"`{char}` means {count} of the preceding character, and there is none to repeat; "
            f"write `\\{char}` for the character itself"
        )

    def _error(self, reason: str, position: int | None = None) -> PatternError:
        return PatternError(self.text, self.at if position is None else position, reason)


class Verdict(enum.Enum):
    """What a list of patterns says about a name."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    """A pattern with `!` matched last."""
    UNMATCHED = "unmatched"


@dataclass(frozen=True)
class Decision:
    """The verdict of a list on one name and the pattern that decided, None if no pattern matched."""

    verdict: Verdict
    pattern: str | None = None

    @property
    def included(self) -> bool:
        """The list selects the name."""
        return self.verdict is Verdict.INCLUDED


_UNMATCHED = Decision(Verdict.UNMATCHED)


class PatternLists:
    """Several lists of patterns, asked at once for each name.

    All lists share one automaton, so the time for a name depends on its length and not on the number of patterns.

    Args:
        lists: name of the list → its patterns, in the order in which they decide.

    Raises:
        PatternError: a pattern is not valid.
    """

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        numbers: dict[str, int] = {}
        self._lists: list[tuple[str, list[Pattern]]] = []
        for name, texts in lists.items():
            patterns = [parse(text) for text in texts]
            for pattern in patterns:
                numbers.setdefault(pattern.body, len(numbers))
            self._lists.append((name, patterns))
        tokens: list[tuple[Token, ...]] = [()] * len(numbers)
        for _, patterns in self._lists:
            for pattern in patterns:
                tokens[numbers[pattern.body]] = pattern.tokens
        self._bits = {body: 1 << number for body, number in numbers.items()}
        self._automaton = Automaton(tokens)
        self._known: dict[int, dict[str, Decision]] = {}

    def decide(self, name: str) -> Mapping[str, Decision]:
        """What each list says about `name`, by the list's name."""
        hits = self._automaton.match(name)
        found = self._known.get(hits)
        if found is None:
            found = {list_name: self._last_match(patterns, hits) for list_name, patterns in self._lists}
            self._known[hits] = found
        return found

    def _last_match(self, patterns: Sequence[Pattern], hits: int) -> Decision:
        for pattern in reversed(patterns):
            if hits & self._bits[pattern.body]:
                verdict = Verdict.EXCLUDED if pattern.negated else Verdict.INCLUDED
                return Decision(verdict, pattern.text)
        return _UNMATCHED


def decide(patterns: Sequence[str], name: str) -> Decision:
    """What one list of patterns says about one name."""
    return PatternLists({"": patterns}).decide(name)[""]
