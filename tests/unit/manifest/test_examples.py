"""The manifests in tests/manifests: good ones without a word, bad ones with exactly what is written beside them.

After a wanted change of a message: `UPDATE_EXPECTED=1 pytest tests/unit/manifest/test_examples.py`, then read the diff.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from rocm_ci_gen.manifest import Checked, check, format_diagnostics
from rocm_ci_gen.manifest.rules import RULES

EXAMPLES = Path(__file__).resolve().parents[2] / "manifests"
GOOD = sorted((EXAMPLES / "good").glob("*.yml"))
BAD = sorted((EXAMPLES / "bad").glob("*.yml"))


@cache
def checked_example(path: Path) -> Checked:
    return check(path.read_bytes(), path.name)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_manifest_has_no_diagnostics(path: Path) -> None:
    checked = checked_example(path)
    assert format_diagnostics(checked.diagnostics, color=False) == ""
    assert checked.manifest is not None


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_manifest_has_the_diagnostics_beside_it(path: Path) -> None:
    checked = checked_example(path)
    told = format_diagnostics(checked.diagnostics, color=False) + "\n"
    expected = path.with_suffix(".txt")
    if os.environ.get("UPDATE_EXPECTED"):
        expected.write_text(told, encoding="utf-8", newline="\n")
        pytest.fail("expectation written; read the diff, then run without UPDATE_EXPECTED")
    assert told == expected.read_text(encoding="utf-8")
    assert checked.diagnostics
    assert (checked.manifest is None) == any(item.severity == "error" for item in checked.diagnostics)


def test_every_rule_has_an_example() -> None:
    shown = {item.rule for path in BAD for item in checked_example(path).diagnostics}
    # No older version exists yet (test_editing.py), and a file cannot say what its repository has (test_semantics.py,
    # test_unmatched.py); a file with 200 mistakes would teach nothing (test_hostile.py).
    assert shown | {"older-version", "missing-file", "matches-no-file", "too-many"} == set(RULES)


def test_every_expectation_has_its_manifest() -> None:
    assert {path.stem for path in (EXAMPLES / "bad").glob("*.txt")} == {path.stem for path in BAD}
