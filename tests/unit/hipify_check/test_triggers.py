"""The quick looks that decide what is read at all know every word of the data files."""

from __future__ import annotations

import pytest

from rocm_ci import python_packages
from rocm_ci.hipify_check import cmake, mapping, pychunks, scripts
from rocm_ci.hipify_check.check_file import Target, check_text
from rocm_ci.hipify_check.python_source import scan as scan_python

WORDS = [(row[0], row[1]) for row in mapping.rows("words.tsv")]


@pytest.mark.parametrize("kind", ["env", "tool", "flag"])
def test_python_triggers(kind):
    words = [word for group, word in WORDS if group == kind]
    assert [word for word in words if not pychunks.triggers(f"x = ['{word}']\n".encode())] == []


def test_python_triggers_for_libraries():
    libraries = [word for group, word in WORDS if group == "library"]
    assert [word for word in libraries if not pychunks.triggers(f"x = 'lib{word}.so'\n".encode())] == []


def test_python_triggers_for_modules():
    modules = [module for row in python_packages.rows() for module in row[1].split()]
    for line in ("import {}", "from {} import x", "import os, {} as y"):
        missed = [module for module in modules if not scan_python(f"{line.format(module)}\n".encode(), "a.py", (7, 0))]
        assert missed == []


def test_script_triggers():
    words = [f"lib{word}.so" if group == "library" else word for group, word in WORDS]
    assert [word for word in words if scripts._WORTH.search(f"x {word}".lower()) is None] == []


def test_cmake_triggers():
    words = [f"lib{word}.so" if group == "library" else word for group, word in WORDS if group != "env"]
    words += [row[1] for row in mapping.rows("cmake.tsv") if row[0] != "target"]
    assert [word for word in words if cmake._WORTH.search(f"x {word}") is None] == []


def test_every_package_is_found_in_an_install_command():
    names = [row[0].replace("*", "x") for row in python_packages.rows()]
    text = "".join(f"pip install {name}==1.0\n" for name in names)
    lines = {one.line for one in check_text("a.sh", "shell", text.encode(), Target((7, 0))).findings}
    assert lines == set(range(1, len(names) + 1))


SOURCE = (
    '''\
"""nvcc in a docstring"""
import os

@decorated(
    "x")
class A:
    """words"""

    x = """
import pynvml
"""

    def f(self):
        if not is_hip():
            import pynvml
        return [
            0,
        ]

    def g(self):
        os.environ["CUDA_HOME"]
'''
    + "    y = 1\n" * 200
    + """
    @property
    def h(self):
        import pycuda
try:
    import nvtx
except ImportError:
    pass
"""
)


def test_python_is_read_in_pieces_as_it_is_read_whole():
    import ast

    from rocm_ci.hipify_check.python_source import _Reader

    raw = SOURCE.encode()
    chunks = pychunks.split(raw, pychunks.triggers(raw))
    assert sum(chunk.end - chunk.start for chunk in chunks) < len(raw) - 1000
    whole = _Reader(raw, "a.py", (7, 0), [], explicit=False)
    whole.read(pychunks.Chunk(0, 0, len(raw)), ast.parse(raw))
    assert scan_python(raw, "a.py", (7, 0)) == whole.hits
    assert [(hit.name, hit.verdict) for hit in whole.hits] == [
        ("pynvml", "note"),
        ("CUDA_HOME", "convertible"),
        ("pycuda", "unsupported"),
        ("nvtx", "note"),
    ]


def test_python_of_odd_layout_is_read_whole():
    raw = SOURCE.replace("            0,\n        ]", "0, ]").encode()
    assert [hit.name for hit in scan_python(raw, "a.py", (7, 0))] == ["pynvml", "CUDA_HOME", "pycuda", "nvtx"]
