"""`rocm-ci-gen`: from the manifest to the workflow, and what will run and why (see commands/)."""

from __future__ import annotations

import click

from rocm_ci import __version__
from rocm_ci.command_group import CommandGroup, LazyCommand

_COMMANDS = {
    "init": "Look at a repository and write its manifest and workflow.",
    "render": "Write the workflow from the manifest, or check that it is up to date.",
    "validate": "Check the manifest; every error with its place and its fix.",
    "plan": "Say which jobs run for an event, on which runner, and why.",
    "explain": "Say what a manifest key does, with its default and an example.",
    "schema": "Print the manifest's JSON Schema, for editors.",
    "update": "Move a manifest to the newest version; move the actions' pin.",
    "run": "Run stages of the manifest one after another on this machine.",
}

_EPILOG = """\b
Examples:
  rocm-ci-gen init                                      scaffold this repository
  rocm-ci-gen render --check                            is the workflow up to date?
  rocm-ci-gen plan --event pull_request --base main     what would CI do?

Exit codes: 0 done, 1 out of date or failed, 2 wrong use or a bad manifest, 3 the machine is at fault."""


@click.group(
    cls=CommandGroup,
    lazy={name: LazyCommand(f"rocm_ci_gen.commands.{name}", text) for name, text in _COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="rocm-ci-gen")
def main() -> None:
    """Render and explain the CI of a repository that runs on AMD GPUs, from a small manifest."""
