"""What the workflows of a repository tell: runner labels of AMD machines, images, models, the merge queue.

Pure. A workflow is read as YAML and followed from `runs-on` into the matrix and the inputs, because a label that
stands in a job's name or in a comment is no runner.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_ci_gen.scaffold.forms import accepts
from rocm_ci_gen.scaffold.gpus import gfx_of_label

_AMD_TEXT = re.compile(r"mi\d{2,3}|gfx\d|rocm|\bamd\b|navi|strix", re.IGNORECASE)
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_MATRIX = re.compile(r"\bmatrix((?:\.[\w-]+)+)")
_INPUT = re.compile(r"\binputs\.([\w-]+)")
_LITERAL = re.compile(r"'((?:[^']|'')*)'")
_MODEL = re.compile(r"(?:--model(?:-path)?[ =]|\bvllm[ ]+serve[ ])[ ]*[\"']?([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)")
_IMAGE = re.compile(
    r"(?<![\w./:@-])((?:[a-z0-9][\w.-]*(?::\d+)?/)+[a-z0-9][\w.-]*):([A-Za-z0-9_][\w.-]{0,127})(?![\w/-])"
)
_RUNNER_KEY = re.compile(r"^(?:runner|runners|runs[-_]on|runner[-_]labels?|labels?)$", re.IGNORECASE)
# A job of this id, or a job's `name:`; steps and inputs stand further to the right.
_GATE = re.compile(r"^ {1,4}gate:[ \t]*(?:#.*)?$|^ {3,4}name:[ \t]*[\"']?gate[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)
_MOST_COMBINATIONS = 64


@dataclass(frozen=True)
class RunnerUse:
    """Labels that a job asks for together, and the workflow that does."""

    labels: tuple[str, ...]
    where: str


@dataclass(frozen=True)
class WorkflowFacts:
    """What one workflow tells.

    Attributes:
        runners: AMD machines, one entry a job.
        merge_group: It runs in the merge queue.
        gate: One of its jobs is called `gate`.
    """

    runners: tuple[RunnerUse, ...] = ()
    merge_group: bool = False
    gate: bool = False


def images(text: str) -> tuple[str, ...]:
    """ROCm images with a tag that a workflow, Dockerfile or script names, in order, repeats included."""
    found = (f"{match[1]}:{match[2]}" for match in _IMAGE.finditer(text))
    return tuple(image for image in found if "rocm" in image.lower())


def models(text: str) -> tuple[str, ...]:
    """Model names of the hub that a text passes to a server."""
    return tuple(dict.fromkeys(match[1] for match in _MODEL.finditer(text)))


def read_workflow(path: str, text: str) -> WorkflowFacts:
    """Look into a workflow; one that is no YAML tells nothing."""
    merge_group = "merge_group" in text
    gate = _GATE.search(text) is not None
    if not _AMD_TEXT.search(text):
        return WorkflowFacts(merge_group=merge_group, gate=gate)
    document = _load(text)
    jobs = _mapping(_mapping(document).get("jobs"))
    inputs = _input_defaults(document)
    found = tuple(
        RunnerUse(labels, path)
        for job in jobs.values()
        for labels in _job_labels(_mapping(job), inputs)
        if _is_amd(labels)
    )
    return WorkflowFacts(found, merge_group, gate)


def _load(text: str) -> Any:
    from ruamel.yaml import YAML

    try:
        return YAML(typ="safe", pure=True).load(text)
    except Exception:
        return None


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_amd(labels: Sequence[str]) -> bool:
    return any(
        gfx_of_label(label) or {"rocm", "amd", "amdgpu"} & set(re.split(r"[-_./]", label.lower())) for label in labels
    )


def _input_defaults(document: Any) -> dict[str, list[Any]]:
    """Defaults and choices of the workflow's inputs, by name."""
    found: dict[str, list[Any]] = {}
    events = _mapping(_mapping(document).get("on"))
    for event in ("workflow_call", "workflow_dispatch"):
        for name, spec in _mapping(_mapping(events.get(event)).get("inputs")).items():
            values = [_mapping(spec).get("default"), *_list(_mapping(spec).get("options"))]
            found.setdefault(str(name), []).extend(value for value in values if value not in (None, ""))
    return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _job_labels(job: Mapping[Any, Any], inputs: Mapping[str, list[Any]]) -> Iterator[tuple[str, ...]]:
    runs_on = job.get("runs-on")
    if isinstance(runs_on, Mapping):
        runs_on = runs_on.get("labels")
    matrix = _mapping(_mapping(job.get("strategy")).get("matrix"))
    # A reusable workflow gets its runner as an input.
    passed = [value for key, value in _mapping(job.get("with")).items() if _RUNNER_KEY.match(str(key))]
    for value in [runs_on, *passed]:
        yield from _resolve(value, matrix, inputs)


def _resolve(value: Any, matrix: Mapping[Any, Any], inputs: Mapping[str, list[Any]]) -> Iterator[tuple[str, ...]]:
    """The label lists that a `runs-on` can become."""
    if isinstance(value, str):
        for candidate in _expand(value, matrix, inputs):
            labels = _labels(candidate)
            if labels:
                yield labels
    elif isinstance(value, list):
        choices = [[item for item in _expand(str(part), matrix, inputs) if isinstance(item, str)] for part in value[:8]]
        for combination in itertools.islice(itertools.product(*choices), _MOST_COMBINATIONS):
            labels = _labels(list(combination))
            if labels:
                yield labels


def _expand(text: str, matrix: Mapping[Any, Any], inputs: Mapping[str, list[Any]]) -> list[Any]:
    """Values of a text that may be an expression; a text with an expression in its middle stays unknown."""
    match = _EXPRESSION.fullmatch(text.strip())
    if match is None:
        return [] if "${{" in text else [text]
    found: list[Any] = []
    for reference in _MATRIX.finditer(match[1]):
        found += _matrix_values(matrix, reference[1].lstrip(".").split("."))
    for name in _INPUT.findall(match[1]):
        found += inputs.get(name, [])
    for literal in _LITERAL.findall(match[1]):
        found.append(_json_or_text(literal.replace("''", "'")))
    return found


def _json_or_text(text: str) -> Any:
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _matrix_values(matrix: Mapping[Any, Any], path: list[str]) -> list[Any]:
    starts: Iterable[Any] = [
        *_list(matrix.get(path[0])),
        *(_mapping(row).get(path[0]) for row in _list(matrix.get("include"))),
    ]
    values = list(starts)
    for name in path[1:]:
        values = [_mapping(value).get(name) for value in values]
    return [value for value in values if value is not None]


def _labels(value: Any) -> tuple[str, ...]:
    """A label list that the manifest would take; empty otherwise."""
    parts = value if isinstance(value, list) else [value]
    texts = tuple(dict.fromkeys(part for part in parts if isinstance(part, str)))
    return texts if texts and all(accepts("runner-label", text) for text in texts) else ()
