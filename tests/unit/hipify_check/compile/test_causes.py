"""Compiler output to causes; the texts are what clang 15 of Debian's hipcc 5.2.3 wrote."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check.compile import causes, diagnostics
from rocm_ci.hipify_check.compile.diagnostics import Diagnostic

OLD, NEW = (5, 2), (7, 0)


def judged(text: str, hip=OLD, target=NEW):
    decided = causes.judge(diagnostics.parse(text.splitlines()), hip=hip, target=target)
    assert decided is not None
    return decided


def test_places_are_read_and_notes_and_warnings_are_not():
    text = """\
In file included from a.cu:1:
dir with space/a.h:2:62: error: invalid % escape in inline assembly string
__global__ void k(int*p){ asm volatile("mov.u32 %0, %laneid;"); }
                                       ~~~~~~~~~~~~~~~^~~~~~~
a.cu:3:1: warning: unused
a.cu:3:12: note: candidate function not viable: error: x
a.cu:9:10: fatal error: 'x.h' file not found
2 errors generated when compiling for gfx90a.
"""
    assert diagnostics.parse(text.splitlines()) == [
        Diagnostic("dir with space/a.h", 2, 62, "invalid % escape in inline assembly string"),
        Diagnostic("a.cu", 9, 10, "'x.h' file not found"),
    ]


@pytest.mark.parametrize(
    ("text", "cause", "said"),
    [
        ("a.cu:2:3: error: invalid instruction\n<inline asm>:1:2: note: instantiated into assembly here", "ptx", "PTX"),
        (
            "a.cu:2:3: error: not a valid operand.\n<inline asm>:1:2: note: instantiated into assembly here",
            "ptx",
            "PTX",
        ),
        ("<inline asm>:1:2: error: something new", "ptx", "PTX"),
        ("a.cu:3:57: error: invalid output constraint '=l' in asm", "ptx", "PTX"),
        ("a.cu:3:57: error: expected ';' after expression", "other", ""),
        ("a.cu:3:57: error: not a valid operand", "other", ""),
        ("a.cu:3:1: error: use of undeclared identifier 'cudaMalloc'", "unknown-name", "cudaMalloc is hipMalloc"),
        ("a.cu:3:1: error: unknown type name 'cudaStream_t'", "unknown-name", "hipStream_t"),
        ("a.cu:3:1: error: use of undeclared identifier '__nanosleep'", "unknown-name", "units differ"),
        ("a.cu:3:1: error: use of undeclared identifier 'mine'", "unknown-name", ""),
        ("a.cu:3:1: error: no member named 'zz' in 'HIP_vector_type<float, 4>'", "other", ""),
        ("a.cu:3:1: error: no matching function for call to 'mine'", "other", ""),
        (
            "a.cu:3:1: error: use of undeclared identifier '__shfl_xor_sync'",
            "hip-too-old",
            "from 6.2 on, and here is 5.2",
        ),
        ("a.cu:3:1: error: use of undeclared identifier '__syncwarp'", "hip-too-old", "from 7.0 on"),
        ("a.cu:3:1: fatal error: 'hip/hip_bf16.h' file not found", "hip-too-old", "hip/hip_bf16.h"),
        ("a.cu:3:1: fatal error: 'hipblas/hipblas.h' file not found", "header-missing", "install hipblas-dev"),
        ("a.cu:3:1: fatal error: 'rocrand/rocrand.h' file not found", "header-missing", "Debian 12: librocrand-dev"),
        ("a.cu:3:1: fatal error: 'mpi.h' file not found", "header-missing", "libopenmpi-dev"),
        (
            "a.cu:3:1: fatal error: 'nobody_knows.h' file not found",
            "header-missing",
            "neither in the tree nor installed",
        ),
        ("a.cu:3:1: fatal error: 'cuda_runtime.h' file not found", "unknown-name", "use hip/hip_runtime.h"),
        ("a.cu:3:1: fatal error: 'cutlass/gemm.h' file not found", "unknown-name", "no such header"),
        ("a.cu:3:1: fatal error: 'thrust/sort.h' file not found", "header-missing", "install rocthrust-dev"),
        ("a.cu:3:1: error: '__builtin_amdgcn_mfma' needs target feature mai-insts", "unsupported-arch", ""),
        ("clang: error: invalid target ID 'gfx942'; format is a processor name", "toolchain", ""),
        ("clang: error: cannot find ROCm device library for gfx1100; provide its path", "toolchain", ""),
        ("clang-15: error: unable to execute command: Killed", "toolchain", ""),
        ("fatal error: error in backend: Cannot select: intrinsic %llvm.amdgcn.x", "unsupported-arch", ""),
        ("PLEASE submit a bug report to https://x", "other", ""),
    ],
)
def test_cause(text, cause, said):
    found, error = judged(text)
    assert found == cause
    assert said in error.advice


def test_a_name_that_only_a_release_after_the_target_has_is_the_codes_fault():
    text = "a.cu:3:1: error: use of undeclared identifier '__shfl_xor_sync'"
    assert judged(text, hip=(5, 2), target=(6, 0))[0] == "unknown-name"
    assert judged(text, hip=(6, 3), target=(6, 3))[0] == "unknown-name"
    assert judged(text, hip=None)[0] == "unknown-name"


def test_what_may_follow_from_a_missing_name_does_not_count_and_what_cannot_does():
    missing = "a.cu:1:1: error: use of undeclared identifier '__shfl_sync'\n"
    follows = "a.cu:2:1: error: use of undeclared identifier 'result'\n"
    certain = "a.cu:3:1: error: use of undeclared identifier 'cudaMalloc'\n"
    assert judged(missing + follows)[0] == "hip-too-old"
    cause, error = judged(missing + follows + certain)
    assert (cause, error.line) == ("unknown-name", 3)
    assert judged(follows + missing)[1].line == 1 + 1


def test_no_error_no_cause():
    assert causes.judge([], hip=OLD, target=NEW) is None


def test_every_row_of_the_data_is_whole():
    assert {cause for cause, _ in causes._signatures()} >= {"ptx", "header-missing", "unknown-name", "toolchain"}
    assert all(len(row) == 4 for row in causes._rows("headers.tsv"))
    assert all(len(row) == 3 for row in causes._rows("causes.tsv"))
