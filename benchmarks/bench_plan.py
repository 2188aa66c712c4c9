"""How long `plan` takes to decide: 10,000 changed paths against 50 patterns, and against hostile ones.

    python benchmarks/bench_plan.py

Prints the best of five runs, and each as a ratio of the time that Python needs to match the same paths with one plain
regular expression per pattern. Everything is decided anew in each run: the patterns are parsed and no table is kept.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from rocm_ci_gen.manifest import Manifest, check
from rocm_ci_gen.manifest.model import Stage
from rocm_ci_gen.plan.changes import Changes
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event

LIMIT = 1.0
"""Seconds that the project allows for the first row."""
PATHS = 10_000
PATTERNS = 50
RUNS = 5

_MANIFEST = b"""
version: 1
runners: {gpu: {labels: [self-hosted, x], gfx: gfx90a, gpus: 1}}
stages: {hipify-check: {}, kernel-tests: {}, sglang-regression: {model: a/b}}
"""


def main() -> None:
    chance = random.Random(1)  # noqa: S311 - the same paths in every run
    paths = [_path(chance) for _ in range(PATHS)]
    usual = [_pattern(number) for number in range(PATTERNS)]
    hostile = ["*a*" * 12 + "z", "a?" * 30 + "z", "**/" * 10 + "**e" * 15 + "z", "[a-z]+" * 20 + "z"] * (PATTERNS // 4)
    many = [f"{pattern}x?" if number % 2 else f"!{pattern}" for number, pattern in enumerate(usual)]
    print(f"{PATHS:,} changed paths (mean length {sum(map(len, paths)) / len(paths):.0f}), best of {RUNS} runs")
    base = _best(lambda: _plain(usual, paths))
    print(f"  plain regular expressions, {len(usual)} patterns   {base * 1000:8.1f} ms")
    for name, patterns in (("plan", usual), ("plan, with ! and ?", many), ("plan, hostile patterns", hostile)):
        took = _best(lambda patterns=patterns: decide(_manifest(patterns), _EVENT, _changes(paths)))
        print(f"  {name + f', {len(patterns)} patterns':<40} {took * 1000:8.1f} ms   {took / base:5.2f} x")
        if name == "plan":
            verdict = "within" if took < LIMIT else "ABOVE"
            print(f"    {verdict} the limit of {LIMIT:g} s")


_EVENT = Event("pull_request", base_branch="main", number=1)


def _manifest(patterns: Sequence[str]) -> Manifest:
    """The patterns spread over three stages and the `ignore` list."""
    parsed = check(_MANIFEST, "manifest").manifest
    assert parsed is not None
    parts = [tuple(patterns[start::4]) for start in range(4)]
    stages: tuple[Stage, ...] = tuple(
        replace(stage, paths=part) for stage, part in zip(parsed.stages, parts[:3], strict=True)
    )
    return replace(parsed, stages=stages, ignore=parts[3])


def _changes(paths: Sequence[str]) -> Changes:
    return Changes(tuple(paths), source="given")


def _path(chance: random.Random) -> str:
    folders = [chance.choice(["src", "csrc", "tests", "docs", "third_party", "kernels"])]
    folders += [f"{chance.choice(['gemm', 'attention', 'moe', 'norm'])}_{chance.randrange(40)}" for _ in range(3)]
    return "/".join(folders) + f"/kernel_{chance.randrange(10_000)}.{chance.choice(['cu', 'hip', 'h', 'py', 'md'])}"


def _pattern(number: int) -> str:
    shapes = ["src/gemm_{}/**", "**/moe_{}/*.cu", "csrc/**/kernel_{}[0-9]+.h", "tests/**/*_{}*.py", "docs/*/{}.md"]
    return shapes[number % len(shapes)].format(number)


def _plain(patterns: Sequence[str], paths: Sequence[str]) -> int:
    expressions = [re.compile(re.escape(text).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")) for text in patterns]
    return sum(1 for path in paths for expression in expressions if expression.fullmatch(path))


def _best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


if __name__ == "__main__":
    main()
