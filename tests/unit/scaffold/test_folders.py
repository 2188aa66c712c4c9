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
