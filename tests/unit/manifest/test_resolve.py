"""From a valid text to the model: defaults, looked-up runners, and values as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_ci_gen.manifest.model import Forks, Manifest, RefFilter, Runner, Source, Triggers
from support.manifests import parsed

GOOD = Path(__file__).resolve().parents[2] / "manifests" / "good"
RUNNERS = "runners: {gpu: {labels: [self-hosted, gpu]}}\n"


def manifest(stages: str = "stages: {kernel-tests: {}}", more: str = "", runners: str = RUNNERS) -> Manifest:
    return parsed(f"version: 1\n{runners}{more}\n{stages}\n")


def test_the_shortest_manifest_gets_every_default() -> None:
    found = manifest()
    assert found.uses == Source("org/rocm-ci", "v1", None)
    assert found.cpu == Runner("cpu", ("ubuntu-latest",), mode="none")
    assert found.runners["gpu"] == Runner("gpu", ("self-hosted", "gpu"), groups=("video",), mode="docker")
    assert found.triggers == Triggers(
        push=RefFilter(branches=("main",)), pull_request=RefFilter(), merge_group=True, schedule=(), manual=True
    )
    assert found.forks == Forks("never", "ok-to-test", "fail")
    assert found.cancel_in_progress is True
    assert (found.unowned, found.ignore, found.container, found.requirements) == ("notice", (), None, None)
    assert (found.probe, found.jobs, found.retention_days) == (None, (), None)
    (stage,) = found.stages
    assert stage.paths == ("**",)
    assert stage.timeout == "60m"
    assert (stage.shards, stage.instances, stage.needs, stage.options) == (1, 1, (), {})
    assert stage.runners == (found.runners["gpu"],)


def test_triggers_that_are_written_are_all_there_are() -> None:
    found = manifest(more="triggers: {pull_request: true, push: {tags: [v1], branches-ignore: [x]}}").triggers
    assert found.pull_request == RefFilter()
    assert found.push == RefFilter(branches_ignore=("x",), tags=("v1",))
    assert (found.merge_group, found.schedule, found.manual) == (False, (), False)
    assert manifest(more="triggers: {manual: true, push: false}").triggers.push is None


def test_a_cpu_runner_of_ones_own_runs_on_its_host() -> None:
    runners = "runners: {cpu: {labels: [self-hosted, x]}, gpu: {labels: gpu, mode: kubernetes}}\n"
    found = manifest(more="container: {image: a/rocm:1}", runners=runners)
    assert found.cpu.mode == "none"
    assert found.cpu.labels == ("self-hosted", "x")
    assert found.runners["gpu"].mode == "kubernetes"
    assert list(found.runners) == ["cpu", "gpu"]


def test_values_are_texts_as_they_were_written() -> None:
    found = manifest(
        more="container: {image: 'a:1', ulimits: {core: 0}, env: {A: 1.10, B: 0x1F, C: True, D: 'true', E: 010}}"
    )
    assert found.container is not None
    assert found.container.env == {"A": "1.10", "B": "0x1F", "C": "true", "D": "true", "E": "010"}
    assert found.container.ulimits == {"core": "0"}
    assert found.container.devices == ("/dev/kfd", "/dev/dri")


def test_options_are_the_inputs_of_the_action() -> None:
    stage = manifest(
        "stages: {kernel-tests: {tests: [a, b], each: true, retries: 2, device: 0, timeout: 5m, shards: 3, env: {X: 1},"
        " pytest-args: [-m, not slow, -m, x], max-slowdown: 2.5%}}"
    ).stages[0]
    assert stage.options == {
        "tests": "a\nb",
        "each": "true",
        "retries": "2",
        "device": "0",
        "pytest-args": "-m\nnot slow\n-m\nx",
        "max-slowdown": "2.5%",
    }
    assert (stage.timeout, stage.shards, stage.env) == ("5m", 3, {"X": "1"})


def test_stages_keep_their_order_and_the_probe_is_none_of_them() -> None:
    found = manifest("stages: {vram-probe: {max-growth: 10%}, kernel-tests: , hipify-check: {source: [.]}}")
    assert [stage.name for stage in found.stages] == ["kernel-tests", "hipify-check"]
    assert [stage.gpu for stage in found.stages] == [True, False]
    assert found.probe == {"max-growth": "10%"}
    assert manifest("stages: {vram-probe: , kernel-tests: }").probe == {}


def test_a_stage_on_several_runners_in_the_order_given() -> None:
    runners = "runners: {a: {labels: x}, b: {labels: y}, small: {labels: ubuntu-latest}}\n"
    stage = manifest("stages: {kernel-tests: {runner: [b, a], shards: 2}}", runners=runners).stages[0]
    assert [runner.name for runner in stage.runners] == ["b", "a"]
    assert stage.instances == 4


def test_the_only_gpu_runner_needs_no_name() -> None:
    runners = "runners: {small: {labels: ubuntu-latest}, gpu: {labels: [self-hosted, ubuntu-gpu]}}\n"
    stage = manifest(runners=runners).stages[0]
    assert [runner.name for runner in stage.runners] == ["gpu"]


def test_every_option() -> None:
    found = parsed((GOOD / "every-option.yml").read_text(encoding="utf-8"))
    assert found.uses.pin == "0123456789012345678901234567890123456789"
    docs, other = found.jobs
    assert docs.with_ == {"strict": True, "level": 3, "ratio": 0.5, "name": "x"}
    assert [type(value) for value in docs.with_.values()] == [bool, int, float, str]
    assert docs.permissions == {"contents": "read", "pages": "write"}
    assert docs.self_hosted
    assert other.permissions == {"contents": "read"}
    assert other.paths == ("**",)
    cache, build = found.stages[1].before
    assert cache.with_ == {"path": "~/.cache", "key": "kernels", "fail": "false", "n": "3"}
    assert cache.secrets == ("CACHE_TOKEN",)
    assert build.uses == "./.github/actions/build"
    headers = found.stages[0].before[0]
    assert (headers.run, headers.shell, headers.working_directory) == ("make headers", "sh", "csrc")
    assert found.runners["mi250"].groups == ("video", "109")
    assert found.container is not None
    assert found.container.user == "0:0"


@pytest.mark.parametrize(
    ("name", "expected"), [("anchors", "gfx942"), ("crlf", ""), ("bom", ""), ("quoted-and-tagged", "")]
)
def test_other_ways_to_write(name: str, expected: str) -> None:
    found = parsed((GOOD / f"{name}.yml").read_bytes().decode("utf-8"))
    if expected:
        assert found.runners["mi300x"].gfx == (expected,)
        assert found.runners["mi300x"].groups == found.runners["mi250"].groups == ("video", "109")
    if name == "crlf":
        assert found.stages[0].before[0].run == "make\nmake test\n"
    if name == "quoted-and-tagged":
        assert found.runners["mi300x"].labels == ("self-hosted", "300")
        assert found.stages[0].env == {"DATE": "2024-01-31", "VERSION": "6.10", "YES": "yes", "OCT": "0o17"}
