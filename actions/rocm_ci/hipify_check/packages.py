"""Hits for Python packages that a ROCm environment cannot take as they are; `rocm_ci.python_packages` has the facts."""

from __future__ import annotations

from rocm_ci import python_packages
from rocm_ci.hipify_check.model import Hit
from rocm_ci.hipify_check.versions import Version
from rocm_ci.python_packages import Package, module

__all__ = ["find", "hit", "module"]

_CUPY: Version = (7, 0)
"""The first release that CuPy has wheels for."""


def find(name: str, version: Version) -> Package | None:
    """The row for a distribution; ``None`` where ROCm has no quarrel with it."""
    package = python_packages.find(name)
    if package and python_packages.normalise(name).startswith("cupy-cuda") and version < _CUPY:
        return package._replace(verdict="manual", instead="cupy")
    return package


def hit(name: str, package: Package, offset: int) -> Hit:
    """The hit for a package at an offset."""
    return Hit(offset, "py-package", package.verdict, name, package.instead, package.note, "python packages")
