"""The pattern engine against GitHub's documented table, and against a plain translation to regular expressions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci_gen.filter_patterns import PatternError, PatternLists, Verdict, check, decide, parse
from rocm_ci_gen.manifest.semantics.filters import problem_of

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "filter_patterns.json").read_text("utf-8"))


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: f"{row['about']}: {' '.join(row['patterns'])}")
def test_documented_table(row: dict[str, Any]) -> None:
    assert [name for name in row["match"] if not decide(row["patterns"], name).included] == []
    assert [name for name in row["other"] if decide(row["patterns"], name).included] == []


@pytest.mark.parametrize("row", TABLE["invalid"], ids=lambda row: repr(row["pattern"]))
def test_invalid_patterns_say_where(row: dict[str, Any]) -> None:
    with pytest.raises(PatternError) as caught:
        parse(row["pattern"])
    assert caught.value.position == row["position"]
    reason = check(row["pattern"])
    assert reason is not None
    assert reason.startswith(f"character {row['position'] + 1}: ")
    assert reason.split(": ", 1)[1] == caught.value.reason


def test_valid_patterns_have_no_complaint() -> None:
    assert [text for row in TABLE["rows"] for text in row["patterns"] if check(text) is not None] == []


@pytest.mark.parametrize(
    ("patterns", "name", "verdict", "pattern"),
    [
        (["src/**", "!src/docs/**"], "src/a.cu", Verdict.INCLUDED, "src/**"),
        (["src/**", "!src/docs/**"], "src/docs/a.md", Verdict.EXCLUDED, "!src/docs/**"),
        (["!src/docs/**", "src/**"], "src/docs/a.md", Verdict.INCLUDED, "src/**"),
        (["src/**"], "lib/a.cu", Verdict.UNMATCHED, None),
        (["a", "!a", "a"], "a", Verdict.INCLUDED, "a"),
        (["a", "a", "!a"], "a", Verdict.EXCLUDED, "!a"),
        ([], "a", Verdict.UNMATCHED, None),
    ],
)
def test_the_last_match_decides(patterns: list[str], name: str, verdict: Verdict, pattern: str | None) -> None:
    decision = decide(patterns, name)
    assert (decision.verdict, decision.pattern) == (verdict, pattern)


def test_double_star_inside_a_segment_is_any_text_and_then_a_slash() -> None:
    assert decide(["a**/b"], "axx/y/b").included
    assert decide(["a**/b"], "a/b").included
    assert not decide(["a**/b"], "ab").included


def test_a_quantified_slash_is_a_slash() -> None:
    assert decide(["**/?x"], "ax").included
    assert decide(["**/?x"], "a/b/x").included
    assert decide(["**/+x"], "a//x").included
    assert not decide(["**/+x"], "x").included


def test_paths_that_are_not_plain_text() -> None:
    undecodable = b"src/\xff\xfe.cu".decode("utf-8", "surrogateescape")
    assert decide(["src/*.cu"], undecodable).included
    assert decide(["src/**"], "src/a\nb.cu").included
    assert decide(["src/*"], "src/zß水🍌").included
    assert decide(["na水+ve"], "na水水水ve").included


def test_a_quantifier_repeats_one_character_and_not_a_byte() -> None:
    assert decide(["é?x"], "x").included
    assert decide(["é?x"], "éx").included
    assert not decide(["é?x"], "ééx").included


def test_lists_are_answered_together_and_independently() -> None:
    lists = PatternLists({"a": ["src/**"], "b": ["!src/**", "src/b/*"], "c": []})
    assert {name: d.included for name, d in lists.decide("src/b/x").items()} == {"a": True, "b": True, "c": False}
    assert {name: d.verdict for name, d in lists.decide("src/x").items()} == {
        "a": Verdict.INCLUDED,
        "b": Verdict.EXCLUDED,
        "c": Verdict.UNMATCHED,
    }


# --- against a straightforward translation to regular expressions ---------------------------------------------------

ATOMS = st.one_of(
    st.sampled_from(["*", "**", "**/", "/", "a", "b", ".", "-", r"\*", r"\+", r"\!", "[ab]", "[a-c0-2]", "é"]),
    st.sampled_from(["a?", "b+", "[ab]+", r"\+?", "/?", ".+", "é?"]),
)
PATTERNS = st.lists(ATOMS, min_size=1, max_size=7).map("".join)
NAMES = st.text(st.sampled_from("ab/.-+*!c0é"), max_size=9)


def reference(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression, by searching and replacing; too slow and unsafe for real use."""
    out = ""
    rest = pattern
    segment_start = True
    while rest:
        if re.match(r"\*\*/(?![?+])", rest) and segment_start:
            out, rest = out + r"(?:.*/)?", rest[3:]
            continue
        found = re.match(r"\*\*|\*|[?+]|\[[^\]]*\]|\\.|.", rest)
        assert found
        piece, rest = found[0], rest[found.end() :]
        out += {"**": ".*", "*": "[^/]*", "?": "?", "+": "+"}.get(piece) or (
            piece if piece.startswith("[") else re.escape(piece[-1])
        )
        segment_start = piece == "/"
    return re.compile(out, re.DOTALL)


@given(PATTERNS, NAMES)
def test_same_answer_as_a_regular_expression(pattern: str, name: str) -> None:
    body = pattern.removeprefix("!")
    assert (decide([pattern], name).verdict is not Verdict.UNMATCHED) == bool(reference(body).fullmatch(name))


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=5), NAMES)
def test_same_answer_for_lists(entries: list[tuple[bool, str]], name: str) -> None:
    expected = Verdict.UNMATCHED
    for negated, body in entries:
        if reference(body).fullmatch(name):
            expected = Verdict.EXCLUDED if negated else Verdict.INCLUDED
    assert decide(["!" * negated + body for negated, body in entries], name).verdict is expected


@given(st.text(max_size=12))
def test_any_text_is_either_a_pattern_or_a_clear_error(text: str) -> None:
    reason = check(text)
    if reason is None:
        decide([text], "src/a.cu")
    else:
        position = int(reason.split()[1].rstrip(":"))
        assert 1 <= position <= len(text) + 1


SYNTAX = st.text(st.sampled_from("*?+[]!\\/-a9Zz.é"), max_size=8)


@given(st.one_of(SYNTAX, PATTERNS))
def test_what_validate_accepts_the_plan_can_read(text: str) -> None:
    if problem_of(text) is None:
        assert check(text) is None


@given(st.text(max_size=12))
def test_an_escaped_name_matches_itself_and_nothing_else(name: str) -> None:
    escaped = re.sub(r"([*?+\[\]!\\])", r"\\\1", name)
    if not name:
        return
    assert decide([escaped], name).included
    assert not decide([escaped], name + "x").included
