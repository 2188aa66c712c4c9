"""What was found in a repository, each thing with the file that tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci_gen.scaffold.repository import Repository
from rocm_ci_gen.scaffold.sources import Mark
from rocm_ci_gen.scaffold.workflows import RunnerUse


@dataclass(frozen=True)
class Found:
    """A value and the file that it was found in."""

    value: str
    where: str


@dataclass(frozen=True)
class Facts:
    """A repository as far as the manifest cares.

    Attributes:
        paths: All files.
        marked: For each mark the files that show it, vendored ones too.
        packaging: `setup.py` or `pyproject.toml` at the root, where it makes the repository installable.
        requirements: Requirements files.
        runners: Labels of AMD machines that existing workflows ask for; one entry a job.
        images: ROCm images that workflows, CI scripts and Dockerfiles name; one entry a mention.
        gfx_targets: gfx targets that the build or the workflows name.
        models: Models that the CI serves.
        engine: The repository is this engine itself (`sglang`, `vllm`), or empty.
        merge_group: A workflow that runs in the merge queue.
        gates: Workflows with a job called `gate`.
        workflows: The workflow files.
        repository: What git says.
        notes: What was not looked at, and why.
    """

    paths: tuple[str, ...] = ()
    marked: Mapping[Mark, tuple[str, ...]] = field(default_factory=dict)
    packaging: str = ""
    requirements: tuple[str, ...] = ()
    runners: tuple[RunnerUse, ...] = ()
    images: tuple[Found, ...] = ()
    gfx_targets: tuple[Found, ...] = ()
    models: tuple[Found, ...] = ()
    engine: str = ""
    merge_group: str = ""
    gates: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()
    repository: Repository = field(default_factory=Repository)
    notes: tuple[str, ...] = ()

    def having(self, *marks: Mark) -> tuple[str, ...]:
        """Files that show at least one of the marks, sorted."""
        return tuple(sorted({path for mark in marks for path in self.marked.get(mark, ())}))
