"""What `rocm-ci-gen render` and `--help` cost beside importing the libraries that they need.

Ratios of whole processes, from runs that alternate, so that a busy machine slows both sides. Exits 1 above a limit.

    python benchmarks/bench_render.py [RUNS]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[1] / "tests" / "gallery" / "design" / ".rocm-ci.yml"
LIMIT = 1.6


@dataclass(frozen=True)
class Comparison:
    """A command of ours and the imports that it is held against."""

    name: str
    command: tuple[str, ...]
    imports: str


COMPARISONS = (
    Comparison("render --check", ("rocm-ci-gen", "render", "--check"), "click, jinja2, ruamel.yaml, jsonschema"),
    Comparison("render", ("rocm-ci-gen", "render"), "click, jinja2, ruamel.yaml, jsonschema"),
    Comparison("rocm-ci-gen --help", ("rocm-ci-gen", "--help"), "click"),
    Comparison("rocm-ci-gen render --help", ("rocm-ci-gen", "render", "--help"), "click"),
    Comparison("rocm-ci --help", ("rocm-ci", "--help"), "click"),
)


def seconds(command: tuple[str, ...], folder: Path) -> float:
    """Wall time of one process."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True, env=environment(folder))
    return time.perf_counter() - start


def environment(folder: Path) -> dict[str, str]:
    """This environment, with byte code kept: an installed package has it, a checkout would compile at every start."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**environ, "PYTHONPYCACHEPREFIX": str(folder / "pycache")}


def installed(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command with the path of its script beside this Python."""
    script = shutil.which(command[0], path=str(Path(sys.executable).parent)) or command[0]
    return (script, *command[1:])


def measure(comparison: Comparison, folder: Path, runs: int) -> tuple[float, float]:
    """Median seconds of the command and of the imports."""
    ours, base = installed(comparison.command), (sys.executable, "-c", f"import {comparison.imports}")
    seconds(ours, folder)  # byte code is written now
    seconds(base, folder)
    times = [(seconds(ours, folder), seconds(base, folder)) for _ in range(runs)]
    return statistics.median(time for time, _ in times), statistics.median(time for _, time in times)


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        shutil.copy(MANIFEST, folder / ".rocm-ci.yml")
        subprocess.run(installed(("rocm-ci-gen", "render")), cwd=folder, stdout=subprocess.DEVNULL, check=True)
        print(f"{'command':<26} {'ms':>6} {'imports ms':>11} {'ratio':>6}   (medians of {runs}, limit {LIMIT})")
        for comparison in COMPARISONS:
            ours, base = measure(comparison, folder, runs)
            worst = max(worst, ours / base)
            print(f"{comparison.name:<26} {ours * 1000:>6.0f} {base * 1000:>11.0f} {ours / base:>6.2f}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
