"""Roles of folders, and the shortest list of folders for a set of files."""

from __future__ import annotations

import pytest

from rocm_ci_gen.scaffold import folders
from rocm_ci_gen.scaffold.folders import Role


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("csrc/a.cu", Role.PRODUCT),
        ("setup.py", Role.PRODUCT),
        ("tests", Role.PRODUCT),  # a file of that name
        ("tests/a.py", Role.TESTS),
        ("pkg/tests/kernels/a.py", Role.TESTS),
        ("Third_Party/tests/a.cu", Role.VENDORED),
        ("examples/tests/a.py", Role.EXAMPLES),
        (".github/scripts/a.py", Role.TOOLING),
    ],
)
def test_role(path: str, expected: Role) -> None:
    assert folders.role(path) is expected


def test_top_folders() -> None:
    assert folders.top_folders(["b/x/1.cu", "a/2.cu", "3.cu"]) == (".", "a", "b")


def test_vendored_folders_end_where_the_name_says_so() -> None:
    paths = ["csrc/third_party/x/y/a.cu", "csrc/third_party/z/b.cu", "csrc/c.cu"]
    assert folders.vendored_folders(paths) == ("csrc/third_party",)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hopper/a.cu", True),
        ("liger_cute_kernels/a.cu", True),
        ("csrc/hopper/a.cu", False),  # only a top-level folder is left out as a whole
        ("execute/a.cu", False),
        ("hopper", False),
    ],
)
def test_nvidia_only(path: str, expected: bool) -> None:
    assert folders.nvidia_only(path) is expected


def numbered(folder: str, number: int) -> list[str]:
    return [f"{folder}/test_{index}.py" for index in range(number)]


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ([], ()),
        (numbered("tests", 3), ("tests",)),
        # A folder called after kernels wins where it holds a good part.
        (numbered("tests/kernels", 10) + numbered("tests/models", 60), ("tests/kernels",)),
        (numbered("tests/kernels", 2) + numbered("tests/models", 60), ("tests",)),
        (numbered("tests/ops", 2) + numbered("tests/models", 2), ("tests/ops",)),
        # A weaker name needs half of them.
        (numbered("test/triton", 2) + numbered("test/models", 8), ("test",)),
        (numbered("tests/unit", 8) + numbered("tests/e2e", 2), ("tests/unit",)),
        # Down to where they part.
        (numbered("testing/python/a", 5) + numbered("testing/python/b", 5), ("testing/python",)),
        # A stray test elsewhere is not taken in.
        ([*numbered("tests", 20), "pkg/test_x.py"], ("tests",)),
        (["test_a.py", "test_b.py"], ("test_a.py", "test_b.py")),
        (numbered("a_tests", 5) + numbered("b_tests", 5), ("a_tests", "b_tests")),
    ],
)
def test_test_folders(tests: list[str], expected: tuple[str, ...]) -> None:
    assert folders.test_folders(tests) == expected


@pytest.mark.parametrize(
    ("paths", "expected", "inside"),
    [
        (["src/adam-cuda/a.cu", "src/adam-hip/a.cu"], ("src/*-cuda/**",), 1),
        (["k/cuda/a.cu", "k/hip/a.cu"], ("k/cuda/**",), 1),
        (["cuda/a.cu", "rocm/a.cu"], ("cuda/**",), 1),
        (["csrc/ops.cu", "csrc/ops.hip", "csrc/b.cu"], ("csrc/*.cu",), 2),
        (["src/adam-cuda/a.cu", "src/sgd-hip/a.cu"], (), 0),
        (["cuda/a.cu"], (), 0),
    ],
)
def test_a_tree_with_cuda_and_hip_side_by_side(paths: list[str], expected: tuple[str, ...], inside: int) -> None:
    assert folders.twin_excludes(paths) == expected
    assert len(folders.in_twins(paths)) == inside


def test_the_hip_half_is_in_no_exclude() -> None:
    paths = ["src/adam-cuda/a.cu", "src/adam-hip/a.cu", "src/x.cu"]
    assert folders.in_twins(paths) == ("src/adam-cuda/a.cu",)
