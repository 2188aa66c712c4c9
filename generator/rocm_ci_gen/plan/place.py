"""Where a plan is made: the repository, its manifest, and the files that belong to the CI itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rocm_ci_gen import manifest as manifests
from rocm_ci_gen.files import LIST_PATH, repository_root
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
        return cls(repository_root(path), path)

    def manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            ManifestError: it is missing, unreadable or wrong.
        """
        return manifests.load(self.path)

    @property
    def manifest_name(self) -> str:
        """Path of the manifest from the repository's root, with `/`."""
        # A manifest that is a link keeps the name that was given, as in `render`.
        return Path(os.path.relpath(self.path.parent.resolve() / self.path.name, self.root)).as_posix()

    def own_files(self) -> frozenset[str]:
        """Files whose change makes everything run: the manifest and what is generated from it."""
        return frozenset({self.manifest_name, WORKFLOW_PATH, LIST_PATH})
