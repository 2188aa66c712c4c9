"""The concurrency group that GitHub puts the run in, as the rendered workflow's expression evaluates for an event."""

from __future__ import annotations

from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.model import Concurrency

WORKFLOW = "rocm-ci"
"""`name:` of the rendered workflow."""


def concurrency(manifest: Manifest, event: Event) -> Concurrency:
    """The group and whether a newer run of it cancels this one.

    A pull request's group has its number, so that two forks with equal branch names never meet; a push has its ref;
    everything else has the run's own id and meets nobody. Under `forks.policy: label`, adding some other label
    also gets a group of its own: it must not cancel the run that the right label has started.
    What is not known offline stands in angle brackets.
    """
    run_id = event.run_id or "<run id>"
    if event.name == "push":
        subject = event.ref or "<ref>"
    elif event.number is not None:
        subject = str(event.number)
    elif event.name.startswith("pull_request"):
        subject = "<number>"
    else:
        subject = run_id
    group = f"{event.workflow or WORKFLOW}-{event.name}-{subject}"
    if is_other_label(manifest, event):
        group += f"-{run_id}"
    return Concurrency(group, manifest.cancel_in_progress and event.name in ("pull_request", "push"))


def is_other_label(manifest: Manifest, event: Event) -> bool:
    """Whether the event adds a label that is not the one of `forks.policy: label`."""
    forks = manifest.forks
    return forks.policy == "label" and event.action == "labeled" and not adds_label(event, forks.label)


def adds_label(event: Event, label: str) -> bool:
    """Whether the event is the adding of `label`. GitHub compares names of labels without regard to case."""
    return event.action == "labeled" and event.label is not None and event.label.lower() == label.lower()
