"""The documentation's own checks: generated pages are current, links lead somewhere, commands and options are real.

Run by `make docs`. `--write` writes the generated pages anew.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

import rocm_ci.cli
import rocm_ci_gen.cli
from rocm_ci.hipify_check import reference as hipify_rules
from rocm_ci_gen.manifest import reference

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^(```|~~~)")
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_PROGRAMS: dict[str, click.Command] = {"rocm-ci": rocm_ci.cli.main, "rocm-ci-gen": rocm_ci_gen.cli.main}


def generated() -> dict[Path, str]:
    """Pages that are made from something else, as a whole or between two marks: path → text."""
    hipify = ROOT / "docs" / "hipify-check.md"
    return {
        ROOT / "docs" / "manifest.md": reference.markdown(),
        hipify: hipify_rules.page(hipify.read_text(encoding="utf-8")),
    }


def pages() -> list[Path]:
    """Every Markdown page of the project itself."""
    return sorted(
        [
            *ROOT.glob("*.md"),
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "actions").glob("*/README.md"),
            *(ROOT / "examples").rglob("*.md"),
        ]
    )


def slug(heading: str) -> str:
    """GitHub's anchor of a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def split(page: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Numbered lines of a page: prose, and the insides of code fences."""
    prose: list[tuple[int, str]] = []
    code: list[tuple[int, str]] = []
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if _FENCE.match(line.lstrip()):
            inside = not inside
        else:
            (code if inside else prose).append((number, line))
    return prose, code


def anchors(page: Path) -> set[str]:
    """Anchors that the headings of a page make."""
    return {slug(line.lstrip("#")) for _, line in split(page)[0] if line.startswith("#")}


def broken_links(page: Path) -> Iterator[str]:
    """Relative links of a page whose file or heading does not exist."""
    for number, line in split(page)[0]:
        for match in _LINK.finditer(line):
            target, _, anchor = match["target"].partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            file = (page.parent / target).resolve() if target else page
            if not file.exists():
                yield f"{page.relative_to(ROOT)}:{number}: the link leads to no file: {match['target']}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                where = target or "this page"
                yield f"{page.relative_to(ROOT)}:{number}: no heading makes the anchor #{anchor} in {where}"


def wrong_commands(page: Path) -> Iterator[str]:
    """Commands of ours in code fences with a subcommand or an option that does not exist."""
    for number, line in split(page)[1]:
        text = line.strip().removeprefix("$ ")
        if not re.match(r"rocm-ci(-gen)? ", text) or text.endswith("\\"):
            continue
        try:
            words = shlex.split(text, comments=True)
        except ValueError:
            continue
        problem = _problem(words)
        if problem:
            yield f"{page.relative_to(ROOT)}:{number}: {problem}: {text}"


def _problem(words: list[str]) -> str | None:
    program = _PROGRAMS[words[0]]
    context = click.Context(program, info_name=words[0])
    rest = words[1:]
    if not rest or rest[0].startswith("-"):
        return None
    if not isinstance(program, click.Group):
        return None
    command = program.get_command(context, rest[0])
    if command is None:
        return f"{words[0]} has no command {rest[0]}"
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"-h", "--help", "--"}
    for word in rest[1:]:
        if word == "--":
            break
        option = word.strip("[]").split("=")[0]
        if option.startswith("--") and option not in known:
            return f"{words[0]} {rest[0]} has no option {option}"
    return None


def main() -> int:
    """Check, or write the generated pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="write the generated pages")
    if parser.parse_args().write:
        for page, text in generated().items():
            page.write_text(text, encoding="utf-8")
    problems = [
        f"{page.relative_to(ROOT)} is out of date: run `python tools/check_docs.py --write`"
        for page, text in generated().items()
        if not page.exists() or page.read_text(encoding="utf-8") != text
    ]
    found = pages()
    for page in found:
        problems += broken_links(page)
        problems += wrong_commands(page)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(found)} pages checked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
