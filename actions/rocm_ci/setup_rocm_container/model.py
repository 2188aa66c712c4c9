"""One check of the table: what was looked at, how it stands, and the command that puts it right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rocm_ci.runner.errors import Code

Status = Literal["ok", "warn", "fail", "skip"]


@dataclass(frozen=True)
class Check:
    """A row of the table.

    Attributes:
        id: its name; `data/checks.tsv` and docs/setup-rocm-container.md explain it. No two rows have the same.
        status: `warn` never fails the stage; `skip` means that nothing was looked at, and the message says why.
        message: what was found, one sentence.
        fix: a command, or a line of the manifest; empty where nothing is to be done.
        fault: the exit code that a `fail` of it means: the node's fault, unless the repository caused it.
    """

    id: str
    status: Status
    message: str
    fix: str = ""
    fault: Code = Code.INFRA

    def as_report(self) -> dict[str, str]:
        """The row as the JSON report has it."""
        return {"id": self.id, "status": self.status, "message": self.message, "fix": self.fix}


def ok(name: str, message: str) -> Check:
    """A check that holds."""
    return Check(name, "ok", message)


def warn(name: str, message: str, fix: str) -> Check:
    """A check that does not hold and may hurt later."""
    return Check(name, "warn", message, fix)


def fail(name: str, message: str, fix: str, fault: Code = Code.INFRA) -> Check:
    """A check that does not hold: the stage is red."""
    return Check(name, "fail", message, fix, fault)


def skip(name: str, reason: str) -> Check:
    """A check that could not be made, and why."""
    return Check(name, "skip", reason)


def verdict(checks: Iterable[Check]) -> tuple[Code, Check | None]:
    """The exit code of all checks, and the first that decides it.

    A fault of the node goes before one of the repository: nothing that is said on a broken node is reliable.
    """
    failed = [check for check in checks if check.status == "fail"]
    for code in (Code.INFRA, Code.USAGE, Code.FAILED):
        for check in failed:
            if check.fault is code:
                return code, check
    return Code.PASSED, None
