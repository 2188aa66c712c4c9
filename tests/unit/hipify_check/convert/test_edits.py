"""Single texts: what is edited, and that nothing else is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_ci.hipify_check import check_file, versions
from rocm_ci.hipify_check.convert import casts, edits
from rocm_ci.hipify_check.model import Finding

TARGET = check_file.Target(versions.NEWEST)


def convertible(text: bytes) -> list[Finding]:
    result = check_file.check_text("a.cu", "c", text, TARGET)
    return [finding for finding in result.findings if finding.verdict == "convertible"]


def convert(text: bytes) -> bytes:
    for _ in range(8):
        after = edits.apply(text, convertible(text)).text
        if after == text:
            break
        text = after
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"cudaMalloc(&p, n);\n", b"hipMalloc(&p, n);\n"),
        (b"cudaError_t e = cudaSuccess;\n", b"hipError_t e = hipSuccess;\n"),
        (b"#include <cuda_runtime.h>\n", b"#include <hip/hip_runtime.h>\n"),
        (b'#  include  "cublas_v2.h" // x\n', b'#  include  "hipblas/hipblas.h" // x\n'),
        (b"cub::DeviceReduce::Sum(a);\n", b"hipcub::DeviceReduce::Sum(a);\n"),
        (b"using namespace cub;\n", b"using namespace hipcub;\n"),
        (b"thrust::sort(thrust::cuda::par.on(s), a);\n", b"thrust::sort(thrust::hip::par.on(s), a);\n"),
        (b"thrust :: cuda /* x */ :: par;\n", b"thrust :: hip /* x */ :: par;\n"),
        (b"at::cuda::getCurrentCUDAStream();\n", b"at::hip::getCurrentHIPStreamMasqueradingAsCUDA();\n"),
        (b"k<<<g, b, 0, s>>>(cudaStreamDefault);\n", b"k<<<g, b, 0, s>>>(hipStreamDefault);\n"),
        (b"a = cudaMemcpyKind::cudaMemcpyHostToDevice;\n", b"a = hipMemcpyKind::hipMemcpyHostToDevice;\n"),
        (b"x\r\ncudaFree(p);\r\ny\r\n", b"x\r\nhipFree(p);\r\ny\r\n"),
        (b"\xef\xbb\xbfcudaFree(p);\n", b"\xef\xbb\xbfhipFree(p);\n"),
        ("é = 1; cudaFree(p); // é\n".encode(), "é = 1; hipFree(p); // é\n".encode()),
        (b"/* \xe9\xff\xc3 */ cudaFree(p); cudaFree(q);\n", b"/* \xe9\xff\xc3 */ hipFree(p); hipFree(q);\n"),
        (b"cuda\\\nFree(p);\n", b"hipFree(p);\n"),
        (
            b"#define CHECK(x) \\\n  if ((x) != cudaSuccess) \\\n    f();\n",
            b"#define CHECK(x) \\\n  if ((x) != hipSuccess) \\\n    f();\n",
        ),
    ],
)
def test_converts(before: bytes, after: bytes) -> None:
    assert convert(before) == after


@pytest.mark.parametrize(
    "text",
    [
        b"// cudaMalloc(&p, n);\n",
        b"/* cudaMalloc */ int x;\n",
        b'printf("cudaMalloc failed");\n',
        b'const char* s = R"(cudaMalloc)";\n',
        b"#if 0\ncudaMalloc(&p, n);\n#endif\n",
        b"#ifdef USE_ROCM\nhipMalloc(&p, n);\n#else\ncudaMalloc(&p, n);\n#endif\n",
        b"#ifndef __HIP_PLATFORM_AMD__\n#include <cuda_runtime.h>\n#endif\n",
        b"namespace cub = hipcub;\nvoid f() { cub::Sum(); }\n",
        b"#define cudaMalloc hipMalloc\nvoid f() { cudaMalloc(0, 1); }\n",
        b"x.cudaMalloc(1); my::cudaMalloc(1);\n",
    ],
)
def test_leaves_alone(text: bytes) -> None:
    assert convert(text) == text


def test_code_behind_the_compiler_macro_is_converted_with_it() -> None:
    before = b"#if defined(__CUDACC__) && defined(__CUDACC__) // __CUDACC__\ncudaFree(p);\n#endif\n"
    once = edits.apply(before, convertible(before)).text
    assert once == b"#if defined(__HIPCC__) && defined(__HIPCC__) // __CUDACC__\ncudaFree(p);\n#endif\n"
    assert convert(before) == b"#if defined(__HIPCC__) && defined(__HIPCC__) // __CUDACC__\nhipFree(p);\n#endif\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"cudaFuncSetAttribute(k, a, 1);", b"hipFuncSetAttribute(reinterpret_cast<const void*>(k), a, 1);"),
        (
            b"cudaFuncSetAttribute(k<float, 4>, a, 1);",
            b"hipFuncSetAttribute(reinterpret_cast<const void*>(k<float, 4>), a, 1);",
        ),
        (
            b"cudaFuncSetAttribute( (k<2, N>) , f(a, b), 1);",
            b"hipFuncSetAttribute( reinterpret_cast<const void*>((k<2, N>)) , f(a, b), 1);",
        ),
        (b"cudaFuncGetAttributes(&x,\n  k);", b"hipFuncGetAttributes(&x,\n  reinterpret_cast<const void*>(k));"),
        (b"cudaLaunchKernel((void*)k, g, b, a, 0, s);", b"hipLaunchKernel((void*)k, g, b, a, 0, s);"),
        (
            b"cudaFuncSetCacheConfig(reinterpret_cast<const void*>(k), c);",
            b"hipFuncSetCacheConfig(reinterpret_cast<const void*>(k), c);",
        ),
        (b"auto f = cudaFuncSetCacheConfig;", b"auto f = hipFuncSetCacheConfig;"),
    ],
)
def test_casts_a_kernel_argument_that_hip_takes_as_a_pointer(before: bytes, after: bytes) -> None:
    assert convert(before) == after


def test_a_call_that_never_closes_gets_no_cast() -> None:
    assert casts.cast(b"f(a, b", 1, casts.Place(0, 2)) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"// x\n#include <a.h>\n", b'// x\n#include "hip/hip_runtime.h"\n#include <a.h>\n'),
        (b"int x;\n", b'#include "hip/hip_runtime.h"\nint x;\n'),
        (b"\xef\xbb\xbfint x;\r\n", b'\xef\xbb\xbf#include "hip/hip_runtime.h"\r\nint x;\r\n'),
        (b"#ifdef A\n#include <a.h>\n#endif\n", b'#include "hip/hip_runtime.h"\n#ifdef A\n#include <a.h>\n#endif\n'),
        (
            b"/*\n#include <b.h>\n*/\n#define X\n#include <a.h>\n",
            b'/*\n#include <b.h>\n*/\n#define X\n#include "hip/hip_runtime.h"\n#include <a.h>\n',
        ),
    ],
)
def test_where_the_runtime_header_goes(before: bytes, after: bytes) -> None:
    assert edits.insert_include(before, "hip/hip_runtime.h") == after


def test_a_place_that_is_not_there_is_left() -> None:
    finding = Finding("a.cu", 1, 3, "HIP101", "convertible", "cudaFree", "hipFree", "")
    assert edits.apply(b"cudaFree(p);\n", [finding]) == edits.Applied(b"cudaFree(p);\n", 0)
    assert edits.apply(b"", [finding]).text == b""


PIECES = st.sampled_from(
    [
        b"cudaMalloc(&p, n);",
        b"cudaStream_t s;",
        b"#include <cuda_runtime.h>",
        b'#include "cublas_v2.h"',
        b"cub::DeviceScan::Sum();",
        b"thrust::cuda::par",
        b"// cudaFree",
        b"/* cudaFree",
        b"*/",
        b'"cudaFree"',
        b"#ifdef __CUDACC__",
        b"#if defined(USE_ROCM)",
        b"#else",
        b"#endif",
        b"#if 0",
        b"\\",
        b"\xe9\xff",
        b"\xc3\xa9",
        b"cudaFuncSetAttribute(k<1, 2>, a, 1);",
        b"k<<<1, 2>>>(x);",
        b"int x = 1'000;",
        b'R"x(cudaFree)x"',
        b"'",
        b"__shfl_sync(0xffffffff, x, 1);",
        b"cudaFoo(1);",
        b"#define cudaFree myFree",
        b"CUDA_VERSION",
        b"a##cuda",
    ]
)
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from([b"\n", b"\r\n", b" ", b"\t"])), max_size=25).map(
    lambda parts: b"".join(piece + end for piece, end in parts)
)
MAPPED = re.compile(rb"\w+")


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_nothing_convertible_is_left_and_a_second_conversion_changes_nothing(text: bytes) -> None:
    after = convert(text)
    assert convertible(after) == []
    assert convert(after) == after


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_only_the_places_of_findings_change(text: bytes) -> None:
    found = convertible(text)
    after = edits.apply(text, found).text
    if not found:
        assert after == text
    # Undo by hand: what is not a word of a replacement has to be the same, byte for byte.
    bare = re.compile(rb"reinterpret_cast<const void\*>\(|[\w.)/]+|\\[ \t]*\r?\n")
    assert bare.sub(b"", text) == bare.sub(b"", after)
