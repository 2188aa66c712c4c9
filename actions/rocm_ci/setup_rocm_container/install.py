"""Installing the user's requirements into the user's environment, without touching the container's PyTorch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_ci.runner.errors import Code, InfraError
from rocm_ci.runner.processes import Completed, ProcessRegistry
from rocm_ci.runner.text import one_line
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn
from rocm_ci.setup_rocm_container.requirements import TORCH_FAMILY
from rocm_ci.setup_rocm_container.torch_build import TorchBuild

TIME_LIMIT = 1800.0
"""Seconds that an installation may take: source builds of kernels take long."""

# What pip and uv print when the requirements, not the node, are at fault.
_OUR_FAULT = (
    "ResolutionImpossible",
    "conflicting dependencies",
    "No solution found",
    "No matching distribution found",
    "Could not find a version",
    "THESE PACKAGES DO NOT MATCH",
    "Hash mismatch",
    "Invalid requirement",
    "requires a different Python",
)
_THEIR_FAULT = ("No space left", "Connection", "Temporary failure in name resolution", "timed out", "503", "502 ")
_TELLING = (*_OUR_FAULT, "externally-managed-environment", "Permission denied", *_THEIR_FAULT, "ERROR:", "error:")


@dataclass(frozen=True)
class Installer:
    """pip or uv, and how it is called."""

    name: str
    command: tuple[str, ...]


def find_installer(
    wanted: str | None, python: str, path: str | None, has_pip: Callable[[], bool], in_environment: Callable[[], bool]
) -> Installer | Check:
    """The installer to use: the one that was asked for, else pip, else uv.

    Args:
        wanted: `pip`, `uv` or None.
        python: the job's interpreter.
        path: the job's PATH.
        has_pip: whether that interpreter has pip.
        in_environment: whether it is that of a virtual environment.

    Returns:
        It, or a failed check.
    """
    uv = shutil.which("uv", path=path)
    if wanted != "uv" and has_pip():
        return Installer("pip", (python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"))
    if wanted == "pip":
        return fail("install", f"{python} has no pip", f"{python} -m ensurepip, or install python3-pip in the image")
    if uv:
        system = () if in_environment() else ("--system",)
        return Installer("uv", (uv, "pip", "install", *system, "--python", python))
    if wanted == "uv":
        return fail("install", "uv is not on PATH", "pip install uv in the image, or installer: pip")
    return fail("install", f"{python} has no pip, and uv is not on PATH", "install python3-pip or uv in the image")


def constraints(packages: Mapping[str, str]) -> str:
    """A constraints file that holds the container's PyTorch and what belongs to it at exactly what it is."""
    return "".join(f"{name}=={packages[name]}\n" for name in TORCH_FAMILY if name in packages)


def run(
    installer: Installer, file: Path, packages: Mapping[str, str], processes: ProcessRegistry, limit: float = TIME_LIMIT
) -> Check:
    """Install; the installer's output is passed through.

    Args:
        installer: pip or uv.
        file: the requirements.
        packages: installed versions, of which those of PyTorch are protected.
        processes: runs the installer in the job's environment.
        limit: seconds.
    """
    held = constraints(packages)
    with tempfile.TemporaryDirectory(prefix="rocm-ci-") as folder:
        options = ["-r", str(file)]
        if held:
            constraint = Path(folder) / "container-torch.txt"
            constraint.write_text(held, encoding="utf-8")
            options += ["-c", str(constraint)]
        lines: list[str] = []
        try:
            done = processes.run([*installer.command, *options], timeout=limit, on_line=lines.append, keep=100)
        except InfraError as error:
            return fail("install", error.message, error.help or f"install {installer.name} in the image")
    if done.returncode == 0:
        protected = f"; held as they are: {', '.join(held.split())}" if held else ""
        return ok("install", f"{installer.name} installed {file}{protected}")
    return _failure(installer, file, held, done, lines)


def _failure(installer: Installer, file: Path, held: str, done: Completed, lines: Sequence[str]) -> Check:
    if done.timed_out:
        return fail(
            "install",
            f"{installer.name} did not end within {done.seconds:.0f} s",
            "look at the package index, or pre-build wheels",
        )
    text = "\n".join(lines)
    told = reason(lines)
    ours = any(word in text for word in _OUR_FAULT) and not any(word in text for word in _THEIR_FAULT)
    fix = f"{' '.join(installer.command)} -r {file}"
    if "externally-managed-environment" in text:
        fix = "make a virtual environment in the image and name it: python: /opt/venv/bin/python"
    elif ours and any(name in text for name in TORCH_FAMILY) and held:
        fix = f"take requirements that fit the container's {', '.join(held.split())}, or another image"
    how = f"{installer.name} could not install {file} (exit code {done.returncode}): {told}"
    return fail("install", how, fix, Code.FAILED if ours else Code.INFRA)


def reason(lines: Sequence[str]) -> str:
    """The line of an installer's output that says most."""
    for words in _TELLING:
        for line in lines:
            if words in line:
                return one_line(line, 300)
    return one_line(lines[-1], 300) if lines else "it printed nothing"


def check_kept(before: TorchBuild, after: TorchBuild, rocm: str | None) -> Check:
    """Whether the container's PyTorch is still what it was, after the installation."""
    if not before.present:
        if after.present and after.hip is None:
            text = (
                f"the requirements brought PyTorch {after.version}, which is not for ROCm (torch.version.hip is None)"
            )
            index = f"https://download.pytorch.org/whl/rocm{'.'.join((rocm or 'X.Y').split('.')[:2])}"
            return fail("torch-kept", text, f"add to the requirements file: --index-url {index}", Code.FAILED)
        if after.present:
            return ok("torch-kept", f"the requirements brought PyTorch {after.version}, HIP {after.hip}")
        return skip("torch-kept", "there is no PyTorch in the job's interpreter")
    changed = [
        f"{name} {before.packages[name]} → {after.packages.get(name, 'removed')}"
        for name in TORCH_FAMILY
        if name in before.packages and after.packages.get(name) != before.packages[name]
    ]
    if after.built != before.built and not changed:
        changed.append(f"{before.built[0]} (HIP {before.built[1]}) → {after.built[0]} (HIP {after.built[1]})")
    if not changed and before.packages.get("torch") and None in (before.built[0], after.built[0]):
        return warn(
            "torch-kept",
            "torch/version.py cannot be read, so it cannot be told whether the installation changed PyTorch",
            "python3 -c 'import torch; print(torch.__version__, torch.version.hip)'",
        )
    if changed:
        back = " ".join(constraints(before.packages).split())
        text = f"the installation replaced the container's PyTorch: {', '.join(changed)}"
        return fail(
            "torch-kept", text, f"start a new container; requirements that leave {back or 'torch'} alone", Code.FAILED
        )
    return ok("torch-kept", f"PyTorch {after.version}, HIP {after.hip}, as before the installation")
