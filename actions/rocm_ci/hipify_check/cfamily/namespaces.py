"""C++ names by namespace: CUB, Thrust, libcu++, CUTLASS, WMMA, cooperative groups, PyTorch's CUDA API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.cfamily.context import is_foreign, qualifier, word_before

if TYPE_CHECKING:
    from rocm_ci.hipify_check.cfamily.context import Context

_SCOPE = re.compile(rb"\s*::\s*([A-Za-z_]\w*)")
_PATH = re.compile(rb"(?:\s*::\s*[A-Za-z_]\w*)+")
_REOPENED = frozenset((b"cutlass", b"cute", b"cub"))
_LOOK_INSIDE = 200
_ALIASED = re.compile(rb"\bnamespace\s+[A-Za-z_]\w*\s*=\s*(?:::\s*)?\Z")
_ALIAS = re.compile(rb"\s*=\s*(?:::\s*)?([A-Za-z_]\w*)")

# libcu++ (https://nvidia.github.io/cccl/libcudacxx/): what it keeps in namespace cuda.
_LIBCUDACXX = frozenset(
    b"std atomic atomic_ref atomic_thread_fence barrier pipeline pipeline_role pipeline_shared_state make_pipeline "
    b"thread_scope thread_scope_system thread_scope_device thread_scope_block thread_scope_thread memcpy_async latch "
    b"counting_semaphore binary_semaphore annotated_ptr access_property associate_access_property "
    b"apply_access_property discard_memory aligned_size_t proclaim_return_type ptx device stream_ref mr experimental "
    b"ceil_div round_up round_down maximum minimum bit_cast ilog2 ipow fast_mod_div barrier_native_handle "
    b"pipeline_consumer_wait_prior pipeline_producer_commit atomic_flag memory_order_relaxed arch compute_capability "
    b"get_device_address is_floating_point numeric_limits".split()
)
_COOPERATIVE_MISSING = frozenset(
    b"reduce reduce_update_async reduce_store_async inclusive_scan exclusive_scan inclusive_scan_update "
    b"exclusive_scan_update memcpy_async wait wait_prior labeled_partition cluster_group this_cluster invoke_one "
    b"invoke_one_broadcast block_tile_memory experimental plus less greater bit_and bit_or bit_xor".split()
)
# PyTorch torch/utils/hipify/cuda_to_hip_mappings.py: names that an extension build rewrites.
_TORCH = {
    b"getCurrentCUDAStream": "getCurrentHIPStreamMasqueradingAsCUDA",
    b"getDefaultCUDAStream": "getDefaultHIPStreamMasqueradingAsCUDA",
    b"getStreamFromPool": "getStreamFromPoolMasqueradingAsCUDA",
    b"getStreamFromExternal": "getStreamFromExternalMasqueradingAsCUDA",
    b"setCurrentCUDAStream": "setCurrentHIPStreamMasqueradingAsCUDA",
    b"CUDAStream": "HIPStreamMasqueradingAsCUDA",
    b"CUDAGuard": "HIPGuardMasqueradingAsCUDA",
    b"CUDAStreamGuard": "HIPStreamGuardMasqueradingAsCUDA",
    b"OptionalCUDAGuard": "OptionalHIPGuardMasqueradingAsCUDA",
    b"OptionalCUDAStreamGuard": "OptionalHIPStreamGuardMasqueradingAsCUDA",
    b"CUDAMultiStreamGuard": "HIPMultiStreamGuardMasqueradingAsCUDA",
}


def cub(context: Context, start: int, end: int) -> None:
    """``cub::X``, ``using namespace cub``; ``namespace cub = hipcub`` makes the name the tree's own."""
    if _used(context, start, end, b"cub"):
        name = "cub" + _path(context.code, end)
        context.add(start, "cub", "convertible", name, "hip" + name, library="cub", owned_by="cub")


def cutlass(context: Context, start: int, end: int) -> None:
    """``cutlass::X`` and ``cute::X``."""
    token = context.code[start:end]
    if _used(context, start, end, token):
        name = token.decode() + _path(context.code, end)
        context.add(
            start,
            "cutlass",
            "unsupported",
            name,
            note="CUTLASS has no HIP port; use Composable Kernel (ck_tile) or hipBLASLt",
            library="cutlass",
            owned_by=token.decode(),
        )


def cudnn_frontend(context: Context, start: int, end: int) -> None:
    """``cudnn_frontend::X``: the C++ layer over cuDNN's graph interface."""
    if _used(context, start, end, b"cudnn_frontend"):
        name = "cudnn_frontend" + _path(context.code, end)
        note = "MIOpen has no graph interface of this kind"
        context.add(start, "namespace", "unsupported", name, note=note, library="cudnn", owned_by="cudnn_frontend")


