"""Running the watched command: its output is not touched, its signals reach it, and none of it is left behind."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType

from rocm_ci.runner.ending import DEFAULT_GRACE, MARKER, Grace, Group, end_groups, living_members
from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.procfs import start_time
from rocm_ci.runner.text import one_line

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FORWARDED = (*_STOPPING, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)

_LEFT_BEHIND_SECONDS = 3.0


class CommandNotFoundError(InfraError):
    """The program of the command does not exist or may not be run."""


@dataclass(frozen=True)
class Ended:
    """A command that ended.

    Attributes:
        returncode: its exit status; negative: the number of the signal that ended it.
        seconds: how long it ran.
        stopped_by: the signal by which this process was asked to stop it; None when it ended by itself.
    """

    returncode: int
    seconds: float
    stopped_by: signal.Signals | None

    @property
    def status(self) -> int:
        """The exit status as a shell shows it: 128 + N after signal N."""
        return self.returncode if self.returncode >= 0 else 128 - self.returncode

    @property
    def words(self) -> str:
        """How it ended, as the rest of a sentence."""
        if self.returncode >= 0:
            return f"exited with status {self.returncode}"
        try:
            name = signal.Signals(-self.returncode).name
        except ValueError:
            name = f"signal {-self.returncode}"
        return f"was ended by {name}"


class Command:
    """The watched command, in a session of its own with this process's stdin, stdout and stderr.

    A context manager over the signal handlers of the main thread: SIGINT, SIGTERM and SIGHUP go to the command's
    process group, and what does not heed them gets SIGTERM and SIGKILL after the grace periods. Leaving the context
    ends whatever of the group still runs.

    Args:
        argv: program and arguments.
        environ: its whole environment.
        grace: seconds after each signal.
        notice: told what is done to it, and when it does not heed a signal.
        remember: told its group as soon as there is one.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        grace: Grace = DEFAULT_GRACE,
        notice: Callable[[str], None] = lambda _: None,
        remember: Callable[[Group], None] = lambda _: None,
    ) -> None:
        self.argv = tuple(argv)
        self.group: Group | None = None
        self.stopped_by: signal.Signals | None = None
        self._environ = dict(environ)
        self._grace = grace
        self._notice = notice
        self._remember = remember
        self._process: subprocess.Popen[bytes] | None = None
        self._old: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._ladder: threading.Thread | None = None
        self._early: list[signal.Signals] = []
        self._hurry = threading.Event()
        self._gone = threading.Event()

    def __enter__(self) -> Command:
        if threading.current_thread() is threading.main_thread():
            for signum in _FORWARDED:
                # What this process ignores (nohup: SIGHUP) the command ignores too.
                if signum is signal.SIGINT or signal.getsignal(signum) is not signal.SIG_IGN:
                    self._old[signum] = signal.signal(signum, self._forward)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._process is not None and self.group is not None:
                grace = self._grace
                if self._process.poll() is not None:  # background jobs of a shell ignore SIGINT anyway
                    grace = replace(grace, interrupt=min(grace.interrupt, _LEFT_BEHIND_SECONDS))
                end_groups([self.group], grace=grace, notice=self._notice, poll=self._process.poll)
                if self._process.poll() is None:
                    self._process.kill()
                    self._process.wait()
            self._gone.set()
            if self._ladder:
                self._ladder.join()
        finally:
            for signum, handler in self._old.items():
                signal.signal(signum, handler if handler is not None else signal.SIG_DFL)

    def run(self) -> Ended:
        """Run it to its end; processes that it leaves behind live on until the context is left.

        Raises:
            CommandNotFoundError: there is no such program.
            InfraError: it could not be started.
        """
        started = time.monotonic()
        marker = secrets.token_hex(8)
        words = list(self.argv)
        try:
            process = subprocess.Popen(words, env={**self._environ, MARKER: marker}, start_new_session=True)
        except (OSError, ValueError) as error:
            raise _cannot_start(words, error) from error
        self._process = process
        self.group = Group(process.pid, start_time(process.pid), marker, one_line(shlex.join(words), 200))
        with contextlib.suppress(InfraError):  # without a record the command still runs; the stage tells at its end
            self._remember(self.group)
        while self._early:
            self._send(self._early.pop(0))
        process.wait()
        self._gone.set()
        return Ended(process.returncode, time.monotonic() - started, self.stopped_by)

    def left(self) -> int:
        """How many processes of the command's group still run."""
        return len(living_members(self.group)) if self.group else 0

    def _forward(self, signum: int, frame: FrameType | None) -> None:
        del frame
        received = signal.Signals(signum)
        if received in _STOPPING:
            if self.stopped_by is not None and received is self.stopped_by:
                self._hurry.set()
            self.stopped_by = self.stopped_by or received
            if self._ladder is None:
                self._ladder = threading.Thread(target=self._climb, name="rocm-ci-vram-ending", daemon=True)
                self._ladder.start()
        self._send(received)

    def _send(self, signum: signal.Signals) -> None:
        if self._process is None:  # the signal came before there was a process that could have it
            self._early.append(signum)
            return
        # Not after the leader was reaped: its number may then be somebody else's.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signum)
                if signum in _STOPPING:
                    os.killpg(self._process.pid, signal.SIGCONT)  # a stopped process acts once it runs again

    def _climb(self) -> None:
        """Harder signals for a command that does not heed the first; a second Ctrl-C makes the next one due at once."""
        for signum, seconds in ((signal.SIGTERM, self._grace.interrupt), (signal.SIGKILL, self._grace.terminate)):
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and not self._hurry.is_set():
                if self._gone.wait(0.05):
                    return
            self._hurry.clear()
            self._notice(f"the command still runs {seconds:g} s after the signal; it gets {signum.name}")
            self._send(signum)


def _cannot_start(words: Sequence[str], error: Exception) -> InfraError:
    program = words[0] if words else ""
    if isinstance(error, FileNotFoundError | PermissionError):
        why = "is not found on PATH" if "/" not in program else (error.strerror or "cannot be run").lower()
        return CommandNotFoundError(f"`{program}` {why}", help="install it in the job's image, or give its full path")
    return InfraError(f"cannot run `{program}`: {error}")
