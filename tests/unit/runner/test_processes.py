"""Running commands and ending them: groups, signals in their order, and never somebody else's process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_ci.runner.console import Console
from rocm_ci.runner.ending import MARKER, Grace, Group, end_groups, living_members
from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.masking import Redactor
from rocm_ci.runner.processes import CommandNotFoundError, ProcessRegistry
from rocm_ci.runner.procfs import environment, read_process, start_time

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")

QUICK = Grace(interrupt=0.3, terminate=0.3, kill=20)


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


@pytest.fixture
def registry() -> Iterator[ProcessRegistry]:
    made = ProcessRegistry(dict(os.environ), grace=QUICK)
    yield made
    made.close()


def shell(script: str) -> list[str]:
    return ["bash", "-c", script]


# --- running --------------------------------------------------------------------------------------------------------


def test_output_comes_live_and_in_order(registry: ProcessRegistry, capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    done = registry.run(shell("echo one; echo two >&2; printf 'three'; exit 7"), on_line=lines.append)
    assert (done.returncode, done.timed_out, done.left_running) == (7, False, False)
    assert lines == list(done.tail) == ["one", "two", "three"]
    assert capfd.readouterr().out == "one\ntwo\nthree\n"
    assert registry.groups() == []


def test_output_is_redacted_when_printed_and_any_bytes_are_read(capfd: pytest.CaptureFixture[str]) -> None:
    registry = ProcessRegistry(os.environ, console=Console(Redactor({"A_TOKEN": "s3cr3t-value"})))
    done = registry.run(shell(r"echo s3cr3t-value; printf '\xff\x00\n'; head -c 200000 /dev/zero | tr '\0' x"), keep=2)
    assert len(done.tail) == 2
    out = capfd.readouterr().out
    assert out.startswith("***\n\ufffd\x00\n")
    assert out.count("x") == 200_000


def test_quiet_output_is_kept_and_not_printed(registry: ProcessRegistry, capfd: pytest.CaptureFixture[str]) -> None:
    assert registry.run(shell("echo hidden"), echo=False).tail == ("hidden",)
    assert capfd.readouterr().out == ""


def test_a_command_has_the_jobs_environment_and_a_group_of_its_own(tmp_path: Path) -> None:
    registry = ProcessRegistry({"PATH": os.environ["PATH"], "PYTHONPATH": "/theirs"})
    done = registry.run(shell("env; pwd; ps -o pgid= -p $$"), cwd=tmp_path, echo=False)
    variables = dict(line.split("=", 1) for line in done.tail if "=" in line)
    assert variables["PYTHONPATH"] == "/theirs"
    assert len(variables[MARKER]) == 16
    assert str(tmp_path) in done.tail
    assert int(done.tail[-1]) != os.getpgrp()


def test_a_command_that_cannot_start_is_told(registry: ProcessRegistry, tmp_path: Path) -> None:
    with pytest.raises(CommandNotFoundError, match="`no-such-program` is not found on PATH"):
        registry.run(["no-such-program", "x"])
    with pytest.raises(InfraError, match="there is no such folder"):
        registry.run(["true"], cwd=tmp_path / "missing")
    with pytest.raises(CommandNotFoundError, match="permission denied"):
        registry.run([tmp_path])
    with pytest.raises(InfraError):
        registry.run(["a\0b"])


def test_a_signal_is_the_negative_code(registry: ProcessRegistry) -> None:
    assert registry.run(shell("kill -SEGV $$")).returncode == -signal.SIGSEGV


def test_time_over_ends_the_whole_group(registry: ProcessRegistry, capfd: pytest.CaptureFixture[str]) -> None:
    done = registry.run(shell("trap '' INT; sleep 600 & sleep 600; wait"), timeout=0.2)
    assert done.timed_out
    assert done.returncode == -signal.SIGTERM
    err = capfd.readouterr().err
    assert "ran longer than 0.2 s" in err
    assert err.index("SIGINT") < err.index("SIGTERM")
    assert "SIGKILL" not in err


def test_what_a_command_leaves_in_its_group_is_ended(registry: ProcessRegistry) -> None:
    done = registry.run(shell("sleep 600 & echo $!"), echo=False)
    assert (done.returncode, done.left_running) == (0, True)
    left = read_process(int(done.tail[0]))
    assert left is None or left.ended


def test_a_daemon_that_left_the_group_is_nobodys_business(registry: ProcessRegistry, tmp_path: Path) -> None:
    done = registry.run(shell("setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $!; sleep 0.3"), echo=False)
    pid = int(done.tail[0])
    try:
        found = read_process(pid)
        assert found is not None
        assert not found.ended
        assert not done.left_running
    finally:
        os.kill(pid, signal.SIGKILL)


def test_groups_are_told_while_they_run() -> None:
    told: list[list[Group]] = []
    registry = ProcessRegistry(os.environ, on_change=lambda groups: told.append(list(groups)), grace=QUICK)
    running = registry.start(["sleep", "600"])
    (group,) = told[-1]
    assert (group.pgid, group.started, group.command) == (running.pid, start_time(running.pid), "sleep 600")
    assert running.end() == -signal.SIGINT
    assert told[-1] == []


def test_a_group_that_cannot_be_recorded_is_not_left_running() -> None:
    started: list[Group] = []

    def fail(groups: object) -> None:
        started.extend(registry.groups())
        raise InfraError("no space left")

    registry = ProcessRegistry(os.environ, on_change=fail, grace=QUICK)
    with pytest.raises(InfraError, match="no space left"):
        registry.start(["sleep", "600"])
    assert living_members(started[0]) == []


def test_nothing_starts_after_the_end() -> None:
    registry = ProcessRegistry(os.environ, grace=QUICK)
    running = registry.start(["sleep", "600"])
    registry.close()
    assert running.poll() == -signal.SIGINT
    assert registry.groups() == []
    with pytest.raises(InfraError, match="being ended"):
        registry.start(["true"])


# --- ending ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def stubborn() -> Iterator[tuple[Group, subprocess.Popen[bytes]]]:
    """A process group that answers neither SIGINT nor SIGTERM."""
    code = "import signal, time\nfor s in (2, 15): signal.signal(s, lambda *_: None)\n"
    code += "print(1, flush=True)\nwhile 1: time.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE, env={**os.environ, MARKER: "me"}
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield Group(process.pid, start_time(process.pid), "me", "stubborn"), process
    process.kill()
    process.wait()
    process.stdout.close()


def test_signals_come_in_their_order(stubborn: tuple[Group, subprocess.Popen[bytes]]) -> None:
    group, process = stubborn
    notices: list[str] = []
    assert end_groups([group], grace=Grace(0.1, 0.1, 20), notice=notices.append, poll=process.poll) == []
    assert [line.rsplit(" ", 1)[1] for line in notices] == ["SIGINT", "SIGTERM", "SIGKILL"]
    assert process.wait() == -signal.SIGKILL


def test_hurry_makes_the_next_signal_due_at_once(stubborn: tuple[Group, subprocess.Popen[bytes]]) -> None:
    group, process = stubborn
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        time.sleep(0.01)

    # With a minute for each signal and no hurry this would take two.
    end_groups([group], grace=Grace(60, 60, 20), hurry=lambda: True, poll=process.poll, sleep=sleep)
    assert process.wait() == -signal.SIGKILL
    assert len(slept) < 1000


def test_a_reused_number_is_never_hit(stubborn: tuple[Group, subprocess.Popen[bytes]]) -> None:
    group, process = stubborn
    assert group.started is not None
    for stranger in (replace(group, started=group.started - 1), replace(group, started=None)):
        assert living_members(stranger) == []
        assert end_groups([stranger], grace=QUICK) == []
    assert process.poll() is None


def test_members_without_their_leader_are_ended_only_when_they_are_ours() -> None:
    script = "trap '' INT; (exec sleep 600) & echo $!; exit 0"
    process = subprocess.Popen(
        ["bash", "-c", script], start_new_session=True, stdout=subprocess.PIPE, env={**os.environ, MARKER: "me"}
    )
    assert process.stdout is not None
    started = start_time(process.pid)
    member = int(process.stdout.readline())
    process.wait()
    process.stdout.close()
    ours = Group(process.pid, started, "me", "bash")
    wait_until(lambda: environment(member))
    try:
        assert read_process(process.pid) is None
        assert living_members(replace(ours, marker="somebody else's")) == []
        assert [found.pid for found in living_members(ours)] == [member]
        assert end_groups([ours], grace=QUICK) == []
        wait_until(lambda: (found := read_process(member)) is None or found.ended)
    finally:
        if (found := read_process(member)) and not found.ended:
            os.kill(member, signal.SIGKILL)


# --- /proc ----------------------------------------------------------------------------------------------------------


def test_a_name_with_parentheses_and_blanks_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "42"
    folder.mkdir()
    fields = ["S", "1", "42", "41", *["0"] * 15, "987", "0"]
    (folder / "stat").write_text(f"42 (a) (b c) S 9) {' '.join(fields)}\n")
    found = read_process(42, tmp_path)
    assert found is not None
    assert (found.state, found.group, found.session, found.started) == ("S", 42, 41, 987)
    (folder / "stat").write_text("42 (a) S")
    assert read_process(42, tmp_path) is None
    assert read_process(43, tmp_path) is None


def test_an_overwritten_environment_says_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "42"
    folder.mkdir()
    (folder / "environ").write_bytes(b"A=1\0B=x=y\0")
    assert environment(42, tmp_path) == {"A": "1", "B": "x=y"}
    for title in (b"", b"\0\0\0", b"VLLM::EngineCore\0", b"A=1\0sglang::scheduler\0"):
        (folder / "environ").write_bytes(title)
        assert environment(42, tmp_path) is None
    assert environment(43, tmp_path) is None
