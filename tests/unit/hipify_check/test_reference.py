from __future__ import annotations

import pytest

from rocm_ci.hipify_check import reference, rules
from rocm_ci.hipify_check.rules import Example, Rule

PAGE = f"# Title\n\nbefore\n{reference.BEGIN}\nold rules\n{reference.END}\nafter\n"


def test_only_what_stands_between_the_marks_is_replaced():
    page = reference.page(PAGE)
    assert page.startswith(f"# Title\n\nbefore\n{reference.BEGIN}\n")
    assert page.endswith(f"{reference.END}\nafter\n")
    assert "old rules" not in page
    assert reference.page(page) == page


@pytest.mark.parametrize(
    "text",
    [
        "no marks",
        reference.BEGIN,
        reference.END + reference.BEGIN,
        PAGE + reference.BEGIN,
        PAGE + reference.END,
        PAGE + PAGE,
    ],
)
def test_a_page_without_its_marks_is_refused(text):
    with pytest.raises(ValueError, match="needs the marks"):
        reference.page(text)


def test_every_rule_has_its_row_and_its_section():
    lines = reference.markdown().splitlines()
    for rule in rules.load():
        assert sum(line.startswith(f"### {rule.id} ") for line in lines) == 1
        assert sum(line.startswith(f"| [{rule.id}](#{rule.id.lower()}-") for line in lines) == 1


def section(monkeypatch, **values):
    plain = {"id": "HIP108", "slug": "warp-mask32", "title": "Masks", "explanation": "Why.", "fix": "Widen it."}
    monkeypatch.setattr(rules, "load", lambda: (Rule(**{**plain, **values}),))
    return reference.markdown()


def test_a_rule_shows_what_the_check_really_says_of_its_example(monkeypatch):
    code = "// one\nint b = __ballot_sync(0xffffffff, x);\ncudaFree(p);\n"
    text = section(monkeypatch, example=Example("a.cu", code), clean=Example("b.py", "x = 1\n"))
    assert "Found in `a.cu`:\n\n```cpp\n// one\nint b" in text
    assert "\n* line 2, **manual**: \\_\\_ballot_sync with a warp mask of 32 bits" in text
    assert "line 3" not in text  # another rule's
    assert "Left alone:\n\n```python\nx = 1\n```\n" in text
    assert text.endswith("\nWhat to do: Widen it.\n")


def test_markdown_does_not_take_prose_and_code_apart(monkeypatch):
    text = section(
        monkeypatch,
        title="Joined by ##",
        explanation="Headers <cuda/...> and `a <b>`, __x__, one_name.",
        example=Example("a.cu", "// ```\n"),
    )
    assert "Headers \\<cuda/...\\> and `a <b>`, \\_\\_x\\_\\_, one_name." in text
    assert "\n### HIP108 Joined by `##`\n" in text
    assert "(#hip108-joined-by-)" in text
    assert "\n````cpp\n// ```\n````\n" in text
