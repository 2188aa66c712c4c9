"""The steps of a stage: ours around the user's.

Order: checkout, setup-rocm-container, `before`, the check (inside vram-probe), `after`, the reports. The node is
checked before the user's own steps: a build on a node without a GPU wastes an hour and then fails for a reason that is
not its own, and a build needs the requirements that setup-rocm-container installs.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocm_ci_gen.manifest.model import Manifest, Source, Stage, Step
from rocm_ci_gen.manifest.references import local_path
from rocm_ci_gen.workflow import expressions
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.expressions import Expression
from rocm_ci_gen.workflow.instances import Placement
from rocm_ci_gen.workflow.pins import CHECKOUT, UPLOAD, Pin
from rocm_ci_gen.workflow.views import Noted, Scalar, StepView

Pins = Mapping[str, Pin]


def stage_steps(manifest: Manifest, stage: Stage, place: Placement, pins: Pins) -> tuple[StepView, ...]:
    """Steps of a stage's job."""
    steps = [checkout(pins, history=needs_history(stage))]
    reports = ["check"]
    if stage.gpu:
        steps.append(_node(manifest, place))
        reports.insert(0, "node")
    steps += [_user_step(step) for step in stage.before]
    check = _check(manifest, stage, place)
    if stage.gpu and manifest.probe is not None:
        start, stop = _probe(manifest.uses, manifest.probe)
        steps += [start, check, stop]
        reports += ["vram", "vram-stop"]
    else:
        steps.append(check)
    steps += [_user_step(step, expressions.NOT_CANCELLED) for step in stage.after]
    probe = manifest.probe if stage.gpu and manifest.probe is not None else {}
    pictures = [Expression(probe[name]) for name in ("html", "svg") if name in probe]
    in_matrix = bool(place.matrix)
    steps.append(_keep(stage, reports, pins, manifest.retention_days, pictures=pictures, in_matrix=in_matrix))
    return tuple(steps)


def labels(probe: Mapping[str, str] | None) -> bool:
    """Whether vram-probe is asked to label pull requests."""
    return probe is not None and probe.get("label") == "true"


def needs_history(stage: Stage) -> bool:
    """Whether the stage's check compares with other commits."""
    return stage.options.get("changed-only") == "true" or "against" in stage.options


def checkout(pins: Pins, *, history: bool = False, contents: bool = True) -> StepView:
    """Check the repository out, without leaving the token behind.

    Args:
        pins: the commits of third-party actions.
        history: all commits.
        contents: False fetches the contents of other commits' files only when something reads them.
    """
    options: dict[str, Scalar] = {}
    if history:
        options["fetch-depth"] = 0
    if not contents:
        options["filter"] = "blob:none"
    options["persist-credentials"] = False
    return StepView(name="Check out", uses=_pinned(CHECKOUT, pins), with_=options)


def plan_step(manifest: Manifest, manifest_name: str) -> StepView:
    """The step that decides what runs."""
    inputs = {"command": "plan", "manifest": manifest_name}
    return StepView(name="Decide what runs", id="plan", uses=_own(manifest.uses), with_=inputs)


def gate_step(manifest: Manifest) -> StepView:
    """The step that decides whether all that was planned is green."""
    inputs = {"command": "gate", "needs": expressions.NEEDS}
    name = "Every planned job succeeded and showed evidence"
    return StepView(name=name, id="gate", uses=_own(manifest.uses), with_=inputs)


def user_reference(uses: str, version: str | None) -> Noted:
    """An action or workflow of the user's, with its version as a comment.

    One of the same repository (`./…` or `$/…`) is written `$/…`: the commit that runs, whatever has become of the
    checkout. GitHub's changelog of 2026-07-30, which recommends it; a step needs runner 2.336 or newer.
    """
    local = local_path(uses)
    return Noted(uses if local is None else f"$/{local}", version or "")


def _node(manifest: Manifest, place: Placement) -> StepView:
    inputs: dict[str, Scalar] = {**place.expectations, **manifest.node}
    if manifest.requirements is not None:
        inputs["requirements"] = manifest.requirements
    return StepView(name="Check the node", id="node", uses=_own(manifest.uses, "setup-rocm-container"), with_=inputs)


def _check(manifest: Manifest, stage: Stage, place: Placement) -> StepView:
    inputs: dict[str, Scalar] = dict(stage.options)
    inputs["timeout"] = stage.timeout
    if place.shard is not None:
        inputs["shard"] = place.shard
    return StepView(
        name=stage.name,
        id="check",
        uses=_own(manifest.uses, stage.name),
        with_=inputs,
        env={name: expressions.secret(name) for name in stage.secrets},
    )


def _probe(uses: Source, options: Mapping[str, str]) -> tuple[StepView, StepView]:
    # Only the step that judges sets the label, and only it gets the token for that.
    env = {"GITHUB_TOKEN": Expression("${{ github.token }}")} if labels(options) else {}

    def phase(name: str, step: str, condition: Expression | None = None) -> StepView:
        return StepView(
            name=f"vram-probe, {name}",
            id=step,
            condition=condition,
            uses=_own(uses, "vram-probe"),
            with_={"phase": name, **options},
            env=env if name == "stop" else {},
        )

    # Also after a cancelled check: on a host without a container the sampler would go on.
    ended = Expression("${{ always() && steps.vram.outcome == 'success' }}")
    return phase("start", "vram"), phase("stop", "vram-stop", ended)


def _user_step(step: Step, condition: Expression | None = None) -> StepView:
    env: dict[str, str] = dict(step.env)
    for name in step.secrets:
        if name in env:
            raise RenderError(f"the step sets {name} both in `env` and in `secrets`.")
        env[name] = expressions.secret(name)
    if step.uses is not None:
        return StepView(
            name=step.name,
            condition=condition,
            uses=user_reference(step.uses, step.version),
            with_=dict(step.with_),
            env=env,
        )
    return StepView(
        name=step.name,
        condition=condition,
        run=step.run,
        shell=step.shell,
        working_directory=step.working_directory,
        env=env,
    )


def _keep(
    stage: Stage, reports: list[str], pins: Pins, days: int | None, *, pictures: list[Expression], in_matrix: bool
) -> StepView:
    # The steps say where their reports are: `runner.temp` in an expression is the host's path, inside a container too
    # (actions/runner issue 2185). An artifact's name must be unique among instances and attempts.
    instance = "${{ matrix.instance }}" if in_matrix else "1"
    inputs: dict[str, Scalar] = {
        "name": Expression(f"rocm-ci-{stage.name}-{instance}-{expressions.RUN_ATTEMPT}"),
        "path": expressions.lines([*(expressions.step_output(step, "report") for step in reports), *pictures]),
        "if-no-files-found": "ignore",
    }
    if days is not None:
        inputs["retention-days"] = days
    return StepView(
        name="Keep the reports",
        condition=expressions.any_output(reports, "report"),
        uses=_pinned(UPLOAD, pins),
        with_=inputs,
    )


def _own(source: Source, action: str | None = None) -> Noted:
    path = source.repository if action is None else f"{source.repository}/actions/{action}"
    if source.pin is None:
        return Noted(f"{path}@{source.ref}")
    return Noted(f"{path}@{source.pin}", source.ref)


def _pinned(action: str, pins: Pins) -> Noted:
    pin = pins[action]
    return Noted(f"{action}@{pin.sha}", pin.version)
