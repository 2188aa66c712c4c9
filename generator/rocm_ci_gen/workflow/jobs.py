"""From the manifest to the typed view of the workflow: plan, the stages, the user's jobs, gate."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rocm_ci_gen.manifest.model import Manifest, Stage, UserJob
from rocm_ci_gen.workflow import expressions, steps, timeouts, triggers
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.expressions import Expression
from rocm_ci_gen.workflow.instances import Placement, place, runs_on
from rocm_ci_gen.workflow.pins import Pin
from rocm_ci_gen.workflow.views import JobView, Noted, WorkflowView

WORKFLOW_NAME = "rocm-ci"
DEFAULT_MANIFEST = ".rocm-ci.yml"

_READ = {"contents": Noted("read")}


def workflow_view(manifest: Manifest, manifest_name: str, pins: Mapping[str, Pin]) -> WorkflowView:
    """The workflow of a manifest.

    Args:
        manifest: the resolved manifest.
        manifest_name: its path in the repository, with `/`.
        pins: commit and version of each third-party action that the workflow uses.

    Raises:
        RenderError: the manifest holds a value that validation should have refused.
    """
    jobs = [_plan(manifest, manifest_name, pins)]
    jobs += [_stage(manifest, stage, pins) for stage in manifest.stages]
    jobs += [_user_job(job) for job in manifest.jobs]
    jobs.append(_gate(manifest, [job.id for job in jobs]))
    ids = [job.id for job in jobs]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise RenderError(f"two jobs have the name {', '.join(twice)}.")
    command = "rocm-ci-gen render"
    if manifest_name != DEFAULT_MANIFEST:
        command += f" --manifest {shlex.quote(manifest_name)}"
    return WorkflowView(
        manifest=manifest_name,
        command=command,
        name=WORKFLOW_NAME,
        events=triggers.events(manifest),
        concurrency={
            "group": expressions.concurrency_group(manifest.forks),
            "cancel-in-progress": expressions.cancel_in_progress(manifest.cancel_in_progress),
        },
        jobs=tuple(jobs),
    )


def _plan(manifest: Manifest, manifest_name: str, pins: Mapping[str, Pin]) -> JobView:
    permissions = dict(_READ)
    if manifest.triggers.pull_request is not None:
        permissions["pull-requests"] = Noted("read", "the changed files, where git alone cannot tell them")
    return JobView(
        id="plan",
        name="plan",
        comment="What changed, and which jobs that needs.",
        runs_on=runs_on(manifest.cpu),
        timeout_minutes=timeouts.SERVICE_MINUTES,
        permissions=permissions,
        outputs={name: expressions.step_output("plan", name) for name in ("plan", "run")},
        steps=(
            steps.checkout(pins, history=True, contents=False),
            steps.plan_step(manifest, manifest_name),
        ),
    )


def _stage(manifest: Manifest, stage: Stage, pins: Mapping[str, Pin]) -> JobView:
    where = place(stage, manifest.container)
    return JobView(
        id=stage.name,
        name=where.name,
        comment=_COMMENTS[stage.name],
        needs=("plan", *stage.needs),
        condition=expressions.job_condition(stage.name, stage.needs),
        runs_on=where.runs_on,
        timeout_minutes=timeouts.job_minutes(stage),
        permissions=_stage_rights(manifest, stage),
        matrix=where.matrix,
        container=where.container,
        env=dict(stage.env),
        outputs=_evidence(stage, where),
        steps=steps.stage_steps(manifest, stage, where, pins),
    )


def _stage_rights(manifest: Manifest, stage: Stage) -> dict[str, Noted]:
    rights = dict(_READ)
    if stage.gpu and steps.labels(manifest.probe) and manifest.triggers.pull_request is not None:
        rights["pull-requests"] = Noted("write", "the label of vram-probe, which the manifest asks for")
    return rights


def _evidence(stage: Stage, where: Placement) -> dict[str, Expression]:
    """Outputs by which gate sees that every instance really checked something, and on which GPUs."""
    sources = {"node": "node", "evidence": "check"} if stage.gpu else {"evidence": "check"}
    if not where.matrix:
        return {f"{name}-1": expressions.step_output(step, "evidence") for name, step in sources.items()}
    return {
        f"{name}-{number}": expressions.instance_output(number, step, "evidence")
        for name, step in sources.items()
        for number in range(1, stage.instances + 1)
    }


def _user_job(job: UserJob) -> JobView:
    return JobView(
        id=job.name,
        name=job.name,
        comment="A job of this repository, from `jobs` of the manifest.",
        needs=("plan", *job.needs),
        condition=expressions.job_condition(job.name, job.needs),
        permissions={
            name: Noted(level, "" if (name, level) == ("contents", "read") else "asked for by the manifest")
            for name, level in job.permissions.items()
        },
        calls=steps.user_reference(job.uses, job.version),
        with_=dict(job.with_),
        secrets={name: expressions.secret(name) for name in job.secrets},
    )


def _gate(manifest: Manifest, needs: list[str]) -> JobView:
    return JobView(
        id="gate",
        name=expressions.gate_name(manifest.forks),
        comment="The one check to require on the branch: green only if every planned job is, and showed what it did.",
        needs=tuple(needs),
        condition=expressions.ALWAYS,
        runs_on=runs_on(manifest.cpu),
        timeout_minutes=timeouts.SERVICE_MINUTES,
        steps=(steps.gate_step(manifest),),
    )


_COMMENTS = {
    "hipify-check": "Residual CUDA in the sources.",
    "kernel-tests": "The kernel tests, on the GPUs.",
    "sglang-regression": "Serving: requests against an engine, held against the baseline.",
}
