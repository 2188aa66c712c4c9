"""What a conversion is asked for, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rocm_ci.hipify_check.convert import output
from rocm_ci.hipify_check.versions import NEWEST, Version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rocm_ci.hipify_check.files import Found
    from rocm_ci.hipify_check.model import Finding

Tool = Literal["auto", "built-in", "hipify-perl", "hipify-clang"]
Status = Literal["converted", "unchanged", "copied", "skipped"]


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    """What to convert, and to where.

    Attributes:
        source: Paths, as the user gave them.
        out: Folder to make; ``None`` only with ``in_place``.
        in_place: Change the sources themselves; refused unless git could bring them back.
        version: ROCm release whose names to write.
        explicit: Whether the user named that release; see ``check_file.Target``.
        exclude: Globs of paths to leave out, of the check and of the copy.
        jobs: Processes.
        tool: What converts: ``auto`` takes an installed hipify-perl, else an installed hipify-clang, else our own.
        tool_timeout: Seconds that the tool may take for one file.
    """

    source: tuple[str, ...]
    out: Path | None = None
    in_place: bool = False
    version: Version = NEWEST
    explicit: bool = False
    exclude: tuple[str, ...] = ()
    jobs: int = 1
    tool: Tool = "auto"
    tool_timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class FileConversion:
    """What became of one file.

    Attributes:
        path: As the check shows it.
        output: Where it is now: below ``out``, with ``/``; in place the path itself; empty if it was left out.
        status: ``converted`` = at least one place was changed; ``unchanged`` = a source with nothing to convert;
            ``copied`` = of a kind that is not converted; ``skipped`` = could not be read or copied, see ``reason``.
        converted: Findings that were converted.
        added: Headers that were added, because hipcc does not bring them by itself as nvcc does.
        left: Findings that remain, by verdict (``convertible``, ``manual``, ``unsupported``, ``note``).
        reason: Why it was skipped, or why our own converter did what the tool could not; empty = nothing to say.
    """

    path: str
    output: str
    status: Status
    converted: int = 0
    added: tuple[str, ...] = ()
    left: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConvertResult:
    """A conversion that was done.

    Attributes:
        out: The folder with the converted tree; in place ``None``.
        tool: What converted: ``built-in``, or the tool's path.
        files: Every file of the tree, by path.
        left: The findings of the converted tree, by path and place; paths are those of the sources.
        found: The converted sources, ready for ``engine.check`` (to judge what is left) and for ``compile.run``; the
            names are those of the sources, the locations are where the converted files lie.
        roots: Each given path and where its converted counterpart lies.
    """

    out: Path | None
    tool: str
    files: tuple[FileConversion, ...]
    left: tuple[Finding, ...]
    found: Found
    roots: tuple[tuple[Path, Path], ...]

    @property
    def converted(self) -> int:
        """Findings that were converted, in all files together."""
        return sum(file.converted for file in self.files)

    @property
    def report(self) -> dict[str, object]:
        """For the JSON report: ``{out, in_place, tool, summary, files: [...]}``."""
        return output.report(self)

    @property
    def text(self) -> str:
        """For the terminal."""
        return output.text(self)

    @property
    def summary(self) -> str:
        """For the job summary, as GitHub-flavoured Markdown."""
        return output.summary(self)
