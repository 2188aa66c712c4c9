"""A line while a check is silent, even when it is busy in Python."""

from __future__ import annotations

import threading
import time

from rocm_ci.runner.console import Console
from rocm_ci.runner.heartbeat import INTERVAL, Heartbeat


def test_the_interval_is_below_the_promised_minute() -> None:
    assert 0 < INTERVAL < 60


def test_a_line_is_printed_while_the_thread_is_busy() -> None:
    printed = threading.Event()
    lines: list[str] = []

    def emit(line: str) -> None:
        lines.append(line)
        printed.set()

    console = Console()
    with Heartbeat(lambda seconds: f"{seconds >= 0}", silent_for=lambda: console.silent_for, emit=emit, interval=0.02):
        deadline = time.monotonic() + 30
        while not printed.is_set() and time.monotonic() < deadline:
            sum(range(1000))
    assert lines[0] == "True"


def test_silence_is_counted_from_the_last_line() -> None:
    now = [0.0]
    console = Console(clock=lambda: now[0])
    now[0] = 44.0
    assert console.silent_for == 44.0
    console.progress("still alive")
    assert console.silent_for == 0.0


def test_no_line_while_the_check_prints_itself() -> None:
    asked = threading.Event()

    def silent_for() -> float:
        asked.set()
        return 0.0

    lines: list[str] = []
    with Heartbeat(str, silent_for=silent_for, emit=lines.append, interval=0.01):
        assert asked.wait(30)
    assert lines == []
