"""A conversion for the JSON report, the terminal and the job summary."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.model import VERDICTS
from rocm_ci.runner.text import markdown_text, plural

if TYPE_CHECKING:
    from rocm_ci.hipify_check.convert.model import ConvertResult, FileConversion

_SHOWN = 200
_ROWS = 20
_HARD = ("unsupported", "manual")
_COLUMNS = {
    "Files converted": "files_converted",
    "Unchanged": "files_unchanged",
    "Copied": "files_copied",
    "Skipped": "files_skipped",
    "Places converted": "converted",
    "Left: unsupported": "left_unsupported",
    "Left: manual": "left_manual",
    "Left: convertible": "left_convertible",
}


def report(result: ConvertResult) -> dict[str, object]:
    """``{out, in_place, tool, summary, files}``; see ``model.FileConversion`` for the fields of a file."""
    return {
        "out": str(result.out) if result.out else None,
        "in_place": result.out is None,
        "tool": result.tool,
        "summary": counts(result),
        "files": [_file(file) for file in result.files],
    }


def counts(result: ConvertResult) -> dict[str, int]:
    """How many files of each status, places converted, and findings left by verdict."""
    statuses = Counter(file.status for file in result.files)
    left = Counter(finding.verdict for finding in result.left)
    return {
        "files_converted": statuses["converted"],
        "files_unchanged": statuses["unchanged"],
        "files_copied": statuses["copied"],
        "files_skipped": statuses["skipped"],
        "converted": result.converted,
        **{f"left_{verdict}": left[verdict] for verdict in VERDICTS},
    }


def text(result: ConvertResult) -> str:
    """One line a file that changed or needs a person, then the totals."""
    worth = [file for file in result.files if file.status in {"converted", "skipped"} or _hard(file) or file.reason]
    lines = [_line(file) for file in worth[:_SHOWN]]
    if len(worth) > _SHOWN:
        lines.append(f"... and {len(worth) - _SHOWN:,} more files, all of them in the report")
    lines.append(_totals(result))
    return "\n".join(lines) + "\n"


def summary(result: ConvertResult) -> str:
    """The totals, and the files in which most is left to do by hand."""
    total = counts(result)
    lines = [
        "### Conversion to HIP",
        "",
        _totals(result) + ".",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "|" + "---:|" * len(_COLUMNS),
        "| " + " | ".join(f"{total[key]:,}" for key in _COLUMNS.values()) + " |",
        "",
    ]
    hard = sorted((file for file in result.files if _hard(file)), key=lambda file: (-_hard(file), file.path))
    if hard:
        lines += ["| Left to do by hand | Unsupported | Manual |", "|---|---:|---:|"]
        lines += [
            f"| {markdown_text(file.path)} | {file.left.get('unsupported', 0):,} | {file.left.get('manual', 0):,} |"
            for file in hard[:_ROWS]
        ]
        if len(hard) > _ROWS:
            lines.append(f"\n… and {len(hard) - _ROWS:,} more files.")
        lines.append("")
    skipped = [file for file in result.files if file.status == "skipped"]
    if skipped:
        lines += [f"**Skipped ({len(skipped):,})**", ""]
        lines += [f"- {markdown_text(file.path)}: {markdown_text(file.reason)}" for file in skipped[:_ROWS]]
        lines.append("")
    return "\n".join(lines)


def _file(file: FileConversion) -> dict[str, object]:
    return {
        "path": file.path,
        "output": file.output or None,
        "status": file.status,
        "converted": file.converted,
        "added": list(file.added),
        "left": dict(file.left),
        "reason": file.reason,
    }


def _hard(file: FileConversion) -> int:
    return sum(file.left.get(verdict, 0) for verdict in _HARD)


def _line(file: FileConversion) -> str:
    parts = [f"{file.status}"]
    if file.converted:
        parts[0] += f" ({plural(file.converted, 'places')})"
    parts += [f"added {header}" for header in file.added]
    left = ", ".join(f"{file.left[verdict]:,} {verdict}" for verdict in VERDICTS[:3] if file.left.get(verdict))
    if left:
        parts.append(f"left: {left}")
    if file.reason:
        parts.append(file.reason)
    return f"{file.path}: {'; '.join(parts)}"


def _totals(result: ConvertResult) -> str:
    total = counts(result)
    left = ", ".join(f"{total[f'left_{verdict}']:,} {verdict}" for verdict in VERDICTS[:3])
    # Only the sources are converted, so this is what a person finds in the copied ones.
    copied = sum(file.left.get("convertible", 0) for file in result.files if file.status == "copied")
    if copied:
        left += f" ({copied:,} of these in build files and scripts, which are not converted)"
    where = f"into {result.out}" if result.out else "in place"
    tool = "" if result.tool == "built-in" else f" with {result.tool}"
    done = f"{plural(total['files_converted'], 'files')} converted {where}{tool}"
    others = ", ".join(f"{total[f'files_{status}']:,} {status}" for status in ("unchanged", "copied", "skipped"))
    return f"{done} ({plural(total['converted'], 'places')}), {others}; left: {left}"
