"""The small parts: tables, versions, globs, conditions."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check import globs, mapping, versions
from rocm_ci.hipify_check.cfamily import condition, lexer
from rocm_ci.hipify_check.cfamily.macros import NONZERO, UNKNOWN, value


@pytest.mark.parametrize(
    ("text", "version"), [("6.3", (6, 3)), ("7", (7, 0)), ("6.3.2", (6, 3)), ("6.2.4-66~22.04", (6, 2))]
)
def test_versions(text, version):
    assert versions.parse(text) == version


@pytest.mark.parametrize("text", ["", "new", "6.x", "-1", "6,3"])
def test_bad_versions(text):
    with pytest.raises(ValueError, match="no ROCm release"):
        versions.parse(text)


def test_table_knows_every_kind_of_target():
    newest, older = mapping.names((7, 0)), mapping.names((6, 3))
    assert newest[b"cudaMalloc"].hip == "hipMalloc"
    assert (older[b"cublasGemmEx"].hip, newest[b"cublasGemmEx"].hip) == ("hipblasGemmEx_v2", "hipblasGemmEx")
    assert newest[b"cudnnCreate"][:2] == ("manual", "miopenCreate")
    assert newest[b"cudaDeviceFlushGPUDirectRDMAWrites"].verdict == "unsupported"
    assert "7.0" in older[b"cudaLaunchKernelExC"].note
    assert b"atomicAdd" not in newest  # HIP shares the name
    assert b"__fadd_rd" not in newest  # HIPIFY's table calls it unsupported, HIP's headers have it


def test_table_has_every_row_of_its_data():
    rows = list(mapping.rows("names.tsv"))
    assert len(rows) == len({row[0] for row in rows}) > 10000
    assert all(len(row) == 6 for row in rows)
    assert all(len(row) == 8 for row in mapping.rows("extra_names.tsv"))
    assert all(len(row) == 5 for row in mapping.rows("extra_headers.tsv"))
    assert all(len(row) == 5 for row in mapping.rows("prefixes.tsv"))


@pytest.mark.parametrize(
    ("path", "pattern", "matches"),
    [
        ("src/a.cu", "*.cu", True),
        ("src/a.cu", "src/*.cu", True),
        ("src/deep/a.cu", "src/*.cu", False),
        ("src/deep/a.cu", "src/**/*.cu", True),
        ("src/a.cu", "src/**/*.cu", True),
        ("third_party/x/a.cu", "third_party", True),
        ("third_party/x/a.cu", "third_party/", True),
        ("my_third_party/a.cu", "third_party", False),
        ("src/a.cu", "src", True),
        ("a/src/a.cu", "/src", False),
        ("a1.cu", "a[0-9].cu", True),
        ("ab.cu", "a[!0-9].cu", True),
        ("a.cu", "a?cu", True),
        ("a/b.cu", "a?b.cu", False),
    ],
)
def test_globs(path, pattern, matches):
    assert globs.any_match(path, [pattern]) is matches


def lookup(name):
    return {"ZERO": 0, "ONE": 1, "TWO": 2, "SET": NONZERO, "GONE": None}.get(name, UNKNOWN)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("ONE", True),
        ("ZERO", False),
        ("GONE", False),
        ("X", None),
        ("SET", True),
        ("!SET", False),
        ("SET >= 5", None),
        ("defined(ONE) && !defined(GONE)", True),
        ("defined ONE", True),
        ("X && 0", False),
        ("X || 1", True),
        ("X && 1", None),
        ("X || 0", None),
        ("1 + 2 * 3 == 7", True),
        ("(1 + 2) * 3 == 9", True),
        ("TWO << 3 == 16", True),
        ("10 - 3 - 2 == 5", True),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 1'000 == 1000", True),
        ("16UL == 16", True),
        ("1 / 0", None),
        ("X ? 1 : 1", True),
        ("X ? 1 : 0", None),
        ("ONE ? ZERO : ONE", False),
        ("F(1, (2)) && 0", False),
        ("__has_include(<cuda.h>)", False),
        ("__has_include(<hip/hip_runtime.h>)", True),
        ("-1 < 0 && ~0 == -1", True),
        ("", None),
        (")", None),
        ("&&", None),
    ],
)
def test_conditions(expression, result):
    assert condition.evaluate(expression, lookup) is result


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("USE_ROCM", 1),
        ("__CUDA_ARCH__", None),
        ("GGML_USE_HIP", NONZERO),
        ("MY_HIP_UTILS_H", UNKNOWN),
        ("FOO", UNKNOWN),
    ],
)
def test_macros(name, expected):
    assert value(name, has_amd_half=False) is expected or value(name, has_amd_half=False) == expected


def test_own_cuda_switch_is_off_only_beside_an_amd_half():
    assert value("USE_CUDA", has_amd_half=False) is UNKNOWN
    assert value("USE_CUDA", has_amd_half=True) is None


@pytest.mark.parametrize(
    "text", [b"a /* b\n */ \"c\" 'd' // e\nf", b'x = 1\'0; R"(\n)"', b'#include <a/b.h> // c\n"x\\\ny"']
)
def test_blanking_keeps_offsets_and_lines(text):
    source = lexer.read(text)
    assert len(source.code) == len(source.text)
    assert source.code.count(b"\n") == source.text.count(b"\n")


def test_offsets_survive_line_continuations():
    raw = b"ab\\\ncd\\\r\nef"
    source = lexer.read(raw)
    assert source.text == b"abcdef"
    assert [raw[source.raw_offset(at)] for at in range(6)] == list(b"abcdef")
