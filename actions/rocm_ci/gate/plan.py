"""The plan, as `rocm-ci-gen plan` writes it: which jobs run, why or why not, and what each has to show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rocm_ci.gate.strict_json import BadJsonError, boolean, integer, loads, mapping, sequence, string

SCHEMA = 1
_GFX = re.compile(r"gfx[0-9a-f]{3,}")
_MOST_INSTANCES = 256
"""Jobs that one matrix can have (GitHub, usage limits)."""


@dataclass(frozen=True)
class Expectation:
    """What one instance of a GPU job has to show.

    Attributes:
        instance: its number, from 1.
        runner: the manifest's name of its runner.
        gfx: the gfx targets that are right; empty: any AMD GPU.
        gpus: logical GPUs that it must see, at least 1; the plan's null promises no number.
        shard: its part of the tests, as `1/2`; empty when there is one part.
    """

    instance: int
    runner: str
    gfx: tuple[str, ...]
    gpus: int
    shard: str

    @property
    def name(self) -> str:
        """For messages: `2, mi250, shard 2/2`."""
        shard = f"shard {self.shard}" if self.shard else ""
        return ", ".join(part for part in (str(self.instance), self.runner, shard) if part)


@dataclass(frozen=True)
class PlannedJob:
    """One job of the plan.

    Attributes:
        name: the job's id, for a stage also the stage's name.
        kind: a stage shows evidence; a job of the user only has a result.
        run: the plan asks for it.
        reason: why it runs, or why not.
        instances: how many jobs its matrix has.
        withheld: the change needs it, and the policy for forks keeps it from running.
        gpu: every instance must also show the GPUs of its node.
        expect: one entry for each instance of a GPU job.
    """

    name: str
    kind: Literal["stage", "user"]
    run: bool
    reason: str
    instances: int = 1
    withheld: bool = False
    gpu: bool = False
    expect: tuple[Expectation, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The whole plan.

    Attributes:
        event: the event it was made for.
        jobs: all jobs, those that do not run too.
        withheld_passes: a withheld job does not make the gate red; the manifest says so.
        notices: remarks of the plan, such as changed files that no stage covers.
    """

    event: str
    jobs: Mapping[str, PlannedJob]
    withheld_passes: bool = False
    notices: tuple[str, ...] = ()


def parse_plan(text: str) -> Plan:
    """Read a plan.

    Raises:
        BadJsonError: it is no plan of schema 1.
    """
    data = mapping(loads(text), "the plan")
    if integer(data.get("schema"), "its schema") != SCHEMA:
        raise BadJsonError(f"its schema is not {SCHEMA}, the one that this version knows")
    forks = mapping(data.get("forks", {}), "forks")
    withheld = string(forks.get("withheld", "fail"), "forks.withheld")
    if withheld not in {"fail", "pass"}:
        raise BadJsonError("forks.withheld is neither fail nor pass")
    jobs = mapping(data.get("jobs"), "jobs")
    return Plan(
        event=string(data.get("event", ""), "event"),
        jobs={name: _job(name, mapping(job, f"jobs.{name}")) for name, job in jobs.items()},
        withheld_passes=withheld == "pass",
        notices=tuple(str(notice) for notice in sequence(data.get("notices", []), "notices")),
    )


def _job(name: str, data: Mapping[str, object]) -> PlannedJob:
    where = f"jobs.{name}"
    kind = data.get("kind")
    if kind not in {"stage", "user"}:
        raise BadJsonError(f"{where}.kind is neither stage nor user")
    job = PlannedJob(
        name=name,
        kind="stage" if kind == "stage" else "user",
        run=boolean(data.get("run"), f"{where}.run"),
        reason=string(data.get("reason"), f"{where}.reason").strip(),
        instances=integer(data.get("instances", 1), f"{where}.instances", least=1),
        withheld=boolean(data.get("withheld", False), f"{where}.withheld"),
        gpu=boolean(data.get("gpu", False), f"{where}.gpu"),
        expect=tuple(
            _expectation(mapping(entry, f"{where}.expect"), where)
            for entry in sequence(data.get("expect", []), f"{where}.expect")
        ),
    )
    if job.run and job.withheld:
        raise BadJsonError(f"{where} both runs and is withheld")
    if job.instances > _MOST_INSTANCES:
        raise BadJsonError(f"{where}.instances is more than {_MOST_INSTANCES}")
    numbers = [entry.instance for entry in job.expect]
    if job.run and job.gpu and sorted(numbers) != list(range(1, job.instances + 1)):
        raise BadJsonError(f"{where}.expect does not name each of the {job.instances} instances once")
    return job


def _expectation(data: Mapping[str, object], where: str) -> Expectation:
    gfx = tuple(string(entry, f"{where}.expect.gfx") for entry in sequence(data.get("gfx", []), f"{where}.expect.gfx"))
    if not all(_GFX.fullmatch(entry) for entry in gfx):
        raise BadJsonError(f"{where}.expect.gfx has something that is no gfx target")
    return Expectation(
        instance=integer(data.get("instance"), f"{where}.expect.instance", least=1),
        runner=string(data.get("runner", ""), f"{where}.expect.runner"),
        gfx=gfx,
        # A GPU job that may see no GPU could be green on a node without one.
        gpus=1 if data.get("gpus") is None else max(1, integer(data["gpus"], f"{where}.expect.gpus")),
        shard=string(data.get("shard") or "", f"{where}.expect.shard"),
    )
