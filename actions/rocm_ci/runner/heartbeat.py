"""A line at least every minute while a check runs.

Some runners (container hooks on Kubernetes) take a step that is silent for about five minutes as finished and report
it as a success: actions/runner-container-hooks#331.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

INTERVAL = 45.0
"""Seconds of silence before a line is printed; below the promised 60, for a busy machine wakes threads late."""


class Heartbeat:
    """Context manager that prints `line(elapsed_seconds)` whenever nothing was printed for `interval` seconds.

    It runs in a thread of its own, so a check that is busy in Python does not silence it.

    Args:
        line: the line to print, given the seconds since the start.
        silent_for: seconds since anything was printed.
        emit: prints a line.
        interval: seconds.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        line: Callable[[float], str],
        *,
        silent_for: Callable[[], float],
        emit: Callable[[str], None],
        interval: float = INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line = line
        self._silent_for = silent_for
        self._emit = emit
        self._interval = interval
        self._clock = clock
        self._started = clock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rocm-ci-heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._started = self._clock()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        wait = self._interval
        while not self._stop.wait(wait):
            silent = self._silent_for()
            if silent >= self._interval:
                self._emit(self._line(self._clock() - self._started))
                silent = 0.0
            wait = self._interval - silent
