"""Instances of a stage, and the matrix that places them."""

from __future__ import annotations

from dataclasses import replace

from rocm_ci_gen.plan.changes import Changes
from rocm_ci_gen.plan.decide import decide
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.workflow import instances
from support.models import CONTAINER, HIPIFY, KERNELS, MI250, MI300X, manifest

BOTH = replace(KERNELS, runners=(MI250, MI300X), shards=2)


def test_numbers_go_runner_by_runner_and_shard_by_shard() -> None:
    found = [(number, runner.name, shard) for number, runner, shard in instances.instances(BOTH)]
    assert found == [(1, "mi250", "1/2"), (2, "mi250", "2/2"), (3, "mi300x", "1/2"), (4, "mi300x", "2/2")]


def test_the_plan_expects_the_instances_of_the_matrix() -> None:
    wanted = manifest(BOTH, runners={"cpu": HIPIFY.runners[0], "mi250": MI250, "mi300x": MI300X})
    plan = decide(wanted, Event("workflow_dispatch"), Changes(None, doubt="a button"))
    matrix = instances.place(BOTH, None).matrix
    expected = [(e.instance, e.runner, e.shard, list(e.runs_on), e.gpus) for e in plan.jobs[0].expect]
    assert expected == [
        (row["instance"], row["runner"], row["shard"], list(row["labels"]), row["gpus"])  # type: ignore[call-overload]
        for row in matrix
    ]


def test_one_instance_needs_no_matrix() -> None:
    place = instances.place(KERNELS, CONTAINER)
    assert place.matrix == ()
    assert place.name == "kernel-tests"
    assert place.runs_on == ("self-hosted", "roc-gpu-mi200")
    assert place.expectations == {"expect-gfx": "gfx90a", "expect-gpus": 2}
    assert place.shard is None


def test_a_matrix_has_the_same_keys_in_every_entry() -> None:
    bare = replace(MI250, name="bare", gfx=(), gpus=None)
    place = instances.place(replace(KERNELS, runners=(bare, MI300X)), CONTAINER)
    assert place.matrix[0] == {
        "instance": 1,
        "runner": "bare",
        "labels": ("self-hosted", "roc-gpu-mi200"),
        "gfx": "",
        "gpus": "",
        "partition": "",
        "options": "--init --device=/dev/kfd --device=/dev/dri --group-add=video --group-add=109 --ipc=host",
    }
    assert place.matrix[1].keys() == place.matrix[0].keys()
    assert place.name == "kernel-tests (${{ matrix.runner }})"
    assert place.expectations == {
        "expect-gfx": "${{ matrix.gfx }}",
        "expect-gpus": "${{ matrix.gpus }}",
        "partition": "${{ matrix.partition }}",
    }


def test_what_nobody_promises_is_not_asked() -> None:
    bare = replace(MI250, gfx=(), gpus=None)
    place = instances.place(replace(KERNELS, runners=(bare,), shards=2), CONTAINER)
    assert place.expectations == {}
    assert place.matrix[0].keys() == {"instance", "runner", "shard", "labels"}
    assert place.name == "kernel-tests (${{ matrix.runner }}, shard ${{ matrix.shard }})"


def test_several_gfx_targets_are_alternatives() -> None:
    place = instances.place(replace(KERNELS, runners=(replace(MI250, gfx=("gfx942", "gfx950")),)), None)
    assert place.expectations["expect-gfx"] == "gfx942,gfx950"


def test_a_runner_group_stands_beside_the_labels() -> None:
    grouped = replace(MI300X, group="gpu machines")
    assert instances.runs_on(grouped) == {"group": "gpu machines", "labels": ("mi300x",)}
    assert instances.runs_on(MI300X) == "mi300x"
    place = instances.place(replace(KERNELS, runners=(MI250, grouped)), None)
    assert place.runs_on == "${{ matrix.labels }}"
    assert place.matrix[1]["labels"] == {"group": "gpu machines", "labels": ("mi300x",)}


def test_a_host_beside_containers_has_an_empty_image() -> None:
    place = instances.place(replace(KERNELS, runners=(MI250, replace(MI300X, mode="none"))), CONTAINER)
    assert [row["image"] for row in place.matrix] == [CONTAINER.image, ""]
    assert place.container is not None
    assert place.container.image == "${{ matrix.image }}"


def test_a_stage_on_the_cpu_runner_has_no_container() -> None:
    assert instances.place(HIPIFY, CONTAINER).container is None


def test_a_stage_without_gpus_on_a_gpu_runner_has_its_container_and_promises_no_gpu() -> None:
    place = instances.place(replace(HIPIFY, runners=(MI250,)), CONTAINER)
    assert place.container is not None
    place = instances.place(replace(HIPIFY, runners=(MI250, MI300X)), CONTAINER)
    assert place.matrix[0].keys() - {"options"} == {"instance", "runner", "labels"}
