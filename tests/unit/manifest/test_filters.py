"""What the manifest calls a valid filter pattern is what the plan can read, and the other way round."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_ci_gen.filter_patterns import decide
from rocm_ci_gen.manifest import check


@given(
    st.lists(st.sampled_from(["src/**", "src/a.cu", "**", "*", "docs/**", "!src/**", "!**", "!*", "!src/a.cu", "!x"]))
)
@settings(deadline=None, max_examples=200)
def test_a_list_that_is_said_to_select_nothing_selects_nothing(texts: list[str]) -> None:
    unique = list(dict.fromkeys(texts))
    if not unique:
        return
    shown = ", ".join(f'"{text}"' for text in unique)
    text = f"version: 1\nrunners: {{a: {{labels: x}}}}\nstages: {{kernel-tests: {{paths: [{shown}]}}}}\n"
    found = {item.rule for item in check(text.encode(), "m").diagnostics}
    if "never-matches" in found:
        for name in ("src/a.cu", "src/b.cu", "docs/a.md", "x", "README.md", "a/b/c"):
            assert not decide(unique, name).included
    elif "pattern-without-effect" not in found:
        probes = ("src/a.cu", "src/b.cu", "docs/a.md", "x", "README.md", "a/b/c")
        assert any(decide(unique, name).included for name in probes)


@pytest.mark.parametrize(
    ("pattern", "fix"),
    [("/src", "`src`"), ("!/src/**", "`!src/**`"), ("./a", "`a`"), ("a/", "`a/**`"), ("/", "`**`")],
)
def test_the_fix_of_a_pattern_keeps_its_meaning(pattern: str, fix: str) -> None:
    text = f'version: 1\nrunners: {{a: {{labels: x}}}}\nignore: ["x", "{pattern}"]\nstages: {{kernel-tests: }}\n'
    (item,) = [item for item in check(text.encode(), "m").diagnostics if item.rule == "pattern"]
    assert item.fix == f"write {fix}"
