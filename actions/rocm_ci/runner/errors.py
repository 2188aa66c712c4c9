"""Exit codes of `rocm-ci`, and one class of error for each code that is not success."""

from __future__ import annotations

import enum
from typing import ClassVar


class Code(enum.IntEnum):
    """Exit code of a command, and `code` in reports, evidence and records."""

    PASSED = 0
    FAILED = 1
    """The code under test failed the check."""
    USAGE = 2
    """Wrong use: a bad option, a bad manifest, something that this version does not have."""
    INFRA = 3
    """The node or its environment is at fault, or nothing was executed."""


RESULT_NAMES: dict[Code, str] = {Code.PASSED: "passed", Code.FAILED: "failed", Code.INFRA: "infra"}
"""The output `result`. `Code.USAGE` has none: a stage that was used wrongly has no result."""


def result_name(code: Code) -> str:
    """The output `result` for an exit code; empty for `Code.USAGE`."""
    return RESULT_NAMES.get(code, "")


class RocmCiError(Exception):
    """An error with an exit code; `message` says what happened and where, `help` what to do."""

    code: ClassVar[Code] = Code.INFRA

    def __init__(self, message: str, *, help: str = "") -> None:  # noqa: A002 - the word that users read
        super().__init__(message)
        self.message = message
        self.help = help


class CheckFailed(RocmCiError):  # noqa: N818 - a verdict, not a mistake
    """The code under test failed the check."""

    code = Code.FAILED


class UsageError(RocmCiError):
    """Wrong use of a command, an input or a file that the user writes."""

    code = Code.USAGE


class NotAvailable(UsageError):  # noqa: N818 - what it says to the user
    """A command or an option that exists by name and is not built in this version. Never a pass."""


class InfraError(RocmCiError):
    """The node, its environment or its file system is at fault, not the code under test."""

    code = Code.INFRA
