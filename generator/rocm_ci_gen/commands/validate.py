"""`rocm-ci-gen validate`: is the manifest right, and if not, what is wrong where."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocm_ci.runner.errors import Code

if TYPE_CHECKING:  # `--help` needs click alone
    from rocm_ci_gen.manifest import Checked

_MOST_FILES = 200_000
"""Of more files nobody waits to hear that a pattern matches none."""
_EPILOG = """\b
Examples:
  rocm-ci-gen validate                        the manifest of this repository
  rocm-ci-gen validate --manifest ci.yml      another one
  rocm-ci-gen validate --strict               warnings count too (for CI)
  rocm-ci-gen validate --format json          for editors and scripts

Exit codes: 0 valid, 2 errors (with --strict also warnings). `rocm-ci-gen explain NAME` explains a name in brackets."""


@click.command("validate", epilog=_EPILOG)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The manifest. Default: .rocm-ci.yml in this folder or the nearest one above.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
@click.option("--strict", is_flag=True, help="Exit 2 on warnings too.")
@click.pass_context
def command(ctx: click.Context, *, manifest: Path | None, form: str, strict: bool) -> None:
    """Check the manifest: every error with its place and its fix, all in one run."""
    from rocm_ci_gen.files import repository_root
    from rocm_ci_gen.manifest import check, find_manifest
    from rocm_ci_gen.manifest.locate import read_bytes

    path = find_manifest(Path.cwd()) if manifest is None else manifest
    # Shown as somebody in this folder would open it.
    name = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    data = read_bytes(path)
    root = repository_root(path)
    checked = check(
        data,
        str(name),
        exists=lambda named: os.path.exists(root / named),  # noqa: PTH110 - False for names that no file system takes
        listing=lambda: _files(root),
    )
    text = _json(checked, str(name)) if form == "json" else _text(checked, str(name))
    # None: click takes the colours away where nobody would see them.
    click.echo(text, color=False if os.environ.get("NO_COLOR") else None)
    if checked.errors or (strict and checked.diagnostics):
        ctx.exit(int(Code.USAGE))


def _files(root: Path) -> Sequence[str] | None:
    """The files that a change of the repository can have; None where they are too many to be sure."""
    from rocm_ci_gen.files.listing import walk
    from rocm_ci_gen.plan.git import Git, GitError

    try:
        files: Sequence[str] = Git(root).files()
    except GitError:  # no git, or no repository of git's
        files = list(walk(root, _MOST_FILES + 1))
    return files if len(files) <= _MOST_FILES else None


def _text(checked: Checked, name: str) -> str:
    from rocm_ci_gen.manifest import format_diagnostics
    from rocm_ci_gen.manifest.diagnostics import count

    lines = [format_diagnostics(checked.diagnostics, color=True)] if checked.diagnostics else []
    if checked.manifest is None:
        lines.append(f"{name}: {count(checked.diagnostics)}")
    else:
        warnings = f" ({count(checked.diagnostics)})" if checked.diagnostics else ""
        lines.append(click.style(f"{name}: valid{warnings}", fg="green"))
        lines += [f"note: {note}" for note in checked.notes]
    return "\n".join(lines)


def _json(checked: Checked, name: str) -> str:
    body = {
        "schema": 1,
        "manifest": name,
        "valid": checked.manifest is not None,
        "errors": len(checked.errors),
        "warnings": len(checked.diagnostics) - len(checked.errors),
        "diagnostics": [diagnostic.to_json() for diagnostic in checked.diagnostics],
        "notes": list(checked.notes),
    }
    return json.dumps(body, indent=2, ensure_ascii=True)
