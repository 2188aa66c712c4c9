"""The manual page is what the schema says now."""

from __future__ import annotations

from pathlib import Path

from rocm_ci_gen import resources
from rocm_ci_gen.manifest import check
from rocm_ci_gen.manifest.reference import markdown
from rocm_ci_gen.manifest.rules import RULES
from rocm_ci_gen.manifest.schema import all_keys

PAGE = Path(__file__).resolve().parents[3] / "docs" / "manifest.md"


def test_the_committed_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run `python tools/check_docs.py --write`"


def test_every_key_and_every_check_is_on_it() -> None:
    page = markdown()
    for key in all_keys():
        assert key.schema["description"].replace("|", "\\|").split("docs/")[0] in page, key.path
        assert f"`{key.name}`" in page or f".{key.name}`" in page, key.path
    for rule in RULES:
        assert f"| `{rule}` |" in page


def test_its_example_is_a_valid_manifest_without_warnings() -> None:
    text = resources.data_text("manifest/example.yml")
    assert text.rstrip("\n") in markdown()
    checked = check(text.encode(), "example.yml")
    assert checked.manifest is not None
    assert checked.diagnostics == ()


def test_tables_have_as_many_cells_as_their_heads() -> None:
    width = 0
    for line in markdown().splitlines():
        cells = line.replace("\\|", "").count("|")
        if line.startswith("|---"):
            assert cells == width
        elif line.startswith("|"):
            assert width in (0, cells)
            width = cells
        else:
            width = 0
