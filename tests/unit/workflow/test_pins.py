"""Pins of third-party actions, and those that somebody raised in the committed workflow."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from rocm_ci_gen import resources
from rocm_ci_gen.manifest.model import Step
from rocm_ci_gen.workflow import WORKFLOW_PATH, render
from rocm_ci_gen.workflow.pins import CHECKOUT, UPLOAD, Pin, load_pins, local_pins, with_raised
from support.models import HIPIFY, KERNELS, PINS, SHA, manifest

NEW = "d" * 40
OLD_LINE = f"{CHECKOUT}@{PINS[CHECKOUT].sha} # v7.0.1"


def workflow(**changes: object) -> str:
    return render(manifest(HIPIFY, KERNELS, **changes), manifest_name=".rocm-ci.yml", pins=PINS)[WORKFLOW_PATH]


def test_the_shipped_pins_are_full_commits_with_their_source() -> None:
    rows = json.loads(resources.data_text("workflow/data/pins.json"))["pins"]
    assert {row["action"] for row in rows} == {CHECKOUT, UPLOAD}
    for row in rows:
        assert re.fullmatch(r"[0-9a-f]{40}", row["sha"])
        assert row["source"].endswith(row["version"])
        assert load_pins()[row["action"]].order is not None


def test_a_rendered_workflow_has_the_pins_that_it_was_rendered_with() -> None:
    assert local_pins(workflow()) == PINS
    assert with_raised(PINS, workflow()) == PINS
    assert with_raised(PINS, None) == PINS


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_raised_pin_is_kept(ends: str) -> None:
    text = workflow().replace(OLD_LINE, f"{CHECKOUT}@{NEW} # v7.1.0").replace("\n", ends)
    raised = with_raised(PINS, text)
    assert raised[CHECKOUT] == Pin(CHECKOUT, NEW, "v7.1.0")
    assert raised[UPLOAD] == PINS[UPLOAD]


@pytest.mark.parametrize("version", ["v8", "8.0", "v7.0.2", "v7.1", "10.0.0"])
def test_newer_versions_in_the_forms_that_are_used(version: str) -> None:
    text = workflow().replace(OLD_LINE, f"{CHECKOUT}@{NEW} # {version}")
    assert with_raised(PINS, text)[CHECKOUT] == Pin(CHECKOUT, NEW, version)


@pytest.mark.parametrize(
    "line",
    [
        f"{CHECKOUT}@{NEW} # v7.0.0",
        f"{CHECKOUT}@{NEW} # v7.0.1",
        f"{CHECKOUT}@{NEW} # v7",
        f"{CHECKOUT}@{NEW} # v8.0.0-beta.1",
        f"{CHECKOUT}@{NEW} # main",
        f"{CHECKOUT}@{NEW}",
        f"{CHECKOUT}@{NEW[:39]} # v8.0.0",
        f"{CHECKOUT}@v8.0.0",
        f"{CHECKOUT}@main # v8.0.0",
        f"evil/checkout@{NEW} # v8.0.0",
        f"{CHECKOUT}@{NEW} # v8.0.0 really",
        f"{CHECKOUT}@{NEW} # v99999999999999999999.0.0",
    ],
)
def test_anything_but_a_newer_full_commit_is_drift(line: str) -> None:
    assert with_raised(PINS, workflow().replace(OLD_LINE, line)) == PINS


def test_if_steps_differ_the_newest_counts() -> None:
    text = workflow()
    first = text.replace(OLD_LINE, f"{CHECKOUT}@{'e' * 40} # v7.0.2", 1)
    both = first.replace(OLD_LINE, f"{CHECKOUT}@{NEW} # v7.0.3", 1)
    assert with_raised(PINS, both)[CHECKOUT] == Pin(CHECKOUT, NEW, "v7.0.3")


def test_two_commits_of_one_version_are_believed_neither() -> None:
    first = workflow().replace(OLD_LINE, f"{CHECKOUT}@{'e' * 40} # v8.0.0", 1)
    both = first.replace(OLD_LINE, f"{CHECKOUT}@{NEW} # v8.0.0")
    assert with_raised(PINS, both) == PINS


def test_the_users_own_steps_do_not_raise_ours() -> None:
    own = Step(name="again", uses=f"{CHECKOUT}@{SHA}", version="v99.0.0")
    bare = Step(uses=f"{UPLOAD}@{SHA}", version="v99.0.0")
    stage = replace(KERNELS, before=(own, bare), after=(bare, own))
    text = render(manifest(stage), manifest_name=".rocm-ci.yml", pins=PINS)[WORKFLOW_PATH]
    assert "# v99.0.0" in text
    assert with_raised(PINS, text) == PINS


def test_text_of_a_script_is_no_pin() -> None:
    script = f"cat <<EOF\n      - uses: {CHECKOUT}@{SHA} # v99.0.0\n\n    steps:\nEOF\n"
    stage = replace(KERNELS, before=(Step(run=script),))
    text = render(manifest(stage), manifest_name=".rocm-ci.yml", pins=PINS)[WORKFLOW_PATH]
    assert "v99.0.0" in text
    assert with_raised(PINS, text) == PINS


def test_raised_pins_are_rendered_and_render_again_the_same() -> None:
    text = workflow().replace(OLD_LINE, f"{CHECKOUT}@{NEW} # v8.0.0")
    pins = with_raised(PINS, text)
    again = render(manifest(HIPIFY, KERNELS), manifest_name=".rocm-ci.yml", pins=pins)[WORKFLOW_PATH]
    assert again == text


@pytest.mark.parametrize("text", ["", "\x00", "    steps:", "    steps:\n      - ", "jobs: [", "    steps:\n" * 3])
def test_any_text_has_pins_or_none(text: str) -> None:
    assert local_pins(text) == {}
