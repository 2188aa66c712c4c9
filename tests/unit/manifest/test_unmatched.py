"""Patterns that match no file of the repository, and what was probably meant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rocm_ci_gen.manifest import Checked, check

FILES = ["README.md", "setup.py", "src/a.cu", "src/deep/b.cuh", "src/c++/d.cu", "docs/x/a.md"]


def checked(lists: str, files: Sequence[str] | None = FILES) -> Checked:
    text = f"version: 1\nrunners: {{cpu: {{labels: ubuntu-latest}}}}\nstages: {{hipify-check: {{paths: {lists}}}}}\n"
    return check(text.encode(), ".rocm-ci.yml", listing=lambda: files)


def told(lists: str, files: Sequence[str] | None = FILES) -> list[tuple[int, str, str]]:
    found = checked(lists, files).diagnostics
    assert all((item.severity, item.rule) == ("warning", "matches-no-file") for item in found)
    return [(item.column, item.message, item.fix) for item in found]


@pytest.mark.parametrize(
    ("pattern", "fix"),
    [
        ("src", "write `src/**`"),
        ("docs/*", "write `docs/**`"),
        ("src/deep", "write `src/deep/**`"),
        (r"src/c\\+\\+", r"write `src/c\+\+/**`"),
        ("scr/**", "write `src/**`"),
        ("scr/*.cu", "write `src/*.cu`"),
        ("src/dep/*.cuh", "write `src/deep/*.cuh`"),
        ("setpu.py", "write `setup.py`"),
        ("src/*.cuu", "write `src/*.cu`"),
        ("**/*.cuhh", "write `**/*.cuh`"),
        ("nothing/like/it/**", "correct it; `git ls-files` lists the files that a pattern can match"),
        ("src/*.rs", "correct it; `git ls-files` lists the files that a pattern can match"),
    ],
)
def test_a_pattern_that_matches_nothing(pattern: str, fix: str) -> None:
    ((column, message, told_fix),) = told(f'["**/*.md", "{pattern}"]')
    assert column == 44
    assert message.startswith(f"`{pattern.replace(chr(92) * 2, chr(92))}` matches no file of the repository")
    assert told_fix == fix


@pytest.mark.parametrize(
    "lists",
    [
        '["src/**", "**/*.md"]',
        '["**", "!scr/**"]',  # an exclusion of what may come
        r'["src/c\\+\\+/**"]',
        '["src/[a-c].cu"]',
        '["setup.py"]',
    ],
)
def test_patterns_that_match(lists: str) -> None:
    assert told(lists) == []


@pytest.mark.parametrize("files", [None, [], [".rocm-ci.yml", ".github/workflows/rocm-ci.yml"]])
def test_no_word_before_there_are_files(files: list[str] | None) -> None:
    assert told("[scr/**]", files) == []


def test_every_list_of_files_is_looked_at_and_no_other() -> None:
    text = """\
version: 1
runners: {cpu: {labels: ubuntu-latest}}
triggers: {push: {branches: [nobody/**]}, pull_request: true}
ignore: [dosc/**]
stages: {hipify-check: null}
jobs: {mine: {uses: ./.github/workflows/mine.yml, paths: [scr/**]}}
"""
    found = check(text.encode(), ".rocm-ci.yml", listing=lambda: FILES).diagnostics
    assert [(item.line, item.key) for item in found] == [(4, "ignore[0]"), (6, "jobs.mine.paths[0]")]


def test_what_is_wrong_anyway_is_told_once() -> None:
    found = checked('[./scr/**, "scr/**"]').diagnostics
    assert [item.rule for item in found] == ["pattern", "matches-no-file"]


def test_nobody_lists_files_for_a_manifest_without_patterns() -> None:
    def never() -> list[str]:
        raise AssertionError

    assert (
        check(
            b"version: 1\nrunners: {cpu: {labels: ubuntu-latest}}\nstages: {hipify-check: null}\n", "x", listing=never
        ).diagnostics
        == ()
    )


def test_very_many_are_told_in_time() -> None:
    files = [f"src/{number}/a.cu" for number in range(2_000)]
    found = told("[" + ", ".join(f"scr{number}/**" for number in range(150)) + "]", files)
    assert len(found) == 150
    assert found[-1][2].startswith("correct it")
