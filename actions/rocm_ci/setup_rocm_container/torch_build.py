"""The user's PyTorch, asked in the user's interpreter, in a process with a time limit: it can hang on a broken GPU."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.processes import Completed, ProcessRegistry
from rocm_ci.runner.text import one_line

TIME_LIMIT = 120.0
"""Seconds: importing PyTorch from a cold network disk takes up to a minute, opening 8 GPUs a few seconds more."""


@dataclass(frozen=True)
class TorchBuild:
    """What the probe learned; a value that it did not come to is None.

    Attributes:
        python: version of the interpreter; None: it did not run.
        present: PyTorch can be found there.
        version: of PyTorch.
        hip: `torch.version.hip`; None in a build that is not for ROCm.
        cuda: `torch.version.cuda`.
        built: version and hip as torch/version.py has them, which an import cannot change.
        packages: versions of PyTorch and what comes with it, by distribution name.
        cuda_packages: distributions of CUDA's libraries.
        available: `torch.cuda.is_available()`.
        count: `torch.cuda.device_count()`.
        arch_list: `torch.cuda.get_arch_list()`.
        devices: name and gfx target, with features, of each device.
        errors: what a step raised, by its name.
        hung: the step that did not end.
        broken: why nothing could be asked at all.
        prebuilt_aiter: AITER is installed with compiled modules.
    """

    python: str | None = None
    present: bool = False
    version: str | None = None
    hip: str | None = None
    cuda: str | None = None
    built: tuple[str | None, str | None] = (None, None)
    packages: Mapping[str, str] = field(default_factory=dict)
    cuda_packages: tuple[str, ...] = ()
    available: bool | None = None
    count: int | None = None
    arch_list: tuple[str, ...] | None = None
    devices: tuple[Mapping[str, str], ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    hung: str = ""
    broken: str = ""
    prebuilt_aiter: bool = False


def probe(
    python: str,
    processes: ProcessRegistry,
    *,
    light: bool = False,
    extra: Mapping[str, str] | None = None,
    limit: float = TIME_LIMIT,
) -> TorchBuild:
    """Ask an interpreter for its PyTorch.

    Args:
        python: the interpreter.
        processes: runs it in the job's environment.
        light: do not import PyTorch.
        extra: variables beside the job's, such as HIP_VISIBLE_DEVICES.
        limit: seconds.
    """
    mark = f"rocm-ci-{secrets.token_hex(8)}"
    lines: list[str] = []

    def collect(line: str) -> None:
        if line.startswith(mark):
            lines.append(line[len(mark) :])

    env = {**processes.environ, **(extra or {}), "PYTHONUNBUFFERED": "1"}
    done: Completed | None = None
    broken = ""
    try:
        with resources.as_file(resources.files("rocm_ci.setup_rocm_container") / "torch_probe.py") as script:
            argv = [python, str(script), mark, *(["light"] if light else [])]
            done = processes.run(argv, env=env, timeout=limit, echo=False, on_line=collect, keep=20)
    except InfraError as error:
        # It waits inside the driver and not even SIGKILL ends it, or it does not start.
        broken = error.message
    return read(lines, done, broken, limit)


def read(lines: Sequence[str], done: Completed | None, broken: str, limit: float) -> TorchBuild:
    """Make of the probe's lines, and of how it ended, what is known."""
    steps: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("step"), str):
            steps.setdefault(entry["step"], {}).update(entry)
    begun = [
        step for step, entry in steps.items() if entry.get("begin") and "value" not in entry and "error" not in entry
    ]
    found = steps.get("find", {})
    build = found.get("build")
    errors = {step: one_line(str(entry["error"]), 300) for step, entry in steps.items() if "error" in entry}
    hung = ""
    if begun and done is not None and not done.timed_out:
        errors[begun[0]] = _how_it_ended(done)
    elif begun or (done is not None and done.timed_out):
        hung = f"{_STEPS.get(begun[0] if begun else '', 'the interpreter')} did not end within {limit:g} s"
        hung += " and cannot be killed: it waits inside the driver" if done is None else ""
    elif not steps:
        broken = broken or (f"the interpreter printed nothing: {_how_it_ended(done)}" if done else "")
    in_build = build if isinstance(build, dict) else {}

    def value(step: str) -> Any:
        return steps.get(step, {}).get("value")

    arch_list = value("arch_list")
    return TorchBuild(
        python=found.get("python"),
        present=build is not None,
        version=value("import") or in_build.get("__version__"),
        hip=value("hip") if "hip" in steps else in_build.get("hip"),
        cuda=value("cuda") if "cuda" in steps else in_build.get("cuda"),
        built=(in_build.get("__version__"), in_build.get("hip")),
        packages=found.get("packages") or {},
        cuda_packages=tuple(found.get("cuda") or ()),
        available=value("available"),
        count=value("count"),
        arch_list=None if arch_list is None else tuple(arch_list),
        devices=tuple(value("devices") or ()),
        errors=errors,
        hung=hung,
        broken=broken,
        prebuilt_aiter=bool(found.get("prebuilt_aiter")),
    )


_STEPS = {
    "import": "`import torch`",
    "available": "`torch.cuda.is_available()`",
    "count": "`torch.cuda.device_count()`",
    "arch_list": "`torch.cuda.get_arch_list()`",
    "devices": "`torch.cuda.get_device_properties()`",
}


def _how_it_ended(done: Completed) -> str:
    last = one_line(done.tail[-1], 200) if done.tail else "it printed nothing"
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}; {last}"
    return f"exit code {done.returncode}; {last}"
