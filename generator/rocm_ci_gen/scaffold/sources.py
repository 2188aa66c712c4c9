"""What one file says about a project: CUDA, HIP, Triton, TileLang, how it is built, what it tests.

Pure: a path and the head of the file in, marks out. A suffix is only a first guess: hand-ported HIP is often still
called `.cu`, and half of the GPU code of today is Python.
"""

from __future__ import annotations

import enum
import re
from pathlib import PurePosixPath


class Mark(enum.Enum):
    """One thing that a file shows."""

    CUDA = "CUDA source"
    HIP = "HIP source"
    TRITON = "Triton kernels"
    TILELANG = "TileLang kernels"
    TORCH_EXTENSION = "torch CUDAExtension"
    HIPIFY = "hipify step"
    HIP_BUILD = "HIP build"
    SGLANG = "sglang"
    VLLM = "vllm"
    TEST = "pytest file"
    GPU_TEST = "pytest file that touches the GPU"


CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
HIP_SUFFIXES = frozenset({".hip", ".hiph"})
_CPP_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp"})
_BUILD_NAMES = frozenset({"cmakelists.txt", "makefile", "gnumakefile", "meson.build", "pyproject.toml", "setup.cfg"})
_BUILD_SUFFIXES = frozenset({".cmake", ".mk"})

_CUDA_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:cuda|cub/|thrust/|cublas|cudnn|cufft|curand|cusparse|cusolver|cutlass/"
    r"|nvrtc|nccl\b|nvToolsExt|cooperative_groups|mma\.h|ATen/cuda/|c10/cuda/)",
    re.MULTILINE,
)
_HIP_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:hip/|hip[a-z]+/|rocblas|rocprim|rocrand|rocthrust|rocwmma|rccl|miopen"
    r"|ck/|ck_tile/|ATen/hip/|c10/hip/)",
    re.MULTILINE,
)
_TRITON = re.compile(
    r"^[ \t]*@triton\.(?:jit|autotune|heuristics)\b|^[ \t]*import[ \t]+triton\.language\b", re.MULTILINE
)
_TILELANG = re.compile(r"^[ \t]*(?:import|from)[ \t]+tilelang\b", re.MULTILINE)
_EXTENSION = re.compile(
    r"\bCUDAExtension\s*\(|\bcpp_extension\.load(?:_inline)?\s*\(|\bimport\b[^\n]*\bCUDAExtension\b"
    r"|\bfrom\s+torch\.utils\.cpp_extension\s+import\b[^\n]*\bload(?:_inline)?\b"
)
_HIPIFY_PYTHON = re.compile(
    r"^[ \t]*(?:from|import)[ \t][^\n#]*\bhipify(?:_python|_torch)?\b|\bhipify_extra_files_only\b"
    r"|\bhipify_python\.hipify\(",
    re.MULTILINE,
)
_HIPIFY_COMMAND = re.compile(r"\bhipify-(?:perl|clang)\b|\bhipify_torch\b|\bhipify\w*\.(?:py|sh|pl)\b|\bhipify\s*\(")
_HIP_BUILD = re.compile(
    r"enable_language\s*\(\s*HIP\b|find_package\s*\(\s*hip\b|\bLANGUAGES\b[^)]*\bHIP\b|\bLANGUAGE\s+HIP\b"
    r"|\bhip_add_(?:library|executable)\b|\bhipcc\b|\bIS_HIP_EXTENSION\b|\bCMAKE_HIP_\w+",
    re.IGNORECASE,
)
_PYTHON = (
    (Mark.TRITON, "triton", _TRITON),
    (Mark.TILELANG, "tilelang", _TILELANG),
    (Mark.TORCH_EXTENSION, "xtension", _EXTENSION),
    (Mark.HIPIFY, "hipify", _HIPIFY_PYTHON),
    (Mark.SGLANG, "sglang", re.compile(r"^[ \t]*(?:import|from)[ \t]+sglang\b", re.MULTILINE)),
    (Mark.VLLM, "vllm", re.compile(r"^[ \t]*(?:import|from)[ \t]+vllm\b", re.MULTILINE)),
)
_REQUIREMENT = {
    Mark.SGLANG: re.compile(r"^[ \t]*sglang(?:\[[^\]\n]*\])?[ \t]*(?:[=<>!~;@#]|$)", re.MULTILINE),
    Mark.VLLM: re.compile(r"^[ \t]*vllm(?:\[[^\]\n]*\])?[ \t]*(?:[=<>!~;@#]|$)", re.MULTILINE),
}
_TEST_NAME = re.compile(r"^(?:test_.*|.*_test)\.py$")
_TEST_BODY = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+test|^class[ \t]+\w*Test", re.MULTILINE)
_GPU_TEST = re.compile(
    r"torch\.(?:cuda|accelerator)\b|[\"'](?:cuda|hip)(?::\d+)?[\"']|\.cuda\(|\b(?:triton|tilelang|cupy|rocm|hipcc|rocminfo)\b|\bdevice\b"
)


