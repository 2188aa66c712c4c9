"""The automaton keeps its tables small and its time linear, whatever patterns and texts meet."""

from __future__ import annotations

import itertools
import random

import pytest

from rocm_ci_gen.filter_patterns import automaton, parse
from rocm_ci_gen.filter_patterns.automaton import Automaton

HOSTILE = ["a?" * 40 + "a" * 40, "**a" * 30 + "**b", "*a*" * 30 + "b", "[ab]+" * 40 + "c", "**/" * 30 + "*x"]


def machine(*patterns: str) -> Automaton:
    return Automaton([parse(pattern).tokens for pattern in patterns])


def steps(built: Automaton, text: str) -> int:
    """Steps that had to be worked out for one text; backtracking would need many more than the text has characters."""
    before = built._transitions
    built.match(text)
    return built._transitions - before


@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("text", ["a" * 400, "ab" * 200, "a/" * 200, "/" * 400])
def test_one_step_a_character(pattern: str, text: str) -> None:
    assert steps(machine(pattern), text) <= len(text)


def test_hostile_patterns_still_match() -> None:
    built = machine(*HOSTILE)
    assert built.match("a" * 40) & 1
    assert built.match("a" * 80) & 1
    assert not built.match("a" * 81) & 1
    assert built.match("a" * 30 + "zzb") & 2
    assert built.match("a/b/c/x") & 16


def test_known_steps_are_looked_up() -> None:
    built = machine("src/**", "**/*.cu")
    assert steps(built, "src/kernels/a.cu") > 0
    assert steps(built, "src/kernels/a.cu") == 0


def test_full_tables_are_thrown_away_and_answers_stay_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "_MAX_TRANSITIONS", 25)
    patterns = ["**a*b", "[abc]+/x?", "c**", "**/b"]
    small = machine(*patterns)
    singles = [machine(pattern) for pattern in patterns]
    chance = random.Random(7)  # noqa: S311 - no secret
    for _ in range(300):
        text = "".join(chance.choices("abcx/", k=chance.randrange(12)))
        expected = sum(1 << number for number, single in enumerate(singles) if single.match(text))
        assert small.match(text) == expected
        assert small._transitions <= 26
        assert len(small._consumers) <= 26
        assert sum(map(len, small._states.values())) <= 26


def test_no_patterns_match_nothing() -> None:
    built = machine()
    assert [built.match("".join(text)) for text in itertools.product("a/", repeat=2)] == [0] * 4
