"""Processes as Linux shows them in /proc (proc_pid_stat(5)); empty answers where there is no /proc."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_ENDED = frozenset("ZXx")


@dataclass(frozen=True)
class ProcessStat:
    """One process.

    Attributes:
        pid: its number.
        state: one letter; `Z` is a zombie, ended but not yet reaped.
        group: its process group.
        session: its session.
        started: clock ticks between boot and its start; with the pid it names a process once and for all.
    """

    pid: int
    state: str
    group: int
    session: int
    started: int

    @property
    def ended(self) -> bool:
        """It does nothing any more: dead, or a zombie that PID 1 of a job container never reaps."""
        return self.state in _ENDED


def read_process(pid: int, proc: Path = PROC) -> ProcessStat | None:
    """The process with this number; None when there is none, or no /proc."""
    try:
        text = (proc / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold blanks and parentheses.
    fields = text.rpartition(")")[2].split()
    try:
        return ProcessStat(pid, fields[0], int(fields[2]), int(fields[3]), int(fields[19]))
    except (IndexError, ValueError):
        return None


def processes(proc: Path = PROC) -> Iterator[ProcessStat]:
    """All processes that can be seen."""
    try:
        names = [entry.name for entry in proc.iterdir() if entry.name.isdecimal()]
    except OSError:
        return
    for name in names:
        found = read_process(int(name), proc)
        if found:
            yield found


def start_time(pid: int, proc: Path = PROC) -> int | None:
    """`ProcessStat.started` of a process; None when it is unknown."""
    found = read_process(pid, proc)
    return found.started if found else None


def environment(pid: int, proc: Path = PROC) -> dict[str, str] | None:
    """The environment a process was started with; None when it may not be read or was overwritten.

    Programs that set their own title (vLLM's and SGLang's workers do) overwrite it.
    """
    try:
        data = (proc / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    pairs = [entry.decode("utf-8", "replace").partition("=") for entry in data.split(b"\0") if entry]
    if not pairs or any(not separator or not name for name, separator, _ in pairs):
        return None
    return {name: value for name, _, value in pairs}
