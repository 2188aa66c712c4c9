"""A document as the semantic checks see it: plain data without the parts that the schema has refused.

What the schema refused is left out, so that a check can rely on the form of everything that is there and nothing is
told twice. A check about something *missing* asks `intact` first: the key may be there, misspelt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rocm_ci_gen.manifest import nodes
from rocm_ci_gen.manifest.findings import Path
from rocm_ci_gen.manifest.nodes import Mapping, Node, Scalar, Sequence
from rocm_ci_gen.manifest.resolve import CPU, CPU_STAGES, PROBE, is_gpu_runner

STAGE_NAMES = (*CPU_STAGES, "kernel-tests", "sglang-regression", PROBE)


@dataclass(frozen=True)
class StageView:
    """A stage of the document (not vram-probe). `runners` are the runner names it gives, with their places."""

    name: str
    path: Path
    gpu: bool
    runners: tuple[tuple[Path, str], ...]


@dataclass(frozen=True)
class Document:
    """The document, and the places that are refused already."""

    root: Node
    refused: frozenset[Path] = field(default=frozenset())

    def node(self, *path: str | int) -> Node | None:
        """The node at a path, or None where there is none or it is refused."""
        for length in range(len(path) + 1):
            if path[:length] in self.refused:
                return None
        return nodes.at(self.root, path)

    def has(self, *path: str | int) -> bool:
        """Whether there is an accepted value."""
        return self.node(*path) is not None

    def text(self, *path: str | int) -> str | None:
        """Text of a scalar."""
        node = self.node(*path)
        return node.text if isinstance(node, Scalar) and node.value is not None else None

    def value(self, *path: str | int) -> Any:
        """Value of a scalar: str, int, float, bool or None."""
        node = self.node(*path)
        return node.value if isinstance(node, Scalar) else None

    def keys(self, *path: str | int) -> tuple[str, ...]:
        """Accepted keys of a mapping."""
        node = self.node(*path)
        keys = node.entries if isinstance(node, Mapping) else ()
        return tuple(key for key in keys if (*path, key) not in self.refused)

    def texts(self, *path: str | int) -> tuple[tuple[Path, str], ...]:
        """Texts of a list, or of one scalar, with their places."""
        return tuple((place, node.text) for place, node in self._items(path) if isinstance(node, Scalar))

    def mappings(self, *path: str | int) -> Iterator[Path]:
        """Places of the mappings in a list."""
        return (place for place, node in self._items(path) if isinstance(node, Mapping))

    def intact(self, *path: str | int) -> bool:
        """Whether nothing directly in the mapping at `path` is refused, so that what is not there is missing."""
        return self.node(*path) is not None and not any(bad[:-1] == path for bad in self.refused if bad)

    def _items(self, path: Path) -> Iterator[tuple[Path, Node]]:
        node = self.node(*path)
        items: Iterable[tuple[Path, Node]] = ()
        if isinstance(node, Sequence):
            items = (((*path, index), item) for index, item in enumerate(node.items))
        elif node is not None:
            items = ((path, node),)
        return ((place, item) for place, item in items if place not in self.refused)

    def stages(self) -> tuple[StageView, ...]:
        """The stages that are jobs, in the order of the file."""
        return tuple(
            StageView(name, ("stages", name), name not in CPU_STAGES, self.texts("stages", name, "runner"))
            for name in self.keys("stages")
            if name != PROBE
        )

    def runner_labels(self, name: str) -> tuple[str, ...]:
        """Labels of a runner."""
        return tuple(text for _, text in self.texts("runners", name, "labels"))

    def runner_mode(self, name: str) -> str:
        """Mode of a GPU runner, or the default."""
        return self.text("runners", name, "mode") or "docker"

    def gpu_runners(self) -> tuple[str, ...]:
        """Names of the runners that may have a GPU."""
        return tuple(name for name in self.all_runners() if is_gpu_runner(name, self.runner_labels(name)))

    def all_runners(self) -> tuple[str, ...]:
        """Names of all runners that are written down, whether their entry is right or not."""
        node = self.node("runners")
        return tuple(node.entries) if isinstance(node, Mapping) else ()

    def runners_of(self, stage: StageView) -> tuple[str, ...]:
        """Known runners that a stage will run on, but a `cpu` that is not written down.

        A GPU stage that names none runs on the only GPU runner.
        """
        known = self.all_runners()
        if stage.runners:
            return tuple(name for _, name in stage.runners if name in known)
        if not stage.gpu:
            return tuple(name for name in known if name == CPU)
        candidates = self.gpu_runners()
        return candidates if len(candidates) == 1 else ()


__all__ = ["CPU", "CPU_STAGES", "PROBE", "STAGE_NAMES", "Document", "StageView"]
