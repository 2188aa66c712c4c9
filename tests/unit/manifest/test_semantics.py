"""One cause, one message: what the checks must not say."""

from __future__ import annotations

import pytest

from rocm_ci_gen.manifest import check

RUNNERS = "runners: {gpu: {labels: [self-hosted, gpu], gpus: 2}}\n"


def told(text: str, runners: str = RUNNERS) -> list[str]:
    return [f"{item.rule} {item.key}" for item in check(f"version: 1\n{runners}{text}\n".encode(), "m").diagnostics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The key is there, misspelt: not missing as well.
        ("stages: {sglang-regression: {modle: x}}", ["unknown-key stages.sglang-regression.modle"]),
        ("stages: {sglang-regression: {model: 5}}", ["type stages.sglang-regression.model"]),
        ("stages: {kernel-tests: {before: [{rnu: make}]}}", ["unknown-key stages.kernel-tests.before[0].rnu"]),
        ("container: {imge: a/b:1}\nstages: {kernel-tests: }", ["unknown-key container.imge"]),
        ("triggers: {pull_requests: true}\nstages: {kernel-tests: }", ["unknown-key triggers.pull_requests"]),
        ("stages: {kernel-test: {}, vram-probe: }", ["unknown-key stages.kernel-test"]),
        # An expression explains why the pattern does not match.
        ('stages: {kernel-tests: {timeout: "${{ vars.T }}"}}', ["expression stages.kernel-tests.timeout"]),
        ('stages: {kernel-tests: {runner: "${{ x }}"}}', ["expression stages.kernel-tests.runner"]),
        # What is under an unknown key is not looked at.
        ("stages: {kernel-tests: }\nextra: {runners: 5, x: 1}", ["unknown-key extra"]),
        # A value given twice is one mistake, not two.
        ("stages: {kernel-tests: {tests: [a], tests: 5}}", ["duplicate-key stages.kernel-tests.tests"]),
        ("stages: {hipify-check: {rocm-version: !!float 6}}", ["yaml-tag stages.hipify-check.rocm-version"]),
    ],
)
def test_no_second_message_about_the_same_cause(text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_a_runner_with_a_mistake_is_still_known() -> None:
    assert told("stages: {kernel-tests: {runner: gpu}}", "runners: {gpu: {labels: 5}}\n") == ["type runners.gpu.labels"]
    assert told("stages: {kernel-tests: }", "runners: {gpu: {label: x}}\n") == ["unknown-key runners.gpu.label"]


def test_a_newer_manifest_is_not_judged_by_this_release() -> None:
    assert [item.rule for item in check(b"version: 2\nstages: []\nnew: ~\n", "m").diagnostics] == ["newer-version"]


@pytest.mark.parametrize(
    "text",
    [
        "stages: {kernel-tests: {runner: gpu, pytest-args: [-x, --co], tests: [a]}}",
        "stages: {sglang-regression: {model: m, server-args: [--tp, '2']}}",
        "stages: {sglang-regression: {model: /models/a, base-url: 'http://h:1'}}",
        "stages: {kernel-tests: {tests: ['t.py::test[../x]']}}",
        "stages: {kernel-tests: {before: [{run: 'cat /etc/os-release && rm -rf ../x'}]}}",
        "stages: {kernel-tests: {device: '0,1'}}",
        "container: {image: 'me/cuda-to-rocm:1'}\nstages: {kernel-tests: }",
        "container: {image: 'a:1', volumes: ['/var/lib/models:/m', '/run/user:/u']}\nstages: {kernel-tests: }",
        "container: {image: 'a:1', ipc: private, shm-size: 8g}\nstages: {kernel-tests: }",
        "triggers: {schedule: ['0 0 29 2 *']}\nstages: {kernel-tests: }",
        "stages: {kernel-tests: {paths: ['**', '!docs/**', 'docs/x.md']}}",
        "forks: {policy: mirror}\ntriggers: {manual: false}\nstages: {kernel-tests: }",
        "jobs: {plan-b: {uses: ./.github/workflows/b.yml}}\nstages: {kernel-tests: {needs: [plan-b]}}",
    ],
)
def test_what_is_right_stays_without_a_word(text: str) -> None:
    assert told(text) == []


def test_pools_are_told_what_they_must_provide() -> None:
    runners = "runners: {arc: {labels: arc, mode: kubernetes, gpus: 4}}\n"
    text = f"version: 1\n{runners}container: {{image: 'a/rocm:1'}}\nstages: {{kernel-tests: }}\n"
    checked = check(text.encode(), "m")
    assert checked.diagnostics == ()
    (absent, note) = checked.notes
    assert absent.startswith("kernel-tests is not available")
    assert "`arc`" in note
    assert "amd.com/gpu: 4" in note
    assert "supplementalGroups" in note
    (warning,) = check(text.replace("image:", "shm-size: 1g, image:").encode(), "m").diagnostics
    assert warning.rule == "kubernetes-ignores"
    assert "`shm-size`" in warning.message
    assert "`emptyDir`" in warning.fix


def test_two_cycles_are_two_messages() -> None:
    jobs = ", ".join(
        f"{name}: {{uses: ./.github/workflows/x.yml, needs: [{need}]}}" for name, need in ("ab", "ba", "cd", "dc")
    )
    assert told(f"jobs: {{{jobs}}}\nstages: {{kernel-tests: }}") == [
        "needs-cycle jobs.a.needs[0]",
        "needs-cycle jobs.c.needs[0]",
    ]


def test_files_that_are_named_and_not_there() -> None:
    text = (
        "version: 1\nrunners: {gpu: {labels: gpu}}\nrequirements: ./r.txt\n"
        "jobs: {docs: {uses: ./.github/workflows/docs.yml}}\n"
        "stages:\n  hipify-check: {source: [src, 'lib*'], sarif: out.sarif, convert: hip}\n"
        "  kernel-tests: {tests: ['tests/a.py::t', tests/c], before: [{uses: ./action}, {uses: org/rocm-ci/x@v1}]}\n"
    )
    asked: list[str] = []

    def exists(path: str) -> bool:
        asked.append(path)
        return path in ("r.txt", "tests/a.py")

    checked = check(text.encode(), "m", exists)
    assert checked.manifest is not None
    assert [f"{item.rule} {item.key}" for item in checked.diagnostics] == [
        "missing-file jobs.docs.uses",
        "missing-file stages.hipify-check.source[0]",
        "missing-file stages.kernel-tests.tests[1]",
        "missing-file stages.kernel-tests.before[0].uses",
    ]
    assert asked == ["r.txt", "src", "tests/a.py", "tests/c", "action", ".github/workflows/docs.yml"]


@pytest.mark.parametrize("place", ["./", "$/"])
def test_what_is_in_the_same_repository_may_be_named_in_both_ways(place: str) -> None:
    step = f"stages: {{kernel-tests: {{before: [{{uses: {place}ACTION}}]}}}}\n"
    job = f"jobs: {{docs: {{uses: {place}.github/workflows/NAME.yml}}}}\n"
    text = f"version: 1\n{RUNNERS}" + (step + job).replace("ACTION", "actions/x").replace("NAME", "docs")
    asked: list[str] = []
    checked = check(text.encode(), "m", exists=lambda path: bool(asked.append(path)) or True)
    assert checked.diagnostics == ()
    assert asked == ["actions/x", ".github/workflows/docs.yml"]
    assert told((step + job).replace("ACTION", "../x").replace("NAME", "rocm-ci")) == [
        "outside-repository stages.kernel-tests.before[0].uses",
        "calls-itself jobs.docs.uses",
    ]
