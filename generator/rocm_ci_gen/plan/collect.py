"""What changed: git first, GitHub's API where the checkout does not tell, and a doubt where neither does."""

from __future__ import annotations

from rocm_ci_gen.plan import git as local
from rocm_ci_gen.plan import github as remote
from rocm_ci_gen.plan.changes import Changes, unknown
from rocm_ci_gen.plan.event import Event, is_zero

COMPARED = ("push", "pull_request", "merge_group")
"""Events that change files. The others run everything."""


def collect(event: Event, git: local.Git, *, api: remote.Api | None = None, mirror: bool = False) -> Changes:
    """The changed files of an event.

    Args:
        event: what happened.
        git: git in the checkout.
        api: GitHub's API, or None to ask git only.
        mirror: the push is a vetted pull request (`triggers.is_mirror`).
    """
    if event.name not in COMPARED:
        return unknown(f"{event.name or 'the event'} changes no files")
    found = local.changed_files(git, event, mirror=mirror)
    if found.paths is not None or api is None or not _can_ask(event, mirror):
        return found
    asked = remote.changed_files(api, event, mirror=mirror)
    if asked.paths is not None:
        return asked
    return unknown(f"{found.doubt}; {asked.doubt}", base=found.base, head=found.head)


def _can_ask(event: Event, mirror: bool) -> bool:
    """Whether the API can know more: not about a tag, a new or a deleted branch, or commits that have no name."""
    base = event.default_branch if mirror else event.base
    return event.tag is None and None not in (base, event.head) and not (is_zero(base) or is_zero(event.head))
