"""The command from end to end, on a made-up node whose files the watched command itself rewrites."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from rocm_ci.runner.procfs import read_process
from support.fake_node import FakeGpu, FakeNode

CARD = "0000:05:00.0"
IDLE = 297771008
GIB = 1 << 30
PROGRAM = [sys.executable, "-c", "from rocm_ci.cli import main; main()", "vram-probe"]


class Probe:
    """Runs `rocm-ci vram-probe` on a made-up node."""

    def __init__(self, tmp_path: Path, node: FakeNode) -> None:
        self.tmp_path = tmp_path
        self.node = node
        self.report_path = tmp_path / "report.json"
        self.summary = tmp_path / "summary.md"
        self.environ = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith(("INPUT_", "GITHUB_", "ROCM_"))
            },
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "USED": str(node.root / node.device(CARD) / "mem_info_vram_used"),
            "HOME": str(tmp_path),
        }

    def argv(self, *words: str) -> list[str]:
        fixed = ["--path-root", str(self.node.root), "--report", str(self.report_path), "--settle", "500ms"]
        return [*PROGRAM, *fixed, *words]

    def run(self, script: str, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*options, "--", "bash", "-c", script),
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.report_path.read_text())
        return report


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    return Probe(tmp_path, FakeNode(tmp_path / "node", [FakeGpu(CARD), FakeGpu("0000:15:00.0")]))


# --- verdicts -------------------------------------------------------------------------------------------------------


def test_a_spike_is_seen_and_what_comes_back_is_no_leak(probe: Probe) -> None:
    done = probe.run(f"echo {5 * GIB} > $USED; sleep 0.3; echo {IDLE} > $USED")
    assert done.returncode == 0, done.stderr
    report = probe.report
    assert (report["verdict"], report["result"], report["unit"]) == ("ok", "passed", "samples")
    first, second = report["gpus"]
    keys = ("bdf", "gfx", "capacity_bytes", "before_bytes", "peak_bytes", "after_bytes", "leaked_bytes")
    assert [first[key] for key in keys] == [CARD, "gfx942", 206141652992, IDLE, 5 * GIB, IDLE, 0]
    assert second["peak_bytes"] == IDLE
    assert report["samples"] == report["executed"] >= 4
    assert max(report["series"]["used_bytes"][0]) == 5 * GIB
    assert report["command"]["exit_status"] == 0


def test_a_leak(probe: Probe) -> None:
    probe.node.process(4242, {0: GIB}, name="python3")
    done = probe.run(f"echo {5 * GIB} > $USED; sleep 0.2; echo {IDLE + GIB} > $USED")
    assert done.returncode == 1
    assert (probe.report["verdict"], probe.report["code"]) == ("leak", 1)
    assert probe.report["gpus"][0]["leaked_bytes"] == GIB
    assert "1.00 GiB of VRAM stayed in use on 0000:05:00.0" in done.stderr
    assert "process 4242 (python3): 1.00 GiB" in done.stderr
    after = [each for each in probe.report["gpus"][0]["processes"] if each["when"] == "after"]
    assert after == [{"when": "after", "pid": 4242, "name": "python3", "bytes": GIB}]


def test_memory_that_comes_back_late_is_no_leak(probe: Probe) -> None:
    late = f"(sleep 0.4; echo {IDLE} > $USED) &"
    done = probe.run(f"echo {5 * GIB} > $USED; sleep 0.1; setsid bash -c '{late}'", "--settle", "5s")
    assert done.returncode == 0, done.stderr
    assert 0.2 < probe.report["sampling"]["settle_seconds"] < 4


def test_a_gpu_that_goes_away_is_the_nodes_fault(probe: Probe) -> None:
    done = probe.run('rm -r "$(dirname $USED)"; sleep 0.4; exit 1')
    assert done.returncode == 3, done.stderr
    report = probe.report
    assert (report["verdict"], report["result"]) == ("lost", "infra")
    gpu = report["gpus"][0]
    assert (gpu["after_bytes"], gpu["leaked_bytes"]) == (None, None)
    assert gpu["unknown"]["after_bytes"]
    assert report["gpus"][1]["after_bytes"] == IDLE


def test_a_dirty_start_does_not_run_the_command(probe: Probe) -> None:
    probe.node.use(CARD, 3 * GIB)
    done = probe.run("touch $RUNNER_TEMP/ran", "--require-clear", "1GiB")
    assert done.returncode == 3
    assert probe.report["verdict"] == "dirty-start"
    assert probe.report["gpus"][0]["before_bytes"] == 3 * GIB
    assert probe.report["gpus"][0]["peak_bytes"] is None
    assert "3.00 GiB in use on 0000:05:00.0, allowed is 1GiB" in done.stderr
    assert not (probe.tmp_path / "temp" / "ran").exists()
    assert probe.run("true", "--require-clear", "2%").returncode == 0


def test_growth_against_earlier_runs(probe: Probe) -> None:
    file = probe.tmp_path / "vram.json"
    options = ("--baseline", str(file), "--max-growth", "10%")
    script = f"echo $SIZE > $USED; sleep 0.15; echo {IDLE} > $USED"
    first = probe.run(script, *options, SIZE=str(4 * GIB))
    assert first.returncode == 0, first.stderr
    assert probe.report["growth"][0]["baseline_bytes"] is None
    assert probe.run(script, *options, SIZE=str(4 * GIB)).returncode == 0
    assert probe.report["growth"][0]["ratio"] == 1.0
    more = probe.run(script, *options, SIZE=str(5 * GIB))
    assert (more.returncode, probe.report["verdict"]) == (1, "growth")
    assert "performance warning" in more.stderr
    # A run that is too large does not become what the next one is held against.
    assert len(json.loads(file.read_text())["commands"].popitem()[1]) == 2


def test_a_pull_request_does_not_change_the_baseline(probe: Probe) -> None:
    file = probe.tmp_path / "vram.json"
    options = ("--baseline", str(file))
    assert probe.run("true", *options, GITHUB_EVENT_NAME="pull_request").returncode == 0
    assert not file.exists()
    assert probe.run("true", *options, "--update-baseline", "never").returncode == 0
    assert not file.exists()
    assert probe.run("true", *options, "--update-baseline", "always", GITHUB_EVENT_NAME="pull_request").returncode == 0
    assert file.exists()


def test_a_limit_without_a_file_uses_the_tool_cache(probe: Probe) -> None:
    cache = probe.tmp_path / "tools"
    assert probe.run("true", "--max-growth", "10%", RUNNER_TOOL_CACHE=str(cache)).returncode == 0
    assert len(list(cache.glob("rocm-ci/vram-baseline/*.json"))) == 1
    assert probe.report["baseline"].startswith(str(cache))


def test_a_broken_baseline_is_told_before_anything_runs(probe: Probe) -> None:
    file = probe.tmp_path / "vram.json"
    file.write_text("nonsense")
    done = probe.run("touch $RUNNER_TEMP/ran", "--baseline", str(file))
    assert done.returncode == 2
    assert "is not JSON" in done.stderr
    assert not (probe.tmp_path / "temp" / "ran").exists()


def test_repetitions(probe: Probe) -> None:
    script = f"echo x >> $RUNNER_TEMP/runs; echo {2 * GIB} > $USED; sleep 0.12; echo {IDLE} > $USED"
    (probe.tmp_path / "temp").mkdir()
    assert probe.run(script, "--repeat", "3").returncode == 0
    assert (probe.tmp_path / "temp" / "runs").read_text() == "x\n" * 3
    assert probe.report["gpus"][0]["taken_bytes"] == [2 * GIB - IDLE] * 3
    assert probe.run("exit 5", "--repeat", "3").returncode == 5
    assert probe.report["command"]["runs"] == 1


# --- the command keeps what is its own ------------------------------------------------------------------------------


def test_output_is_not_touched(probe: Probe) -> None:
    done = subprocess.run(
        probe.argv("--", "bash", "-c", r"printf '\xff\x00a\r\n::warning::x\nno end'; printf 'err' >&2; cat"),
        env=probe.environ,
        input=b"given",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == b"\xff\x00a\r\n::warning::x\nno endgiven"
    assert done.stderr.startswith(b"err")


def test_its_environment_is_the_jobs(probe: Probe) -> None:
    done = probe.run("env", INPUT_INTERVAL="20ms", OWN="yes")
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert "OWN" in names
    assert not names & {"INPUT_INTERVAL", "PYTHONPATH", "PYTEST_ADDOPTS", "ROCM_CI_VRAM_TESTS"} - set(os.environ)


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("exit 3", 3), ("kill -KILL $$", 137), ("kill $$", 143)])
def test_its_status_is_passed_on(probe: Probe, script: str, status: int) -> None:
    done = probe.run(script)
    assert done.returncode == status
    report = probe.report
    assert (report["code"], report["result"], report["verdict"]) == (1, "failed", "ok")
    assert report["command"]["exit_status"] == status
    assert report["command"]["signal"] == (status - 128 if status > 128 else None)


def test_in_an_action_the_second_step_decides(probe: Probe) -> None:
    output = probe.tmp_path / "output"
    done = probe.run("exit 7", ROCM_CI_VERDICT="deferred", GITHUB_OUTPUT=str(output))
    assert done.returncode == 0
    assert "peak-bytes" in output.read_text()
    assert f"{IDLE}" in output.read_text()
    verdict = subprocess.run([*PROGRAM[:3], "verdict", "vram-probe"], env=probe.environ, check=False)
    assert verdict.returncode == 1


def test_a_command_that_does_not_exist(probe: Probe) -> None:
    done = subprocess.run(
        probe.argv("--", "no-such-program"), env=probe.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "`no-such-program` is not found on PATH" in done.stderr


def ended(pid: int) -> bool:
    """Whether a process is gone, or a zombie that nobody reaps."""
    found = read_process(pid)
    return found is None or found.ended


def started(probe: Probe, script: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        probe.argv("--", "bash", "-c", script),
        env=probe.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_command_which_may_end_as_it_likes(probe: Probe, signum: signal.Signals) -> None:
    name = signum.name.removeprefix("SIG")
    process = started(probe, f"trap 'echo caught; exit 9' {name}; echo ready; while :; do sleep 0.05; done")
    process.send_signal(signum)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (9, "caught\n")
    assert probe.report["command"]["stopped_by"] == signum.name


def test_a_command_that_a_signal_ends(probe: Probe) -> None:
    process = started(probe, "echo ready; exec sleep 600")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143


def test_a_signal_that_is_no_end_is_passed_on_and_the_run_goes_on(probe: Probe) -> None:
    process = started(probe, "trap 'echo one; exit 0' USR1; echo ready; while :; do sleep 0.05; done")
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "one\n")


def test_a_second_signal_does_not_wait_for_the_grace(probe: Probe) -> None:
    process = started(probe, "trap '' INT TERM; echo ready; while :; do sleep 0.05; done")
    begun = time.monotonic()
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.4)
    process.communicate(timeout=30)
    assert process.returncode == 137
    assert time.monotonic() - begun < 20  # the grace periods alone are 25 s


def test_what_the_command_leaves_behind_is_measured_and_ended(probe: Probe) -> None:
    script = f"echo {IDLE + GIB} > $USED; sleep 600 & echo $! > $RUNNER_TEMP/pid"
    done = probe.run(script)
    assert done.returncode == 1
    assert probe.report["verdict"] == "leak"
    assert "left 1 of its processes running" in done.stderr
    pid = int((probe.tmp_path / "temp" / "pid").read_text())
    assert ended(pid)


def test_a_probe_that_is_killed_leaves_the_command_to_the_verdict_step(probe: Probe) -> None:
    process = started(probe, "echo $$ > $RUNNER_TEMP/pid; echo ready; exec sleep 600")
    pid = int((probe.tmp_path / "temp" / "pid").read_text())
    # The command runs a moment before the record names it: nothing can hold it back without touching its start.
    record = probe.tmp_path / "temp" / "rocm-ci" / "vram-probe.record.json"
    deadline = time.monotonic() + 10
    while f'"pgid": {pid}' not in record.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # the command holds the other end
    process.stderr.close()
    assert not ended(pid)
    verdict = subprocess.run(
        [*PROGRAM[:3], "verdict", "vram-probe"], env=probe.environ, capture_output=True, text=True, check=False
    )
    assert verdict.returncode == 3
    assert ended(pid)


# --- outputs --------------------------------------------------------------------------------------------------------


def test_every_file_that_was_asked_for(probe: Probe) -> None:
    files = {name: probe.tmp_path / f"out.{name}" for name in ("prometheus", "html", "svg")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    assert probe.run(f"echo {GIB} > $USED; sleep 0.12; echo {IDLE} > $USED", *options).returncode == 0
    lines = files["prometheus"].read_text().splitlines()
    assert f'rocm_ci_vram_peak_bytes{{bdf="{CARD}",gfx="gfx942"}} {GIB}' in lines
    assert "<svg" in files["html"].read_text()
    assert files["svg"].read_text().startswith("<svg")
    summary = probe.summary.read_text()
    assert "### vram-probe: ✅ ok" in summary
    assert "```mermaid\nxychart-beta" in summary
    assert f"| {CARD} | gfx942 | 191.98 GiB | 284 MiB | 1.00 GiB | 284 MiB | 0 B | - |" in summary


@pytest.mark.parametrize("option", ["--report", "--prometheus", "--html", "--svg", "--baseline"])
def test_a_file_that_cannot_be_written_is_no_pass(probe: Probe, option: str) -> None:
    done = probe.run("true", option, "/proc/nowhere/file")
    assert done.returncode == 3
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_hides_no_verdict(probe: Probe) -> None:
    done = probe.run("exit 5", "--html", "/dev/full")
    assert done.returncode == 5, done.stderr
    assert "cannot write /dev/full" in done.stderr
    assert "the command exited with status 5" in done.stderr
    assert probe.report["verdict"] == "ok"


def test_a_full_disk_is_no_pass(probe: Probe) -> None:
    done = probe.run("true", "--prometheus", "/dev/full")
    assert done.returncode == 3
    assert "no space left" in done.stderr


def test_metrics_are_served_while_the_command_runs(probe: Probe) -> None:
    fetch = (
        "import sys, time, urllib.request\n"
        "time.sleep(0.2)\n"
        "sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())\n"
    )
    script = (
        f"echo {7 * GIB} > $USED; {sys.executable} -c '{fetch}' http://127.0.0.1:$PORT/metrics; echo {IDLE} > $USED"
    )
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = probe.run(script, "--metrics-port", str(port), PORT=str(port))
    assert done.returncode == 0, done.stderr
    assert f'rocm_ci_vram_used_bytes{{bdf="{CARD}",gfx="gfx942"}} {7 * GIB}' in done.stdout
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)


# --- nodes ----------------------------------------------------------------------------------------------------------


def test_no_gpu_is_infra_in_a_sentence(probe: Probe) -> None:
    shutil.rmtree(probe.node.root / "sys")
    done = probe.run("touch $RUNNER_TEMP/ran")
    assert done.returncode == 3
    assert re.search(r"vram-probe: infra: there is no AMD GPU below .*", done.stderr)
    assert "/dev/kfd" in done.stderr
    assert not (probe.tmp_path / "temp" / "ran").exists()


@pytest.mark.parametrize("text", ["", "N/A", "garbage", "-1"])
def test_a_counter_that_says_nothing_is_no_zero(probe: Probe, text: str) -> None:
    probe.node.write(f"{probe.node.device('0000:15:00.0')}/mem_info_vram_used", text)
    done = probe.run("true")
    assert done.returncode == 3, done.stderr
    assert probe.report["verdict"] is None
    if len(probe.report.get("gpus", [])) == 2:
        gpu = probe.report["gpus"][1]
        assert (gpu["before_bytes"], gpu["peak_bytes"], gpu["leaked_bytes"]) == (None, None, None)
        assert gpu["unknown"]["before_bytes"]


def test_wrong_use(probe: Probe) -> None:
    for words in (
        [],
        ["--phase", "start", "--run", "true"],
        ["--run", "true", "--", "true"],
        ["--phase", "start", "--repeat", "2"],
        ["--interval", "0", "--", "true"],
        ["--max-leak", "10%", "--", "true"],
        ["--max-growth", "10", "--", "true"],
    ):
        done = subprocess.run(probe.argv(*words), env=probe.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 2, (words, done.stderr)


def test_a_line_for_bash(probe: Probe) -> None:
    done = subprocess.run(
        probe.argv(), env={**probe.environ, "INPUT_RUN": "echo $((1 + 1))"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
