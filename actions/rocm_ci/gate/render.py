"""The gate's verdict as text, as Markdown for the job summary, and as the body of its report."""

from __future__ import annotations

from collections import Counter

from rocm_ci.gate.decide import GateVerdict, Row
from rocm_ci.gate.proof import Evidence
from rocm_ci.runner.errors import Code, result_name
from rocm_ci.runner.text import markdown_text, one_line, plural

_SIGN = {"passed": "✅ passed", "skipped": "⚪ skipped", "withheld": "⚠️ withheld", "red": "❌ red"}


def text(verdict: GateVerdict) -> str:
    """For a terminal or a log: a line for each job, what it showed, and the plan's remarks."""
    width = max((len(row.job) for row in verdict.rows), default=0)
    lines = []
    for row in verdict.rows:
        lines.append(f"{one_line(row.job):<{width}}  {row.state:<8}  {one_line(row.why)}")
        shown = proof(row)
        if shown:
            lines.append(f"{'':<{width}}  {'':<8}  {shown}")
    lines += [f"notice: {one_line(notice)}" for notice in verdict.notices]
    return "\n".join(lines)


def markdown(verdict: GateVerdict) -> str:
    """For the job summary: a table of job, verdict, why and evidence."""
    word = "green" if verdict.code is Code.PASSED else "red"
    lines = [f"### gate: {word}", "", markdown_text(verdict.message), ""]
    if verdict.rows:
        lines += ["| job | verdict | why | evidence |", "|---|---|---|---|"]
        for row in verdict.rows:
            cells = [
                markdown_text(row.job),
                _SIGN[row.state],
                markdown_text(row.why),
                markdown_text(proof(row)) or "none",
            ]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    lines += [f"> {markdown_text(notice)}" for notice in verdict.notices]
    return "\n".join(lines) + "\n"


def proof(row: Row) -> str:
    """What a job showed, on one line: counts, then GPUs."""
    counts: Counter[str] = Counter()
    for evidence in row.evidence:
        counts[one_line(evidence.unit, 40)] += evidence.executed
    parts = [plural(count, unit) for unit, count in counts.items()]
    return ", ".join(parts + _gpus(row.nodes or row.evidence))


def report(verdict: GateVerdict) -> dict[str, object]:
    """The body of the gate's report."""
    return {
        "jobs": [
            {
                "job": row.job,
                "state": row.state,
                "why": row.why,
                "faults": [{"fault": fact.fault, "why": fact.why} for fact in row.facts],
                "evidence": [_evidence(evidence) for evidence in (*row.evidence, *row.nodes)],
            }
            for row in verdict.rows
        ],
        "notices": list(verdict.notices),
    }


def _gpus(evidence: tuple[Evidence, ...]) -> list[str]:
    seen = Counter((gpu.gfx or "unknown gfx", gpu.product) for entry in evidence for gpu in entry.gpus)
    return [
        f"{count} x {one_line(gfx, 40)}" + (f" ({one_line(product, 80)})" if product else "")
        for (gfx, product), count in seen.items()
    ]


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "stage": evidence.stage,
        "result": result_name(evidence.code),
        "code": int(evidence.code),
        "executed": evidence.executed,
        "unit": evidence.unit,
        "message": evidence.message,
        "gpus": [{"bdf": gpu.bdf, "gfx": gpu.gfx, "product": gpu.product} for gpu in evidence.gpus],
    }
