"""The evidence of one instance of a job, held against what the plan expects of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rocm_ci.gate.plan import Expectation
from rocm_ci.gate.strict_json import BadJsonError, integer, loads, mapping, sequence, string
from rocm_ci.runner.errors import Code, result_name

NODE_STAGE = "setup-rocm-container"
SCHEMA = 1
_GFX = re.compile(r"gfx[0-9a-f]{3,}")

Fault = Literal["code", "usage", "infra"]
"""Whose fault a reason is: the code under test or the repository, wrong use, or the node."""


@dataclass(frozen=True)
class Gpu:
    """A GPU that was seen; `gfx` without its feature suffixes, empty when unknown."""

    bdf: str
    gfx: str
    product: str


@dataclass(frozen=True)
class Evidence:
    """What a stage says it did; see `rocm_ci.runner.evidence`."""

    stage: str
    code: Code
    executed: int
    unit: str
    message: str
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True)
class Fact:
    """A reason against green."""

    fault: Fault
    why: str


def parse_evidence(text: str, stage: str) -> Evidence:
    """Read the evidence of `stage`.

    Raises:
        BadJsonError: it is none, or contradicts itself.
    """
    data = mapping(loads(text), "it")
    if integer(data.get("schema"), "its schema") != SCHEMA:
        raise BadJsonError(f"its schema is not {SCHEMA}")
    if data.get("stage") != stage:
        raise BadJsonError(f"it is that of another stage, not of {stage}")
    number = integer(data.get("code"), "its code")
    if number not in list(Code) or data.get("result") != result_name(Code(number)):
        raise BadJsonError("its result and its code contradict each other")
    return Evidence(
        stage=stage,
        code=Code(number),
        executed=integer(data.get("executed"), "its count"),
        unit=string(data.get("unit"), "its unit"),
        message=string(data.get("message"), "its message"),
        gpus=tuple(_gpu(mapping(gpu, "a GPU")) for gpu in sequence(data.get("gpus"), "its list of GPUs")),
    )


def faults_of_stage(outputs: Mapping[str, str], stage: str, instance: int) -> tuple[Evidence | None, list[Fact]]:
    """The evidence that one instance of a stage shows, and what speaks against it."""
    return _faults(outputs, f"evidence-{instance}", stage, "its check")


def faults_of_node(outputs: Mapping[str, str], expected: Expectation) -> tuple[Evidence | None, list[Fact]]:
    """What one instance of a GPU job shows of its node, and what speaks against it."""
    evidence, facts = _faults(outputs, f"node-{expected.instance}", NODE_STAGE, f"{NODE_STAGE} before it")
    if evidence is not None and not facts:
        facts = _wrong_gpus(evidence.gpus, expected)
    return evidence, facts


def faults_of_gpus(evidence: Evidence, expected: Expectation) -> list[Fact]:
    """What speaks against a GPU stage whose check passed: no GPU of the promised kind that the check itself used."""
    if not evidence.gpus:
        return [Fact("infra", "its check used no GPU, so nothing was verified on one")]
    facts = _wrong_gpus(evidence.gpus, replace(expected, gpus=1))
    return [Fact(fact.fault, f"its check: {fact.why}") for fact in facts]


def _faults(outputs: Mapping[str, str], output: str, stage: str, who: str) -> tuple[Evidence | None, list[Fact]]:
    text = outputs.get(output, "")
    if not text.strip():
        return None, [Fact("infra", f"{who} left no evidence (output `{output}` is empty)")]
    try:
        evidence = parse_evidence(text, stage)
    except BadJsonError as error:
        return None, [Fact("infra", f"the evidence of {who} (output `{output}`) is unusable: {error}")]
    said = f": {evidence.message}" if evidence.message else ""
    if evidence.code is Code.FAILED:
        return evidence, [Fact("code", f"{who} failed{said}")]
    if evidence.code is Code.USAGE:
        return evidence, [Fact("usage", f"{who} did not run{said}")]
    if evidence.code is Code.INFRA:
        return evidence, [Fact("infra", f"{who} found the node or its environment at fault{said}")]
    if evidence.executed < 1:
        return evidence, [Fact("infra", f"{who} says passed and executed nothing (0 {evidence.unit})")]
    return evidence, []


def _wrong_gpus(gpus: tuple[Gpu, ...], expected: Expectation) -> list[Fact]:
    facts = []
    if len(gpus) < expected.gpus:
        facts.append(Fact("infra", f"{len(gpus)} GPUs were seen, {expected.gpus} were promised"))
    unknown = [gpu for gpu in gpus if not _GFX.fullmatch(gpu.gfx)]
    if unknown:
        facts.append(Fact("infra", f"the gfx target of {len(unknown)} GPUs is unknown"))
    wrong = sorted({gpu.gfx for gpu in gpus if gpu not in unknown and expected.gfx and gpu.gfx not in expected.gfx})
    if wrong:
        facts.append(Fact("infra", f"{', '.join(wrong)} was seen, {' or '.join(expected.gfx)} was promised"))
    return facts


def _gpu(data: Mapping[str, object]) -> Gpu:
    def text(key: str) -> str:
        value = data.get(key)
        return value if isinstance(value, str) else ""

    return Gpu(bdf=text("bdf"), gfx=text("gfx").partition(":")[0], product=text("product"))
