"""Which jobs run and why: the rules, and what holds for any manifest and any change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci_gen.manifest import Manifest, check
from rocm_ci_gen.manifest.model import Forks, Runner, Stage, UserJob
from rocm_ci_gen.plan.changes import Changes, unknown
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.model import Job, Plan

Make = Callable[..., Manifest]
PULL = Event("pull_request", number=12, base_branch="main", base="a" * 40, head="b" * 40)
FORK = replace(PULL, fork=True)
ALL = ("hipify-check", "kernel-tests", "sglang-regression")


def changed(*paths: str) -> Changes:
    return Changes(paths, None, "a" * 40, "b" * 40, "git")


def job(plan: Plan, name: str) -> Job:
    return next(job for job in plan.jobs if job.name == name)


def reasons(plan: Plan) -> dict[str, str]:
    return {job.name: job.reason for job in plan.jobs}


# --- paths ----------------------------------------------------------------------------------------------------------


def test_each_stage_has_its_own_paths(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, changed("src/a.cu"))
    assert plan.run == ("hipify-check", "kernel-tests")
    assert reasons(plan) == {
        "hipify-check": "src/a.cu matches src/**",
        "kernel-tests": "src/a.cu matches src/**",
        "sglang-regression": "no changed file matches configs/**",
    }
    assert plan.triggered
    assert plan.changed == 1
    assert plan.doubt is None


def test_the_reason_names_the_first_file_and_counts_the_others(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, changed("README.md", "src/a.cu", "src/b.cu", "src/docs/c.md"))
    assert job(plan, "hipify-check").reason == "src/a.cu matches src/** (and 2 more files)"
    assert job(plan, "kernel-tests").reason == "src/a.cu matches src/** (and 1 more file)"


def test_a_later_pattern_takes_a_file_out_again(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, changed("src/docs/c.md"))
    assert plan.run == ("hipify-check",)
    reason = job(plan, "kernel-tests").reason
    assert reason == "no changed file matches src/**, !src/docs/**, requirements-rocm.txt"


def test_what_a_stage_needs_does_not_run_with_it(manifest: Manifest) -> None:
    assert decide(manifest, PULL, changed("configs/a.json")).run == ("sglang-regression",)


def test_nothing_changed(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, changed())
    assert plan.run == ()
    assert set(reasons(plan).values()) == {"nothing changed"}
    assert plan.changed == 0


@pytest.mark.parametrize("path", [".rocm-ci.yml", ".github/workflows/rocm-ci.yml", ".github/rocm-ci/generated.json"])
def test_the_cis_own_files_make_everything_run(make: Make, path: str) -> None:
    plan = decide(make("ignore: ['**']"), PULL, changed("README.md", path))
    assert plan.run == ALL
    assert set(reasons(plan).values()) == {f"{path} changed: the CI's own files make everything run"}


def test_own_files_are_those_that_the_caller_names(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, changed("ci/rocm.yml"), own_files=["ci/rocm.yml"])
    assert plan.run == ALL
    assert decide(manifest, PULL, changed(".rocm-ci.yml"), own_files=["ci/rocm.yml"]).run == ()


def test_ignored_files_need_no_stage_and_no_notice(make: Make) -> None:
    manifest = make("ignore: ['**/*.md', '!src/API.md']")
    assert decide(manifest, PULL, changed("src/README.md")).run == ()
    assert decide(manifest, PULL, changed("src/API.md")).run == ("hipify-check", "kernel-tests")
    plan = decide(manifest, PULL, changed("README.md", "src/README.md", "docs/x.md"))
    assert plan.unowned == ()
    reason = "no changed file matches configs/**; all are ignored: README.md, src/README.md, … (+1)"
    assert job(plan, "sglang-regression").reason == reason


def test_unowned_files_are_listed(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, changed("src/a.cu", "setup.py", "tools/x.sh"))
    assert plan.unowned == ("setup.py", "tools/x.sh")
    assert plan.run == ("hipify-check", "kernel-tests")


def test_unowned_run(make: Make) -> None:
    manifest = make("unowned: run\nignore: ['*.md']")
    plan = decide(manifest, PULL, changed("src/a.cu", "setup.py", "README.md"))
    assert plan.run == ALL
    assert job(plan, "kernel-tests").reason == "src/a.cu matches src/**"
    assert job(plan, "sglang-regression").reason == "no stage covers setup.py: unowned files make everything run"
    assert decide(manifest, PULL, changed("README.md")).run == ()


@pytest.mark.parametrize("place", ["./", "$/"])
def test_user_jobs(make: Make, place: str) -> None:
    manifest = make(
        """
