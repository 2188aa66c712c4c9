"""Whatever the text, YAML reads it back as that text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from rocm_ci_gen.scaffold.scalars import scalar

# What can stand in a manifest at all: see `tree.usable`.
TEXTS = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1).filter(str.isprintable)


def load(text: str) -> object:
    return YAML(typ="safe", pure=True).load(text)


@given(TEXTS)
@example("yes")
@example("1e3")
@example("0x1F")
@example(".5")
@example("~")
@example("- a")
@example("a: b")
@example("a #b")
@example('"')
@example("!x")
@example("*a")
@example("&a")
@example("...")
@example("---")
@example("a\\b")
@example("\U0001f600")
@example("a:")
def test_round_trip(text: str) -> None:
    written = scalar(text)
    assert load(f"k: {written}\n") == {"k": text}
    assert load(f"k: [{written}, {written}]\n") == {"k": [text, text]}
    assert load(f"k: {{{written}: {written}}}\n") == {"k": {text: text}}
    assert load(f"- {written}\n") == [text]


@pytest.mark.parametrize(
    "text", ["src", "org/rocm-ci@v1", "requirements-rocm.txt", ".", "/data/hf:/cache/hf", "gfx90a"]
)
def test_what_needs_no_quotes_has_none(text: str) -> None:
    assert scalar(text) == text
