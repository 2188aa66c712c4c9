"""What a compile test is asked for, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rocm_ci.hipify_check.compile import output
from rocm_ci.hipify_check.versions import Version, show
from rocm_ci.runner.errors import Code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm_ci.hipify_check.files import Found
    from rocm_ci.runner.annotations import Annotation

Status = Literal["ok", "failed", "not-judged", "timeout"]
Cause = Literal[
    "", "header-missing", "hip-too-old", "toolchain", "ptx", "unknown-name", "unsupported-arch", "other"
]  # fmt: skip

NOT_JUDGED: frozenset[Cause] = frozenset({"header-missing", "hip-too-old", "toolchain"})
"""Causes that lie on this machine, so that they say nothing about the code."""


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What to compile, and how.

    Attributes:
        found: The files of the tree: of ``files.discover``, or ``ConvertResult.found``.
        roots: Each given path and where the files to compile lie now; the same path twice without a conversion.
        offload_arch: gfx targets; empty = those of the node's GPUs.
        version: ROCm release that the code is meant for: a name that came with it, and that the installed HIP lacks,
            is not the code's fault.
        jobs: Compilers at a time.
        timeout: Seconds for one unit.
        hipcc: The compiler; ``None`` = the one on PATH, else in ``$ROCM_PATH/bin``.
        compile_commands: A ``compile_commands.json``; ``None`` = look for one in the roots and their ``build`` folders.
        flags: Further options for each command, at its end.
    """

    found: Found
    roots: Sequence[tuple[Path, Path]]
    offload_arch: tuple[str, ...] = ()
    version: Version = (7, 0)
    jobs: int = 1
    timeout: float = 600.0
    hipcc: Path | None = None
    compile_commands: Path | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompileError:
    """The error that decided: its place (path as the compiler wrote it, made relative), and what to do."""

    path: str
    line: int | None
    column: int | None
    message: str
    name: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """One translation unit.

    Attributes:
        path: As the check shows it.
        status: What came of it.
        cause: Why it is not ``ok``; empty for ``ok`` and ``timeout``.
        error: The first error of that cause.
        errors: How many errors the compiler told.
        seconds: How long it took.
        command: What was run.
    """

    path: str
    status: Status
    cause: Cause = ""
    error: CompileError | None = None
    errors: int = 0
    seconds: float = 0.0
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompileResult:
    """A compile test that was run.

    Attributes:
        units: By path.
        compiler: Path of hipcc.
        hip: Version of HIP, as hipcc tells it; empty if it does not.
        hip_release: The same as (major, minor).
        arch: gfx targets.
        included: Sources that are no units, because another file includes them.
    """

    units: tuple[UnitResult, ...]
    compiler: str
    hip: str
    hip_release: Version | None
    arch: tuple[str, ...]
    included: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        """How many units have this status."""
        return sum(unit.status == status for unit in self.units)

    @property
    def judged(self) -> int:
        """Units of which it is known whether they compile."""
        return self.count("ok") + self.count("failed")

    @property
    def failed(self) -> bool:
        """Is there a unit that does not compile, through the code's fault?"""
        return self.count("failed") > 0

    @property
    def code(self) -> Code:
        """``FAILED`` with a failed unit; ``INFRA`` when nothing could be judged or a unit took too long."""
        if self.failed:
            return Code.FAILED
        return Code.INFRA if self.count("timeout") or not self.judged else Code.PASSED

    @property
    def message(self) -> str:
        """The first cause or the success, in one line."""
        return output.message(self)

    @property
    def release(self) -> str:
        """The HIP release in words."""
        return show(self.hip_release) if self.hip_release else "unknown"

    @property
    def report(self) -> dict[str, object]:
        """For the JSON report: ``{compiler, hip, arch, summary, causes, included, files: [...]}``."""
        return output.report(self)

    @property
    def text(self) -> str:
        """For the terminal."""
        return output.text(self)

    @property
    def summary(self) -> str:
        """For the job summary, as GitHub-flavoured Markdown."""
        return output.summary(self)

    @property
    def annotations(self) -> list[Annotation]:
        """An error for each failed unit, a warning for each that took too long."""
        return output.remarks(self)