jobs:
  docs: {uses: ./.github/workflows/docs.yml, paths: ["docs/**"]}
  other: {uses: org/repo/.github/workflows/x.yml@0123456789012345678901234567890123456789, paths: ["x/**"]}
""".replace("./", place)
    )
    plan = decide(manifest, PULL, changed("docs/a.md"))
    assert plan.run == ("docs",)
    assert plan.unowned == ()
    own = decide(manifest, PULL, changed(".github/workflows/docs.yml"))
    assert own.run == ("docs",)
    assert job(own, "docs").reason == ".github/workflows/docs.yml matches its own workflow"
    assert own.unowned == ()


def test_the_place_and_the_promises_of_each_instance(manifest: Manifest) -> None:
    data = decide(manifest, PULL, changed("src/a.cu")).to_json()
    jobs = data["jobs"]
    assert isinstance(jobs, dict)
    kernel = jobs["kernel-tests"]
    assert kernel["instances"] == 4
    assert kernel["gpu"] is True
    assert kernel["runs_on"] == ["self-hosted", "roc-gpu-mi200"]
    places = [(e["instance"], e["runner"], e["shard"], e["gfx"], e["gpus"], e["runs_on"][1]) for e in kernel["expect"]]
    assert places == [
        (1, "mi250", "1/2", ["gfx90a"], 2, "roc-gpu-mi200"),
        (2, "mi250", "2/2", ["gfx90a"], 2, "roc-gpu-mi200"),
        (3, "mi300x", "1/2", ["gfx942"], 8, "roc-gpu-mi300"),
        (4, "mi300x", "2/2", ["gfx942"], 8, "roc-gpu-mi300"),
    ]
    assert jobs["hipify-check"]["expect"] == [{"instance": 1, "runner": "cpu", "gfx": [], "gpus": None, "shard": None}]
    assert jobs["hipify-check"]["gpu"] is False


# --- doubts and events ----------------------------------------------------------------------------------------------


def test_on_a_doubt_everything_runs(manifest: Manifest) -> None:
    plan = decide(manifest, PULL, unknown("the checkout is shallow"))
    assert plan.run == ALL
    assert set(reasons(plan).values()) == {"everything runs: the checkout is shallow"}
    assert plan.doubt == "the checkout is shallow"
    assert plan.changed is None
    assert (plan.base, plan.head) == (None, PULL.head)
    assert plan.unowned == ()


def test_a_doubt_about_the_event_is_one_about_the_changes(manifest: Manifest) -> None:
    plan = decide(manifest, replace(PULL, doubt="the payload is not valid JSON"), changed("README.md"))
    assert plan.run == ALL


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("schedule", "a scheduled run runs everything"),
        ("workflow_dispatch", "a manual run runs everything"),
        ("release", "everything runs: the event release is none that the manifest knows"),
        ("", "everything runs: the event without a name is none that the manifest knows"),
    ],
)
def test_events_that_run_everything(manifest: Manifest, name: str, reason: str) -> None:
    plan = decide(manifest, Event(name), unknown("not compared"))
    assert plan.run == ALL
    assert set(reasons(plan).values()) == {reason}


def test_an_event_that_the_manifest_does_not_ask_for(manifest: Manifest) -> None:
    event = Event("push", ref="refs/heads/dev", base="a" * 40, head="b" * 40)
    plan = decide(manifest, event, changed("src/a.cu", "x"))
    assert plan.run == ()
    assert not plan.triggered
    assert plan.unowned == ()
    reason = "not triggered: branch dev matches none of triggers.push.branches: main"
    assert set(reasons(plan).values()) == {reason}


def test_stages_that_this_version_cannot_run_are_told_where_they_run(manifest: Manifest) -> None:
    def told(path: str, *available: str) -> list[str]:
        notices = decide(probed, PULL, changed(path), available=available).notices
        return [notice for notice in notices if "is not available" in notice]

    probed = replace(manifest, probe={})
    red = "kernel-tests is not available in this version of rocm-ci: the job will be red"
    assert told("src/a.cu", "hipify-check", "vram-probe") == [red]
    wrapped = "vram-probe is not available in this version of rocm-ci: kernel-tests will be red"
    assert told("src/a.cu", "hipify-check", "kernel-tests") == [wrapped]
    assert told("src/a.cu", "hipify-check", "kernel-tests", "vram-probe") == []
    assert told("README.md") == []


@pytest.mark.parametrize("name", ["push", "pull_request"])
def test_filters_that_could_not_be_checked_are_told(make: Make, name: str) -> None:
    event = Event(name, base="a" * 40, head="b" * 40)
    told = f"so the filters of triggers.{name} were not checked"
    filtered = decide(make(), event, changed("src/a.cu"))
    assert filtered.triggered
    assert any(told in notice for notice in filtered.notices)
    stages = "version: 1\nrunners: {gpu: {labels: x, gfx: gfx90a}}\nstages: {hipify-check: {}}\n"
    free = make(base=f"{stages}triggers: {{{name}: true}}")
    assert not any(told in notice for notice in decide(free, event, changed("src/a.cu")).notices)


def test_an_event_that_is_not_asked_for_is_no_doubt(manifest: Manifest) -> None:
    plan = decide(manifest, Event("push", ref="refs/heads/dev"), unknown("no base"))
    assert plan.run == ()
    assert plan.doubt is None


def test_a_run_that_has_started_against_the_filters_runs_everything(manifest: Manifest) -> None:
    event = Event("push", ref="refs/heads/dev", base="a" * 40, head="b" * 40, started=True)
    plan = decide(manifest, event, changed("README.md"))
    assert plan.triggered
    assert plan.run == ALL
    assert plan.doubt is not None
    assert plan.doubt.startswith("this run was started although branch dev matches none of triggers.push.branches")


# --- forks ----------------------------------------------------------------------------------------------------------


def test_never(manifest: Manifest) -> None:
    plan = decide(manifest, FORK, changed("src/a.cu"))
    assert plan.run == ("hipify-check",)
    assert plan.withheld == ("kernel-tests",)
    assert job(plan, "kernel-tests").reason == (
        "forks.policy never: a fork's pull request does not reach self-hosted runners (needed: src/a.cu matches src/**)"
    )
    unneeded = job(plan, "sglang-regression")
    assert (unneeded.run, unneeded.withheld) == (False, False)
    assert unneeded.reason == "no changed file matches configs/**"
    assert any("kernel-tests" in notice for notice in plan.notices)


@pytest.mark.parametrize("policy", ["never", "mirror", "label"])
def test_no_policy_opens_the_gpu_runners_to_a_plain_event_of_a_fork(make: Make, policy: str) -> None:
    plan = decide(make(f"forks: {{policy: {policy}}}"), FORK, changed("src/a.cu"))
    assert plan.withheld == ("kernel-tests",)
    assert f"forks.policy {policy}: " in job(plan, "kernel-tests").reason


@pytest.mark.parametrize(
    ("action", "label", "runs"),
    [
        ("labeled", "ok-to-test", True),
        ("labeled", "OK-to-test", True),
        ("labeled", "docs", False),
        ("labeled", None, False),
        ("unlabeled", "ok-to-test", False),
        ("synchronize", "ok-to-test", False),
        (None, None, False),
    ],
)
def test_only_the_adding_of_the_label_counts(make: Make, action: str | None, label: str | None, runs: bool) -> None:
    manifest = make("forks: {policy: label}")
    plan = decide(manifest, replace(FORK, action=action, label=label), changed("src/a.cu"))
    assert job(plan, "kernel-tests").run is runs
    assert job(plan, "kernel-tests").withheld is not runs
    if runs:
        assert job(plan, "kernel-tests").reason == (
            "label ok-to-test was added at bbbbbbbbbbbb; src/a.cu matches src/**"
        )


@pytest.mark.parametrize("policy", ["never", "mirror"])
def test_a_label_gives_no_right_under_another_policy(make: Make, policy: str) -> None:
    event = replace(FORK, action="labeled", label="ok-to-test")
    plan = decide(make(f"forks: {{policy: {policy}}}"), event, changed("src/a.cu"))
    assert plan.withheld == ("kernel-tests",)
    assert f"Adding a label starts no run: forks.policy is {policy}." in plan.notices


def test_another_label_on_a_pull_request_of_our_own_runs_nothing_again(make: Make) -> None:
    manifest = make("forks: {policy: label}")
    event = replace(PULL, action="labeled", label="docs")
    plan = decide(manifest, event, changed("src/a.cu"))
    assert plan.run == ()
    assert plan.withheld == ()
    assert decide(manifest, replace(event, label="ok-to-test"), changed("src/a.cu")).run
    # The gate of a workflow that a person wrote has the required name also for this event.
    assert decide(manifest, replace(event, rendered_workflow=False), changed("src/a.cu")).run


def test_an_unknown_origin_counts_as_a_fork_and_says_so(manifest: Manifest) -> None:
    plan = decide(manifest, replace(PULL, fork=None), unknown("the payload is not valid JSON"))
    assert plan.run == ("hipify-check",)
    assert plan.withheld == ("kernel-tests", "sglang-regression")
    assert "code that may come from a fork" in job(plan, "kernel-tests").reason
    assert any("counts as a fork's" in notice for notice in plan.notices)


def test_a_mirrored_branch_is_no_fork(make: Make) -> None:
    manifest = make("forks: {policy: mirror}")
    event = Event("push", ref="refs/heads/pull-request/12", head="b" * 40, default_branch="main")
    plan = decide(manifest, event, changed("src/a.cu"))
    assert plan.run == ("hipify-check", "kernel-tests")
    assert any("compared with the default branch" in notice for notice in plan.notices)


def test_every_job_on_a_self_hosted_runner_is_withheld(make: Make) -> None:
    base = """
