"""The record: what the check step leaves behind for the `verdict` step, and the proof that it came to its end.

One JSON file a stage, `<stage>.record.json`. It says `running` from before the check starts until everything that the
stage had to write is written; only then it says `done`, with the code. A record that still says `running`, or none at
all, means that the step died, whatever exit code the runner saw.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rocm_ci.runner.ending import Group
from rocm_ci.runner.errors import Code, InfraError
from rocm_ci.runner.files import write_atomic
from rocm_ci.runner.procfs import start_time

SCHEMA = 1


@dataclass(frozen=True)
class Record:
    """The content of a record.

    Attributes:
        stage: name of the stage.
        state: `running` or `done`.
        pid: the process that runs the check.
        pid_started: its start time in clock ticks since boot; None where there is no /proc.
        code: the verdict; None while running.
        executed: how many things were checked.
        message: the first cause or the success line.
        help: what to do.
        report: where the stage's report is.
        groups: process groups that were started and not seen to end.
    """

    stage: str
    state: Literal["running", "done"] = "running"
    pid: int = 0
    pid_started: int | None = None
    code: Code | None = None
    executed: int = 0
    message: str = ""
    help: str = ""
    report: str = ""
    groups: tuple[Group, ...] = ()

    @classmethod
    def of_this_process(cls, stage: str) -> Record:
        """A running record of the calling process."""
        return cls(stage=stage, pid=os.getpid(), pid_started=start_time(os.getpid()))


class BadRecordError(Exception):
    """A file that is no record of the stage; the message says why."""


def encode(record: Record) -> str:
    """A record as JSON."""
    return (
        json.dumps(
            {
                "schema": SCHEMA,
                "stage": record.stage,
                "state": record.state,
                "pid": record.pid,
                "pid_started": record.pid_started,
                "code": None if record.code is None else int(record.code),
                "executed": record.executed,
                "message": record.message,
                "help": record.help,
                "report": record.report,
                "groups": [
                    {"pgid": g.pgid, "started": g.started, "marker": g.marker, "command": g.command}
                    for g in record.groups
                ],
            },
            indent=1,
        )
        + "\n"
    )


def decode(text: str, stage: str) -> Record:
    """Read a record strictly: a doubtful one must never become a verdict.

    Raises:
        BadRecordError: the text is no record of `stage`.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRecordError("it is not JSON") from error
    if not isinstance(data, dict) or _number(data.get("schema")) != SCHEMA:
        raise BadRecordError(f"it is not a record of schema {SCHEMA}")
    if data.get("stage") != stage:
        raise BadRecordError("it belongs to another stage")
    state, code, executed = data.get("state"), _number(data.get("code")), _number(data.get("executed"))
    if state not in {"running", "done"}:
        raise BadRecordError("its state is unknown")
    if state == "done" and (code is None or code not in list(Code)):
        raise BadRecordError("it has no valid code")
    if executed is None or executed < 0 or (state == "done" and code == Code.PASSED and executed < 1):
        raise BadRecordError(
            "it claims success and shows nothing that was executed" if code == 0 else "a count is wrong"
        )
    groups = data.get("groups")
    return Record(
        stage=stage,
        state="done" if state == "done" else "running",
        pid=_number(data.get("pid")) or 0,
        pid_started=_number(data.get("pid_started")),
        code=Code(code) if state == "done" and code is not None else None,
        executed=executed,
        message=str(data.get("message") or ""),
        help=str(data.get("help") or ""),
        report=str(data.get("report") or ""),
        groups=tuple(_groups(groups if isinstance(groups, list) else [])),
    )


def read(path: Path, stage: str) -> Record:
    """Read the record of a stage.

    Raises:
        FileNotFoundError: there is none.
        BadRecordError: it cannot be read, or is no record of `stage`.
    """
    try:
        return decode(path.read_bytes().decode("utf-8", "replace"), stage)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadRecordError(f"it cannot be read: {error.strerror}") from error


class RecordFile:
    """The record on disk, kept up to date by the process that runs the check.

    Args:
        path: where it is.
        record: its first content; nothing is written until `write`.
    """

    def __init__(self, path: Path, record: Record) -> None:
        self.path = path
        self.record = record
        self._lock = threading.Lock()

    def write(self) -> None:
        """Write the current content.

        Raises:
            InfraError: the file cannot be written.
        """
        with self._lock:
            write_atomic(self.path, encode(self.record))

    def set_groups(self, groups: Sequence[Group]) -> None:
        """Keep the process groups that still run.

        Raises:
            InfraError: the file cannot be written.
        """
        with self._lock:
            self.record = replace(self.record, groups=tuple(groups))
            write_atomic(self.path, encode(self.record))

    def finish(self, *, code: Code, executed: int, message: str, help: str, report: str) -> bool:  # noqa: A002
        """Say that the stage came to its end; false when that could not be written."""
        with self._lock:
            self.record = replace(
                self.record, state="done", code=code, executed=executed, message=message, help=help, report=report
            )
            try:
                write_atomic(self.path, encode(self.record))
            except InfraError:
                # A stale "running" must not outlive us when a smaller change of the file system is still possible.
                with contextlib.suppress(OSError):
                    self.path.unlink()
                return False
            return True


def _groups(entries: list[object]) -> list[Group]:
    found = []
    for entry in entries:
        if isinstance(entry, dict):
            pgid, started = _number(entry.get("pgid")), _number(entry.get("started"))
            if pgid is not None and pgid > 1 and started is not None:
                found.append(Group(pgid, started, str(entry.get("marker", "")), str(entry.get("command", ""))))
    return found


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
