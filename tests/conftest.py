"""What every test may count on."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let SIGINT work as in a terminal.

    A background command of a script (`nohup make test &`) starts with SIGINT ignored, and so do all its children.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
