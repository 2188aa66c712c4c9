"""GPUs by the names in labels and images."""

from __future__ import annotations

import json

import pytest

from rocm_ci_gen.resources import data_text
from rocm_ci_gen.scaffold import gpus
from rocm_ci_gen.scaffold.forms import accepts


@pytest.mark.parametrize(
    ("label", "gfx", "number"),
    [
        ("linux-mi300-gpu-1", "gfx942", 1),
        ("linux-mi325-1gpu-sglang", "gfx942", 1),
        ("linux-aiter-oci-mi300x-8", "gfx942", 8),
        ("roc-gpu-mi200", "gfx90a", None),
        ("MI355X", "gfx950", None),
        ("gfx1100", "gfx1100", None),
        ("rocm-gfx90A-pool", "gfx90a", None),
        ("ubuntu-22.04", None, None),
        ("build-8", None, None),  # a number of something else
        ("mi3000", None, None),
        ("strix-halo-2", "gfx1151", 2),
    ],
)
def test_labels(label: str, gfx: str | None, number: int | None) -> None:
    assert gpus.gfx_of_label(label) == gfx
    assert gpus.gpus_of_label(label) == number


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("rocm/pytorch:rocm6.2.3_ubuntu22.04_py3.10_pytorch_release_2.3.0", (6, 2, 3)),
        ("rocm/pytorch:rocm7.2_ubuntu22.04", (7, 2)),
        ("lmsysorg/sglang-rocm:v0.5.12-rocm720-mi35x", (7, 2, 0)),
        ("rocm/vllm-dev:nightly", None),
    ],
)
def test_rocm_version_in_an_image(image: str, version: tuple[int, ...] | None) -> None:
    assert gpus.rocm_of_image(image) == version


def test_the_default_image_has_a_rocm_for_the_target() -> None:
    for gfx in [None, "gfx90a", "gfx942", "gfx950", "gfx1201"]:
        image = gpus.default_image(gfx)
        rocm = gpus.rocm_of_image(image)
        needed = gpus.min_rocm(gfx) if gfx else None
        assert rocm is not None
        assert needed is None or rocm >= needed
        assert accepts("image", image)
    assert gpus.default_image("gfx90a") == "rocm/pytorch:rocm6.2.3_ubuntu22.04_py3.10_pytorch_release_2.3.0"


def test_every_row_of_the_table_has_a_source_and_says_the_same_as_its_name() -> None:
    data = json.loads(data_text("scaffold/data/gpus.json"))
    words = [word for row in data["gpus"] for word in row["words"]]
    assert len(words) == len(set(words))
    for row in data["gpus"]:
        assert row["source"]
        assert accepts("gfx", row["gfx"])
    for row in data["images"]:
        assert row["source"]
        assert gpus.rocm_of_image(row["image"]) == gpus.version_tuple(row["rocm"])
