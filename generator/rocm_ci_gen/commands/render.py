"""`rocm-ci-gen render`: write the workflow of a manifest, or say what writing it would change."""

from __future__ import annotations

import contextlib
import gc
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocm_ci.runner.errors import CheckFailed, NotAvailable, UsageError

if TYPE_CHECKING:  # at run time only when the command runs: `--help` needs click alone
    from rocm_ci_gen.files import FileDiff
    from rocm_ci_gen.manifest import Manifest

TARGETS = ("github", "gitlab", "jenkins", "dockerfile", "runner")

_STDOUT = "-"
_EPILOG = """\b
Examples:
  rocm-ci-gen render                 write .github/workflows/rocm-ci.yml
  rocm-ci-gen render --check         exit 1 with a diff if it is out of date (for CI and pre-commit)
  rocm-ci-gen render --diff          what would change
  rocm-ci-gen render --output -      print the workflow

Exit codes: 0 done or up to date, 1 out of date, 2 wrong use or a bad manifest, 3 the disk is at fault."""
_WHY = {
    "missing": "is missing",
    "changed": "is out of date",
    "foreign": "was not written by rocm-ci-gen",
    "orphan": "is no longer asked for",
}


@click.command("render", epilog=_EPILOG)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 with a diff if a file is out of date.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("--target", type=click.Choice(TARGETS), default="github", show_default=True, help="What to render.")
@click.option(
    "--output",
    metavar="DIR|-",
    help="Write below this folder instead of the manifest's repository; `-` prints the workflow.",
)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    help="The manifest. Default: .rocm-ci.yml in this folder or the nearest one above.",
)
@click.option("--force", is_flag=True, help="Also overwrite files that rocm-ci-gen did not write.")
def command(*, check: bool, diff: bool, target: str, output: str | None, manifest: Path | None, force: bool) -> None:
    """Write the workflow from the manifest, or check that it is up to date."""
    if target != "github":
        raise NotAvailable(f"--target {target} is not available in this version", help="available: github")
    if output == _STDOUT and (check or diff):
        raise UsageError("--output - prints the workflow; it goes with neither --check nor --diff")
    with _no_collection():
        _render(check=check, diff=diff, output=output, manifest=manifest, force=force)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Leave garbage alone: most of the time is start-up, which makes none, and each collection looks at all of it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _render(*, check: bool, diff: bool, output: str | None, manifest: Path | None, force: bool) -> None:
    from rocm_ci_gen import files, workflow

    path = _find() if manifest is None else manifest
    model = _load(path)
    repository = files.repository_root(path)
    root = repository if output in (None, _STDOUT) else Path(str(output))
    rendered = workflow.render_for(
        model,
        # Where somebody may have raised a pin: the file that is written or compared, else the repository's own.
        root=root if (root / workflow.WORKFLOW_PATH).is_file() else repository,
        manifest_name=Path(os.path.relpath(path.parent.resolve() / path.name, repository)).as_posix(),
    )
    if output == _STDOUT:
        click.echo("".join(rendered.values()), nl=False)
    elif check or diff:
        found = files.drift(root, rendered)
        for item in found:
            click.echo(_coloured(item.diff), nl=False)
        if check and found:
            raise CheckFailed(_summary(found), help=_mending(found, manifest, output))
    else:
        _write(root, rendered, force=force)


def _find() -> Path:
    from rocm_ci_gen.manifest import find_manifest

    return Path(os.path.relpath(find_manifest(Path.cwd())))


def _load(path: Path) -> Manifest:
    """The manifest, after telling its warnings.

    Raises:
        ManifestError: it is missing or wrong.
    """
    from rocm_ci_gen import manifest as manifests
    from rocm_ci_gen.manifest.locate import read_bytes

    checked = manifests.check(read_bytes(path), str(path))
    if checked.manifest is None:
        return manifests.load(path)  # raises, with every diagnostic
    if checked.diagnostics:
        click.echo(manifests.format_diagnostics(checked.diagnostics, color=True), err=True)
    return checked.manifest


def _write(root: Path, rendered: Mapping[str, str], *, force: bool) -> None:
    from rocm_ci_gen import files

    changes = files.write_generated(root, rendered, force=force)
    for name in changes.written:
        click.echo(f"{click.style('wrote', fg='green')}      {name}")
    for name in changes.removed:
        click.echo(f"{click.style('removed', fg='yellow')}    {name}")
    if not changes.written and not changes.removed:
        click.echo("unchanged  " + ", ".join(rendered))
    for reason in changes.kept:
        click.echo(f"{click.style('note:', fg='yellow')} not removed: {reason}", err=True)


def _summary(found: Sequence[FileDiff]) -> str:
    return "; ".join(f"{item.path} {_WHY[item.kind]}" for item in found)


def _mending(found: Sequence[FileDiff], manifest: Path | None, output: str | None) -> str:
    words = ["rocm-ci-gen", "render"]
    if manifest is not None:
        words += ["--manifest", str(manifest)]
    if output is not None:
        words += ["--output", output]
    if any(item.kind == "foreign" for item in found):
        words.append("--force")
    return f"run `{shlex.join(words)}` and commit the result"


def _coloured(diff: str) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = (
        click.style(line, bold=True)
        if line.startswith(("--- ", "+++ "))
        else click.style(line, fg=colours[line[0]])
        if line[:1] in colours
        else line
        for line in diff.splitlines(keepends=True)
    )
    return "".join(lines)
