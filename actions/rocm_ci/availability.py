"""Which stages this release really has.

The others exist by name (their action and their command end with "not available in this version", exit code 2), so
a workflow that has one of them is red by design. `rocm-ci-gen init` proposes only what is listed here and leaves the
rest as comments. tests/unit/scaffold/test_availability.py holds this set against what the commands do.
"""

from __future__ import annotations

AVAILABLE_STAGES: frozenset[str] = frozenset({"hipify-check", "vram-probe"})
"""Names of stages, as in the manifest."""

AVAILABLE_COMMANDS = AVAILABLE_STAGES | {"setup-rocm-container", "gate", "verdict"}
"""Subcommands of `rocm-ci` that do something; setup-rocm-container is one that is no stage."""
