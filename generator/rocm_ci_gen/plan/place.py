"""Where a plan is made: the repository, its manifest, and the files that belong to the CI itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocm_ci_gen import manifest as manifests
from rocm_ci_gen.files import LIST_PATH
from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.workflow import WORKFLOW_PATH


@dataclass(frozen=True)
class Place:
    """A repository on this machine.

    Attributes:
        root: the top of the repository, where git's paths start.
        path: the manifest's file.
    """

    root: Path
    path: Path

    @classmethod
    def find(cls, folder: Path, manifest: Path | None = None) -> Place:
        """The repository that a named manifest is in, else the one of `folder`.

        Raises:
            ManifestError: no manifest was named and there is none.
        """
        path = (folder / manifest) if manifest is not None else manifests.find_manifest(folder)
        root = _top(path.resolve().parent) or _top(folder.resolve()) or folder.resolve()
        return cls(root, path)

    def manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            ManifestError: it is missing, unreadable or wrong.
        """
        return manifests.load(self.path)

    @property
    def manifest_name(self) -> str:
        """Path of the manifest from the repository's root, with `/`."""
        path = self.path.resolve()
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else self.path.name

    def own_files(self) -> frozenset[str]:
        """Files whose change makes everything run: the manifest and what is generated from it."""
        return frozenset({self.manifest_name, WORKFLOW_PATH, LIST_PATH})


def _top(folder: Path) -> Path | None:
    """Top of the git repository that `folder` is in; a work tree and a submodule have a *file* named `.git`."""
    return next((here for here in (folder, *folder.parents) if (here / ".git").exists()), None)
