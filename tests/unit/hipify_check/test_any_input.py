"""No file, whatever it holds, brings the check down."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocm_ci.hipify_check.check_file import Target, check_text

PIECES = st.sampled_from(
    [
        b"#if ", b"#else\n", b"#endif\n", b"#elif ", b"#define ", b"defined(", b"USE_ROCM", b"__CUDA_ARCH__",
        b"&&", b"||", b"!", b"(", b")", b"{", b"}", b"[", b"]", b"<<<", b">>>", b";", b",", b"\n", b"\r\n",
        b"\\\n", b'"', b"'", b"/*", b"*/", b"//", b'R"(', b')"', b"cudaMalloc", b"cuda::", b"cub", b"::",
        b"asm", b"warpSize", b"__shfl_sync", b"0xffffffff", b"##", b"cuda", b"import ", b"from ", b"pynvml",
        b"if ", b":", b"  ", b"find_package(", b"CUDA", b"USE_HIP", b"pip install ", b"#", b"=", b"\x00",
        b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"1'0", b"\t", b"project", b"enum", b"typedef ", b".", b"->",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=60).map(b"".join))


@pytest.mark.parametrize("kind", ["c", "python", "cmake", "docker", "shell", "yaml", "requirements", "toml"])
@settings(max_examples=80, deadline=None)
@given(raw=TEXTS)
@example(raw=b"#__CUDA")
def test_any_bytes(kind, raw):
    result = check_text("environment.yml" if kind == "yaml" else "x", kind, raw, Target((7, 0)))
    lines = raw.count(b"\n") + 1
    for finding in result.findings:
        assert 1 <= finding.line <= lines
        assert finding.column >= 1
        assert finding.name
