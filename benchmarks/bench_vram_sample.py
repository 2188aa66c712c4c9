"""What one look at used VRAM costs: kept files against opening them anew, and against one call of rocm-smi.

    python benchmarks/bench_vram_sample.py [--gpus 8]

Figures are CPU time of this process and its children, on made-up files in memory, the median of several rounds.
The rounds of all ways are taken in turns, so that all see the same state of the machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rocm_ci.gpu import Tree, VramSampler, discover, kfd
from support.fake_node import FakeGpu, FakeNode

LIMIT_US = 100.0
"""Microseconds of CPU that the project allows for one sample of 8 GPUs."""
TIMES = 2000
ROUNDS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpus", type=int, default=8)
    chosen = parser.parse_args()
    shared = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - memory, as sysfs is
    with tempfile.TemporaryDirectory(dir=shared) as scratch:
        gpus = [FakeGpu(f"0000:{5 + number:02x}:00.0") for number in range(chosen.gpus)]
        fake = FakeNode(Path(scratch), gpus)
        fake.process(4242, dict.fromkeys(range(chosen.gpus), 1 << 30))
        node = discover(fake.root)
        tree = Tree(fake.root)
        paths = [fake.root / str(socket.used_path) for socket in node.sockets]
        with VramSampler.of(node, fake.root) as sampler:
            assert None not in sampler.read()
            ways: dict[str, tuple[Callable[[], object], int]] = {
                "kept files (VramSampler.read)": (sampler.read, TIMES),
                "open, read, close": (lambda: [_open_read(path) for path in paths], TIMES),
                "Path.read_text": (lambda: [int(path.read_text()) for path in paths], TIMES),
                "KFD's files of one process": (lambda: kfd.read_processes(tree), TIMES // 10),
                "discover (once a run)": (lambda: discover(fake.root), TIMES // 100),
            }
            costs: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, (way, times) in ways.items():
                    costs[name].append(_cpu(way, times))
    medians = {name: statistics.median(values) for name, values in costs.items()}
    if program := shutil.which("rocm-smi"):
        command = ["/usr/bin/python3", program, "--showmeminfo", "vram", "--json"]
        medians["one call of rocm-smi (no GPU here: less than it takes on a real node)"] = _children(command)
    base = medians["kept files (VramSampler.read)"]
    print(f"{chosen.gpus} GPUs, median of {ROUNDS} rounds")
    for name, value in medians.items():
        print(f"{value * 1e6:12,.1f} us  {value / base:10,.1f} x  {name}")
    within = "within" if base * 1e6 <= LIMIT_US * chosen.gpus / 8 else "BEYOND"
    print(f"{within} the limit of {LIMIT_US:.0f} us for 8 GPUs; at 20 samples a second {base * 2000:.3f} % of a core")


def _open_read(path: Path) -> int:
    handle = os.open(path, os.O_RDONLY)
    try:
        return int(os.read(handle, 32))
    finally:
        os.close(handle)


def _cpu(way: Callable[[], object], times: int) -> float:
    started = time.process_time()
    for _ in range(times):
        way()
    return (time.process_time() - started) / times


def _children(command: list[str], times: int = 3) -> float:
    before = os.times()
    for _ in range(times):
        subprocess.run(command, capture_output=True, check=False)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system) / times


if __name__ == "__main__":
    main()
