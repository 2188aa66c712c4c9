"""The files of a scaffolded repository: worked out first, all of them, and then written.

`work_out` reads and writes nothing but what its `read` gives it; `write` is the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.files import atomic, write_generated
from rocm_ci_gen.files.header import is_ours
from rocm_ci_gen.files.paths import OutsideError, inside
from rocm_ci_gen.manifest import MANIFEST_NAME, Manifest
from rocm_ci_gen.resources import template_root
from rocm_ci_gen.scaffold.lint_configs import actionlint_config, zizmor_config
from rocm_ci_gen.scaffold.propose import REQUIREMENTS

Read = Callable[[str], str | None]


@dataclass(frozen=True)
class Plan:
    """What is to be written.

    Attributes:
        generated: Files that `render` keeps, by path.
        own: Files that are the user's from now on, by path: only those that are new or change.
        advice: What a person must do, because a file could not be understood.
    """

    generated: dict[str, str]
    own: dict[str, str]
    advice: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What was done, by path."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    backups: tuple[str, ...]
    kept: tuple[str, ...]


def work_out(manifest: Manifest, manifest_text: str | None, rendered: dict[str, str], read: Read, stub: bool) -> Plan:
    """Work out every file.

    Args:
        manifest: The resolved manifest.
        manifest_text: Its text, where it is to be written; None where the user's file stays.
        rendered: The workflow, from `workflow.render_for`.
        read: Content of a file of the repository, None where there is none.
        stub: Start `requirements-rocm.txt` if it is not there.
    """
    own: dict[str, str] = {}
    advice = []
    if manifest_text is not None and read(MANIFEST_NAME) != manifest_text:
        own[MANIFEST_NAME] = manifest_text
    if stub and read(REQUIREMENTS) is None:
        own[REQUIREMENTS] = (template_root() / "scaffold" / REQUIREMENTS).read_text(encoding="utf-8")
    for tool, make in (("actionlint", actionlint_config), ("zizmor", zizmor_config)):
        try:
            config = make(manifest, read)
        except OutsideError as error:
            advice.append(f"the configuration of {tool} was left alone: {error}")
            continue
        if config is None:
            continue
        if config.text is None:
            advice.append(f"{config.path} was left alone, its layout is not understood: {config.advice}")
        else:
            own[config.path] = config.text
    return Plan(dict(rendered), own, tuple(advice))


def reader(root: Path) -> Read:
    """Read files of the repository at `root` as text.

    Raises (the function that is returned):
        RocmCiError: something else than a readable file stands there, or the path leads over a link.
    """

    def read(name: str) -> str | None:
        data = atomic.read(inside(root, name))
        return None if data is None else data.decode("utf-8", errors="surrogateescape")

    return read


def write(root: Path, plan: Plan, *, force: bool) -> Result:
    """Write everything, or nothing where a file is in the way.

    With `force` a workflow that this tool did not write, and a manifest that differs, are replaced; what they were is
    kept beside them as `NAME.bak` (`.bak2`, …: a backup is never overwritten).

    Raises:
        UsageError: a file is in the way. Nothing was written.
        RocmCiError: the disk or a permission stopped the writing; every file is whole, old or new.
    """
    foreign = [name for name in plan.generated if _foreign(root, name)]
    if foreign and not force:
        raise UsageError(
            f"{', '.join(foreign)}: not written by rocm-ci-gen, so not overwritten. Nothing was written.",
            help="Move the file away, or `rocm-ci-gen init --force`: it keeps the file as `.bak`.",
        )
    for name in plan.own:
        if atomic.is_read_only(inside(root, name)):
            raise UsageError(f"{name}: read-only. Nothing was written.", help=f"`chmod u+w {name}`.")
    replaced = [*foreign, *(name for name in plan.own if name == MANIFEST_NAME)]
    backups = [_back_up(root, name) for name in replaced]
    changes = write_generated(root, plan.generated, force=force)
    for name, text in plan.own.items():
        atomic.write(inside(root, name), text)
    return Result(
        written=(*plan.own, *changes.written),
        removed=changes.removed,
        backups=tuple(backup for backup in backups if backup),
        kept=changes.kept,
    )


def _foreign(root: Path, name: str) -> bool:
    data = atomic.read(inside(root, name))
    return data is not None and not is_ours(data)


def _back_up(root: Path, name: str) -> str:
    """Copy a file to the first free `NAME.bak…`; its name, or empty where there is no such file."""
    data = atomic.read(inside(root, name))
    if data is None:
        return ""
    number = 1
    while True:
        backup = f"{name}.bak{number if number > 1 else ''}"
        present = atomic.read(inside(root, backup))
        if present is None:
            _create(inside(root, backup), data)
            return backup
        if present == data:
            return backup
        number += 1


def _create(path: Path, data: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(
            f"cannot write the backup {path}: {error.strerror}. Nothing was changed.", help="Move the old file away."
        ) from error
