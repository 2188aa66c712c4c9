"""Names that begin like a library's and are the tree's own."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check.cfamily import own_names
from rocm_ci.hipify_check.check_file import Target, check_text


def names(text):
    return [one.name for one in check_text("a.cpp", "c", text.encode(), Target((7, 0))).findings]


@pytest.mark.parametrize(
    "declaration",
    [
        "std::map<uint64_t, Entry> nvtxToRoctx {\n  {1, 2},\n};",
        "extern std::map<uint64_t, std::vector<int>> nvtxToRoctx;",
        "static const Table<int>& nvtxToRoctx = table();",
        "Entry *nvtxToRoctx = table();",
        "Entry* nvtxToRoctx[4];",
    ],
)
def test_variable_of_a_type_that_ends_in_no_word(declaration):
    assert names(f"int a;\n{declaration}\nint b = nvtxToRoctx[1];\n") == []


@pytest.mark.parametrize(
    "use",
    [
        "return *nvtxToRoctx;",
        "a = b > nvtxToRoctx;",
        "if (b > nvtxToRoctx) f();",
        "x = a * nvtxToRoctx;",
        "f(a, &nvtxToRoctx);",
        "*nvtxToRoctx = 1;",
    ],
)
def test_use_of_a_name_is_no_declaration(use):
    assert names(f"int a;\n{use}\n") == ["nvtxToRoctx"]


def test_macros_whose_names_are_put_together():
    use = "#define RANGE(ID) range(NVTX_SID_##ID)\n"
    assert names("#define NVTX_SID_Send 1\n" + use) == []
    assert names(use) == ["NVTX_SID_##"]
    assert names("#define NVTX_SID_Send 1\n#define COLOUR(ID) NVTX_COLOR_##ID\n") == ["NVTX_COLOR_##"]
    assert names("#define NVTX_SID_Send 1\n#define ANY(ID) NVTX_ ## ID\n") == ["NVTX_##"]
    assert names("#if 0\n#define NVTX_SID_Send 1\n#endif\n" + use) == ["NVTX_SID_##"]


def test_stems():
    assert own_names.stems("NVTX_SID_Comm_Init", "NVTX") == (
        "NVTX_SID##",
        "NVTX_SID_##",
        "NVTX_SID_Comm##",
        "NVTX_SID_Comm_##",
    )
    assert own_names.stems("NVTX_Send", "NVTX") == ()
