"""GitHub expressions: the only text of a rendered workflow that may contain `${{ }}`.

Names in them are checked here as well as in the manifest, because a name is placed inside an expression unquoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocm_ci_gen.manifest.model import Forks
from rocm_ci_gen.workflow.errors import RenderError

MARK = "${{"
_JOB = re.compile(r"[a-z][a-z0-9-]*")
_SECRET = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Expression(str):
    """Text with `${{ }}` that this project made; nothing of it comes unchecked from a manifest."""

    __slots__ = ()

    @property
    def is_plain(self) -> bool:
        """Whether YAML reads it as it is, without quotes."""
        ends_a_scalar = ": " in self or " #" in self or self.endswith((":", " "))
        return self[:1] in "$abcdefghijklmnopqrstuvwxyz" and self.isascii() and self.isprintable() and not ends_a_scalar


ALWAYS = Expression("${{ always() }}")
NOT_CANCELLED = Expression("${{ !cancelled() }}")
NEEDS = Expression("${{ toJSON(needs) }}")
RUN_ATTEMPT = "${{ github.run_attempt }}"
_RUN = "fromJSON(needs.plan.outputs.run || '[]')"
_SUBJECT = "github.event.pull_request.number || github.event_name == 'push' && github.ref || github.run_id"


def job_condition(name: str, needs: Sequence[str]) -> Expression:
    """When a job of the plan runs: the plan asks for it, and what it needs succeeded or was not asked for.

    `!cancelled()` stands first because any other condition would be joined with `success()`, which is false as soon
    as one needed job was skipped.
    """
    parts = ["!cancelled()", "needs.plan.result == 'success'", f"contains({_RUN}, '{_job(name)}')"]
    parts += [f"(needs.{_job(need)}.result == 'success' || !contains({_RUN}, '{need}'))" for need in needs]
    return Expression("${{ " + " && ".join(parts) + " }}")


def concurrency_group(forks: Forks) -> Expression:
    """Group of a run: a pull request by its number (forks may have equal branch names), a push by its branch.

    Everything else is alone in its group. So is the event that adds a label other than the one that lets a fork run:
    it must not cancel the run that was verified.
    """
    group = "${{ github.workflow }}-${{ github.event_name }}-${{ " + _SUBJECT + " }}"
    if forks.policy == "label":
        group += "${{ " + _other_label(forks.label) + " && format('-{0}', github.run_id) || '' }}"
    return Expression(group)


def cancel_in_progress(enabled: bool) -> Expression | bool:
    """Only a newer run of the same pull request or branch cancels; a merge queue, a schedule or a button never."""
    if not enabled:
        return False
    return Expression("${{ github.event_name == 'pull_request' || github.event_name == 'push' }}")


def gate_name(forks: Forks) -> str:
    """Name of the gate job, which is the name of the required check.

    An event that adds some other label runs the workflow too, and verifies nothing. Its gate has another name: under
    the required one it would replace the verdict of the run before it, red by green or green by red.
    """
    if forks.policy != "label":
        return "gate"
    return Expression("${{ " + _other_label(forks.label) + " && 'gate (another label)' || 'gate' }}")


def secret(name: str) -> Expression:
    """A repository secret.

    Raises:
        RenderError: the name is none that a secret can have.
    """
    if not _SECRET.fullmatch(name):
        raise RenderError(f"{name!r} is no name of a secret: letters, digits and underscores.")
    return Expression("${{ secrets." + name + " }}")


def matrix(key: str) -> Expression:
    """A field of the matrix entry that this instance of the job is."""
    return Expression("${{ matrix." + key + " }}")


def step_output(step: str, name: str) -> Expression:
    """An output of a step of the same job."""
    return Expression("${{ steps." + step + ".outputs." + name + " }}")


def instance_output(instance: int, step: str, name: str) -> Expression:
    """A step's output as the output of one instance of a matrix job.

    Each instance sets only its own; GitHub keeps the last value that is not empty, so none overwrites another's.
    """
    return Expression("${{ matrix.instance == " + str(instance) + f" && steps.{step}.outputs.{name} || '' }}}}")


def any_output(steps: Sequence[str], name: str) -> Expression:
    """Always, if one of the steps has set the output; a job that failed before them has nothing to keep."""
    outputs = " || ".join(f"steps.{step}.outputs.{name}" for step in steps)
    return Expression("${{ always() && " + (f"({outputs})" if len(steps) > 1 else outputs) + " }}")


def lines(expressions: Sequence[Expression]) -> Expression:
    """One expression a line."""
    return Expression("\n".join(expressions))


def _other_label(label: str) -> str:
    return f"github.event.action == 'labeled' && github.event.label.name != {_text(label)}"


def _text(value: str) -> str:
    # GitHub's reader knows text in quotes, so that `}}` inside it ends no expression.
    if MARK in value or any(ord(char) < 0x20 for char in value):
        raise RenderError(f"the label {value!r} cannot stand in a GitHub expression.")
    return "'" + value.replace("'", "''") + "'"


def _job(name: str) -> str:
    if not _JOB.fullmatch(name):
        raise RenderError(f"{name!r} is no name of a job: lower-case letters, digits and hyphens.")
    return name
