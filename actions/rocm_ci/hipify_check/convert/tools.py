"""The real converters, where they are installed: hipify-perl and hipify-clang, one file at a time."""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.convert import rounds
from rocm_ci.runner.errors import InfraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm_ci.hipify_check.convert.model import Tool
    from rocm_ci.hipify_check.files import SourceFile
    from rocm_ci.runner.processes import ProcessRegistry

_NAMES = ("hipify-perl", "hipify-clang")
"""In the order in which ``auto`` asks for them; hipify-clang needs a CUDA toolkit as well."""


def find(program: str, environ: Mapping[str, str]) -> str | None:
    """An installed program: on PATH, or in ``$ROCM_PATH/bin`` (``/opt/rocm/bin`` without it)."""
    rocm = environ.get("ROCM_PATH") or "/opt/rocm"
    return shutil.which(program, path=environ.get("PATH")) or shutil.which(program, path=os.path.join(rocm, "bin"))  # noqa: PTH118 - a search path


def choose(tool: Tool, environ: Mapping[str, str]) -> str | None:
    """The path of the tool to run; ``None`` = convert by our own tables.

    Raises:
        UsageError: The tool that was asked for by name is not installed.
    """
    if tool == "built-in":
        return None
    if tool == "auto":
        return next((found for name in _NAMES if (found := find(name, environ))), None)
    found = find(tool, environ)
    if found is None:
        raise UsageError(
            f"{tool} is not installed: it is neither on PATH nor in $ROCM_PATH/bin",
            help="install ROCm's hipify, or leave the choice to rocm-ci: it converts without it, too",
        )
    return found


@dataclass(slots=True)
class External:
    """Converts files by an installed tool; what it fails on is left to our own tables, with the reason.

    Attributes:
        program: Path of the tool.
        processes: Runs it, so that a job that is cancelled leaves nothing behind.
        timeout: Seconds for one file.
        failures: Why the tool did not convert a file, by the file's name.
    """

    program: str
    processes: ProcessRegistry
    timeout: float
    failures: dict[str, str] = field(default_factory=dict)

    def __call__(self, file: SourceFile) -> bool:
        """Convert one file where it lies; whether the tool did.

        Raises:
            InfraError: The file cannot be written, or the stage is being ended.
        """
        location = Path(os.path.realpath(file.location))
        if rounds.read(str(location))[1]:
            self.failures[file.name] = "the tool reads no UTF-16 or UTF-32; converted by rocm-ci"
            return False
        written = location.with_name(f".{location.name[:100]}.{secrets.token_hex(6)}.hipified")
        try:
            problem = self._run(location, written)
            if problem:
                self.failures[file.name] = f"{Path(self.program).name} {problem}; converted by rocm-ci"
                return False
            rounds.write(str(location), written.read_bytes(), None)
            return True
        finally:
            written.unlink(missing_ok=True)

    def _run(self, location: Path, written: Path) -> str:
        """Run the tool; why its result cannot be used, or nothing."""
        perl = Path(self.program).name.startswith("hipify-perl")
        command = [self.program, *(["-quiet-warnings"] if perl else []), str(location), "-o", str(written)]
        if not perl:
            command += ["--", "-x", "cuda", f"-I{location.parent}"]
        done = self.processes.run(command, cwd=location.parent, timeout=self.timeout, echo=False, keep=20)
        if done.timed_out:
            return f"took longer than {self.timeout:g} s"
        if done.returncode != 0:
            last = next((line.strip() for line in reversed(done.tail) if line.strip()), "")
            return f"ended with exit code {done.returncode}" + (f" ({last[:160]})" if last else "")
        try:
            empty = written.stat().st_size == 0
        except FileNotFoundError:
            return "wrote nothing"
        except OSError as error:
            raise InfraError(f"cannot read {written}: {error.strerror}") from error
        return "wrote an empty file" if empty and location.stat().st_size else ""
