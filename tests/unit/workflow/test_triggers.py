"""`on:` of the workflow."""

from __future__ import annotations

import pytest

from rocm_ci_gen.manifest.model import Forks, RefFilter, Triggers
from rocm_ci_gen.workflow import triggers
from rocm_ci_gen.workflow.errors import RenderError
from support.models import TRIGGERS, manifest

ALL = RefFilter()
MIRROR = triggers.MIRROR_BRANCHES


def test_events_in_githubs_words() -> None:
    found = triggers.events(
        manifest(triggers=Triggers(RefFilter(None, ("wip/**",), None, ("x",)), ALL, False, ("0 3 * * *",), False))
    )
    assert found == {
        "push": {"branches-ignore": ("wip/**",), "tags-ignore": ("x",)},
        "pull_request": {},
        "schedule": [{"cron": "0 3 * * *"}],
    }


def test_the_merge_queue_and_the_button() -> None:
    assert list(triggers.events(manifest())) == ["push", "pull_request", "merge_group", "workflow_dispatch"]


def test_nothing_that_starts_it_is_an_error() -> None:
    nothing = Triggers(None, None, False, (), False)
    with pytest.raises(RenderError, match="no trigger"):
        triggers.events(manifest(triggers=nothing))
    scheduled = Triggers(None, None, False, ("0 3 * * *",), False)
    assert list(triggers.events(manifest(triggers=scheduled))) == ["schedule"]


def test_the_label_policy_listens_to_labels() -> None:
    found = triggers.events(manifest(forks=Forks("label")))
    assert found["pull_request"] == {"types": ("opened", "synchronize", "reopened", "labeled"), "branches": ("main",)}
    assert triggers.events(manifest())["pull_request"] == {"branches": ("main",)}


@pytest.mark.parametrize(
    ("push", "expected"),
    [
        (None, RefFilter((MIRROR,))),
        (RefFilter(("main",)), RefFilter(("main", MIRROR))),
        (RefFilter(("**", "!pull-request/**")), RefFilter(("**", "!pull-request/**", MIRROR))),
        (RefFilter(("main", MIRROR)), RefFilter(("main", MIRROR))),
        (RefFilter(None, None, ("v*",)), RefFilter((MIRROR,), None, ("v*",))),
        (RefFilter(None, None, None, ("x",)), RefFilter((MIRROR,), None, None, ("x",))),
        (ALL, ALL),
        (RefFilter(None, ("wip/**",)), RefFilter(None, ("wip/**",))),
    ],
)
def test_the_mirror_policy_lets_the_mirrored_branches_in(push: RefFilter | None, expected: RefFilter) -> None:
    assert triggers.mirror_filter(push) == expected
    changed = manifest(forks=Forks("mirror"), triggers=Triggers(push, None, False, (), False))
    assert triggers.effective(changed).push == expected
    assert triggers.effective(manifest()) == TRIGGERS
