from __future__ import annotations

import re

import pytest

from rocm_ci.hipify_check import rules
from rocm_ci.hipify_check.check_file import Target, check_text
from rocm_ci.hipify_check.kinds import kind_of
from rocm_ci.hipify_check.versions import NEWEST


def found_in(example):
    kind = kind_of(example.file)
    assert kind is not None
    return {one.rule for one in check_text(example.file, kind, example.code.encode(), Target(NEWEST)).findings}


WITH_EXAMPLE = [rule for rule in rules.load() if rule.example]


@pytest.mark.parametrize("rule", WITH_EXAMPLE, ids=lambda rule: rule.id)
def test_example_is_found_by_its_own_rule(rule):
    assert rule.id in found_in(rule.example)


@pytest.mark.parametrize("rule", [rule for rule in WITH_EXAMPLE if rule.clean], ids=lambda rule: rule.id)
def test_clean_example_is_left_alone(rule):
    assert rule.id not in found_in(rule.clean)


def test_ids_and_slugs_are_unique():
    assert len({rule.id for rule in rules.load()}) == len(rules.load()) == len(rules.by_slug())
    assert all(re.fullmatch(r"HIP\d{3}", rule.id) for rule in rules.load())


@pytest.mark.parametrize("word", ["HIP108", "hip108", "warp-mask32"])
def test_explain_takes_id_and_slug(word):
    rule = rules.find(word)
    assert rule is not None
    page = rules.explain(rule)
    assert "0xffffffff" in page
    assert rule.fix in page


def test_unknown_rule():
    assert rules.find("HIP999") is None
