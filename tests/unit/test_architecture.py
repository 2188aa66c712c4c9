"""The house rules that imports must keep (docs/architecture.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROCM_CI = PROJECT / "actions" / "rocm_ci"
ROCM_CI_GEN = PROJECT / "generator" / "rocm_ci_gen"
ACTIONS = {"setup_rocm_container", "hipify_check", "kernel_tests", "sglang_regression", "vram_probe"}
# What a package of rocm_ci may import beside itself, lowest first; an arrow that is not here points upward.
LAYERS = [{"runner", "gpu", "python_packages"}, {"triage", "regression", "report"}, {"gate", *ACTIONS}, {"cli"}]


def imported(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports, at any depth of the code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; the project writes whole names"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def packages(path: Path) -> set[str]:
    """First-level packages of rocm_ci that a file imports."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("rocm_ci.")}


def level(package: str) -> int | None:
    return next((i for i, layer in enumerate(LAYERS) if package in layer), None)


def test_rocm_ci_never_imports_the_generator() -> None:
    for path in ROCM_CI.rglob("*.py"):
        assert not [name for name in imported(path) if name.split(".")[0] == "rocm_ci_gen"], path


def test_arrows_point_down() -> None:
    for path in ROCM_CI.rglob("*.py"):
        own = path.relative_to(ROCM_CI).parts[0].removesuffix(".py")
        mine = level(own)
        if mine is None:
            continue
        for other in packages(path) - {own}:
            theirs = level(other)
            if theirs is not None:
                assert theirs < mine, f"{path} imports rocm_ci.{other}, which is not below it"


def test_gpu_stands_at_the_bottom() -> None:
    paths = list((ROCM_CI / "gpu").rglob("*.py"))
    assert paths
    for path in paths:
        assert packages(path) <= {"gpu"}, path


def test_nothing_is_cyclic_in_the_generator() -> None:
    order = ["resources", "filter_patterns", "files", "manifest", "workflow", "plan", "scaffold", "commands", "cli"]
    for path in ROCM_CI_GEN.rglob("*.py"):
        own = path.relative_to(ROCM_CI_GEN).parts[0].removesuffix(".py")
        if own not in order:
            continue
        used = {name.split(".")[1] for name in imported(path) if name.startswith("rocm_ci_gen.")} - {own}
        for other in used & set(order):
            assert order.index(other) < order.index(own), f"{path} imports rocm_ci_gen.{other}, which is above it"


@pytest.mark.parametrize("program", ["rocm_ci.cli", "rocm_ci_gen.cli"])
def test_help_imports_nothing_heavy(program: str) -> None:
    code = (
        f"import sys\nfrom {program} import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'jinja2', 'ruamel', 'jsonschema', 'requests', 'torch', 'asyncio', 'multiprocessing'}\n"
        "print('LOADED', sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage:" in done.stdout
    assert done.stdout.rstrip().endswith("LOADED []")
