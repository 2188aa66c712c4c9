"""Code that AMD does not compile, told by its place."""

from __future__ import annotations

import pytest

from rocm_ci_gen.scaffold import not_for_amd


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hopper/a.cu", "hopper"),
        ("liger_cute_kernels/a.cu", "liger_cute_kernels"),
        ("pkg/ops/CuteDSL/x/a.py", "pkg/ops/CuteDSL"),
        ("pkg/sm90/cute/a.cu", "pkg/sm90"),
        ("execute/a.cu", ""),
        ("hopper", ""),  # a file
        ("csrc/a.cu", ""),
    ],
)
def test_folders_named_after_what_only_nvidia_has(path: str, expected: str) -> None:
    assert not_for_amd.nvidia_folder(path) == expected


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["src/adam-cuda/a.cu", "src/adam-hip/a.cu", "src/x-cuda/a.cu"], ("src/*-cuda/**",)),
        (["k/cuda/a.cu", "k/hip/a.cu"], ("k/cuda/**",)),
        (["cuda/a.cu", "rocm/a.cu"], ("cuda/**",)),
        (["csrc/ops.cu", "csrc/ops.hip", "csrc/b.cu"], ("csrc/*.cu",)),
        (["src/adam-cuda/a.cu", "src/sgd-hip/a.cu"], ()),
        (["cuda/a.cu"], ()),
        (["-cuda/a.cu", "-hip/a.cu"], ()),
    ],
)
def test_cuda_halves(paths: list[str], expected: tuple[str, ...]) -> None:
    assert not_for_amd.cuda_halves(paths) == expected


@pytest.mark.parametrize(
    ("paths", "cuda", "expected"),
    [
        (["s/a-hip/m.cu", "s/a-sycl/m.cpp", "s/a-omp/m.cpp", "s/b-sycl/m.cpp"], [], ("s/*-omp/**", "s/*-sycl/**")),
        (["c/fa/a.cu", "c/fa_ck/a.cpp"], ["c/fa/a.cu"], ("c/fa/**",)),
        (["c/fa/a.py", "c/fa_ck/a.cpp"], [], ()),  # nothing of CUDA in it
        (["c/fa/a.cu", "c/fb_ck/a.cpp"], ["c/fa/a.cu"], ()),
    ],
)
def test_other_halves(paths: list[str], cuda: list[str], expected: tuple[str, ...]) -> None:
    assert not_for_amd.other_halves(paths, cuda) == expected


def test_files_named_after_an_architecture() -> None:
    paths = ["csrc/gemm_sm90.cu", "cute/gemm_sm100_x.py", "csrc/small.cu", "csrc/prism80.cu"]
    assert not_for_amd.arch_globs(paths, []) == ("*_sm[0-9]*",)
    assert not_for_amd.matching(["*_sm[0-9]*"], paths) == ("csrc/gemm_sm90.cu", "cute/gemm_sm100_x.py")
    assert not_for_amd.arch_globs(paths[1:], ["cute/**"]) == ()
    assert not_for_amd.arch_globs(["a_sm90.md", "_sm/a.cu"], []) == ()


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("src/*-cuda/**", "src/a-cuda/x/y.cu", True),
        ("src/*-cuda/**", "src/a-hip/y.cu", False),
        ("src/*-cuda/**", "src/a/b-cuda/y.cu", False),
        ("csrc/*.cu", "csrc/a.cu", True),
        ("csrc/*.cu", "csrc/x/a.cu", False),
        ("k/cuda/**", "k/cuda", False),
        ("a+b/**", "a+b/c", True),
    ],
)
def test_matching(glob: str, path: str, expected: bool) -> None:
    assert bool(not_for_amd.matching([glob], [path])) is expected
