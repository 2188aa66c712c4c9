"""A stretch of a job: start in one step, stop in another, and no sampler that outlives its job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rocm_ci.runner.procfs import read_process
from rocm_ci.vram_probe import exchange
from rocm_ci.vram_probe.job import Job, find
from rocm_ci.vram_probe.source import Holder
from support.fake_node import FakeGpu, FakeNode
from support.vram_figures import GIB, measurement

CARD = "0000:05:00.0"
IDLE = 297771008
PROGRAM = [sys.executable, "-c", "from rocm_ci.cli import main; main()", "vram-probe"]


class Steps:
    """Runs the phases as the steps of a job do."""

    def __init__(self, tmp_path: Path) -> None:
        self.node = FakeNode(tmp_path / "node", [FakeGpu(CARD)])
        self.folder = tmp_path / "temp" / "rocm-ci"
        self.report_path = tmp_path / "report.json"
        self.environ = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith(("INPUT_", "GITHUB_", "ROCM_"))
            },
            "RUNNER_TEMP": str(tmp_path / "temp"),
        }

    def phase(self, name: str, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
        fixed = ["--phase", name, "--path-root", str(self.node.root), "--report", str(self.report_path)]
        return subprocess.run(
            [*PROGRAM, *fixed, "--settle", "300ms", *options],
            env={**self.environ, **environ},
            capture_output=True,  # a sampler that kept the step's output open would make this wait for ever
            text=True,
            timeout=60,
            check=False,
        )

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.report_path.read_text())
        return report

    @property
    def state(self) -> exchange.State:
        return exchange.state(self.folder / "vram-probe.state.json")


@pytest.fixture
def steps(tmp_path: Path) -> Any:
    made = Steps(tmp_path)
    yield made
    (made.folder / "vram-probe.state.json").unlink(missing_ok=True)  # whatever still samples ends


def gone(pid: int, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = read_process(pid)
        if found is None or found.ended:
            return True
        time.sleep(0.05)
    return False


def test_start_and_stop(steps: Steps) -> None:
    start = steps.phase("start")
    assert start.returncode == 0, start.stderr
    assert (steps.report["phase"], steps.report["verdict"], steps.report["unit"]) == ("start", None, "GPUs")
    assert steps.report["gpus"][0]["before_bytes"] == IDLE
    pid = steps.state.pid
    assert not gone(pid, 0)
    steps.node.use(CARD, 6 * GIB)
    time.sleep(0.3)
    steps.node.use(CARD, IDLE)
    stop = steps.phase("stop")
    assert stop.returncode == 0, stop.stderr
    report = steps.report
    assert (report["verdict"], report["gpus"][0]["peak_bytes"], report["gpus"][0]["leaked_bytes"]) == ("ok", 6 * GIB, 0)
    assert report["samples"] >= 4
    assert "6.00 GiB" in stop.stdout
    assert gone(pid)
    assert sorted(path.name for path in steps.folder.iterdir()) == ["vram-probe.record.json"]


def test_a_leak_between_the_steps(steps: Steps) -> None:
    assert steps.phase("start").returncode == 0
    steps.node.use(CARD, IDLE + GIB)
    assert steps.phase("stop").returncode == 1
    assert (steps.report["verdict"], steps.report["gpus"][0]["leaked_bytes"]) == ("leak", GIB)


def test_a_dirty_start_leaves_no_sampler(steps: Steps) -> None:
    start = steps.phase("start", "--require-clear", "100MiB")
    assert start.returncode == 3
    assert steps.report["verdict"] == "dirty-start"
    assert not list(steps.folder.glob("vram-probe.state.json"))


def test_no_gpu_leaves_no_sampler(steps: Steps) -> None:
    steps.node.gpus = ()
    start = steps.phase("start", "--path-root", str(steps.folder.parent))
    assert start.returncode == 3
    assert "there is no AMD GPU" in start.stderr
    assert not list(steps.folder.glob("vram-probe.*.log"))


def test_stop_without_start_is_wrong_use(steps: Steps) -> None:
    stop = steps.phase("stop")
    assert stop.returncode == 2
    assert "no sampler was started in this job" in stop.stderr


def test_a_sampler_that_was_killed_is_no_pass(steps: Steps) -> None:
    assert steps.phase("start").returncode == 0
    os.kill(steps.state.pid, 9)
    assert gone(steps.state.pid)
    stop = steps.phase("stop")
    assert stop.returncode == 3
    assert "the sampler left no figures" in stop.stderr


def test_a_second_start_takes_the_place_of_the_first(steps: Steps) -> None:
    assert steps.phase("start").returncode == 0
    first = steps.state.pid
    again = steps.phase("start")
    assert again.returncode == 0, again.stderr
    assert "an earlier sampler of this job still runs" in again.stderr
    assert gone(first)
    assert steps.state.pid != first
    assert steps.phase("stop").returncode == 0


def test_a_sampler_ends_with_the_temporary_folder_of_its_job(steps: Steps) -> None:
    assert steps.phase("start").returncode == 0
    pid = steps.state.pid
    (steps.folder / "vram-probe.state.json").unlink()
    assert gone(pid)


def test_a_sampler_ends_with_the_process_that_ran_the_stages(steps: Steps) -> None:
    """As `rocm-ci-gen run` does: it marks what it starts, and is the job."""
    words = [*PROGRAM, "--phase", "start", "--path-root", str(steps.node.root)]
    script = f"import subprocess; subprocess.run({words!r}, check=True)"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**steps.environ, "ROCM_CI_PROCESS": "x"}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert gone(steps.state.pid)


def test_the_job_is_found_by_the_runners_name(tmp_path: Path) -> None:
    for pid, parent, name in ((50, 40, "python3"), (40, 30, "bash"), (30, 20, "Runner.Worker"), (20, 1, "systemd")):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(f"{pid} ({name}) S {parent} {pid} {pid} 0 -1 " + "0 " * 13 + "777 0")
        (folder / "comm").write_text(f"{name}\n")
    job = find(50, {}, tmp_path)
    assert (job.pid, job.name, job.started) == (30, "Runner.Worker", 777)
    assert not job.gone(tmp_path)
    (tmp_path / "30" / "stat").write_text("30 (other) S 20 30 30 0 -1 " + "0 " * 13 + "888 0")
    assert job.gone(tmp_path), "the number is somebody else's now"
    assert not Job().gone(tmp_path)


def test_a_measurement_survives_the_way_between_the_processes(tmp_path: Path) -> None:
    measured = measurement(
        (GIB, 2 * GIB, None),
        lost={0: "gone"},
        holders_after=(Holder(0, 5, "x", 7),),
        taken=((GIB, None),),
    )
    path = tmp_path / "m.json"
    exchange.write(path, exchange.dump_measurement(measured))
    again = exchange.measurement(exchange.load(path))
    assert again.gpus == measured.gpus
    assert (again.lost, again.holders_after, again.taken) == (measured.lost, measured.holders_after, measured.taken)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 1, "measurement": {"gpus": 5}}'])
def test_a_file_that_is_none_of_ours(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(exchange.BadFileError):
        exchange.measurement(exchange.load(path))
