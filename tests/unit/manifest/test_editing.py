"""Changing a manifest that somebody wrote: the change, and not a byte beside it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from rocm_ci_gen.manifest import check, versions
from rocm_ci_gen.manifest.editing import convert, remove_pin, set_pin, set_ref
from support.manifests import parsed, valid_manifests

SHA = "0123456789abcdef0123456789abcdef01234567"
DIGITS = "0" * 39 + "1"
REST = "runners: {gpu: {labels: gpu}}\nstages: {kernel-tests: }\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"version: 1\n{REST}", f"version: 1\npin: {SHA}\n{REST}"),
        (
            f"version: 1  # one\nuses: org/rocm-ci@v1 # ours\n\n{REST}",
            f"version: 1  # one\nuses: org/rocm-ci@v1 # ours\npin: {SHA}\n\n{REST}",
        ),
        (f"version: 1\npin: {'a' * 40} # old\n{REST}", f"version: 1\npin: {SHA} # old\n{REST}"),
        (f"version: 1\npin: '{'a' * 40}'\n{REST}", f"version: 1\npin: '{SHA}'\n{REST}"),
        (f"version: 1\r\n{REST}", f"version: 1\r\npin: {SHA}\r\n{REST}"),
        (f"\ufeffversion: 1\n{REST}", f"\ufeffversion: 1\npin: {SHA}\n{REST}"),
        (f"{REST}version: 1", f"{REST}version: 1\npin: {SHA}\n"),
        (
            "  version: 1\n  runners: {a: {labels: a}}\n",
            f"  version: 1\n  pin: {SHA}\n  runners: {{a: {{labels: a}}}}\n",
        ),
        ("{version: 1, runners: {}}", f"{{version: 1, pin: {SHA}, runners: {{}}}}"),
    ],
)
def test_a_pin_is_set_where_it_belongs(before: str, after: str) -> None:
    assert set_pin(before, SHA) == after
    assert set_pin(after, SHA) == after


def test_a_pin_that_looks_like_a_number_gets_quotes() -> None:
    text = set_pin(f"version: 1\n{REST}", DIGITS)
    assert f'pin: "{DIGITS}"' in text
    assert parsed(text).uses.pin == DIGITS


def test_a_ref_is_exchanged_and_the_repository_stays() -> None:
    text = f"version: 1\nuses: 'my/fork@v1' # mine\n{REST}"
    assert set_ref(text, "v2") == text.replace("v1", "v2")
    assert parsed(set_ref(f"version: 1\n{REST}", "v2")).uses.ref == "v2"


def test_a_pin_is_removed_with_its_line() -> None:
    text = f"version: 1\n# about the pin\npin: {SHA} # raised\n{REST}"
    assert remove_pin(text) == f"version: 1\n# about the pin\n{REST}"
    assert remove_pin(REST) == REST
    assert remove_pin(f"{{version: 1, pin: {SHA}, runners: {{}}}}") == "{version: 1, runners: {}}"


@given(valid_manifests())
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_any_manifest_can_be_pinned_and_keeps_its_meaning(text: str) -> None:
    pinned = set_ref(set_pin(text, DIGITS), "v9")
    before, after = parsed(text), parsed(pinned)
    assert (after.uses.pin, after.uses.ref) == (DIGITS, "v9")
    assert (after.stages, after.runners, after.jobs) == (before.stages, before.runners, before.jobs)
    assert parsed(remove_pin(pinned)).uses.pin is None


def one_to_two(document: Any) -> None:
    document["machines"] = document.pop("runners")
    document.move_to_end("machines", last=False)


def two_to_three(document: Any) -> None:
    document["stages"]["kernel-tests"]["timeout"] = "5m"


CONVERTERS: dict[int, versions.Converter] = {1: one_to_two, 2: two_to_three}

OLD = """\
# The top comment.
version: 1   # the version
runners:     # the machines
    gpu: {labels: 'gpu'}   # quoted
stages:
    kernel-tests:
        tests:
          - "a"   # first
          # between
          - b
"""


def test_converters_run_one_after_the_other_and_keep_what_was_written() -> None:
    new = convert(OLD, CONVERTERS, newest=3)
    assert "version: 3   # the version\n" in new
    assert "{labels: 'gpu'}   # quoted\n" in new
    assert "timeout: 5m" in new
    for comment in ("# The top comment.", "# the machines", "# first", "# between"):
        assert comment in new
    assert '          - "a"' in new
    assert "    gpu: {labels" in new
    assert convert(new, CONVERTERS, newest=3) == new


def test_conversion_keeps_line_ends() -> None:
    new = convert("\ufeff" + OLD.replace("\n", "\r\n"), CONVERTERS, newest=2)
    assert new.startswith("\ufeff")
    assert new.count("\n") == new.count("\r\n")


def test_nothing_to_convert() -> None:
    assert convert(OLD, versions.CONVERTERS) == OLD


def test_a_missing_converter_is_told() -> None:
    with pytest.raises(KeyError):
        convert(OLD, {2: two_to_three}, newest=3)


def test_the_version_is_judged_by_the_converters_there_are() -> None:
    from rocm_ci_gen.manifest.source import SourceText
    from rocm_ci_gen.manifest.yaml_reader import read

    def rule(text: str, newest: int) -> str | None:
        root, _ = read(SourceText("m", text))
        assert root is not None
        found = versions.finding(root, CONVERTERS, newest)
        return found.rule if found else None

    assert rule("version: 1", 3) == "older-version"
    assert rule("version: 3", 3) is None
    assert rule("version: 4", 3) == "newer-version"
    assert rule("version: 0", 3) == "unknown-version"
    assert rule("version: true", 3) is None
    assert rule("stages: 1", 3) is None
    assert check(b"version: 0", "m").diagnostics[0].rule == "unknown-version"
