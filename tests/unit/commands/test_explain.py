"""`rocm-ci-gen explain`, as a user types it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

import rocm_ci_gen.cli
from rocm_ci_gen.manifest.rules import RULES
from rocm_ci_gen.manifest.schema import all_keys


def explain(*arguments: str) -> Result:
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["explain", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_key_with_its_default_and_an_example() -> None:
    result = explain("stages.kernel-tests.shards")
    assert result.exit_code == 0
    assert result.stdout == (
        "stages.kernel-tests.shards\n\n"
        "  Split the tests over this many jobs (a matrix).\n\n"
        "  takes    whole number, 1 to 64\n"
        "  default  1\n"
        "  example  shards: 2\n"
    )


@pytest.mark.parametrize(
    ("wanted", "title"),
    [
        ("runners.mi250.labels", "runners.NAME.labels"),
        ("runners.cpu", "runners.cpu"),
        ("runners.cpu.labels", "runners.NAME.labels"),
        ("jobs.docs.uses", "jobs.NAME.uses"),
        ("stages.kernel-tests.before[0].run", "stages.kernel-tests.before[].run"),
        ("stages.kernel-tests.before.run", "stages.kernel-tests.before[].run"),
        (".shards", "stages.kernel-tests.shards"),
        ("kernel-tests.tests[3]", "stages.kernel-tests.tests"),
    ],
)
def test_other_ways_to_name_a_key(wanted: str, title: str) -> None:
    assert explain(wanted).stdout.splitlines()[0] == title


def test_a_bare_key_is_explained_wherever_it_is() -> None:
    lines = explain("secrets").stdout.splitlines()
    # The same text for several stages comes once, with all their names.
    assert lines[:3] == [f"stages.{stage}.secrets" for stage in ("hipify-check", "kernel-tests", "sglang-regression")]
    assert "jobs.NAME.secrets" in lines


def test_a_mapping_lists_its_keys() -> None:
    text = explain("forks").stdout
    assert "    policy    " in text
    assert "    withheld  " in text


def test_a_check_of_validate() -> None:
    text = explain("image-latest").stdout
    assert RULES["image-latest"][1] in text
    assert "severity: warning" in text


def test_no_key_lists_all() -> None:
    listed = [line.split()[0] for line in explain().stdout.splitlines()]
    assert listed == [key.path for key in all_keys()]


@pytest.mark.parametrize("key", [key.path for key in all_keys()])
def test_every_key_can_be_explained(key: str) -> None:
    assert key in explain(key).stdout.splitlines()


def test_an_unknown_key() -> None:
    result = explain("stages.kernel-tests.shardz")
    assert result.exit_code == 2
    assert "there is no manifest key `stages.kernel-tests.shardz`" in result.stderr
    assert "did you mean `stages.kernel-tests.shards`?" in result.stderr
    assert explain("\x1b[31m").exit_code == 2
