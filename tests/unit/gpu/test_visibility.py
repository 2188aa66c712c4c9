"""ROCR_, HIP_ and CUDA_VISIBLE_DEVICES as ROCR and HIP read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci.gpu.visibility import select

IDS = [0x1111000000000000, 0x2222000000000000, None, 0x2222FFFFFFFFFFFF]


@pytest.mark.parametrize(
    ("environ", "order", "problem"),
    [
        ({}, (0, 1, 2, 3), ""),
        ({"HIP_VISIBLE_DEVICES": "2,0"}, (2, 0), ""),
        ({"HIP_VISIBLE_DEVICES": ""}, (0, 1, 2, 3), ""),
        ({"HIP_VISIBLE_DEVICES": "-1"}, (), "no index"),
        ({"HIP_VISIBLE_DEVICES": "1,1,3"}, (1, 3), "twice"),
        ({"HIP_VISIBLE_DEVICES": "1,9,0"}, (1,), "beyond the last of 4"),
        ({"HIP_VISIBLE_DEVICES": "0-3"}, (), "is a range"),
        ({"HIP_VISIBLE_DEVICES": "0, 1"}, (0,), "no index"),
        ({"HIP_VISIBLE_DEVICES": "01"}, (), "no index"),
        ({"HIP_VISIBLE_DEVICES": "GPU-1111"}, (0,), ""),
        ({"CUDA_VISIBLE_DEVICES": "3"}, (3,), ""),
        ({"HIP_VISIBLE_DEVICES": "", "CUDA_VISIBLE_DEVICES": "1"}, (1,), ""),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}, (0,), "differ"),
        ({"ROCR_VISIBLE_DEVICES": "1, 0x3"}, (1, 3), ""),
        ({"ROCR_VISIBLE_DEVICES": ""}, (), "set but empty"),
        ({"ROCR_VISIBLE_DEVICES": "1,1,0"}, (1,), "twice"),
        ({"ROCR_VISIBLE_DEVICES": "08"}, (), "no index"),
        ({"ROCR_VISIBLE_DEVICES": "gpu-1111,GPU-2222FFFFFFFFFFFF"}, (0, 3), ""),
        ({"ROCR_VISIBLE_DEVICES": "GPU-2222"}, (), "more than one"),
        ({"ROCR_VISIBLE_DEVICES": "GPU-9999"}, (), "matches no GPU"),
        ({"ROCR_VISIBLE_DEVICES": "2,3", "HIP_VISIBLE_DEVICES": "1"}, (3,), "both set"),
        ({"ROCR_VISIBLE_DEVICES": "2,3", "HIP_VISIBLE_DEVICES": "2"}, (), "leave none"),
    ],
)
def test_what_is_left(environ: dict[str, str], order: tuple[int, ...], problem: str) -> None:
    found = select(IDS, environ)
    assert found.order == order
    assert set(found.hidden) == set(range(4)) - set(order)
    assert (problem in " ".join(found.problems)) if problem else not found.problems


@given(
    st.lists(st.none() | st.integers(1, 2**64 - 1), max_size=9),
    st.dictionaries(
        st.sampled_from(["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"]), st.text(max_size=30)
    ),
)
def test_any_text_leaves_some_of_the_gpus(ids: list[int | None], environ: dict[str, str]) -> None:
    found = select(ids, environ)
    assert len(set(found.order)) == len(found.order)
    assert set(found.order) | set(found.hidden) == set(range(len(ids)))
    assert not set(found.order) & set(found.hidden)
