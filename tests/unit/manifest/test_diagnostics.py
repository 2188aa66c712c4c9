"""How a diagnostic looks: the caret under the right column, and nothing that a terminal would act on."""

from __future__ import annotations

import json

import pytest

from rocm_ci_gen.manifest import Diagnostic, check, format_diagnostics
from rocm_ci_gen.manifest.diagnostics import count
from rocm_ci_gen.manifest.source import SourceText


def shown(line: str, column: int) -> tuple[str, str]:
    """The excerpt and the caret line, without the gutter."""
    diagnostic = Diagnostic("error", "m.yml", 7, column, "message", "fix it", "key", line, "rule")
    _, text, caret, _ = format_diagnostics([diagnostic], color=False).split("\n")
    assert text.startswith("     7 | ")
    assert caret.startswith("       | ")
    return text[9:], caret[9:]


def test_the_whole_form() -> None:
    diagnostic = Diagnostic("warning", "a/m.yml", 12, 3, "what is wrong", "what to do", "a.b", "  b: 1", "some-rule")
    assert format_diagnostics([diagnostic], color=False) == (
        "a/m.yml:12:3: warning: what is wrong [some-rule]\n    12 |   b: 1\n       |   ^\n       fix: what to do"
    )
    assert format_diagnostics([], color=False) == ""


@pytest.mark.parametrize(
    ("line", "column", "text", "caret"),
    [
        ("abc", 1, "abc", "^"),
        ("abc", 4, "abc", "   ^"),
        ("\ta: b", 2, "    a: b", "    ^"),
        ("a\t\tb", 4, "a        b", "         ^"),
        ("a: 単体 b", 7, "a: 単体 b", "        ^"),
        ("a: e\u0301 b", 7, "a: e\u0301 b", "     ^"),
        ("\x1b[31mred", 6, "\\x1b[31mred", "        ^"),
        ("a\u202eb", 3, "a\\u202eb", "       ^"),
        ("a\U0001f600b", 3, "a\U0001f600b", "   ^"),
    ],
)
def test_the_caret_stands_under_the_character(line: str, column: int, text: str, caret: str) -> None:
    assert shown(line, column) == (text, caret)


def test_a_long_line_is_cut_around_the_character() -> None:
    text, caret = shown("x" * 5000 + "HERE" + "y" * 5000, 5001)
    assert text.startswith("…")
    assert text.endswith("…")
    assert len(text) < 110
    assert text[len(caret) - 1 :].startswith("HERE")


def test_an_empty_line_shows_no_excerpt() -> None:
    diagnostic = Diagnostic("error", "m.yml", 1, 1, "message", "", "", "", "rule")
    assert format_diagnostics([diagnostic], color=False) == "m.yml:1:1: error: message [rule]"


def test_colours_only_when_asked() -> None:
    diagnostic = Diagnostic("error", "m.yml", 1, 1, "message", "fix", "", "a", "rule")
    assert "\x1b[" in format_diagnostics([diagnostic], color=True)
    assert "\x1b" not in format_diagnostics([diagnostic], color=False)


def test_a_file_name_cannot_act_on_the_terminal() -> None:
    assert "\x1b" not in format_diagnostics(check(b"", "\x1b[2J.yml").diagnostics, color=False)


def test_positions_count_characters_from_one_whatever_ends_a_line() -> None:
    source = SourceText("m", "a\r\nbc\rd\n\nef")
    assert [source.position(offset) for offset in (0, 3, 4, 6, 8, 9, 10, 99, -1)] == [
        (1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (5, 1), (5, 2), (5, 3), (1, 1),
    ]  # fmt: skip
    assert [source.line(number) for number in range(1, 6)] == ["a", "bc", "d", "", "ef"]


def test_a_byte_order_mark_moves_no_column() -> None:
    (item,) = check(b"\xef\xbb\xbfversion: 2", "m").diagnostics
    assert (item.line, item.column, item.source_line) == (1, 10, "version: 2")


def test_counting() -> None:
    error = Diagnostic("error", "m", 1, 1, "", "", "", "")
    warning = Diagnostic("warning", "m", 1, 1, "", "", "", "")
    assert count([error, warning, error]) == "2 errors and 1 warning"
    assert count([warning]) == "1 warning"
    assert count([]) == "no errors"


def test_the_json_form_has_every_field() -> None:
    (item,) = check(b"version: 9", "m.yml").diagnostics
    assert json.loads(json.dumps(item.to_json())) == {
        "severity": "error",
        "path": "m.yml",
        "line": 1,
        "column": 10,
        "message": "the manifest has version `9`; this release of rocm-ci-gen reads up to 1",
        "fix": "install a newer rocm-ci",
        "key": "version",
        "source_line": "version: 9",
        "rule": "newer-version",
    }
