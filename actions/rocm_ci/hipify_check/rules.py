"""The rules, as data: what a finding means, why it matters, what to write instead."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm_ci.hipify_check.model import Verdict


@dataclass(frozen=True, slots=True)
class Example:
    """A piece of code and the name of the file it stands in, which decides how it is read."""

    file: str
    code: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: Stable ID, ``HIP101``.
        slug: Short name, ``api``; the inline ``ignore[...]`` takes either.
        title: A few words.
        explanation: Why it matters on an AMD GPU.
        fix: What to do.
        example: Code that the rule finds; none for a rule about whole files.
        clean: Code beside it that the rule leaves alone, if there is one.
    """

    id: str
    slug: str
    title: str
    explanation: str
    fix: str
    example: Example | None = None
    clean: Example | None = None


@lru_cache(maxsize=1)
def load() -> tuple[Rule, ...]:
    """All rules, by ID."""
    text = (resources.files("rocm_ci.hipify_check") / "data" / "rules.json").read_text(encoding="utf-8")
    found = []
    for row in json.loads(text):
        example, clean = row.pop("example", None), row.pop("clean", None)
        found.append(
            Rule(
                example=Example(**example) if example else None,
                clean=Example(**clean) if clean else None,
                **row,
            )
        )
    return tuple(sorted(found, key=lambda rule: rule.id))


@lru_cache(maxsize=1)
def by_slug() -> dict[str, Rule]:
    """The rules by their short name."""
    return {rule.slug: rule for rule in load()}


def find(word: str) -> Rule | None:
    """A rule by its ID or its short name, in any case."""
    wanted = word.strip().lower()
    return next((rule for rule in load() if wanted in {rule.id.lower(), rule.slug}), None)


def explain(rule: Rule) -> str:
    """The rule as a page of plain text."""
    lines = [f"{rule.id} ({rule.slug}): {rule.title}", "", rule.explanation]
    if rule.example:
        lines += ["", f"Found in {rule.example.file}:", ""]
        lines += [f"    {line}" for line in rule.example.code.splitlines()]
    lines += ["", f"What to do: {rule.fix}"]
    if rule.clean:
        lines += ["", "Left alone:", ""]
        lines += [f"    {line}" for line in rule.clean.code.splitlines()]
    return "\n".join(lines) + "\n"


_SENTENCE: dict[Verdict, str] = {
    "convertible": "{name} is {hip} on ROCm",
    "manual": "{name} has to be ported by hand",
    "unsupported": "{name} has no counterpart on ROCm",
    "note": "{name}: {title}",
}
# Where the rule's title says more than the verdict does.
_OWN: dict[str, str] = {
    "guarded": "{name} stands in a branch that AMD does not compile",
    "dead-code": "{name} stands in code that nobody compiles",
    "warp-mask32": "{name} with a warp mask of 32 bits",
    "warpsize-const": "{name} is no constant expression from ROCm 7.0 on",
    "warpsize-32": "{name} is 64 on gfx9",
    "token-paste": "{name} joins a CUDA name that no converter sees",
    "version-guard": "{name} does not exist in an AMD build",
    "arch-guard": "{name} does not exist in an AMD build",
    "compiler-macro": "{name} is not defined by hipcc; test {hip} too",
    "hip-removed": "{name} was removed from HIP; use {hip}",
    "ptx": "PTX instruction {name}",
    "nvcc-flag": "{name} is an option of nvcc",
    "path": "{name} is a path of the CUDA toolkit",
    "tool": "{name} is not there on a ROCm node",
    "image": "the image {name} has no ROCm",
    "py-index": "{name} has wheels for CUDA",
    "unpinned": "{name} has no version",
    "env": "{name} is a variable of CUDA",
    "arguments": "{name} is called with arguments that HIP does not take",
    "launch": "{name} is launched from device code",
    "unknown-name": "{name} looks like CUDA",
}


@lru_cache(maxsize=8192)
def message(slug: str, verdict: Verdict, name: str, hip: str, note: str) -> str:
    """One sentence for one finding."""
    sentence = _OWN.get(slug) or _SENTENCE[verdict]
    rule = by_slug()[slug]
    text = sentence.format(name=name, hip=hip, title=rule.title.lower())
    if hip and "{hip}" not in sentence and slug not in {"guarded", "dead-code"}:
        text += f"; use {hip}" if verdict == "convertible" else f"; nearest: {hip}"
    return f"{text}: {note}" if note and ":" not in text[-40:] else (f"{text} ({note})" if note else text)
