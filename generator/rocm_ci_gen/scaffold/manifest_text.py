"""A proposal as the text of `.rocm-ci.yml`, with the reason for each choice as a comment above it. Pure."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocm_ci_gen.manifest.schema import load_schema
from rocm_ci_gen.resources import template_root
from rocm_ci_gen.scaffold.proposal import Proposal
from rocm_ci_gen.scaffold.scalars import scalar

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_WIDTH = 110


def manifest_text(proposal: Proposal) -> str:
    """Write the manifest; the same proposal gives the same bytes."""
    runner = proposal.runner
    return _template().render(
        schema=load_schema()["$id"],
        p=proposal,
        runner=runner,
        known_machine=runner.labels.answered or bool(runner.gfx.value),
        tests_paths=(*proposal.tests.paths, proposal.requirements.value) if proposal.tests.paths else (),
        kernel_tests_on="kernel-tests" in proposal.on,
        serving_on="sglang-regression" in proposal.on,
        probe_on="vram-probe" in proposal.on,
        hipify_on="hipify-check" in proposal.on,
    )


def sequence(values: Sequence[str], indent: int) -> str:
    """What stands behind `key:`: a list on the same line, or one entry a line where that is too long.

    Args:
        values: The entries.
        indent: Column of the key.
    """
    flow = " [" + ", ".join(scalar(value) for value in values) + "]"
    if len(flow) + indent <= _WIDTH - 20:
        return flow
    return "".join(f"\n{' ' * (indent + 2)}- {scalar(value)}" for value in values)


def one_or_many(values: Sequence[str], indent: int) -> str:
    """As `sequence`, but a single entry stands alone."""
    return f" {scalar(values[0])}" if len(values) == 1 else sequence(values, indent)


def comment(text: str, indent: int = 0) -> str:
    """Prose as comment lines, wrapped; whatever it contains, it stays a comment."""
    clean = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    lines = textwrap.wrap(clean, _WIDTH - indent - 2, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{' ' * indent}# {line}" for line in lines)


def switched(text: str, on: bool, indent: int) -> str:
    """A block as it is, or as comments at the column `indent` when it is switched off."""
    if on:
        return text
    lines = text.splitlines()
    return "".join(f"{' ' * indent}# {line[indent:]}".rstrip() + "\n" for line in lines)


@functools.cache
def _template() -> Template:
    return _environment().get_template("rocm-ci.yml.j2")


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(template_root() / "scaffold"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - YAML, not HTML; every value goes through `scalar` or `comment`
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(scalar=scalar, seq=sequence, one_or_many=one_or_many, comment=comment, switched=switched)
    return environment
