"""Which runners are GitHub's own and which are somebody's machine."""

from __future__ import annotations

import functools
import json
import re

from rocm_ci_gen.manifest.model import Runner
from rocm_ci_gen.resources import data_text


def is_self_hosted(runner: Runner) -> bool:
    """Whether a job on this runner may reach a machine of the repository's owner.

    The labels of GitHub-hosted runners are a data file with their source. What is not among them, and every runner
    group, counts as self-hosted: the answer errs towards keeping strangers' code away.
    """
    return runner.group is not None or not runner.labels or not all(map(_is_hosted, runner.labels))


def hosted_label(labels: tuple[str, ...]) -> str | None:
    """The label that asks for one of GitHub's own machines, which have no AMD GPU, or None."""
    if "self-hosted" in (label.lower() for label in labels):
        return None
    return next(filter(_is_hosted, labels), None)


def _is_hosted(label: str) -> bool:
    return any(regex.fullmatch(label) for regex in _hosted_labels())


@functools.cache
def _hosted_labels() -> tuple[re.Pattern[str], ...]:
    rows = json.loads(data_text("manifest/hosted_runners.json"))["labels"]
    return tuple(re.compile(row["regex"], re.IGNORECASE) for row in rows)