def requirements_file(path: str) -> bool:
    """Tell whether a file lists Python packages, by its name."""
    pure = PurePosixPath(path)
    return pure.suffix in {".txt", ".in"} and (
        pure.name.lower().startswith(("requirements", "requirement", "constraints"))
        or any(part.lower() in {"requirements", "reqs"} for part in pure.parts[:-1])
    )


def worth_reading(path: str) -> bool:
    """Tell whether `marks` would look into the file."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    return (
        suffix in CUDA_SUFFIXES
        or suffix in HIP_SUFFIXES
        or suffix in _CPP_SUFFIXES
        or suffix == ".py"
        or _builds(pure)
        or requirements_file(path)
    )


def marks(path: str, text: str) -> frozenset[Mark]:
    """What the head of a file shows."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    if suffix in CUDA_SUFFIXES | HIP_SUFFIXES | _CPP_SUFFIXES:
        return _cpp(suffix, text)
    if suffix == ".py":
        return _python(pure.name, text)
    if _builds(pure):
        return _build(text)
    if requirements_file(path):
        return frozenset(mark for mark, pattern in _REQUIREMENT.items() if pattern.search(text))
    return frozenset()


def _builds(path: PurePosixPath) -> bool:
    return path.name.lower() in _BUILD_NAMES or path.suffix.lower() in _BUILD_SUFFIXES


def _build(text: str) -> frozenset[Mark]:
    if "hip" not in text.lower():
        return frozenset()
    code = _without_comments(text)
    found = ((Mark.HIPIFY, _HIPIFY_COMMAND), (Mark.HIP_BUILD, _HIP_BUILD))
    return frozenset(mark for mark, pattern in found if pattern.search(code))


def _cpp(suffix: str, text: str) -> frozenset[Mark]:
    hip = suffix in HIP_SUFFIXES or _HIP_INCLUDE.search(text) is not None
    cuda = _CUDA_INCLUDE.search(text) is not None
    # A .cu file without an include of its own is CUDA; one that includes HIP and nothing of CUDA's is HIP by now.
    if suffix in CUDA_SUFFIXES and not hip:
        cuda = True
    return frozenset(mark for mark, shown in ((Mark.CUDA, cuda), (Mark.HIP, hip)) if shown)


def _python(name: str, text: str) -> frozenset[Mark]:
    # A plain word first: in most files it is absent, and looking for it costs a hundredth of the pattern.
    found = {mark for mark, word, pattern in _PYTHON if word in text and pattern.search(text)}
    if name == "setup.py" and _HIP_BUILD.search(text):
        found.add(Mark.HIP_BUILD)
    if _TEST_NAME.match(name) and _TEST_BODY.search(text):
        found.add(Mark.TEST)
        if _GPU_TEST.search(text):
            found.add(Mark.GPU_TEST)
    return frozenset(found)


def _without_comments(text: str) -> str:
    """The text of a CMake, make or TOML file without `#` comments (a `#` in a string only hides its rest)."""
    return re.sub(r"#[^\n]*", "", text)
