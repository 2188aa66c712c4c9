"""Every check that the code makes is explained, and what is explained is made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rocm_ci.setup_rocm_container.tables import limits, rows

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = PROJECT / "actions" / "rocm_ci" / "setup_rocm_container"
PAGE = (PROJECT / "docs" / "setup-rocm-container.md").read_text(encoding="utf-8")


def made() -> set[str]:
    """Names that the code gives to its checks."""
    names = set()
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                continue
            first = node.args[0]
            if node.func.id in {"ok", "warn", "fail", "skip", "_least"} and isinstance(first, ast.Constant):
                names.add(str(first.value))
    return names


def test_every_check_is_in_the_table_and_the_other_way_round() -> None:
    assert made() == {row[0] for row in rows("checks.tsv")}


@pytest.mark.parametrize("row", rows("checks.tsv"), ids=lambda row: row[0])
def test_every_check_is_on_the_page(row: tuple[str, ...]) -> None:
    name, what, means, fix = row if len(row) == 4 else (*row, "")
    assert f"| `{name}` | {what} | {means} | {fix} |" in PAGE


@pytest.mark.parametrize("row", rows("limits.tsv"), ids=lambda row: row[0])
def test_every_limit_is_on_the_page_with_its_source(row: tuple[str, ...]) -> None:
    name, figure, meaning, source = row
    assert f"| `{name}` | {int(figure):,} | {meaning} | {source} |" in PAGE
    assert name in limits()


def test_every_limit_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
    assert [name for name in limits() if f'"{name}"' not in code] == []


@pytest.mark.parametrize("row", rows("caches.tsv"), ids=lambda row: row[0])
def test_every_variable_is_on_the_page(row: tuple[str, ...]) -> None:
    assert f"| `{row[0]}` | `{row[1]}`" in PAGE
    assert row[-1].startswith("https://")
