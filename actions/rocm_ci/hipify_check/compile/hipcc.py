"""The compiler of this machine: where it is, which HIP it is, which GPUs the node has."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.compile import diagnostics
from rocm_ci.hipify_check.versions import Version, parse
from rocm_ci.runner.errors import InfraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm_ci.runner.processes import ProcessRegistry

_VERSION = re.compile(r"HIP version:\s*(\S+)")
_GFX = re.compile(r"gfx[0-9a-f]{3,}(?::\S*)?")
_ASK_SECONDS = 120.0
_PROBE = "#include <hip/hip_runtime.h>\n__global__ void rocm_ci_probe(int* p) { *p = threadIdx.x; }\n"


@dataclass(frozen=True, slots=True)
class Compiler:
    """hipcc: its path, the HIP version as it tells it, and the same as (major, minor)."""

    path: str
    version: str
    release: Version | None


def environment(environ: Mapping[str, str], temporary: Path) -> dict[str, str]:
    """The compiler's environment: for AMD even where CUDA is installed too, and its temporary files in our folder."""
    return {**environ, "HIP_PLATFORM": "amd", "TMPDIR": str(temporary), "LC_ALL": "C"}


def find(given: Path | None, environ: Mapping[str, str]) -> str:
    """The path of hipcc.

    Raises:
        InfraError: It is not installed.
        UsageError: The one that was given does not exist.
    """
    if given is not None:
        if not os.access(given, os.X_OK):
            raise UsageError(f"{given} is no program that could be run", help="give the full path of hipcc")
        return str(given)
    found = _program("hipcc", environ)
    if found is None:
        raise InfraError(
            "hipcc is not installed: it is neither on PATH nor in $ROCM_PATH/bin, so nothing can be compiled",
            help="run this in a ROCm image, or install it: apt install hipcc (Debian, Ubuntu, AMD's repositories)",
        )
    return found


def ask(path: str, processes: ProcessRegistry, env: Mapping[str, str]) -> Compiler:
    """Ask hipcc for its version.

    Raises:
        InfraError: It does not run.
    """
    done = processes.run([path, "--version"], env=env, timeout=_ASK_SECONDS, echo=False)
    text = "\n".join(done.tail)
    if done.returncode != 0:
        last = next((line for line in reversed(done.tail) if line.strip()), "it said nothing")
        raise InfraError(f"{path} --version ended with exit code {done.returncode}: {last}", help="install ROCm again")
    match = _VERSION.search(text)
    try:
        release = parse(match[1]) if match else None
    except ValueError:
        release = None
    return Compiler(path, match[1] if match else "", release)


def targets(
    given: tuple[str, ...], processes: ProcessRegistry, env: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The gfx targets: those that were given, else those of the node's GPUs.

    Raises:
        UsageError: None was given, and the node has no GPU; or one is no gfx target.
    """
    wrong = next((arch for arch in given if not _GFX.fullmatch(arch)), None)
    if wrong is not None:
        raise UsageError(f"--offload-arch: {wrong!r} is no gfx target", help="for example: --offload-arch gfx90a")
    if given:
        return tuple(dict.fromkeys(given))
    program = _program("rocm_agent_enumerator", environ)
    if program:
        done = processes.run([program], env=env, timeout=_ASK_SECONDS, echo=False)
        # gfx000 stands for the CPU.
        found = [line.strip() for line in done.tail if _GFX.fullmatch(line.strip()) and line.strip() != "gfx000"]
        if done.returncode == 0 and found:
            return tuple(dict.fromkeys(found))
    raise UsageError(
        "it is not known which GPU to compile for: this machine has none that ROCm sees",
        help="name it: --offload-arch gfx90a (MI200), gfx942 (MI300), gfx950 (MI350)",
    )


def probe(
    compiler: Compiler, arch: tuple[str, ...], processes: ProcessRegistry, env: Mapping[str, str], folder: Path
) -> None:
    """Compile a kernel of one line: what fails here is not the user's code.

    Raises:
        InfraError: The compiler does not know the gfx target, or its headers or device libraries are missing.
    """
    source = folder / "probe.hip"
    source.write_text(_PROBE, encoding="utf-8")
    command = [
        compiler.path,
        "-c",
        *(f"--offload-arch={one}" for one in arch),
        "-o",
        str(folder / "probe.o"),
        str(source),
    ]
    done = processes.run(command, env=env, timeout=_ASK_SECONDS, echo=False)
    if done.returncode == 0 and not done.timed_out:
        return
    errors = diagnostics.parse(done.tail)
    why = errors[0].text if errors else next((line for line in reversed(done.tail) if line.strip()), "it said nothing")
    if done.timed_out:
        why = f"it took longer than {_ASK_SECONDS:g} s"
    raise InfraError(
        f"{compiler.path} (HIP {compiler.version or 'of unknown version'}) cannot compile an empty kernel for "
        f"{', '.join(arch)}: {why}",
        help="use a ROCm release that knows this GPU, or name another --offload-arch",
    )


def _program(name: str, environ: Mapping[str, str]) -> str | None:
    rocm = environ.get("ROCM_PATH") or "/opt/rocm"
    return shutil.which(name, path=environ.get("PATH")) or shutil.which(name, path=str(Path(rocm) / "bin"))
