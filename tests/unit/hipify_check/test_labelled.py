"""Every labelled line of `labelled.jsonl`: found with the right verdict, or left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm_ci.hipify_check import rules
from rocm_ci.hipify_check.check_file import Target, check_text
from rocm_ci.hipify_check.kinds import kind_of
from rocm_ci.hipify_check.versions import NEWEST

CASES = [json.loads(line) for line in (Path(__file__).parent / "labelled.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", [case for case in CASES if kind_of(case["file"])], ids=lambda case: case["id"])
def test_case(case):
    kind = kind_of(case["file"])
    assert kind is not None
    result = check_text(case["file"], kind, case["snippet"].encode(), Target(NEWEST))
    slugs = {rule.id: rule.slug for rule in rules.load()}
    found = {(one.line, one.verdict, slugs[one.rule]) for one in result.findings}
    expected = {(one["line"], one["verdict"], one["rule"]) for one in case["expect"] if one["verdict"] != "clean"}
    assert expected <= found
    assert {line for line, _, _ in found} == {line for line, _, _ in expected}
    for one in case["expect"]:
        if one["verdict"] != "clean":
            assert (one["name"], one["hip"]) in {(f.name, f.hip) for f in result.findings if f.line == one["line"]}
