"""Python packages that a ROCm environment cannot take as they are. Reads ``data/packages.tsv``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from rocm_ci.hipify_check.mapping import rows
from rocm_ci.hipify_check.model import Hit
from rocm_ci.hipify_check.versions import Version

if TYPE_CHECKING:
    from rocm_ci.hipify_check.model import Verdict


class Package(NamedTuple):
    """What to do about one package."""

    verdict: Verdict
    hip: str
    note: str


_CUPY: Version = (7, 0)


@lru_cache(maxsize=1)
def _load() -> tuple[dict[str, Package], list[tuple[str, Package]], dict[str, Package]]:
    exact: dict[str, Package] = {}
    prefixes: list[tuple[str, Package]] = []
    modules: dict[str, Package] = {}
    for name, imports, verdict, hip, note, _source in rows("packages.tsv"):
        package = Package(cast("Verdict", verdict), hip, note)
        if name.endswith("*"):
            prefixes.append((name[:-1], package))
        else:
            exact[name] = package
        for module in imports.split():
            modules[module] = package
    return exact, prefixes, modules


def normalise(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@lru_cache(maxsize=4096)
def find(name: str, version: Version) -> Package | None:
    """The row for a distribution; ``None`` where ROCm has no quarrel with it."""
    wanted = normalise(name)
    exact, prefixes, _ = _load()
    package = exact.get(wanted)
    if package is None:
        package = next((row for prefix, row in prefixes if wanted.startswith(prefix)), None)
    if package and wanted.startswith("cupy-cuda") and version < _CUPY:
        return package._replace(verdict="manual", hip="cupy")
    return package


def module(dotted: str) -> tuple[str, Package] | None:
    """The row for an imported module, and the part of its name that the row is for."""
    modules = _load()[2]
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in modules:
            return name, modules[name]
    return None


def hit(name: str, package: Package, offset: int) -> Hit:
    """The hit for a package at an offset."""
    return Hit(offset, "py-package", package.verdict, name, package.hip, package.note, "python packages")
