"""vram-probe on a real GPU, by torch: the figure is right, and a planted leak is found.

Needs an interpreter whose torch sees a GPU: ROCM_CI_GPU_PYTHON, or python3. Run it with `pytest -m gpu tests/gpu`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu

PYTHON = os.environ.get("ROCM_CI_GPU_PYTHON", "python3")
PROBE = [sys.executable, "-c", "from rocm_ci.cli import main; main()", "vram-probe", "--source", "torch"]
GIB = 1 << 30

# What is in use with the context alone is told to the test, by the driver's own count.
SPIKE = """
import json, sys, time, torch
torch.cuda.init()
torch.zeros(1, device="cuda:0")
torch.cuda.synchronize()
free, total = torch.cuda.mem_get_info(0)
reserved_before = torch.cuda.memory_reserved(0)
block = torch.empty(2 * 2**30, dtype=torch.uint8, device="cuda:0")
block.fill_(1)
torch.cuda.synchronize()
time.sleep(0.3)
peak = torch.cuda.max_memory_reserved(0)
del block
torch.cuda.empty_cache()
json.dump({"used": total - free, "reserved_before": reserved_before, "reserved_peak": peak}, open(sys.argv[1], "w"))
"""
HOLD = """
import sys, time, torch
block = torch.empty(2**30, dtype=torch.uint8, device="cuda:0")
block.fill_(1)
torch.cuda.synchronize()
open(sys.argv[1], "w").close()
time.sleep(600)
"""
LEAVE = """
import os, subprocess, sys, time
subprocess.Popen([sys.executable, sys.argv[1], sys.argv[2]])
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
"""


@pytest.fixture(scope="module", autouse=True)
def _needs_a_gpu() -> None:
    look = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    try:
        done = subprocess.run([PYTHON, "-c", look], capture_output=True, timeout=300, check=False)
    except OSError as error:
        pytest.skip(f"{PYTHON} cannot be run: {error}")
    if done.returncode != 0:
        pytest.skip(f"torch of {PYTHON} sees no GPU")


def probe(tmp_path: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    report = tmp_path / "report.json"
    environ = {**os.environ, "RUNNER_TEMP": str(tmp_path / "temp")}
    done = subprocess.run(
        [*PROBE, "--python", PYTHON, "--report", str(report), "--settle", "3s", "--", *words],
        env=environ,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    return done, json.loads(report.read_text())


def test_the_peak_is_torchs_reserved_peak_and_the_context(tmp_path: Path) -> None:
    script, figures = tmp_path / "spike.py", tmp_path / "figures.json"
    script.write_text(SPIKE)
    done, report = probe(tmp_path, PYTHON, str(script), str(figures))
    assert done.returncode == 0, done.stderr
    told = json.loads(figures.read_text())
    gpu = report["gpus"][0]
    # `used` has the contexts of the probe and of the script, and what torch had reserved by then.
    expected = told["used"] - told["reserved_before"] + told["reserved_peak"]
    print(f"probe {gpu['peak_bytes']:,}, expected {expected:,}: {gpu['peak_bytes'] / expected - 1:+.3%}")
    assert told["reserved_peak"] >= 2 * GIB
    assert gpu["peak_bytes"] == pytest.approx(expected, rel=0.02)
    # Against what the run took alone, which is the stricter measure.
    context = told["used"] - told["reserved_before"] - gpu["before_bytes"]
    assert gpu["peak_bytes"] - gpu["before_bytes"] == pytest.approx(told["reserved_peak"] + context, rel=0.02)
    assert report["verdict"] == "ok"


def test_a_planted_leak_is_found(tmp_path: Path) -> None:
    hold, leave = tmp_path / "hold.py", tmp_path / "leave.py"
    hold.write_text(HOLD)
    leave.write_text(LEAVE)
    done, report = probe(tmp_path, PYTHON, str(leave), str(hold), str(tmp_path / "holding"))
    assert done.returncode == 1, done.stderr
    assert report["verdict"] == "leak"
    assert report["gpus"][0]["leaked_bytes"] >= GIB
    # The child was ended after it was measured: a second run starts and ends clean.
    done, report = probe(tmp_path, "true")
    assert (done.returncode, report["verdict"]) == (0, "ok"), done.stderr
