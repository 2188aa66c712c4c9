"""Running the user's commands: each in a process group of its own, output live, and none left behind."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from rocm_ci.runner.console import Console
from rocm_ci.runner.ending import DEFAULT_GRACE, MARKER, Grace, Group, end_groups, living_members
from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.procfs import start_time
from rocm_ci.runner.text import one_line

_LONGEST_LINE = 64 * 1024
_DRAIN_SECONDS = 2.0
_FLUSH_SECONDS = 0.5
"""For small processes that end by themselves right after their command, such as `> >(tee log)`."""
_LEFTOVER_INTERRUPT_SECONDS = 3.0
"""For what a command that ended left behind: background jobs of a shell ignore SIGINT anyway."""


class CommandNotFoundError(InfraError):
    """The program of a command does not exist or may not be run."""


@dataclass(frozen=True)
class Completed:
    """A command that ended.

    Attributes:
        argv: what was run.
        returncode: its exit code; negative: the number of the signal that ended it.
        seconds: how long it ran.
        timed_out: it was ended because its time was over.
        left_running: it ended and left processes of its group behind, which were then ended.
        tail: the last lines of its output (stdout and stderr in one), without line ends.
    """

    argv: tuple[str, ...]
    returncode: int
    seconds: float
    timed_out: bool
    left_running: bool
    tail: tuple[str, ...]


class Running:
    """A command that was started; see `ProcessRegistry.start`."""

    def __init__(self, registry: ProcessRegistry, process: subprocess.Popen[bytes], group: Group) -> None:
        self.group = group
        self.process = process
        self.lines: deque[str] = deque()
        self.left_running = False
        self._registry = registry
        self._reader: threading.Thread | None = None

    @property
    def pid(self) -> int:
        """Its process number, which is also its process group."""
        return self.process.pid

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self.process.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, then end what it left behind in its group.

        Raises:
            TimeoutError: it still runs after `timeout` seconds.
        """
        try:
            returncode = self.process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"`{self.group.command}` still runs after {timeout:g} s") from error
        self._settle()
        return returncode

    def end(self) -> int:
        """End it (SIGINT, SIGTERM, SIGKILL, each with its grace) and everything in its group; its exit code."""
        self._registry.end([self.group])
        if self.process.poll() is None:
            self.process.kill()
        returncode = self.process.wait()
        self._settle()
        return returncode

    def read(self, stream: IO[bytes], each: Callable[[str], None], keep: int) -> None:
        """Start to follow its output in a thread."""
        self.lines = deque(maxlen=keep)

        def follow() -> None:
            with stream, contextlib.suppress(OSError, ValueError):
                for line in _lines(stream):
                    self.lines.append(line)
                    each(line)

        self._reader = threading.Thread(target=follow, name=f"rocm-ci-output-{self.pid}", daemon=True)
        self._reader.start()

    def drain(self, seconds: float = _DRAIN_SECONDS) -> None:
        """Let its last lines through; a process that left the group may keep the pipe open for ever."""
        if self._reader:
            self._reader.join(seconds)

    def _settle(self) -> None:
        self.drain(_FLUSH_SECONDS)
        if living_members(self.group):
            self.left_running = True
            grace = self._registry.grace
            interrupt = min(grace.interrupt, _LEFTOVER_INTERRUPT_SECONDS)
            self._registry.end([self.group], replace(grace, interrupt=interrupt))
        self.drain()
        self._registry.forget(self.group)


