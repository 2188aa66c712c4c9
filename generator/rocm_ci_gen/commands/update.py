"""`rocm-ci-gen update`: move a manifest to the newest version, and the actions' pin to another commit."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import click

from rocm_ci.runner.errors import CheckFailed, UsageError

_EPILOG = """\b
Examples:
  rocm-ci-gen update                   move the manifest to the newest version
  rocm-ci-gen update --check           exit 1 with a diff if there is something to do
  rocm-ci-gen update --pin SHA         use the actions of this commit (full SHA)
  rocm-ci-gen update --ref v2          use the actions of this tag
  rocm-ci-gen update --no-pin          follow the tag again

Comments, order and quotes stay. Run `rocm-ci-gen render` afterwards.

Exit codes: 0 done or nothing to do, 1 something to do (--check), 2 wrong use or a bad manifest, 3 disk at fault."""
_SHA = re.compile("[0-9a-f]{40}")
_REF = re.compile("[A-Za-z0-9][A-Za-z0-9._/-]*")


@click.command("update", epilog=_EPILOG)
@click.option(
    "--manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The manifest. Default: .rocm-ci.yml in this folder or the nearest one above.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 with a diff if something would change.")
@click.option("--pin", metavar="SHA", help="Set `pin` to this full commit SHA.")
@click.option("--no-pin", is_flag=True, help="Remove `pin`.")
@click.option("--ref", metavar="REF", help="Set the tag or branch in `uses`.")
def command(*, manifest: Path | None, check: bool, pin: str | None, no_pin: bool, ref: str | None) -> None:
    """Move the manifest to the newest version; move the actions' pin."""
    if pin is not None and no_pin:
        raise UsageError("--pin and --no-pin exclude each other")
    if pin is not None and not _SHA.fullmatch(pin):
        raise UsageError(
            f"{pin!r} is not a full commit SHA", help="40 hexadecimal digits in lower case: `git rev-parse TAG`"
        )
    if ref is not None and not _REF.fullmatch(ref):
        raise UsageError(f"{ref!r} is not a tag or branch", help="for example --ref v1")
    from rocm_ci_gen.files import atomic
    from rocm_ci_gen.manifest import find_manifest
    from rocm_ci_gen.manifest.locate import read_bytes

    path = (find_manifest(Path.cwd()) if manifest is None else manifest).resolve()  # a link stays a link
    data = read_bytes(path)
    text = _updated(data, str(path), pin=pin, no_pin=no_pin, ref=ref)
    old = data.decode("utf-8")
    if text == old:
        click.echo(f"{path.name}: nothing to do")
        return
    diff = difflib.unified_diff(
        old.splitlines(keepends=True), text.splitlines(keepends=True), f"{path.name}", f"{path.name} (updated)"
    )
    click.echo("".join(line if line.endswith("\n") else line + "\n" for line in diff), nl=False)
    if check:
        raise CheckFailed(f"{path.name} is not up to date", help="run the same command without --check")
    atomic.write(path, text)
    click.echo(f"wrote {path.name}; run `rocm-ci-gen render` for the workflow")


def _updated(data: bytes, name: str, *, pin: str | None, no_pin: bool, ref: str | None) -> str:
    """The new text of the manifest.

    Raises:
        ManifestError: it is wrong apart from its version, or cannot be edited.
    """
    from rocm_ci_gen.manifest import check, editing, versions
    from rocm_ci_gen.manifest.errors import ManifestError

    _refuse_errors(data, name)
    text = editing.convert(data.decode("utf-8"), versions.CONVERTERS)
    if ref is not None:
        text = editing.set_ref(text, ref)
    if pin is not None:
        text = editing.set_pin(text, pin)
    if no_pin:
        text = editing.remove_pin(text)
    if check(text.encode("utf-8"), name).manifest is None:
        raise ManifestError(
            f"{name} is written in a way that cannot be edited automatically",
            help="edit `uses` and `pin` by hand",
        )
    return text


def _refuse_errors(data: bytes, name: str) -> None:
    from rocm_ci_gen.manifest import check
    from rocm_ci_gen.manifest.diagnostics import count, format_diagnostics
    from rocm_ci_gen.manifest.errors import ManifestError

    checked = check(data, name)
    errors = tuple(item for item in checked.errors if item.rule != "older-version")
    if errors:
        raise ManifestError(
            f"the manifest has {count(errors)}\n{format_diagnostics(errors, color=False)}",
            help="correct it first",
            diagnostics=checked.diagnostics,
        )
