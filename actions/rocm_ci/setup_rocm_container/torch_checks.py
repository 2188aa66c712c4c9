"""Is the job's PyTorch a build for ROCm, does it see the GPUs, and has it code for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn
from rocm_ci.setup_rocm_container.tables import rows
from rocm_ci.setup_rocm_container.torch_build import TorchBuild

IDS = ("torch", "torch-gpu", "torch-gfx", "torch-cuda-wheels")


def checks(
    build: TorchBuild, gfx: Sequence[str], gpus: int, *, recorded: bool, asked: bool, rocm: str | None
) -> tuple[Check, ...]:
    """The rows about PyTorch.

    Args:
        build: what the interpreter said.
        gfx: gfx targets of the GPUs that this job may use.
        gpus: how many those are.
        recorded: the GPUs are those of a recorded tree, so PyTorch cannot see them.
        asked: the user named the interpreter.
        rocm: ROCm release of the container, for the advice.
    """
    if build.broken:
        return _all_skipped(fail("torch", f"PyTorch cannot be asked: {build.broken}", "python3 -c 'import torch'"))
    if not build.present:
        if "find" in build.errors:
            return _all_skipped(
                fail("torch", f"PyTorch cannot be found: {build.errors['find']}", "python3 -c 'import torch'")
            )
        return _all_skipped(skip("torch", "there is no PyTorch in the job's interpreter"))
    first = _is_for_rocm(build, rocm)
    if first.status == "fail" and recorded and not asked:
        # Whatever this machine has for its own use is not the recorded machine's.
        first = warn("torch", first.message, first.fix)
    wheels = _cuda_wheels(build)
    if first.status != "ok":
        why = "PyTorch itself is not usable"
        return first, skip("torch-gpu", why), skip("torch-gfx", why), wheels
    return first, _sees_gpus(build, gpus, recorded=recorded), _has_code(build, gfx), wheels


def _all_skipped(first: Check) -> tuple[Check, ...]:
    return (first, *(skip(name, "there is no usable PyTorch") for name in IDS[1:]))


def _index(rocm: str | None) -> str:
    release = ".".join((rocm or "").split(".")[:2])
    return f"https://download.pytorch.org/whl/rocm{release or 'X.Y'}"


def _is_for_rocm(build: TorchBuild, rocm: str | None) -> Check:
    name = f"PyTorch {build.version or 'of unknown version'}"
    if build.hung:
        return fail(
            "torch",
            f"{name}: {build.hung}",
            "on the node: sudo dmesg | grep -iE 'amdgpu|kfd' | tail -20; sudo amd-smi reset --gpureset --gpu all",
        )
    if build.hip is None:
        kind = f"a build for CUDA {build.cuda}" if build.cuda else "a build for CPUs"
        install = f"pip install --force-reinstall torch --index-url {_index(rocm)}"
        broken = f" ({build.errors['import']})" if "import" in build.errors else ""
        return fail("torch", f"{name} is {kind}, not for ROCm (torch.version.hip is None){broken}", install)
    if "import" in build.errors:
        return fail("torch", f"{name} cannot be imported: {build.errors['import']}", "python3 -c 'import torch'")
    return ok("torch", f"{name}, HIP {build.hip}")


def _cuda_wheels(build: TorchBuild) -> Check:
    found = build.cuda_packages
    if not found:
        return ok("torch-cuda-wheels", "no CUDA libraries are installed beside it")
    shown = ", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")
    text = f"CUDA libraries are installed: {shown}; something resolved its dependencies for CUDA"
    return warn("torch-cuda-wheels", text, f"pip uninstall --yes {' '.join(found)}")


def _sees_gpus(build: TorchBuild, gpus: int, *, recorded: bool) -> Check:
    if recorded:
        return skip("torch-gpu", "the GPUs are those of a recorded tree, which PyTorch cannot see")
    for step in ("available", "count", "devices"):
        if step in build.errors:
            return fail(
                "torch-gpu",
                f"PyTorch cannot use the GPUs: {build.errors[step]}",
                "AMD_LOG_LEVEL=3 python3 -c 'import torch; torch.cuda.init()'",
            )
    if not build.available:
        text = "torch.cuda.is_available() is False: the ROCm runtime in PyTorch finds no GPU that it can use"
        return fail(
            "torch-gpu",
            text,
            "AMD_LOG_LEVEL=3 python3 -c 'import torch; torch.cuda.init()'   # see kfd, driver-rocm, visible-devices",
        )
    if build.count is not None and gpus and build.count != gpus:
        text = f"PyTorch sees {build.count} of the {gpus} GPUs"
        # RDNA graphics inside a CPU is often left out by the runtime: fewer is no proof of a fault, none is.
        return warn("torch-gpu", text, "env | grep VISIBLE_DEVICES; rocminfo | grep -c 'Device Type:.*GPU'")
    names = ", ".join(dict.fromkeys(device.get("name", "") for device in build.devices if device.get("name")))
    return ok("torch-gpu", f"PyTorch sees {build.count} GPUs" + (f" ({names})" if names else ""))


def _has_code(build: TorchBuild, gfx: Sequence[str]) -> Check:
    if "arch_list" in build.errors or build.arch_list is None:
        return skip("torch-gfx", f"torch.cuda.get_arch_list(): {build.errors.get('arch_list', 'no answer')}")
    targets = [target for target in dict.fromkeys(gfx) if target]
    if not targets:
        return skip("torch-gfx", "the gfx target of the GPUs is unknown")
    if not build.arch_list:
        # It is empty when is_available() is False (torch/cuda/__init__.py).
        return skip("torch-gfx", "torch.cuda.get_arch_list() is empty, as it is without a usable GPU")
    features = {device["gfx"].partition(":")[0]: device["gfx"] for device in build.devices if device.get("gfx")}
    missing = [target for target in targets if not covered(features.get(target, target), build.arch_list)]
    have = ", ".join(build.arch_list)
    if not missing:
        return ok("torch-gfx", f"PyTorch has code for {', '.join(targets)}")
    text = f"PyTorch has no code for {', '.join(missing)} (it has: {have}); its kernels end with hipErrorNoBinaryForGpu"
    near = "; ".join(f"export HSA_OVERRIDE_GFX_VERSION={override}" for override in _overrides(missing, build.arch_list))
    build_it = f"use an image whose PyTorch was built with PYTORCH_ROCM_ARCH={';'.join(missing)}"
    return fail("torch-gfx", text, build_it + (f"; as a stopgap: {near}" if near else ""))


def covered(device: str, arch_list: Iterable[str]) -> bool:
    """Whether a list of targets has code for a device.

    A target without a feature runs with it on or off; one that names it runs only where the device has it so
    (LLVM, User Guide for AMDGPU Backend, Target ID). A generic target stands for its family.

    Args:
        device: its target, with features where they are known: `gfx90a:sramecc+:xnack-`.
        arch_list: what there is code for, such as `gfx90a:xnack+` or `gfx11-generic`.
    """
    base, own = split_target(device)
    for entry in arch_list:
        name, wanted = split_target(entry)
        if name != base and base not in _generic().get(name, ()):
            continue
        if all(own.get(feature, state) == state for feature, state in wanted.items()):
            return True
    return False


def split_target(target: str) -> tuple[str, Mapping[str, str]]:
    """A target's name, and its features with `+` or `-`."""
    name, *features = target.strip().split(":")
    return name, {feature[:-1]: feature[-1] for feature in features if len(feature) > 1}


def _generic() -> dict[str, tuple[str, ...]]:
    return {name: tuple(members.split()) for name, members, _source in rows("generic_targets.tsv")}


def _overrides(missing: Iterable[str], arch_list: Iterable[str]) -> list[str]:
    """Versions for HSA_OVERRIDE_GFX_VERSION: only RDNA, whose minor steppings share their instructions."""
    have = {split_target(entry)[0] for entry in arch_list}
    found = []
    for target in missing:
        match = re.fullmatch(r"gfx(1[01])([0-9a-f])([0-9a-f])", target)
        if match and f"gfx{match[1]}{match[2]}0" in have:
            found.append(f"{match[1]}.{int(match[2], 16)}.0")
    return found
