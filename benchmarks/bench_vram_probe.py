"""What vram-probe's sampling costs: the whole sample (reading, peaks, series, waking up), against one call of rocm-smi.

    python benchmarks/bench_vram_probe.py [--gpus 8] [--seconds 4]

The probe samples a made-up node in memory in a thread, as it does around a command; the figures are that thread's CPU
time. rocm-smi (Debian's package) reads the same files, mounted over /sys in a mount namespace of its own, in the same
run; without the right to do so it is called as it is, which costs it less. Exits 1 beyond a limit.
"""

from __future__ import annotations

import argparse
import os
import resource
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rocm_ci.vram_probe.amdgpu_source import AmdgpuSource
from rocm_ci.vram_probe.sampling import Sampler, Tracker
from support.fake_node import KFD, FakeGpu, FakeNode

LIMIT_US = 100.0
LEAST_RATIO = 500.0
LEAST_RATE = 80.0
ROUNDS = 3
SEE = 'mount -t tmpfs none /sys && cp -a "$0/sys/." /sys/ && exec "$@"'
IO_LINK = "type 2\nversion_major 0\nnode_from {number}\nnode_to 0\nweight 20\nmin_bandwidth 0\nmax_bandwidth 0"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=4.0)
    chosen = parser.parse_args()
    shared = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - memory, as sysfs is
    with tempfile.TemporaryDirectory(dir=shared) as scratch:
        node = FakeNode(Path(scratch), [FakeGpu(f"0000:{5 + number:02x}:00.0") for number in range(chosen.gpus)])
        for number in range(chosen.gpus + 1):  # rocm-smi breaks off without it
            node.write(f"{KFD}/topology/nodes/{number}/io_links/0/properties", IO_LINK.format(number=number))
        busy, usual, quick, tools, idle = [], [], [], [], []
        for _ in range(ROUNDS):  # in turns, so that all see the same state of the machine
            busy.append(without_waiting(node))
            usual.append(sampled(node, 0.05, chosen.seconds))
            quick.append(sampled(node, 0.01, chosen.seconds))
            tools.append(rocm_smi(node.root))
            idle.append(woken(chosen.seconds / 2))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        a_day(node)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    ok = True
    work = statistics.median(busy) * 1e6
    print(f"{chosen.gpus} GPUs, median of {ROUNDS} rounds")
    print(f"{work:10.1f} us  the work of a sample (read, peaks, series), without waking up for it")
    print(
        f"{statistics.median(idle) * 1e6:10.1f} us  waking up for nothing every 50 ms: what this machine takes for that"
    )
    ok = ok and work <= LIMIT_US * max(1.0, chosen.gpus / 8)
    for name, rounds, least in (("every 50 ms", usual, 0.0), ("every 10 ms", quick, LEAST_RATE)):
        cost = statistics.median(cpu for cpu, _ in rounds) * 1e6
        rate = statistics.median(each for _, each in rounds)
        print(f"{cost:10.1f} us  a sample {name}: {rate:.1f} samples a second, {cost * rate / 1e4:.3f} % of a core")
        ok = ok and rate >= least
    costs = [cost for cost, _ in tools if cost is not None]
    if costs:
        tool = statistics.median(costs) * 1e6
        ratio = tool / statistics.median(cpu for cpu, _ in usual) / 1e6
        print(f"{tool:10.0f} us  one call of rocm-smi {tools[0][1]}: {ratio:,.0f} times a sample every 50 ms")
        ok = ok and ratio >= LEAST_RATIO
    else:
        print("            rocm-smi is not installed (Debian: rocm-smi), so there is no comparison")
    print(f"{grown:10d} KiB  more memory after as many samples as 24 h at 50 ms take")
    ok = ok and grown < 16384
    print("within the limits" if ok else "BEYOND a limit")
    return 0 if ok else 1


def without_waiting(node: FakeNode, times: int = 5000) -> float:
    """CPU seconds of one sample."""
    source = AmdgpuSource(node.root, {})
    tracker = Tracker(len(source.devices))
    started = time.thread_time()
    for at in range(times):
        tracker.add(float(at), source.read())
    spent = time.thread_time() - started
    source.close()
    return spent / times


def sampled(node: FakeNode, interval: float, seconds: float) -> tuple[float, float]:
    """CPU seconds of one sample, and samples a second, around a command that sleeps."""
    source = AmdgpuSource(node.root, {})
    tracker = Tracker(len(source.devices))
    sampler = Sampler(source, tracker, interval)
    sampler.start()
    begun = time.monotonic()
    subprocess.run(["sleep", str(seconds)], check=True)
    took = time.monotonic() - begun
    samples = tracker.samples
    sampler.stop()
    source.close()
    return sampler.cpu_seconds / tracker.samples, samples / took


def woken(seconds: float) -> float:
    """CPU seconds of waking up in a thread, and doing nothing."""
    spent = []

    def wait() -> None:
        poll = select.poll()
        times = max(1, int(seconds / 0.05))
        started = time.thread_time()
        for _ in range(times):
            poll.poll(50)
        spent.append((time.thread_time() - started) / times)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    return spent[0]


def a_day(node: FakeNode) -> None:
    """As many samples as a day has at 50 ms, with figures that change."""
    tracker = Tracker(len(node.gpus))
    for at in range(24 * 3600 * 20):
        tracker.add(at * 0.05, [at] * len(node.gpus))
    assert tracker.peak == [24 * 3600 * 20 - 1] * len(node.gpus)


def rocm_smi(root: Path, times: int = 3) -> tuple[float | None, str]:
    """CPU seconds of one call, and what it was called on."""
    program = shutil.which("rocm-smi")
    if program is None:
        return None, ""
    # Not `env python3`: a shim of pyenv's would be counted too.
    command = ["/usr/bin/python3", program, "--showmeminfo", "vram", "--json"]
    inside = ["unshare", "-m", "sh", "-c", SEE, str(root), *command]
    works = shutil.which("unshare") and subprocess.run(inside, capture_output=True, check=False)
    seen = bool(works) and works.returncode == 0 and b"VRAM Total Used" in works.stdout
    before = os.times()
    for _ in range(times):
        subprocess.run(inside if seen else command, capture_output=True, check=False)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent / times, "on the same files" if seen else "on this machine, which shows it no GPU"


if __name__ == "__main__":
    sys.exit(main())
