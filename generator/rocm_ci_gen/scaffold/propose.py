"""Facts and answers in, a proposal out. Pure; every choice carries its reason."""

from __future__ import annotations

import re
from dataclasses import replace

from rocm_ci.availability import AVAILABLE_STAGES
from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.manifest import schema
from rocm_ci_gen.scaffold.facts import Facts
from rocm_ci_gen.scaffold.folders import Role, role
from rocm_ci_gen.scaffold.proposal import GPU_STAGES, STAGES, Answers, Choice, Proposal, Serving
from rocm_ci_gen.scaffold.propose_machine import image_warnings, propose_image, propose_runner
from rocm_ci_gen.scaffold.propose_stages import (
    literal_pattern,
    propose_hipify,
    propose_serving,
    propose_tests,
)

REQUIREMENTS = "requirements-rocm.txt"
"""The file that `init` starts where the repository has no requirements for ROCm."""
_ROCM = re.compile(r"(?:^|[/_.-])(?:rocm|amd|hip)(?:[_./-]|$)", re.IGNORECASE)
_OTHER_PURPOSE = re.compile(r"lint|doc|format|constraint", re.IGNORECASE)


def propose(facts: Facts, answers: Answers, available: frozenset[str] = AVAILABLE_STAGES) -> Proposal:
    """Propose a manifest.

    Args:
        facts: What the repository tells.
        answers: What the user said; it wins over what was found.
        available: Stages that this release really has: only these are switched on unasked.

    Raises:
        UsageError: a stage is asked for that cannot be written without more (sglang-regression without a model).
    """
    runner = propose_runner(facts, answers)
    serving = propose_serving(facts, answers)
    tests = propose_tests(facts)
    proposal = Proposal(
        uses=Choice(answers.uses, "as you said", answered=True)
        if answers.uses
        else Choice(schema.default("uses"), "the default"),
        runner=runner,
        image=propose_image(facts, answers, runner.gfx.value),
        requirements=_requirements(facts),
        pushes=_pushes(facts),
        merge_group=Choice(
            True, f"{facts.merge_group} has it too" if facts.merge_group else "no effect without a queue"
        ),
        hipify=propose_hipify(facts),
        tests=tests,
        serving=serving,
        on=_on(answers, available, bool(tests.tests.value), serving),
    )
    return replace(proposal, warnings=(*_warnings(proposal, available), *_name_clashes(facts)))


def _on(answers: Answers, available: frozenset[str], tests: bool, serving: Serving | None) -> frozenset[str]:
    model = serving is not None and serving.model.value != ""
    if answers.stages is not None:
        asked = frozenset(answers.stages)
        if "sglang-regression" in asked and not model:
            raise UsageError(
                "the stage sglang-regression needs a model, and nothing in the repository names one",
                help="add `--model NAME`: a path on the runner, or a name on the hub",
            )
        if "vram-probe" in asked and not asked & GPU_STAGES:
            raise UsageError(
                "the stage vram-probe is no job of its own: it wraps the GPU stages",
                help="name kernel-tests or sglang-regression too",
            )
        return asked
    on = {"hipify-check"} & available
    if tests:
        on |= {"kernel-tests"} & available
    if model:
        on |= {"sglang-regression"} & available
    if on & GPU_STAGES:
        on |= {"vram-probe"} & available
    return frozenset(on)


def _pushes(facts: Facts) -> Choice[tuple[str, ...]]:
    repository = facts.repository
    reason = repository.default_branch_reason
    if repository.other_branches:
        reason += f"; {', '.join(repository.other_branches)} is alive too"
    return Choice(
        tuple(literal_pattern(name) for name in (repository.default_branch, *repository.other_branches)), reason
    )


def _requirements(facts: Facts) -> Choice[str]:
    named = [
        path
        for path in facts.requirements
        if _ROCM.search(path) and not _OTHER_PURPOSE.search(path) and role(path) in {Role.PRODUCT, Role.TESTS}
    ]
    if named:
        return Choice(min(named, key=lambda path: (path != REQUIREMENTS, path.count("/"), len(path))), "it is there")
    return Choice(REQUIREMENTS, "a stub: there is no requirements file for ROCm yet")


def _warnings(proposal: Proposal, available: frozenset[str]) -> list[str]:
    found = [
        f"{stage} is not available in this version of rocm-ci: a workflow with it is red"
        for stage in STAGES
        if stage in proposal.on and stage not in available
    ]
    if proposal.gpu_stages_on and not proposal.runner.labels.answered and not proposal.runner.gfx.value:
        found.append(
            f"no machine is known: jobs wait for a runner with the labels {', '.join(proposal.runner.labels.value)}"
        )
    return found + image_warnings(proposal.image.value, proposal.runner.gfx.value)


def _name_clashes(facts: Facts) -> list[str]:
    """What GitHub would take for ours: required checks go by name alone, in whichever workflow it stands."""
    found = [
        f"{path} has a job called `gate` too: a branch that requires `gate` is satisfied by either"
        for path in facts.gates
    ]
    if ".github/workflows/rocm-ci.yaml" in facts.workflows:
        found.append(".github/workflows/rocm-ci.yaml is there beside the generated rocm-ci.yml: GitHub runs both")
    return found
