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