def thrust(context: Context, start: int, end: int) -> None:
    """Thrust keeps its names on ROCm, except for the CUDA backend's own."""
    path = _path(context.code, end)
    parts = path.split("::")[1:]
    if "cuda" not in parts[:2] or is_foreign(context.code, start):
        return
    if parts[0] != "cuda" and parts[0] != "system":
        return
    name = "thrust" + path
    context.add(start, "thrust", "convertible", name, name.replace("::cuda", "::hip", 1), library="thrust")


def cuda(context: Context, start: int, end: int) -> None:
    """``cuda::X`` of libcu++; ``at::cuda::X`` and ``c10::cuda::X`` of PyTorch."""
    code = context.code
    if word_before(code, start) == b"namespace":
        context.define("cuda", start)
        return
    scope = _SCOPE.match(code, end)
    if scope is None:
        return
    member = scope[1]
    outer = qualifier(code, start) if code[max(0, start - 2) : start] == b"::" else b""
    if outer in {b"at", b"c10"}:
        if member in _TORCH:
            name = f"{outer.decode()}::cuda::{member.decode()}"
            hip = f"{outer.decode()}::hip::{_TORCH[member]}"
            context.add(
                start,
                "torch",
                "convertible",
                name,
                hip,
                note="torch hipify rewrites it in an extension build",
                library="torch",
            )
    elif not outer and member in _LIBCUDACXX:
        context.add(
            start,
            "libcudacxx",
            "unsupported",
            f"cuda::{member.decode()}",
            note="libcu++ is not part of ROCm; libhipcxx is a separate project",
            library="libcudacxx",
            owned_by="cuda",
        )


def wmma(context: Context, start: int, end: int) -> None:
    """``nvcuda::wmma`` and, where ``nvcuda`` is in use, ``wmma::``."""
    code = context.code
    token = code[start:end]
    if token == b"wmma":
        if _SCOPE.match(code, end) is None or is_foreign(code, start) or b"nvcuda" not in code:
            return
    elif _SCOPE.match(code, end) is None and word_before(code, start) != b"namespace":
        return
    name = token.decode() + _path(code, end)
    context.add(
        start,
        "wmma",
        "manual",
        name,
        "rocwmma",
        note="fragment sizes and layouts differ",
        library="wmma",
        owned_by=token.decode(),
    )


def cooperative(context: Context, start: int, end: int) -> None:
    """What HIP's cooperative groups lack."""
    scope = _SCOPE.match(context.code, end)
    if scope is None or scope[1] not in _COOPERATIVE_MISSING or is_foreign(context.code, start):
        return
    group = context.code[start:end].decode()
    if group == "cg" and b"cooperative_groups" not in context.source.text:
        return
    name = f"{group}::{scope[1].decode()}"
    context.add(
        start,
        "cooperative-groups",
        "unsupported",
        name,
        library="cooperative groups",
        owned_by=group if group != "cg" else "",
    )


def nvtx3(context: Context, start: int, end: int) -> None:
    """``nvtx3::scoped_range``: roctx has a C interface only."""
    if _used(context, start, end, b"nvtx3"):
        name = "nvtx3" + _path(context.code, end)
        context.add(
            start, "namespace", "manual", name, note="roctx has a C interface only", library="nvtx", owned_by="nvtx3"
        )


def _path(code: bytes, end: int) -> str:
    match = _PATH.match(code, end)
    return re.sub(r"\s", "", match[0].decode()) if match else ""


def _used(context: Context, start: int, end: int, name: bytes) -> bool:
    """Is the namespace used here? A definition or alias of it is recorded instead."""
    code = context.code
    if word_before(code, start) == b"namespace":
        opened = code[end : end + 64].lstrip()[:1] == b"{"
        if opened and name in _REOPENED and b"hipcub" not in code[end : end + _LOOK_INSIDE]:
            return False  # the tree adds to NVIDIA's namespace, which does not make the rest of it its own
        if opened or _ALIAS.match(code, end):
            if context.live(start):
                context.define(name.decode(), start)
            return False
        return True  # using namespace cub;
    if _SCOPE.match(code, end) is None:
        ended = code[end : end + 16].lstrip()[:1] == b";"  # namespace q = cub;
        return ended and _ALIASED.search(code, max(0, start - 96), start) is not None
    return not is_foreign(code, start)
