"""The document that a workflow view stands for, and readers of rendered workflows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from rocm_ci_gen.workflow.views import JobView, Noted, StepView, WorkflowView


def load(text: str) -> Any:
    """Read YAML 1.2 into plain data; a duplicate key is an error."""
    return YAML(typ="safe", pure=True).load(text)


def document(view: WorkflowView) -> dict[str, Any]:
    """The document as GitHub should read it."""
    return {
        "name": view.name,
        "on": plain(view.events),
        "permissions": {},
        "concurrency": plain(view.concurrency),
        "jobs": {job.id: _job(job) for job in view.jobs},
    }


def plain(value: object) -> Any:
    """Tuples as lists, our own kinds of text as `str`."""
    if isinstance(value, Noted):
        return str(value.text)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def _job(job: JobView) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": plain(job.name),
        "needs": list(job.needs),
        "if": plain(job.condition),
        "runs-on": plain(job.runs_on),
        "timeout-minutes": job.timeout_minutes,
        "strategy": {"fail-fast": False, "matrix": {"include": plain(job.matrix)}} if job.matrix else None,
        "container": None,
        "env": plain(job.env),
        "outputs": plain(job.outputs),
        "uses": plain(job.calls),
        "with": plain(job.with_),
        "secrets": plain(job.secrets),
        "steps": [_step(step) for step in job.steps],
    }
    if job.container is not None:
        data["container"] = _set(
            {
                "image": plain(job.container.image),
                "options": plain(job.container.options),
                "env": plain(job.container.env),
                "volumes": plain(job.container.volumes),
                "credentials": plain(job.container.credentials),
            }
        )
    return {**_set(data), "permissions": plain(job.permissions)}


def _step(step: StepView) -> dict[str, Any]:
    return _set(
        {
            "name": plain(step.name),
            "id": plain(step.id),
            "if": plain(step.condition),
            "uses": plain(step.uses),
            "run": plain(step.run),
            "shell": plain(step.shell),
            "working-directory": plain(step.working_directory),
            "with": plain(step.with_),
            "env": plain(step.env),
        }
    )


def _set(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value not in (None, {}, [])}
