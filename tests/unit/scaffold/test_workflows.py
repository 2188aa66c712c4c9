"""Labels, images and models in existing workflows."""

from __future__ import annotations

import pytest

from rocm_ci_gen.scaffold import workflows


def labels(text: str) -> list[tuple[str, ...]]:
    return [use.labels for use in workflows.read_workflow(".github/workflows/x.yml", text).runners]


def job(runs_on: str, more: str = "") -> str:
    return f"on: push\njobs:\n  a:\n    runs-on: {runs_on}\n{more}    steps: []\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (job("linux-mi300-gpu-1"), [("linux-mi300-gpu-1",)]),
        (job("[self-hosted, amd, gfx942]"), [("self-hosted", "amd", "gfx942")]),
        (job("{group: gpu, labels: [self-hosted, rocm]}"), [("self-hosted", "rocm")]),
        (job("ubuntu-latest"), []),
        (job("[self-hosted, nvidia]  # not gfx90a"), []),
        (job("amd64-builder"), []),
        (
            job("${{ matrix.runner }}", "    strategy: {matrix: {runner: [ubuntu-latest, mi250-1]}}\n"),
            [("mi250-1",)],
        ),
        (
            job(
                "${{ matrix.r.tags }}",
                "    strategy: {matrix: {r: [{tags: [self-hosted, nvidia]}, {tags: [self-hosted, gfx90a]}]}}\n",
            ),
            [("self-hosted", "gfx90a")],
        ),
        (
            job("${{ matrix.runner }}", "    strategy: {matrix: {include: [{runner: mi355-8}, {other: mi300}]}}\n"),
            [("mi355-8",)],
        ),
        (
            job("[self-hosted, '${{ matrix.gpu }}']", "    strategy: {matrix: {gpu: [mi300x, h100]}}\n"),
            [("self-hosted", "mi300x")],
        ),
        (job("${{ inputs.runner || 'linux-mi350-1' }}"), [("linux-mi350-1",)]),
        (job("""${{ fromJSON('["self-hosted", "mi210"]') }}"""), [("self-hosted", "mi210")]),
        (
            (
                "on: {workflow_call: {inputs: {runner: {default: mi300x-1, options: [mi355-1]}}}}\n"
                "jobs: {a: {runs-on: '${{ inputs.runner }}', steps: []}}\n"
            ),
            [("mi300x-1",), ("mi355-1",)],
        ),
        ("jobs: {a: {uses: ./.github/workflows/t.yml, with: {runner: linux-mi300-1}}}\n", [("linux-mi300-1",)]),
        # An expression in the middle of a label stays unknown, and so does what no manifest would take.
        (job("linux-mi300-${{ matrix.n }}"), []),
        (job("[self-hosted, 'mi300 x']"), []),
        # A job's name is no label.
        ("jobs: {mi300-tests: {name: mi300, runs-on: ubuntu-latest}}\n", []),
    ],
)
def test_labels_of_amd_machines(text: str, expected: list[tuple[str, ...]]) -> None:
    assert labels(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "rocm: [",
        "rocm",
        "- mi300",
        "jobs: mi300",
        "jobs: {a: mi300}",
        "jobs: {a: {runs-on: 300, strategy: rocm}}",
        "jobs: {a: {runs-on: {rocm: 1}, strategy: {matrix: '${{ fromJSON(x) }}'}}}",
        "a: &a [rocm]\njobs: *a",
        "jobs: {a: {runs-on: '${{ matrix.a.b.c }}', strategy: {matrix: {a: [1, {b: rocm}]}}}}",
        "\t\x07rocm",
        "jobs: " + "[" * 2000 + "mi300",
    ],
)
def test_a_workflow_of_any_shape_tells_nothing_rather_than_failing(text: str) -> None:
    assert labels(text) == []


def test_alias_bombs_cost_nothing() -> None:
    bomb = "a: &a [mi300, mi300]\n" + "".join(f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}]\n" for n in range(40))
    assert labels(bomb + "jobs: {x: {runs-on: *b39}}\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("    image: rocm/pytorch:rocm6.3_x\n", ["rocm/pytorch:rocm6.3_x"]),
        ("FROM docker.io/rocm/dev-ubuntu-22.04:6.3-complete AS b\n", ["docker.io/rocm/dev-ubuntu-22.04:6.3-complete"]),
        ("FROM ${BASE} \nARG BASE=localhost:5000/rocm/x:1\n", ["localhost:5000/rocm/x:1"]),
        ("https://download.pytorch.org/whl/rocm6.3\n", []),
        ("image: nvcr.io/nvidia/pytorch:24.12-py3\n", []),
        ("toolkit: ROCm-7.2\n", []),
        ("image: rocm/pytorch\n", []),
    ],
)
def test_images(text: str, expected: list[str]) -> None:
    assert list(workflows.images(text)) == expected


def test_models() -> None:
    text = (
        "run: python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B --tp 2\nrun: vllm --model=/data/x\n"
    )
    assert workflows.models(text) == ("meta-llama/Llama-3.1-8B",)
    assert workflows.models("run: vllm serve 'Qwen/Qwen3-8B' --port 1\n") == ("Qwen/Qwen3-8B",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jobs:\n  gate:\n    runs-on: x\n", True),
        ("jobs:\n  a:\n    name: gate\n", True),
        ("jobs:\n  a:\n    steps:\n      - name: gate\n        run: x\n", False),
        ("jobs:\n  quality-gate:\n    runs-on: x\n", False),
    ],
)
def test_a_second_job_called_gate(text: str, expected: bool) -> None:
    assert workflows.read_workflow("x.yml", text).gate is expected