class ProcessRegistry:
    """Starts commands and knows which process groups still run.

    Args:
        environ: the environment of the commands: the job's own. The process's by default.
        console: where their output goes; a console on stdout by default.
        on_change: told the groups that run whenever that changes (the record keeps them).
        grace: seconds after each signal when a group is ended.
        hurry: see `end_groups`.
    """

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        console: Console | None = None,
        on_change: Callable[[Sequence[Group]], None] = lambda _: None,
        grace: Grace = DEFAULT_GRACE,
        hurry: Callable[[], bool] = lambda: False,
    ) -> None:
        self.environ = dict(os.environ if environ is None else environ)
        self.console = console or Console()
        self.grace = grace
        self._on_change = on_change
        self._hurry = hurry
        self._running: dict[int, Running] = {}
        self._closed = False
        self._lock = threading.RLock()

    def run(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        echo: bool = True,
        on_line: Callable[[str], None] | None = None,
        keep: int = 200,
    ) -> Completed:
        """Run a command to its end.

        Args:
            argv: program and arguments; no shell.
            cwd: its working folder.
            env: its whole environment instead of the job's.
            timeout: seconds, after which it is ended.
            echo: print its output as it comes.
            on_line: called with each line of its output, from another thread.
            keep: how many of the last lines `Completed.tail` holds.

        Raises:
            CommandNotFoundError: there is no such program.
            InfraError: it could not be started, or it survived SIGKILL.
        """
        started = time.monotonic()
        running = self.start(argv, cwd=cwd, env=env, echo=echo, on_line=on_line, keep=keep)
        timed_out = False
        try:
            returncode = running.wait(timeout)
        except TimeoutError:
            timed_out = True
            self.console.progress(f"`{running.group.command}` ran longer than {timeout:g} s and is ended")
            returncode = running.end()
        return Completed(
            argv=tuple(os.fspath(part) for part in argv),
            returncode=returncode,
            seconds=time.monotonic() - started,
            timed_out=timed_out,
            left_running=running.left_running,
            tail=tuple(running.lines),
        )

    def start(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        echo: bool = True,
        on_line: Callable[[str], None] | None = None,
        keep: int = 200,
    ) -> Running:
        """Start a command in a session of its own and follow its output; for arguments and errors see `run`."""
        words = [os.fspath(part) for part in argv]
        marker = secrets.token_hex(8)
        with self._lock:
            if self._closed:
                raise InfraError(f"`{shlex.join(words)}` is not started: this stage is being ended")
            try:
                process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env={**(self.environ if env is None else env), MARKER: marker},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise _cannot_start(words, cwd, error) from error
            command = one_line(self.console.redact(shlex.join(words)), 200)
            group = Group(process.pid, start_time(process.pid), marker, command)
            running = Running(self, process, group)
            self._running[group.pgid] = running
        try:
            # Before its output is followed: whoever has seen a line of it finds its group in the record.
            self._changed()
        except InfraError:
            running.end()
            raise
        finally:
            if process.stdout is not None:
                running.read(process.stdout, _both(self.console.relay if echo else None, on_line), keep)
        return running

    def groups(self) -> list[Group]:
        """The groups that were started and not seen to end."""
        with self._lock:
            return [running.group for running in self._running.values()]

    def end(self, groups: Iterable[Group], grace: Grace | None = None) -> None:
        """End groups, with the registry's grace or another one.

        Raises:
            InfraError: one of them survived SIGKILL.
        """
        left = end_groups(
            list(groups), grace=grace or self.grace, notice=self.console.progress, hurry=self._hurry, poll=self._reap
        )
        if left:
            raise InfraError(
                "not even SIGKILL ended " + ", ".join(f"`{g.command}` (process group {g.pgid})" for g in left),
                help="a process that waits inside a driver cannot be ended: look at dmesg, reset the GPU or the node",
            )

    def close(self) -> None:
        """Start nothing any more and end everything that runs.

        Raises:
            InfraError: something survived SIGKILL.
        """
        with self._lock:
            self._closed = True
            left = list(self._running.values())
        try:
            self.end([running.group for running in left])
        finally:
            self._reap()
            for running in left:
                if not living_members(running.group):
                    running.drain()
                    self.forget(running.group)

    def forget(self, group: Group) -> None:
        """Take a group that ended from the list."""
        with self._lock:
            known = self._running.pop(group.pgid, None)
        if known:
            # The record then names a group too many; its number and start time match nothing any more.
            with contextlib.suppress(InfraError):
                self._changed()

    def _changed(self) -> None:
        with self._lock:
            self._on_change(self.groups())

    def _reap(self) -> None:
        with self._lock:
            left = list(self._running.values())
        for running in left:
            running.poll()


def _lines(stream: IO[bytes]) -> Iterable[str]:
    while True:
        line = stream.readline(_LONGEST_LINE)
        if not line:
            return
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _both(first: Callable[[str], None] | None, second: Callable[[str], None] | None) -> Callable[[str], None]:
    def each(line: str) -> None:
        if first:
            first(line)
        if second:
            second(line)

    return each


def _cannot_start(words: Sequence[str], cwd: Path | None, error: Exception) -> InfraError:
    program = words[0] if words else ""
    if cwd is not None and not cwd.is_dir():
        return InfraError(f"cannot run `{program}` in {cwd}: there is no such folder")
    if isinstance(error, FileNotFoundError | PermissionError):
        why = "is not found on PATH" if "/" not in program else (error.strerror or "cannot be run").lower()
        return CommandNotFoundError(f"`{program}` {why}", help="install it in the job's image, or give its full path")
    return InfraError(f"cannot run `{program}`: {error}")
