"""The one place that prints: redacted, whole lines, safe from several threads, with groups on GitHub."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from rocm_ci.runner.commands import keep_commands_running, neutralize, workflow_command
from rocm_ci.runner.masking import Redactor


class Console:
    """Results go to stdout, progress and errors to stderr.

    A reader that went away (`rocm-ci … | head`) ends the printing, not the check.

    Args:
        redactor: applied to everything that is printed.
        on_github: workflow commands are printed, and text is kept from being taken for one.
        stdout: where results go; the process's stdout at the time of printing by default.
        stderr: where progress and errors go; likewise.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        redactor: Redactor | None = None,
        *,
        on_github: bool = False,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.redact = redactor or Redactor()
        self.on_github = on_github
        self._stdout = stdout
        self._stderr = stderr
        self._clock = clock
        self._lock = threading.RLock()
        self._last = clock()
        self.failure: OSError | None = None
        """Why results could not be printed (a full disk); a reader that went away is no failure."""

    @property
    def silent_for(self) -> float:
        """Seconds since the last line was printed."""
        return self._clock() - self._last

    def out(self, text: str) -> None:
        """A result."""
        self._print(self._own(text), error=False)

    def progress(self, text: str) -> None:
        """What is being done, or what went wrong."""
        self._print(self._own(text), error=True)

    def relay(self, line: str) -> None:
        """A line of the user's own command; its workflow commands stay in force."""
        text = self.redact(line)
        self._print(keep_commands_running(text) if self.on_github else text, error=False)

    def command(self, line: str) -> None:
        """A workflow command, already redacted and escaped; nothing where no GitHub runner reads us."""
        if self.on_github:
            self._print(line, error=False)

    def mask(self) -> None:
        """Tell the runner which values of the environment look secret, so that it hides them in other steps too."""
        if self.on_github:
            for value in self.redact.values:
                if "\n" not in value:
                    self._print(workflow_command("add-mask", value), error=False)

    @contextlib.contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Fold what is printed inside; without a GitHub runner only the title is printed."""
        if not self.on_github:
            self.progress(title)
            yield
            return
        self._print(workflow_command("group", self.redact(title)), error=False)
        try:
            yield
        finally:
            self._print("::endgroup::", error=False)

    def _own(self, text: str) -> str:
        text = self.redact(text)
        return neutralize(text) if self.on_github else text

    def _print(self, text: str, *, error: bool) -> None:
        stream = (self._stderr or sys.stderr) if error else (self._stdout or sys.stdout)
        encoding = getattr(stream, "encoding", None) or "utf-8"
        text = text.rstrip("\n").encode(encoding, "backslashreplace").decode(encoding)
        with self._lock:
            self._last = self._clock()
            try:
                stream.write(text + "\n")
                stream.flush()
            except OSError as failure:
                if not error and failure.errno != errno.EPIPE and self.failure is None:
                    self.failure = failure
                _silence(stream)


def _silence(stream: TextIO) -> None:
    """Let further output vanish; what is left in the buffer would fail once more when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
