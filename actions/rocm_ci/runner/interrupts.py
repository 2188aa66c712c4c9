"""Signals and the time limit of a stage: the commands that it started are ended first, then the stage."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked this process to stop (SIGALRM: its own time limit); no handler of ordinary errors catches it."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signal = signal.Signals(signum)


class Interrupts:
    """Context manager over the signal handlers of the main thread; does nothing in any other thread.

    Between `arm` and `disarm` the first signal starts `on_first` in a thread (a check that waits for its own worker
    threads would otherwise wait for commands that nobody ends) and raises `Interrupted`. Each further one only makes
    the next step of the ending due at once, see `take_hurry`. Outside of them a signal is only noted.

    Args:
        on_first: ends what the stage started.
        limit: seconds after which the stage is stopped as if by a signal, SIGALRM. The clock runs from `__enter__`.
    """

    def __init__(self, on_first: Callable[[], None], limit: float | None = None) -> None:
        self._on_first = on_first
        self._limit = limit
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None
        self._old: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._armed = False
        self.received: signal.Signals | None = None

    def arm(self) -> None:
        """From now on the first signal stops the check, also one that has come already.

        Raises:
            Interrupted: it has.
        """
        self._armed = True
        if self.received is not None and self._thread is None:
            self._stop(self.received)

    def disarm(self) -> None:
        """From now on a signal is only noted: the stage is writing its results."""
        self._armed = False
        if signal.SIGALRM in self._old:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def take_hurry(self) -> bool:
        """Whether a further signal came since this was last asked."""
        was = self._hurry.is_set()
        self._hurry.clear()
        return was

    def join(self) -> None:
        """Wait until `on_first`, if it was started, has ended everything."""
        if self._thread:
            self._thread.join()

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for signum in _SIGNALS:
                # nohup's choice stays; SIGINT is ignored in every background command of a script, which is no choice.
                if signum is not signal.SIGHUP or signal.getsignal(signum) is not signal.SIG_IGN:
                    self._old[signum] = signal.signal(signum, self._handle)
            if self._limit is not None:
                self._old[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._handle)
                signal.setitimer(signal.ITIMER_REAL, self._limit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if signal.SIGALRM in self._old:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for signum, handler in self._old.items():
            signal.signal(signum, handler if handler is not None else signal.SIG_DFL)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        del frame
        if self.received is not None:
            self._hurry.set()
            return
        self.received = signal.Signals(signum)
        if self._armed:
            self._stop(self.received)

    def _stop(self, signum: signal.Signals) -> None:
        self._thread = threading.Thread(target=self._on_first, name="rocm-ci-ending")
        self._thread.start()
        raise Interrupted(signum)
