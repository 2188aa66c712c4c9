"""CUDA code beside a HIP half of itself: what the names prove, and what they only suggest."""

from __future__ import annotations

import pytest

from rocm_ci_gen.scaffold.halves import Guess, cuda_halves, other_halves


def sure(guesses: tuple[Guess, ...]) -> list[str]:
    return [guess.glob for guess in guesses if guess.sure]


def doubtful(guesses: tuple[Guess, ...]) -> list[str]:
    return [guess.glob for guess in guesses if not guess.sure]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["src/adam-cuda/a.cu", "src/adam-hip/a.cu"], ["src/*-cuda/**"]),
        # One that has no HIP half is looked at.
        (["src/adam-cuda/a.cu", "src/adam-hip/a.cu", "src/x-cuda/a.cu"], ["src/adam-cuda/**"]),
        (["k/cuda/a.cu", "k/hip/a.hip"], ["k/cuda/**"]),
        (["cuda/a.cu", "rocm/a.cpp"], ["cuda/**"]),
        (["k/cuda/a.cu", "k/rocm/a.hip", "k/cuda/b.cu", "k/amd/b.cpp"], ["k/cuda/**"]),
        (["k/cuda/x/cuda_ops.cu", "k/hip/x/ops_hip.hip.cpp", "k/cuda/README.md"], ["k/cuda/**"]),
        (["k/cuda/setup.py", "k/cuda/a.cu", "k/hip/a.cu"], ["k/cuda/**"]),
        (["csrc/ops.cu", "csrc/ops.hip"], ["csrc/*.cu"]),
        (["csrc/ops.cu", "csrc/ops.hip", "csrc/b.cu"], ["csrc/ops.cu"]),
        (["ops.cu", "ops.hip", "csrc/b.cu"], ["*.cu"]),
        (["src/adam-cuda/a.cu", "src/sgd-hip/a.cu"], []),
        (["cuda/a.cu"], []),
        (["-cuda/a.cu", "-hip/a.cu"], []),
    ],
)
def test_a_half_has_a_counterpart_for_each_file(paths: list[str], expected: list[str]) -> None:
    guesses = cuda_halves(paths)
    assert sure(guesses) == expected
    assert doubtful(guesses) == []


@pytest.mark.parametrize(
    ("paths", "expected", "why"),
    [
        (["src/cuda/a.cu", "src/hip/other.hip"], "src/cuda/**", "without a counterpart there: 1 of 1 file"),
        (
            ["src/cuda/a.cu", "src/cuda/b.cu", "src/hip/a.hip"],
            "src/cuda/**",
            "without a counterpart there: 1 of 2 files",
        ),
        (["src/cuda/x/a.cu", "src/hip/y/a.hip"], "src/cuda/**", "src/hip is beside it"),
        (["src/cuda/README.md", "src/hip/a.hip"], "src/cuda/**", "without a counterpart there: 0 of 0 files"),
        (["src/a-cuda/a.cu", "src/a-hip/b.hip"], "src/a-cuda/**", "src/a-hip is beside it"),
    ],
)
def test_without_counterparts_the_names_prove_nothing(paths: list[str], expected: str, why: str) -> None:
    (guess,) = cuda_halves(paths)
    assert (guess.glob, guess.sure) == (expected, False)
    assert why in guess.why


def test_one_file_in_ten_may_be_alone() -> None:
    paths = [f"k/{half}/{number}.cu" for half in ("cuda", "hip") for number in range(10)]
    assert sure(cuda_halves([path for path in paths if path != "k/hip/3.cu"])) == ["k/cuda/**"]
    assert sure(cuda_halves([path for path in paths if path not in ("k/hip/3.cu", "k/hip/4.cu")])) == []


@pytest.mark.parametrize(
    ("paths", "cuda", "expected", "open_ones"),
    [
        (["s/a-hip/m.cu", "s/a-sycl/m.cpp", "s/a-omp/m.cpp", "s/b-sycl/m.cpp"], [], ["s/*-omp/**", "s/*-sycl/**"], []),
        (["s/a-hip/m.cu", "s/a-sycl/m.cpp", "s/a-sycl/x.cu"], ["s/a-sycl/x.cu"], [], ["s/*-sycl/**"]),
        (["s/a-hip/m.cu", "s/a-sycl/m.cpp", "s/b-sycl/x.cu"], ["s/b-sycl/x.cu"], [], ["s/*-sycl/**"]),
        (["c/fa/a.cu", "c/fa_ck/a.cpp"], ["c/fa/a.cu"], ["c/fa/**"], []),
        (["c/fa/a.cu", "c/fa_ck/z.cpp"], ["c/fa/a.cu"], [], ["c/fa/**"]),
        (["c/fa/a.py", "c/fa_ck/a.cpp"], [], [], []),  # nothing of CUDA in it
        (["c/fa/a.cu", "c/fb_ck/a.cpp"], ["c/fa/a.cu"], [], []),
    ],
)
def test_other_halves(paths: list[str], cuda: list[str], expected: list[str], open_ones: list[str]) -> None:
    guesses = other_halves(paths, cuda)
    assert (sure(guesses), doubtful(guesses)) == (expected, open_ones)
