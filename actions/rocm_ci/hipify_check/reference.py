"""The rules as a section of the manual (docs/hipify-check.md), made from the rules' data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import check_file, kinds, rules, versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_ci.hipify_check.rules import Example, Rule

BEGIN = "<!-- rules: begin (written by tools/check_docs.py) -->"
END = "<!-- rules: end -->"

_LANGUAGES = {"cu": "cpp", "hip": "cpp", "py": "python", "sh": "bash", "txt": "text"}
_NAMED = {"CMakeLists.txt": "cmake", "Dockerfile": "dockerfile"}
_RUN = re.compile("`+")
_SPECIAL = re.compile(r"[<>*\[\]|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def page(text: str) -> str:
    """``text`` with the rules between its two marks.

    Raises:
        ValueError: The marks are missing, stand there twice, or in the wrong order.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in head + tail:
        raise ValueError(f"the page needs the marks {BEGIN} and {END}, once and in this order")
    return f"{head}{BEGIN}\n\n{markdown()}\n{END}{tail}"


def markdown() -> str:
    """A table of all rules, and each rule with its explanation, examples and fix."""
    lines = ["| Rule | Short name | What it finds |", "|---|---|---|"]
    lines += [f"| [{rule.id}](#{_anchor(rule)}) | `{rule.slug}` | {rule.title} |" for rule in rules.load()]
    for rule in rules.load():
        lines += _section(rule)
    return "\n".join(lines) + "\n"


def _anchor(rule: Rule) -> str:
    """GitHub's anchor of the rule's heading."""
    return re.sub(r"[^\w\- ]", "", _heading(rule).lower()).replace(" ", "-")


def _heading(rule: Rule) -> str:
    # A heading that ends in ## loses it: Markdown takes it for the heading's closing marks.
    return f"{rule.id} {rule.title.replace('##', '`##`')}"


def _section(rule: Rule) -> Iterator[str]:
    yield from ("", f"### {_heading(rule)}", "", _prose(rule.explanation))
    if rule.example:
        yield from ("", f"Found in `{rule.example.file}`:", "", *_fence(rule.example), "")
        yield from _findings(rule, rule.example)
    if rule.clean:
        yield from ("", "Left alone:", "", *_fence(rule.clean))
    yield from ("", f"What to do: {_prose(rule.fix)}")


def _findings(rule: Rule, example: Example) -> Iterator[str]:
    """What the check itself says of the example, so that the page cannot say anything else."""
    kind = kinds.kind_of(example.file)
    if kind is None:
        return
    target = check_file.Target(versions.NEWEST)
    for finding in check_file.check_text(example.file, kind, example.code.encode(), target).findings:
        if finding.rule == rule.id:
            yield f"* line {finding.line}, **{finding.verdict}**: {_prose(finding.message)}"


def _fence(example: Example) -> list[str]:
    suffix = example.file.rpartition(".")[2]
    language = _NAMED.get(example.file) or _LANGUAGES.get(suffix, suffix)
    marks = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(example.code)), default=0))
    return [f"{marks}{language}", *example.code.rstrip("\n").split("\n"), marks]


def _prose(text: str) -> str:
    """Text that Markdown would take apart, as it is meant: ``<cuda/...>`` is no tag, ``__x__`` not bold."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _SPECIAL.sub(r"\\\g<0>", part) for part in parts)
