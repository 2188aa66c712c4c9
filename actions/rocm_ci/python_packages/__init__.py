"""Python packages that a ROCm environment cannot take as they are: a name in, what to do about it out.

The facts are in ``data/packages.tsv``, each with its source. Below all action packages, because hipify-check reads
requirements and setup-rocm-container installs them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import Literal, NamedTuple, cast

Verdict = Literal["convertible", "manual", "unsupported", "note"]


class Package(NamedTuple):
    """What to do about one package.

    Attributes:
        verdict: ``convertible``: another package takes its place. ``manual``: it can be had for ROCm in another way.
            ``unsupported``: it works with CUDA only. ``note``: worth knowing.
        instead: What to take instead; may be empty.
        note: Why; may be empty.
    """

    verdict: Verdict
    instead: str
    note: str


def rows() -> list[list[str]]:
    """The rows of the table: name (``*`` at its end matches the rest), modules, verdict, instead, note, source."""
    text = (resources.files("rocm_ci.python_packages") / "data" / "packages.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n") if line and line[0] != "#"]


def normalise(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@lru_cache(maxsize=4096)
def find(name: str) -> Package | None:
    """The row for a distribution; ``None`` where ROCm has no quarrel with it."""
    wanted = normalise(name)
    exact, prefixes, _ = _load()
    return exact.get(wanted) or next((row for prefix, row in prefixes if wanted.startswith(prefix)), None)


def module(dotted: str) -> tuple[str, Package] | None:
    """The row for an imported module, and the part of its name that the row is for."""
    modules = _load()[2]
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in modules:
            return name, modules[name]
    return None


@lru_cache(maxsize=1)
def _load() -> tuple[dict[str, Package], list[tuple[str, Package]], dict[str, Package]]:
    exact: dict[str, Package] = {}
    prefixes: list[tuple[str, Package]] = []
    modules: dict[str, Package] = {}
    for name, imports, verdict, instead, note, _source in rows():
        package = Package(cast("Verdict", verdict), instead, note)
        if name.endswith("*"):
            prefixes.append((name[:-1], package))
        else:
            exact[name] = package
        for imported in imports.split():
            modules[imported] = package
    return exact, prefixes, modules
