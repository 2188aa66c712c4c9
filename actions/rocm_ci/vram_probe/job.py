"""Which process is the job: a sampler that runs between steps ends when that process is gone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.ending import MARKER
from rocm_ci.runner.procfs import PROC, read_process, start_time

# Names in /proc/PID/comm of what runs the steps of one job: GitHub's runner, and act.
_RUNNERS = frozenset({"Runner.Worker", "act"})
_DEEP = 64


@dataclass(frozen=True, slots=True)
class Job:
    """The process to watch, by its number and start time; `pid` 0: there is none to watch."""

    pid: int = 0
    started: int | None = None
    name: str = ""

    def gone(self, proc: Path = PROC) -> bool:
        """Whether it has ended; never, where there is none."""
        if self.pid <= 1 or self.started is None:
            return False
        found = read_process(self.pid, proc)
        return found is None or found.ended or found.started != self.started


def find(pid: int, environ: Mapping[str, str], proc: Path = PROC) -> Job:
    """The job that a step's process belongs to.

    That is the runner's own process for the job; a command of ours that runs all stages; or, on a terminal, its shell.
    In a job container there is none of them, and none is needed: what runs in it ends with it.

    Args:
        pid: the step's process.
        environ: its environment.
        proc: where processes are read.
    """
    parent = _parent(pid, proc)
    current = parent
    for _ in range(_DEEP):
        if current <= 1:
            break
        name = _name(current, proc)
        if name in _RUNNERS:
            return _job(current, name, proc)
        current = _parent(current, proc)
    if environ.get(MARKER) and parent > 1:  # started by `rocm-ci-gen run`
        return _job(parent, _name(parent, proc), proc)
    found = read_process(pid, proc)
    if found is not None and found.session > 1 and found.session != pid and os.isatty(2):
        return _job(found.session, _name(found.session, proc), proc)
    return Job()


def _job(pid: int, name: str, proc: Path) -> Job:
    return Job(pid, start_time(pid, proc), name)


def _parent(pid: int, proc: Path) -> int:
    try:
        text = (proc / str(pid) / "stat").read_text("utf-8", "replace")
        return int(text.rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _name(pid: int, proc: Path) -> str:
    try:
        return (proc / str(pid) / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
