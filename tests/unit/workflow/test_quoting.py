"""Values as YAML: whatever the text, it is read back as that text and as nothing else."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from rocm_ci_gen.workflow import quoting
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.expressions import Expression
from rocm_ci_gen.workflow.views import Names, Noted
from support.models import SCRIPT, TEXT
from support.workflow_data import load

ODD = [
    "",
    "on",
    "null",
    "~",
    "1e3",
    "0o7",
    "- a",
    "a: b",
    "a #b",
    "%TAG",
    "&a",
    "*a",
    "!!python/name:os.system",
    "{a}",
    "[a",
    '"',
    "\\",
    "\\n",
    "a\x00b",
    "\x1b[31m",
    "\x7f\x80\x85\xa0",
    "\u2028\u2029\ufeff\ufffe\uffff",
    "\u202ereversed",
    "😀",
    "a\r\nb",
    "}}",
    "<< x >>",
    "<% include 'x' %>",
    "---\n...",
]


def yaml_1_1(text: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    return reader.load(text)


@pytest.mark.parametrize("text", ODD)
def test_odd_text_is_read_back(text: str) -> None:
    for line in (f"key: {quoting.scalar(text)}\n", f"key: {quoting.block(text, 2)}\n"):
        assert load(line) == {"key": text}
    assert load(f"- {quoting.flow({'a': [text]})}\n") == [{"a": [text]}]


@settings(deadline=None)
@given(TEXT)
def test_any_text_is_one_line_and_read_back(text: str) -> None:
    written = quoting.scalar(text)
    assert "\n" not in written
    assert load(f"a:\n  key: {written} # comment\n") == {"a": {"key": text}}
    assert yaml_1_1(f"key: {written}\n") == {"key": text}


@settings(deadline=None)
@given(TEXT | SCRIPT)
@example("make\nmake install\n")
@example("make\n\nmake install")
@example("a\n \nb")
@example("\na")
@example(" a\nb")
@example("a\n\tb\n")
@example("a\nb\n\n")
@example("a\n# b\n")
@example("a\n---\nb")
def test_any_text_in_a_block_is_read_back(text: str) -> None:
    document = f"steps:\n  - run: {quoting.block(text, 6)}\n    shell: bash\n"
    assert load(document) == {"steps": [{"run": text, "shell": "bash"}]}
    assert yaml_1_1(document) == {"steps": [{"run": text, "shell": "bash"}]}


def test_a_script_stays_readable() -> None:
    assert quoting.block("make\n\nmake test\n", 4) == "|\n    make\n\n    make test\n".rstrip("\n")
    assert quoting.block("a\nb", 2) == "|-\n  a\n  b"


@pytest.mark.parametrize("text", ["a \nb", "a\nb\t\nc"])
def test_blanks_at_the_end_of_a_line_are_kept_out_of_blocks(text: str) -> None:
    assert "\n" not in quoting.block(text, 2)


def test_what_cannot_be_seen_is_written_as_an_escape() -> None:
    assert quoting.scalar("a\u202eb\u200bc\x1b") == '"a\\u202eb\\u200bc\\x1b"'
    assert quoting.scalar("\U000e0041") == '"\\U000e0041"'
    assert quoting.scalar("grün 测试") == '"grün 测试"'


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.booleans())
def test_numbers_and_booleans_are_read_back(value: float) -> None:
    read = load(f"key: {quoting.scalar(value)}\n")["key"]
    assert read == value
    assert type(read) is type(value)
    assert yaml_1_1(f"key: {quoting.scalar(value)}\n")["key"] == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_yaml_cannot_hold_for_github_is_refused(value: float) -> None:
    with pytest.raises(RenderError):
        quoting.scalar(value)


@pytest.mark.parametrize("write", [quoting.scalar, lambda text: quoting.block("a\n" + text, 2), quoting.flow])
def test_an_expression_in_text_is_refused(write: Any) -> None:
    with pytest.raises(RenderError, match="contains"):
        write("x ${{ github.token }}")
    with pytest.raises(RenderError):
        quoting.noted(Noted("a/b@${{ x }}"))
    with pytest.raises(RenderError):
        quoting.field({"${{ x }}": "a"}, "env", 0)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(RenderError, match="half a character"):
        quoting.scalar("\ud83d")


@pytest.mark.parametrize("name", ["on", "y", "No", "TRUE", "null", "1a", "a b", "", "ä", "-a", "a\nb"])
def test_a_name_that_is_more_than_a_name_is_quoted(name: str) -> None:
    written = quoting.word(name)
    assert written.startswith('"')
    assert yaml_1_1(f"{written}: 1\n") == {name: 1}


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=10).filter(lambda text: "${{" not in text))
def test_any_name_is_read_back(name: str) -> None:
    assert load(f"{quoting.word(name)}: {quoting.flow(Names((name, 'a')))}\n") == {name: [name, "a"]}


def test_expressions_are_bare_where_yaml_allows_it() -> None:
    plain = Expression("${{ github.run_id }}")
    assert quoting.scalar(plain) == plain
    label = Expression("${{ github.event.label.name != 'ok: #1 tést' }}")
    assert load(f"if: {quoting.scalar(label)}\n") == {"if": label}
    assert load(f"- {quoting.flow({'a': plain})}\n") == [{"a": plain}]


@pytest.mark.parametrize("text", ["a\nb: c", "a\rb", "a\u2028b", "a\x00", "\u202e"])
def test_nothing_ends_a_comment(text: str) -> None:
    with pytest.raises(RenderError, match="comment"):
        quoting.in_comment(text)
    with pytest.raises(RenderError):
        quoting.noted(Noted("a/b@v1", text))


def test_keys_and_what_stands_below_them() -> None:
    assert quoting.field(None, "if", 4) == ""
    assert quoting.field({}, "permissions", 4) == "    permissions: {}\n"
    assert quoting.field("", "image", 4) == '    image: ""\n'
    assert quoting.field(Names(("plan", "on")), "needs", 4) == '    needs: [plan, "on"]\n'
    assert quoting.field(("a", 1), "labels", 0) == 'labels: ["a", 1]\n'
    assert quoting.field(["a", {"b": 1, "c": ()}], "include", 0) == 'include:\n  - "a"\n  - {b: 1, c: []}\n'
    assert (
        quoting.field({"contents": Noted("read", "why")}, "permissions", 0) == "permissions:\n  contents: read # why\n"
    )
    assert quoting.field([{"cron": "0 3 * * *"}], "schedule", 2) == '  schedule:\n    - cron: "0 3 * * *"\n'
    nested = {"fail-fast": False, "matrix": {"include": [{"a": 1}]}}
    assert load(quoting.field(nested, "strategy", 4)) == {"strategy": nested}


def test_a_mapping_becomes_an_entry() -> None:
    assert quoting.item("    a: 1\n    b: 2\n") == "  - a: 1\n    b: 2\n"


@pytest.mark.parametrize(
    "text", ["actions/checkout@" + "0" * 40, "$/.github/workflows/x.yml", "./a/b", "me/it/a-b@v1.2_3"]
)
def test_references_are_bare(text: str) -> None:
    assert quoting.noted(Noted(text)) == text
    assert load(f"uses: {quoting.noted(Noted(text, 'v1'))}\n") == {"uses": text}


@pytest.mark.parametrize(
    "text", ["a", "a/b: c", "a/b #c", "@a/b", "a@b/c", "-/a", "/a", "a/", "", "~/a", "a/b\nc", "ä/b", "{a/b"]
)
def test_anything_else_is_a_name_or_quoted(text: str) -> None:
    assert load(f"uses: {quoting.noted(Noted(text, 'v1'))}\n") == {"uses": text}
    assert quoting.noted(Noted(text)) == (text if text == "a" else quoting.scalar(text))
