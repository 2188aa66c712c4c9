"""The migration half of the check: convert the tree first, compile it afterwards, and join what both say.

In: what the user asked for. Out: the files to check (the converted ones after a conversion), and the outcome of the
check with the conversion's report and the compile test's verdict added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.runner.errors import Code, UsageError

if TYPE_CHECKING:
    from rocm_ci.hipify_check import compile as compiling
    from rocm_ci.hipify_check import convert as converting
    from rocm_ci.hipify_check.check_file import Target
    from rocm_ci.hipify_check.files import Found
    from rocm_ci.runner.stage import Outcome, StageContext


@dataclass(frozen=True, slots=True)
class Migration:
    """What is asked for beside the check.

    Attributes:
        convert: folder to convert into; None: no conversion, unless `in_place`.
        in_place: convert the sources themselves.
        compile: compile what was checked with hipcc.
        offload_arch: gfx targets of the compile test; empty: those of the node.
    """

    convert: Path | None = None
    in_place: bool = False
    compile: bool = False
    offload_arch: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.offload_arch and not self.compile:
            raise UsageError("--offload-arch is of no use without --compile", help="add --compile")
        if self.convert and self.in_place:
            raise UsageError("--convert DIR and --in-place exclude each other", help="give one of the two")


def convert(
    asked: Migration,
    source: tuple[str, ...],
    exclude: tuple[str, ...],
    jobs: int,
    target: Target,
    context: StageContext,
) -> converting.ConvertResult | None:
    """Convert, if that is asked for.

    Raises:
        UsageError, InfraError: see `convert.run`.
    """
    if not asked.convert and not asked.in_place:
        return None
    from rocm_ci.hipify_check import convert as converting

    request = converting.ConvertRequest(
        source=source,
        out=asked.convert,
        in_place=asked.in_place,
        version=target.version,
        explicit=target.explicit,
        exclude=exclude,
        jobs=jobs,
    )
    return converting.run(request, context)


def compile_test(
    asked: Migration,
    found: Found,
    roots: tuple[tuple[Path, Path], ...],
    jobs: int,
    target: Target,
    context: StageContext,
) -> compiling.CompileResult | None:
    """Compile, if that is asked for.

    Raises:
        UsageError, InfraError: see `compile.run`.
    """
    if not asked.compile:
        return None
    from rocm_ci.hipify_check import compile as compiling

    request = compiling.CompileRequest(
        found=found, roots=roots, offload_arch=asked.offload_arch, version=target.version, jobs=jobs
    )
    return compiling.run(request, context)


def joined(
    outcome: Outcome, converted: converting.ConvertResult | None, compiled: compiling.CompileResult | None
) -> Outcome:
    """The outcome of the check with what the conversion and the compile test add; the first cause stays first."""
    if converted is not None:
        outcome = replace(
            outcome,
            report={**outcome.report, "conversion": converted.report},
            text=f"{converted.text}\n\n{outcome.text}".strip(),
            summary=f"{converted.summary}\n\n{outcome.summary}",
        )
    if compiled is not None:
        worse = outcome.code is Code.PASSED and compiled.code is not Code.PASSED
        outcome = replace(
            outcome,
            code=compiled.code if worse else outcome.code,
            message=compiled.message if worse else outcome.message,
            report={**outcome.report, "compile": compiled.report},
            text=f"{outcome.text}\n\n{compiled.text}".strip(),
            summary=f"{outcome.summary}\n\n{compiled.summary}",
            annotations=[*compiled.annotations, *outcome.annotations],
        )
    return outcome
