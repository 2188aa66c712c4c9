"""GitHub's `needs` context: result and outputs of every job that the gate waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from rocm_ci.gate.strict_json import BadJsonError, loads, mapping

JobResult = Literal["success", "failure", "cancelled", "skipped"]


@dataclass(frozen=True)
class Need:
    """One job: how it ended, and its outputs (only those that are text)."""

    result: JobResult
    outputs: Mapping[str, str] = field(default_factory=dict)


def parse_needs(text: str) -> dict[str, Need]:
    """Read the context as `toJSON(needs)` prints it.

    Raises:
        BadJsonError: it is no such context.
    """
    found: dict[str, Need] = {}
    for name, value in mapping(loads(text), "needs").items():
        job = mapping(value, f"needs.{name}")
        outputs = job.get("outputs")
        found[name] = Need(
            _result(job.get("result"), name),
            {
                key: item
                for key, item in mapping(outputs or {}, f"needs.{name}.outputs").items()
                if isinstance(item, str)
            },
        )
    if not found:
        raise BadJsonError("needs names no job")
    return found


def _result(value: object, name: str) -> JobResult:
    for known in get_args(JobResult):
        if value == known:
            result: JobResult = known
            return result
    raise BadJsonError(f"needs.{name}.result is none of {', '.join(get_args(JobResult))}")
