"""Which files are units, and with which options they are compiled; nothing runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm_ci.hipify_check import files
from rocm_ci.hipify_check.cfamily import lexer
from rocm_ci.hipify_check.compile import CompileRequest, job, project, units
from rocm_ci.runner.errors import UsageError


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    def make(contents):
        for name, text in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def commands(*sources, now=None, **options):
    found = files.discover(sources)
    pairs = [(Path(source), Path(now or source)) for source in sources]
    request = CompileRequest(found, pairs, **options)
    plans = job.plan(units.find(found.files), request, "hipcc", ["gfx90a"])
    return {one.file.name: one.command[6:-1] for one in plans}


@pytest.mark.parametrize(
    ("name", "text", "unit"),
    [
        ("a.cu", "int x;", True),
        ("a.HIP", "int x;", True),
        ("a.cpp", "__global__ void k();", True),
        ("a.cpp", "hipMalloc(&p, 1);", True),
        ("a.cpp", "k<<<1, 1>>>();", True),
        ("a.cc", "#include <hip/hip_runtime.h>", True),
        ("a.cc", "#include <cuda_runtime.h>", True),
        ("a.cpp", '// hipMalloc\nint x; const char* s = "<<<";', False),
        ("a.cpp", "std::cout << x; chip(1); hipster();", False),
        ("a.c", "int x;", False),
        ("a.h", "__global__ void k();", False),
        ("a.cuh", "__global__ void k();", False),
    ],
)  # fmt: skip
def test_unit(name, text, unit):
    assert units.is_unit(name, lexer.read(text.encode())) is unit


def test_a_source_that_another_includes_is_no_unit(tree):
    tree({"src/main.cu": '#include "kernel.cu"\n', "src/kernel.cu": "int x;\n", "src/own.cu": '#include "own.cu"\n'})
    chosen = units.find(files.discover(["src"]).files)
    assert [file.name for file in chosen.compile] == ["src/main.cu", "src/own.cu"]
    assert chosen.included == ("src/kernel.cu",)


def test_the_projects_own_folders_are_found_by_the_names_that_are_included(tree):
    root = tree(
        {
            "p/src/a.cu": '#include "beside.h"\n#include "util/u.h"\n#include <api.h>\n#include <vector>\n',
            "p/src/beside.h": "",
            "p/include/util/u.h": '#include "deep.h"\n',
            "p/lib/deep.h": "",
            "p/public/api.h": "",
        }
    )
    (options,) = commands("p").values()
    assert set(options) == {
        f"-iquote{root}/p/include",
        f"-iquote{root}/p/lib",
        f"-idirafter{root}/p/public",
        "-std=gnu++17",
    }


def test_standard_and_definitions_of_the_nearest_build_file(tree):
    tree(
        {
            "p/CMakeLists.txt": "set(CMAKE_CXX_STANDARD 14)\nset(CMAKE_HIP_STANDARD 20)\n",
            "p/a/x.cu": "",
            "p/b/Makefile": "# -DNO\nCFLAGS := -std=c++14 -O3 -DN=4 -DBAD=$(X) \\\n -D USE\n"
            "ifeq ($(D),1)\n CFLAGS += -DDEBUG\nendif\n",
            "p/b/y.cu": "",
            "p/c/z.c": "hipMalloc(0, 1);",
            "other/w.cu": "",
        }
    )
    found = commands("p", "other")
    assert found["p/a/x.cu"] == ("-std=c++20",)
    assert found["p/b/y.cu"] == ("-std=c++14", "-DN=4", "-DUSE")
    assert found["p/c/z.c"] == ("-D__HIP_PLATFORM_AMD__",)
    assert found["other/w.cu"] == ("-std=gnu++17",)


def test_the_last_option_wins_so_flags_stand_at_the_end(tree):
    tree({"p/a.cu": ""})
    assert commands("p", flags=("-std=c++20",))["p/a.cu"] == ("-std=gnu++17", "-std=c++20")


def test_compile_commands_are_used_and_carried_over_to_the_converted_tree(tree):
    root = tree({"p/src/a.cu": "", "p/inc/a.h": "", "out/src/a.cu": "", "out/inc/a.h": ""})
    row = {
        "directory": str(root / "p" / "build"),
        "file": "../src/a.cu",
        "command": "nvcc -I../inc -isystem=/opt/x -I gen -DA='b c' -D N --std c++17 "
        "-gencode arch=compute_80,code=sm_80 --expt-relaxed-constexpr -Xcompiler -fPIC -c ../src/a.cu -o a.o",
    }
    (root / "p" / "build").mkdir()
    (root / "p" / "build" / "compile_commands.json").write_text(json.dumps([row]))
    found = files.discover(["out"])
    request = CompileRequest(found, [(Path("p"), Path("out"))])
    (plan,) = job.plan(units.find(found.files), request, "hipcc", ["gfx90a"])
    assert plan.command[6:-1] == (
        "-I", f"{root}/out/inc", "-I", f"{root}/p/inc", "-isystem", "/opt/x",
        "-I", f"{root}/out/build/gen", "-I", f"{root}/p/build/gen", "-D", "A=b c", "-D", "N", "-std=c++17",
    )  # fmt: skip


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"file": "a.cu"}]'])
def test_compile_commands_that_are_none(tree, text):
    tree({"p/a.cu": "", "p/compile_commands.json": text})
    if text == "{}":
        assert commands("p")["p/a.cu"] == ("-std=gnu++17",)
        return
    with pytest.raises(UsageError, match="cannot be used"):
        commands("p")


def test_compile_commands_that_were_named_and_are_not_there(tree):
    tree({"p/a.cu": ""})
    with pytest.raises(UsageError, match="does not exist"):
        commands("p", compile_commands=Path("x.json"))


def test_only_what_holds_in_every_build_is_read_from_a_makefile():
    text = "A = 1\nifdef X\n  B\n  ifneq (a,b)\n  C\n  else\n  D\n  endif\nelse\n  E\nendif\nF # G\n"
    assert project.unconditional(text).split() == ["A", "=", "1", "F"]
