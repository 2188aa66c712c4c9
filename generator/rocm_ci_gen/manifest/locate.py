"""Finding the manifest of a repository, and reading it within limits."""

from __future__ import annotations

from pathlib import Path

from rocm_ci_gen.manifest.checking import check
from rocm_ci_gen.manifest.diagnostics import count, format_diagnostics
from rocm_ci_gen.manifest.errors import ManifestError
from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.manifest.source import MAX_BYTES

MANIFEST_NAME = ".rocm-ci.yml"
_MISSPELT = (".rocm-ci.yaml", "rocm-ci.yml", "rocm-ci.yaml")


def find_manifest(start: Path) -> Path:
    """The manifest of the repository that `start` (a folder) is in: here or in a folder above it.

    The search ends at the top of the git repository, so that the manifest of a surrounding project is not taken.

    Raises:
        ManifestError: there is none.
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        candidate = folder / MANIFEST_NAME
        if candidate.is_file():
            return candidate
        for name in _MISSPELT:
            if (folder / name).is_file():
                raise ManifestError(
                    f"found {folder / name}, but the manifest is named {MANIFEST_NAME}",
                    help=f"rename it: mv {name} {MANIFEST_NAME}",
                )
        if (folder / ".git").exists():
            break
    raise ManifestError(
        f"no {MANIFEST_NAME} in {here} or above it in the repository",
        help="run `rocm-ci-gen init` to get one, or name one with --manifest FILE",
    )


def read_bytes(path: Path) -> bytes:
    """Content of a manifest; of a file that is too large only as much as shows that it is.

    Raises:
        ManifestError: there is no such file, or it cannot be read.
    """
    if path.is_dir():
        raise ManifestError(f"{path} is a folder, not a manifest", help=f"name the file: {path / MANIFEST_NAME}")
    if not path.exists():
        raise ManifestError(f"there is no manifest {path}", help="run `rocm-ci-gen init` to get one")
    if not path.is_file():
        # A pipe or a device could keep us reading for ever.
        raise ManifestError(f"{path} is no regular file", help="copy it to a file first")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ManifestError(f"cannot read {path}: {error.strerror}", help="check its permissions") from error


def load(path: Path) -> Manifest:
    """The manifest in a file; its warnings are not told here (`rocm-ci-gen validate` does).

    Raises:
        ManifestError: it is missing, unreadable or wrong; carries every diagnostic.
    """
    checked = check(read_bytes(path), str(path))
    if checked.manifest is None:
        raise ManifestError(
            f"the manifest has {count(checked.errors)}\n{format_diagnostics(checked.errors, color=False)}",
            help="`rocm-ci-gen explain KEY` says what a key does",
            diagnostics=checked.diagnostics,
        )
    return checked.manifest