version: 1
runners:
  cpu: {labels: [self-hosted, linux]}
  gpu: {labels: big-node, group: gpus, gfx: gfx90a, gpus: 1}
stages: {hipify-check: {}, kernel-tests: {}}
jobs:
  mine: {uses: ./.github/workflows/mine.yml, self-hosted: true}
  hosted: {uses: ./.github/workflows/hosted.yml}
"""
    plan = decide(make(base=base), FORK, changed("a.cu"))
    assert plan.withheld == ("hipify-check", "kernel-tests", "mine")
    assert plan.run == ("hosted",)
    assert any("runner cpu (self-hosted, linux) is self-hosted" in notice for notice in plan.notices)


def test_what_gate_shall_say_travels_with_the_plan(make: Make) -> None:
    plan = decide(make("forks: {withheld: pass}"), FORK, changed("src/a.cu"))
    assert plan.to_json()["forks"] == {"withheld": "pass"}


# --- size and odd paths ---------------------------------------------------------------------------------------------


def test_the_json_stays_small_however_many_files_changed(manifest: Manifest) -> None:
    paths = [f"other/{'x' * 200}/{number}.txt" for number in range(20_000)]
    plan = decide(manifest, PULL, changed(*paths, "src/" + "y" * 5000 + ".cu"))
    data = plan.to_json()
    assert len(json.dumps(data)) < 64_000
    assert data["unowned_count"] == 20_000
    assert isinstance(data["unowned"], list)
    assert 0 < len(data["unowned"]) <= 200


def test_paths_that_a_terminal_would_act_on_are_escaped(manifest: Manifest) -> None:
    odd = [b"src/\xff.cu".decode("utf-8", "surrogateescape"), "x\n::error::y", "z\x1b[31m", "right\u202eleft"]
    plan = decide(manifest, PULL, changed(*odd))
    assert job(plan, "hipify-check").reason == "src/\\xff.cu matches src/**"
    assert plan.unowned == ("x\\n::error::y", "z\\x1b[31m", "right\\u202eleft")


# --- what always holds ----------------------------------------------------------------------------------------------

SEGMENTS = st.sampled_from(["src", "docs", "a.cu", "b.py", "README.md", ".rocm-ci.yml", "x"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
PATTERNS = st.sampled_from(["**", "src/**", "*.md", "!docs/**", "**/*.cu", "!**/*.md", "x", "docs/*"])
RUNNERS = (Runner("gpu", ("self-hosted",), gfx=("gfx90a",), gpus=1), Runner("cpu", ("ubuntu-latest",)))
EVENTS = st.builds(
    Event,
    name=st.sampled_from(["push", "pull_request", "merge_group", "schedule", "workflow_dispatch", "release"]),
    action=st.sampled_from([None, "labeled", "synchronize"]),
    ref=st.sampled_from([None, "refs/heads/main", "refs/heads/dev", "refs/tags/v1", "refs/heads/pull-request/1"]),
    base_branch=st.sampled_from([None, "main", "dev"]),
    fork=st.sampled_from([True, False, None]),
    label=st.sampled_from([None, "ok-to-test", "docs"]),
    started=st.booleans(),
    rendered_workflow=st.booleans(),
    doubt=st.sampled_from([None, "the payload is not valid JSON"]),
)


PARSED = check(
    b"version: 1\nrunners: {gpu: {labels: x}}\nstages: {hipify-check: {}}\n"
    b"triggers: {push: {branches: [main]}, pull_request: {branches: [main]}, manual: true}",
    "manifest",
).manifest


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    assert PARSED is not None
    names = draw(st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=3, unique=True))
    lists = st.lists(PATTERNS, min_size=1, max_size=3)
    stages = tuple(
        Stage(name, (draw(st.sampled_from(RUNNERS)),), gpu=False, paths=tuple(draw(lists)), timeout="15m")
        for name in names
    )
    user = UserJob("own", "./.github/workflows/own.yml", paths=tuple(draw(lists)), self_hosted=draw(st.booleans()))
    return replace(
        PARSED,
        stages=stages,
        jobs=draw(st.sampled_from([(), (user,)])),
        ignore=tuple(draw(st.lists(PATTERNS, max_size=2))),
        unowned=draw(st.sampled_from(["notice", "run"])),
        forks=Forks(draw(st.sampled_from(["never", "label", "mirror"]))),
    )


CHANGES = st.lists(PATHS, max_size=5, unique=True).map(lambda paths: changed(*paths))


@given(manifests(), EVENTS, CHANGES)
def test_a_doubt_never_skips(manifest: Manifest, event: Event, changes: Changes) -> None:
    known = decide(manifest, event, changes)
    doubtful = decide(manifest, event, unknown("no idea"))
    assert set(known.run) <= set(doubtful.run)
    assert set(known.withheld) <= set(doubtful.withheld)


@given(manifests(), EVENTS, CHANGES, st.lists(PATHS, max_size=3))
def test_more_changes_never_skip_a_job(manifest: Manifest, event: Event, changes: Changes, more: list[str]) -> None:
    assert changes.paths is not None
    larger = changed(*dict.fromkeys([*changes.paths, *more]))
    assert set(decide(manifest, event, changes).run) <= set(decide(manifest, event, larger).run)


@given(manifests(), EVENTS, CHANGES)
def test_a_fork_never_runs_more(manifest: Manifest, event: Event, changes: Changes) -> None:
    theirs = decide(manifest, replace(event, fork=True), changes)
    ours = decide(manifest, replace(event, fork=False, rendered_workflow=False), changes)
    assert set(theirs.run) <= set(ours.run)
    assert set(theirs.run) | set(theirs.withheld) == set(ours.run)


@given(manifests(), EVENTS, CHANGES)
def test_every_job_has_an_answer_and_a_reason(manifest: Manifest, event: Event, changes: Changes) -> None:
    plan = decide(manifest, event, changes)
    assert [job.name for job in plan.jobs] == [*(s.name for s in manifest.stages), *(j.name for j in manifest.jobs)]
    for entry in plan.jobs:
        assert entry.reason.isprintable()
        assert entry.reason
        assert not (entry.run and entry.withheld)
    if event.started:
        assert plan.triggered


@given(manifests(), CHANGES)
def test_strangers_code_reaches_self_hosted_runners_only_by_the_label(manifest: Manifest, changes: Changes) -> None:
    for event in (FORK, replace(FORK, fork=None), replace(FORK, name="pull_request_target", fork=None)):
        plan = decide(manifest, event, changes)
        own = {stage.name for stage in manifest.stages if stage.runners[0].name == "gpu"}
        own |= {user.name for user in manifest.jobs if user.self_hosted}
        assert not own & set(plan.run)
