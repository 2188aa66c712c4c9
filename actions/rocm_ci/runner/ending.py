"""Ending process groups: SIGINT, then SIGTERM, then SIGKILL, each with its time to act.

The order matters on a GPU: SIGKILL in the middle of HIP work can leave a KFD context and its VRAM behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.procfs import PROC, ProcessStat, environment, processes, read_process

MARKER = "ROCM_CI_PROCESS"
"""Variable in the environment of a command that we start; it tells its processes from strangers in a reused group."""


@dataclass(frozen=True)
class Group:
    """A process group that we started, as the record keeps it.

    Attributes:
        pgid: its number, which is the pid of its leader.
        started: start time of the leader in clock ticks since boot; None where there is no /proc.
        marker: value of `MARKER` in the leader's environment.
        command: what was run, redacted, for messages.
    """

    pgid: int
    started: int | None
    marker: str
    command: str


@dataclass(frozen=True)
class Grace:
    """Seconds that a group is given after each signal."""

    interrupt: float = 15.0
    terminate: float = 10.0
    kill: float = 5.0

    @property
    def ladder(self) -> tuple[tuple[signal.Signals, float], ...]:
        """The signals in their order, each with its grace."""
        return (
            (signal.SIGINT, self.interrupt),
            (signal.SIGTERM, self.terminate),
            (signal.SIGKILL, self.kill),
        )


DEFAULT_GRACE = Grace()


def living_members(group: Group, proc: Path = PROC) -> list[ProcessStat]:
    """Processes of the group that still do something; empty when the number now belongs to someone else."""
    if group.started is None:
        return []
    leader = read_process(group.pgid, proc)
    if leader is not None and leader.started != group.started:
        # A pid is not given again while a process group bears it, so our group is gone.
        return []
    members = [
        process
        for process in processes(proc)
        if process.group == group.pgid and not process.ended and process.started >= group.started
    ]
    if leader is not None:
        return members
    return [process for process in members if _is_ours(process, group, proc)]


def _is_ours(process: ProcessStat, group: Group, proc: Path) -> bool:
    """Whether a process whose leader is gone is really one of ours: its session, and its environment where readable."""
    if process.session != group.pgid:
        return False
    variables = environment(process.pid, proc)
    return variables is None or variables.get(MARKER) == group.marker


def end_groups(
    groups: Sequence[Group],
    *,
    grace: Grace = DEFAULT_GRACE,
    notice: Callable[[str], None] = lambda _: None,
    hurry: Callable[[], bool] = lambda: False,
    poll: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    proc: Path = PROC,
) -> list[Group]:
    """End groups that still run.

    Args:
        groups: what to end.
        grace: seconds after each signal.
        notice: told which signal is sent to what.
        hurry: true once the next signal is due at once (a second Ctrl-C).
        poll: called while waiting, to reap children.
        clock: seconds, monotonic.
        sleep: waits.
        proc: where processes are read.

    Returns:
        The groups that still run after SIGKILL (a process in an uninterruptible wait for a driver).
    """
    alive = _alive(groups, proc)
    for signum, seconds in grace.ladder:
        if not alive:
            return []
        for group in alive:
            notice(f"ending `{group.command}` (process group {group.pgid}) with {signum.name}")
            _send(group, signum, proc)
        deadline = clock() + seconds
        pause = 0.01
        while alive and clock() < deadline and not (hurry() and signum is not signal.SIGKILL):
            sleep(pause)
            pause = min(pause * 2, 0.25)
            poll()
            alive = _alive(alive, proc)
    return alive


def _alive(groups: Sequence[Group], proc: Path) -> list[Group]:
    return [group for group in groups if living_members(group, proc)]


def _send(group: Group, signum: signal.Signals, proc: Path) -> None:
    # Asked again right before each signal: a pid that was reused meanwhile must not be hit.
    if living_members(group, proc):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group.pgid, signum)
            if signum is not signal.SIGKILL:
                # A stopped process acts on a signal only once it runs again.
                os.killpg(group.pgid, signal.SIGCONT)
