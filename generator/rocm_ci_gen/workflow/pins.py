"""Commits of the third-party actions that a workflow uses, and those that somebody raised in the committed file.

Dependabot rewrites `uses: owner/action@<sha> # v1.2.3` in the workflow. Such a line is kept on the next render if it is
a full commit SHA with a final version above ours; anything else (a tag, a branch, an older version, no version, the
same version on another commit) is drift. If the steps of one workflow differ, the newest version counts for all of
them; two commits that claim the same newest version are believed neither.

Only steps that this project renders are read. They are the first step of a job (checkout) and the last (the reports):
the user's own steps, whose pins stand in the manifest, are always between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rocm_ci_gen import resources

CHECKOUT = "actions/checkout"
UPLOAD = "actions/upload-artifact"

_HEX = frozenset("0123456789abcdef")
_STEPS = "    steps:"
_ITEM = "      - "
_DEEPER = "      "


@dataclass(frozen=True)
class Pin:
    """An action at a commit; `version` is the release that the commit is, such as `v7.0.1`."""

    action: str
    sha: str
    version: str

    @property
    def order(self) -> tuple[int, int, int] | None:
        """The version as numbers, a missing part as 0; None where it is no final release (`v8.0.0-beta.1`, `main`)."""
        parts = self.version.removeprefix("v").split(".")
        if len(parts) > 3 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
            return None
        major, minor, patch = (int(part) for part in [*parts, "0", "0"][:3])
        return major, minor, patch


def load_pins() -> dict[str, Pin]:
    """The commits that this release of rocm-ci renders, by action."""
    rows = json.loads(resources.data_text("workflow/data/pins.json"))["pins"]
    return {row["action"]: Pin(row["action"], row["sha"], row["version"]) for row in rows}


def local_pins(text: str) -> dict[str, Pin]:
    """The newest pin of each action in steps of ours in the committed workflow `text`, whatever this release has."""
    newest: dict[str, Pin] = {}
    doubtful: set[tuple[str, tuple[int, int, int]]] = set()
    for pin in _pins_of_our_steps(text):
        order = pin.order
        if order is None:
            continue
        known = newest.get(pin.action)
        known_order = known.order if known else None
        if known is None or known_order is None or order > known_order:
            newest[pin.action] = pin
        elif order == known_order and pin.sha != known.sha:
            doubtful.add((pin.action, order))
    return {action: pin for action, pin in newest.items() if pin.order and (action, pin.order) not in doubtful}


def with_raised(shipped: Mapping[str, Pin], text: str | None) -> dict[str, Pin]:
    """`shipped`, with each pin replaced that the committed workflow `text` has in a newer version."""
    pins = dict(shipped)
    for action, local in local_pins(text or "").items():
        ours = pins.get(action)
        if ours and ours.order and local.order and local.order > ours.order:
            pins[action] = local
    return pins


def _pins_of_our_steps(text: str) -> Iterator[Pin]:
    for job in _step_lists(text.splitlines()):
        for step in (job[0], job[-1]):
            for line in step:
                pin = _read(line)
                if pin is not None:
                    yield pin


def _read(line: str) -> Pin | None:
    """The pin of a line `uses: action@<full commit SHA> # version`, or None."""
    key, _, rest = line.removeprefix(_ITEM).strip().partition(" ")
    reference, _, version = (part.strip() for part in rest.partition(" #"))
    action, _, sha = reference.strip("\"'").partition("@")
    whole = key == "uses:" and len(sha) == 40 and _HEX.issuperset(sha) and version and " " not in version
    return Pin(action, sha, version) if whole else None


def _step_lists(lines: Iterable[str]) -> Iterator[list[list[str]]]:
    """For each `steps:` of the layout that the templates give, its steps as lists of lines."""
    steps: list[list[str]] | None = None
    for line in [*lines, ""]:
        if steps is not None and line.startswith(_ITEM):
            steps.append([line])
        elif steps and line.startswith(_DEEPER):
            steps[-1].append(line)
        elif steps is not None and not line.strip():
            continue  # an empty line of a script, or between jobs
        else:
            if steps:
                yield steps
            steps = [] if line.rstrip() == _STEPS else None
    if steps:
        yield steps
