"""Waiting after a command: ROCm gives memory back late, and what comes back late is no leak.

Facts: vLLM waits up to a minute for ROCm memory to settle between tests (vllm pull requests 47536, 44761); a reading
right after the end of a process shows memory that is gone a moment later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_STEADY = 3


@dataclass(frozen=True, slots=True)
class Settled:
    """What is in use after the wait; `clear`: every known device is back to what it was, within the tolerance."""

    after: tuple[int | None, ...]
    seconds: float
    clear: bool


def wait(
    read: Callable[[], Sequence[int | None]],
    before: Sequence[int | None],
    *,
    tolerance: int,
    limit: float,
    poll: float = 0.1,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Settled:
    """Wait until the memory is back and steady, at most `limit` seconds.

    Args:
        read: used bytes of each device, now.
        before: used bytes before the command.
        tolerance: bytes above `before` that count as back.
        limit: seconds; 0 reads once.
        poll: seconds between two readings.
        clock: seconds, monotonic.
        sleep: waits.
    """
    started = clock()
    steady = 0
    now = tuple(read())
    while True:
        back = all(x is None or b is None or x <= b + tolerance for x, b in zip(now, before, strict=True))
        exact = all(x is None or b is None or x <= b for x, b in zip(now, before, strict=True))
        if exact or (back and steady >= _STEADY) or clock() - started >= limit:
            return Settled(now, clock() - started, back)
        sleep(poll)
        previous, now = now, tuple(read())
        steady = steady + 1 if now == previous else 0
