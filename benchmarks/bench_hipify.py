"""How fast hipify-check reads: against torch's hipify and hipify-perl, on the same files, in one run.

    python benchmarks/bench_hipify.py                                    a made-up tree, the same for everyone
    python benchmarks/bench_hipify.py HeCBench/src --only '*-cuda/*'     part of a tree of your own
    python benchmarks/bench_hipify.py --torch-python venv/bin/python --hipify-perl HIPIFY/bin/hipify-perl

The C-family files that are UTF-8 (torch's hipify ends at the first other one) are copied to a temporary tree that each
tool gets whole; hipify-perl, which needs minutes for it, gets a part. Rates are in MB (10^6 bytes) of source a second
of CPU time, user and system, so that other work on the machine counts little. hipify-check is the whole command with
`--jobs 1` and all rules, its start and its output included; for torch's hipify the import of torch is left out.
"""

from __future__ import annotations

import argparse
import cProfile
import fnmatch
import os
import pstats
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = 10.0
TARGET_TORCH = 4.0
TARGET_PERL = 40.0
SUFFIXES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp"})
"""What torch's hipify reads, so that both read the same."""

_TORCH = """
import sys, time, warnings
warnings.simplefilter("ignore")
from torch.utils.hipify.hipify_python import hipify
start = time.process_time()
done = hipify(sys.argv[1], output_directory=sys.argv[2], show_progress=False, is_pytorch_extension=True)
print("SECONDS", time.process_time() - start, len(done))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", nargs="?", type=Path, help="sources to read; a made-up tree when not given")
    parser.add_argument("--only", default="*", metavar="GLOB", help="paths in the tree")
    parser.add_argument("--torch-python", default=sys.executable, metavar="EXE", help="a Python that has torch")
    parser.add_argument("--hipify-perl", default=shutil.which("hipify-perl"), metavar="FILE")
    parser.add_argument(
        "--perl-bytes", type=int, default=400_000, metavar="N", help="how much hipify-perl gets to read"
    )
    parser.add_argument("--rounds", type=int, default=3, help="the best one counts; hipify-perl has one")
    parser.add_argument("--profile", action="store_true", help="show where hipify-check spends its time")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch) / "tree"
        files = list(_copy(chosen.tree, chosen.only, top) if chosen.tree else _made_up(top))
        if not files:
            parser.error(f"no C-family file in UTF-8 under {chosen.tree} matches {chosen.only}")
        size = sum(file.stat().st_size for file in files)
        rounds = 1 if chosen.profile else chosen.rounds
        print(f"{chosen.tree or 'made-up tree'}: {len(files):,} files, {size / 1e6:.1f} MB, best of {rounds}")
        if chosen.profile:
            _profile(top)
            return
        ours: list[float] = []
        torch: list[float] = []
        for number in range(rounds):  # in turns, so that both see the same state of the machine
            ours.append(_check(top))
            out = Path(scratch) / f"torch{number}"
            torch += _torch(chosen.torch_python, top, out)
        rate = size / 1e6 / min(ours)
        _show("hipify-check --jobs 1", rate, f"target {TARGET:g}", rate >= TARGET)
        if torch:
            other = size / 1e6 / min(torch)
            _show("torch.utils.hipify", other, f"hipify-check is {rate / other:.1f} x", rate / other >= TARGET_TORCH)
        else:
            print(f"  torch.utils.hipify      skipped: {chosen.torch_python} has no torch (--torch-python)")
        _perl_row(chosen.hipify_perl, files, chosen.perl_bytes, rate)


def _show(name: str, rate: float, said: str, good: bool) -> None:
    print(f"  {name:<24}{rate:8.2f} MB/s   {said:<32}{'reached' if good else 'MISSED'}")


def _perl_row(perl: str | None, files: Sequence[Path], limit: int, rate: float) -> None:
    if not perl or not shutil.which("perl"):
        print("  hipify-perl             skipped: not installed (--hipify-perl; ROCm/HIPIFY has it as bin/hipify-perl)")
        return
    part = _part(files, limit)
    size = sum(file.stat().st_size for file in part)
    other = size / 1e6 / _cpu(lambda: _run(["perl", perl, "-examine", "-quiet-warnings", *map(str, part)]))
    said = f"hipify-check is {rate / other:.0f} x"
    _show(f"hipify-perl, {size / 1e6:.1f} MB", other, said, rate / other >= TARGET_PERL)


def _part(files: Sequence[Path], limit: int) -> list[Path]:
    """Some of the files, chosen by a fixed seed, with about ``limit`` bytes together."""
    chance = random.Random(1)  # noqa: S311 - the same files in every run
    chosen: list[Path] = []
    for file in chance.sample(list(files), len(files)):
        limit -= file.stat().st_size
        if limit < 0 and chosen:
            break
        chosen.append(file)
    return chosen


def _cpu(work: Callable[[], object]) -> float:
    """CPU seconds that the child processes of ``work`` take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _check(top: Path) -> float:
    report = top.parent / "report.json"
    command = [sys.executable, "-m", "rocm_ci", "hipify-check", str(top), "--jobs", "1", "--fail-on", "never"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "actions")}
    return _cpu(
        lambda: subprocess.run(
            [*command, "--report", str(report)],
            check=True,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )


def _torch(python: str, top: Path, out: Path) -> list[float]:
    """CPU seconds of one conversion, or nothing where torch is not installed."""
    shutil.copytree(top, out)  # it writes beside its sources
    done = subprocess.run([python, "-c", _TORCH, str(out), str(out)], check=False, capture_output=True, text=True)
    shutil.rmtree(out)
    if "No module named 'torch'" in done.stderr:
        return []
    line = next((line for line in done.stdout.splitlines() if line.startswith("SECONDS ")), None)
    if done.returncode or line is None:
        raise SystemExit(f"torch.utils.hipify failed:\n{done.stderr[-2000:]}")
    return [float(line.split()[1])]


def _profile(top: Path) -> None:
    sys.path.insert(0, str(ROOT / "actions"))
    from rocm_ci.hipify_check import check_file, engine, files, versions

    found = files.discover([str(top)])
    target = check_file.Target(versions.NEWEST)
    engine.check(found, target, 1)  # tables and patterns are made once
    profile = cProfile.Profile()
    profile.runcall(engine.check, found, target, 1)
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def _copy(tree: Path, only: str, top: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(tree):
        folders[:] = sorted(folder for folder in folders if folder != ".git")
        for name in sorted(names):
            source = Path(directory) / name
            inside = source.relative_to(tree)
            if source.suffix not in SUFFIXES or source.is_symlink() or not fnmatch.fnmatch(inside.as_posix(), only):
                continue
            data = source.read_bytes()
            try:
                data.decode()
            except UnicodeDecodeError:
                continue
            # torch's hipify passes over folders of these names.
            place = top.joinpath(*(f"{part}_" if part in {"build", "third_party"} else part for part in inside.parts))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            yield place


_LINES = (
    "    // the values of one row, read once and kept in registers\n",
    "    const float4 v = reinterpret_cast<const float4*>(input)[row * stride + column];\n",
    "    for (int i = threadIdx.x; i < count; i += blockDim.x) { sum += scale[i] * static_cast<float>(input[i]); }\n",
    "    if (index >= limit || weight == nullptr) return;\n",
    "    sum += __shfl_xor_sync(0xffffffff, sum, 16);\n",
    "    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));\n",
    "    std::vector<float> host(count, 0.0f);\n",
    '    printf("cudaMalloc of %zu bytes took %f ms\\n", bytes, elapsed);\n',
    "    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a, m, b, n, &beta, c, m));\n",
    "    reduce<256><<<blocks, 256, 0, stream>>>(input, output, count);\n",
    "    output[row] = rsqrtf(sum / static_cast<float>(count) + epsilon);\n",
    "\n",
)
_WEIGHTS = (24, 36, 36, 30, 1, 3, 24, 1, 1, 1, 30, 27)
_HEAD = """\
#include <cuda_runtime.h>
#include <vector>
#include "common.h"
#ifdef USE_ROCM
#include <hip/hip_fp16.h>
#endif

"""


def _made_up(top: Path) -> Iterator[Path]:
    """Twelve megabytes in 600 files, from a fixed seed, with about as much CUDA as HeCBench has."""
    chance = random.Random(1)  # noqa: S311 - the same tree in every run
    for number in range(600):
        file = top / f"part{number % 12}" / f"kernel{number}{chance.choice(['.cu', '.cuh', '.cpp', '.h'])}"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = [_HEAD]
        while sum(map(len, text)) < 20_000:
            text.append(
                f"__global__ void kernel{number}_{len(text)}(const float* input, float* output, int count) {{\n"
            )
            text += chance.choices(_LINES, _WEIGHTS, k=chance.randint(10, 60))
            text.append("}\n\n")
        file.write_text("".join(text))
        yield file


if __name__ == "__main__":
    main()
