"""One name everywhere: manifest key = command-line option = action input = heading in the manifest reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

import rocm_ci.cli

PROJECT = Path(__file__).resolve().parents[2]
SCHEMA: dict[str, Any] = json.loads(
    (PROJECT / "generator" / "rocm_ci_gen" / "manifest" / "schema.json").read_text(encoding="utf-8")
)
STAGES: dict[str, dict[str, Any]] = SCHEMA["properties"]["stages"]["properties"]

# Keys of a stage that shape its job, not its check.
JOB_KEYS = {"runner", "paths", "needs", "env", "secrets", "before", "after", "shards"}
# Options that the generator fills in from elsewhere in the manifest, or that only make sense on a command line.
FILLED_IN = {
    "hipify-check": {"report", "explain", "in-place"},
    "kernel-tests": {"report", "shard"},
    "sglang-regression": {"report"},
    "vram-probe": {"report", "phase", "run", "path-root", "per-test", "repeat"},
}


def names(stage: str) -> set[str]:
    """Long options and arguments of `rocm-ci <stage>`, without `--help`."""
    command = rocm_ci.cli.main.get_command(click.Context(rocm_ci.cli.main), stage)
    assert command is not None
    found = set()
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            found.add(str(parameter.name).replace("_", "-"))
        else:
            found.update(name.removeprefix("--") for name in parameter.opts if name.startswith("--"))
    return found - {"help", "command"}


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_manifest_keys_are_options(stage: str) -> None:
    assert set(STAGES[stage]["properties"]) - JOB_KEYS == names(stage) - FILLED_IN[stage]


def test_keys_of_node_are_options_of_the_node_check() -> None:
    promised = {"expect-gfx", "expect-gpus", "partition"}  # by the runner
    other = {"requirements", "path-root", "report"}
    options = names("setup-rocm-container") - promised - other
    assert set(SCHEMA["properties"]["node"]["properties"]) == options


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_a_default_of_the_schema_is_that_of_the_command(stage: str) -> None:
    command = rocm_ci.cli.main.get_command(click.Context(rocm_ci.cli.main), stage)
    assert command is not None
    for parameter in command.params:
        key = str(parameter.name).replace("_", "-")
        declared = STAGES[stage]["properties"].get(key, {}).get("default")
        default = parameter.to_info_dict().get("default")
        if declared in (None, False, []) or default in (None, False, ()):
            continue
        shown = [declared] if isinstance(default, (list, tuple)) and not isinstance(declared, list) else declared
        assert (list(default) if isinstance(default, tuple) else default) == shown, key


def test_every_key_has_a_heading_in_the_manifest_reference() -> None:
    page = (PROJECT / "docs" / "manifest.md").read_text(encoding="utf-8")
    headings = {line.lstrip("# ").strip("`") for line in page.splitlines() if line.startswith("#")}
    words = {word.strip("`") for heading in headings for word in heading.replace(".", " ").split()}
    missing = {key for key in SCHEMA["properties"] if key not in words}
    missing |= {key for stage in STAGES.values() for key in stage["properties"] if f"`{key}`" not in page}
    assert not missing
