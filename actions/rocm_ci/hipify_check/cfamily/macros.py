"""What the preprocessor knows about a macro when AMD's compiler runs.

Values are ints; ``UNKNOWN`` where it depends on the build; ``NONZERO`` where the macro is certainly defined and true
but its number is not known; ``None`` where it is certainly not defined.
Sources: HIP porting guide ("Identifying HIP runtime, compiler and GPU"), hipcc's predefined macros, PyTorch's
``USE_ROCM``.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache


class Symbolic(enum.Enum):
    """A macro value that is no number."""

    UNKNOWN = enum.auto()
    NONZERO = enum.auto()


UNKNOWN = Symbolic.UNKNOWN
NONZERO = Symbolic.NONZERO

Value = int | Symbolic | None

AMD_DEFINED: dict[str, Value] = {
    "USE_ROCM": 1,
    "USE_HIP": 1,
    "__HIP_PLATFORM_AMD__": 1,
    "__HIP_PLATFORM_HCC__": 1,
    "__HIPCC__": 1,
    "__HIP__": 1,
    "__HIP_CLANG_ONLY__": 1,
    "HIP_VERSION": NONZERO,
    "HIP_VERSION_MAJOR": NONZERO,
    "TORCH_HIP_VERSION": NONZERO,
    "ROCM_VERSION": NONZERO,
    "__HIPCC_RTC__": UNKNOWN,
    "__HIP_DEVICE_COMPILE__": UNKNOWN,
    "__AMDGCN__": UNKNOWN,
    "__AMDGPU__": UNKNOWN,
    "__AMDGCN_WAVEFRONT_SIZE": UNKNOWN,
    "__AMDGCN_WAVEFRONT_SIZE__": UNKNOWN,
    "__GFX8__": UNKNOWN,
    "__GFX9__": UNKNOWN,
    "__GFX10__": UNKNOWN,
    "__GFX11__": UNKNOWN,
    "__GFX12__": UNKNOWN,
}

CUDA_UNDEFINED: frozenset[str] = frozenset(
    {
        "__CUDACC__",
        "__NVCC__",
        "__CUDA_ARCH__",
        "__CUDA_ARCH_LIST__",
        "__CUDACC_RTC__",
        "__CUDACC_VER_MAJOR__",
        "__CUDACC_VER_MINOR__",
        "__CUDACC_VER_BUILD__",
        "__CUDACC_EXTENDED_LAMBDA__",
        "__CUDACC_RELAXED_CONSTEXPR__",
        "__HIP_PLATFORM_NVIDIA__",
        "__HIP_PLATFORM_NVCC__",
        "__NVCOMPILER",
        "__NVCOMPILER_CUDA__",
        "_NVHPC_CUDA",
        "__NVPTX__",  # clang's name for the target that CUDA's device code is compiled for, and its older one
        "__PTX__",
    }
)

# Build switches that projects name themselves: PADDLE_WITH_HIP, KOKKOS_ENABLE_CUDA, GOOGLE_CUDA ... An include
# guard (MY_HIP_UTILS_H) must not be taken for one, so a verb is asked for.
_VERB = r"(?:USE|USING|ENABLE|ENABLED|WITH|HAVE|HAS|BUILD|BUILT|TARGET|PLATFORM|BACKEND|SUPPORT|GOOGLE|IS|ON|FOR)"
_AMD_SWITCH = re.compile(
    rf"(?=.*(?:^|_){_VERB}(?:_|$)).*(?:^|_)(?:HIP|ROCM|AMD|AMDGPU|HIPCC|HIPIFY)(?:_|$).*|\w+_(?:HIP|ROCM|AMD|AMDGPU)"
)
_CUDA_SWITCH = re.compile(
    rf"(?=.*(?:^|_){_VERB}(?:_|$)).*(?:^|_)(?:CUDA|NVIDIA|NVCC|NV|CUDACC)(?:_|$).*|\w+_(?:CUDA|NVIDIA|NVCC)"
)
# Defined in the device pass of some GPUs only.
_AMD_TARGET = re.compile(r"__(?:HIP_ARCH_|gfx|GFX)")
_VERSION = re.compile(
    r"(?:CUDA|CUDART|CUDNN|CUBLAS|CUSPARSE|CUSOLVER|CUFFT|CURAND|CUTENSOR|CUB)"
    r"_(?:VERSION|MAJOR|MINOR|PATCHLEVEL|(?:MAJOR|MINOR)_VERSION|VER_\w+)"
)
_GUARD = re.compile(r".*_(?:H|HH|HPP|HXX|CUH|INC|INCLUDED|GUARD)_*$")


@lru_cache(maxsize=8192)
def is_amd(name: str) -> bool:
    """Does testing this macro separate AMD builds from others?"""
    return (
        name in AMD_DEFINED
        or _AMD_TARGET.match(name) is not None
        or (_AMD_SWITCH.fullmatch(name) is not None and _GUARD.fullmatch(name) is None)
    )


def is_cuda(name: str) -> bool:
    """Does testing this macro separate NVIDIA builds from others?"""
    return name in CUDA_UNDEFINED or is_cuda_switch(name)


@lru_cache(maxsize=8192)
def is_cuda_version(name: str) -> bool:
    """Is it the version of the CUDA toolkit, or of a library in it?

    The toolkit's headers define it, and no AMD build has them, whether or not the sources are hipified: hipify leaves
    these names alone (https://github.com/ROCm/HIPIFY/issues/372).
    """
    return _VERSION.fullmatch(name) is not None


@lru_cache(maxsize=8192)
def is_cuda_switch(name: str) -> bool:
    """Is it a project's own switch for its CUDA half (``USE_CUDA``)?"""
    return _CUDA_SWITCH.fullmatch(name) is not None and _GUARD.fullmatch(name) is None


def value(name: str, *, has_amd_half: bool) -> Value:
    """The macro's value in an AMD build.

    Args:
        name: The macro.
        has_amd_half: Whether this file also tests an AMD macro. Only then is a project's own CUDA switch known to
            be off; alone it says nothing about who compiles the branch.
    """
    if name in AMD_DEFINED:
        return AMD_DEFINED[name]
    if name in CUDA_UNDEFINED:
        return None
    if is_amd(name):
        return UNKNOWN if _AMD_TARGET.match(name) else NONZERO
    if is_cuda_version(name) or (has_amd_half and is_cuda_switch(name)):
        return None
    return UNKNOWN
