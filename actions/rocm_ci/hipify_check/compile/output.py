"""A compile test for the JSON report, the terminal, the job summary and the pull request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm_ci.runner.annotations import Annotation
from rocm_ci.runner.text import markdown_text, plural

if TYPE_CHECKING:
    from rocm_ci.hipify_check.compile.model import CompileResult, Status, UnitResult

_SHOWN = 100
_ROWS = 20
_SAID = {
    "header-missing": "a header is not installed here",
    "hip-too-old": "the HIP that is installed here is too old",
    "toolchain": "the compiler or its machine failed",
    "ptx": "PTX in an asm statement",
    "unknown-name": "a name that HIP does not have",
    "unsupported-arch": "the GPU does not have it",
    "other": "other errors",
}
_STATUSES: tuple[Status, ...] = ("ok", "failed", "not-judged", "timeout")


def report(result: CompileResult) -> dict[str, object]:
    """``{compiler, hip, arch, summary, causes, included, files}``."""
    return {
        "compiler": result.compiler,
        "hip": result.hip or None,
        "arch": list(result.arch),
        "summary": {"units": len(result.units)} | _counts(result),
        "causes": dict(causes(result)),
        "included": list(result.included),
        "files": [_file(unit) for unit in result.units],
    }


def causes(result: CompileResult) -> Counter[str]:
    """Units by cause."""
    return Counter(unit.cause for unit in result.units if unit.cause)


def message(result: CompileResult) -> str:
    """The first cause, or the success, in one line."""
    bad = next((unit for unit in result.units if unit.status == "failed"), None)
    late = next((unit for unit in result.units if unit.status == "timeout"), None)
    unjudged = next((unit for unit in result.units if unit.status == "not-judged"), None)
    if bad is not None:
        more = f", and {plural(result.count('failed') - 1, 'more files')}" if result.count("failed") > 1 else ""
        return f"{_where(bad)}: {_said(bad)}{more}"
    if late is not None:
        return f"{late.path} was not compiled in time ({late.seconds:.0f} s)"
    if result.judged:
        rest = f"; {plural(result.count('not-judged'), 'files')} not judged" if unjudged else ""
        return f"{plural(result.judged, 'files')} compiled for {', '.join(result.arch)}{rest}"
    if unjudged is not None:
        return f"no file could be judged; first {_where(unjudged)}: {_said(unjudged)}"
    return "there is no file to compile: no .cu or .hip file, and no C++ file that uses HIP or CUDA"


def text(result: CompileResult) -> str:
    """Each unit that is not ok with its first error, then the causes and the totals."""
    worth = [unit for unit in result.units if unit.status != "ok"]
    worth.sort(key=lambda unit: (unit.status != "failed", unit.cause, unit.path))
    lines = [f"{_where(one)}: {one.status} ({one.cause or 'time limit'}): {_said(one)}" for one in worth[:_SHOWN]]
    if len(worth) > _SHOWN:
        lines.append(f"... and {len(worth) - _SHOWN:,} more, all of them in the report")
    lines += [f"  {count:>5,}  {cause}: {_SAID[cause]}" for cause, count in causes(result).most_common()]
    lines.append(_totals(result))
    return "\n".join(lines) + "\n"


def summary(result: CompileResult) -> str:
    """Totals, causes, and the first units of each status that is not ok."""
    icon = {0: "✅", 1: "❌"}.get(int(result.code), "⚠️")
    lines = [f"### {icon} Compile test", "", markdown_text(_totals(result)) + ".", ""]
    if causes(result):
        lines += ["| Cause | Files | Judged |", "|---|---:|---|"]
        for cause, count in causes(result).most_common():
            judged = any(unit.cause == cause and unit.status == "failed" for unit in result.units)
            lines.append(f"| {cause}: {_SAID[cause]} | {count:,} | {'yes' if judged else 'no'} |")
        lines.append("")
    worth = [unit for unit in result.units if unit.status != "ok"]
    worth.sort(key=lambda unit: (unit.status != "failed", unit.cause, unit.path))
    if worth:
        lines += ["| File | Status | First error |", "|---|---|---|"]
        lines += [
            f"| {markdown_text(_where(unit))} | {unit.status} | {markdown_text(_said(unit))} |"
            for unit in worth[:_ROWS]
        ]
        if len(worth) > _ROWS:
            lines.append(f"\n… and {len(worth) - _ROWS:,} more files.")
        lines.append("")
    return "\n".join(lines)


def remarks(result: CompileResult) -> list[Annotation]:
    """One for each unit that failed or took too long."""
    found = []
    for unit in result.units:
        if unit.status == "failed" and unit.error:
            found.append(
                Annotation(
                    "error",
                    _said(unit),
                    unit.error.path or unit.path,
                    unit.error.line,
                    unit.error.column,
                    title=f"hipcc: {unit.cause}",
                )
            )
        elif unit.status == "timeout":
            found.append(Annotation("warning", _said(unit), unit.path, title="hipcc: time limit"))
    return found


def _file(unit: UnitResult) -> dict[str, object]:
    error = unit.error
    return {
        "path": unit.path,
        "status": unit.status,
        "cause": unit.cause or None,
        "error": (
            {
                "path": error.path or None,
                "line": error.line,
                "column": error.column,
                "message": error.message,
                "name": error.name or None,
                "advice": error.advice or None,
            }
            if error
            else None
        ),
        "errors": unit.errors,
        "seconds": round(unit.seconds, 3),
        "command": list(unit.command),
    }


def _counts(result: CompileResult) -> dict[str, int]:
    return {str(status): result.count(status) for status in _STATUSES}


def _where(unit: UnitResult) -> str:
    error = unit.error
    if error is None or not error.path:
        return unit.path
    place = f"{error.path}:{error.line}:{error.column}"
    return place if error.path == unit.path else f"{place} (in {unit.path})"


def _said(unit: UnitResult) -> str:
    if unit.status == "timeout":
        return f"not compiled within {unit.seconds:.0f} s"
    if unit.error is None:
        return unit.status
    return unit.error.message + (f"; {unit.error.advice}" if unit.error.advice else "")


def _totals(result: CompileResult) -> str:
    counts = ", ".join(f"{result.count(status):,} {status}" for status in _STATUSES)
    included = f"; {plural(len(result.included), 'sources')} compiled as part of others" if result.included else ""
    return (
        f"{plural(len(result.units), 'files')} compiled with HIP {result.hip or 'of unknown version'} "
        f"for {', '.join(result.arch)}: {counts}{included}"
    )
