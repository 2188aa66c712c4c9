"""Opening what is read: the kernel's files where there is amdgpu, torch elsewhere."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rocm_ci.runner.errors import InfraError
from rocm_ci.vram_probe.measuring import Measuring
from rocm_ci.vram_probe.output import prometheus
from rocm_ci.vram_probe.request import Request
from rocm_ci.vram_probe.source import Source

_LOOK_LIMIT = 20.0
_HAS_TORCH = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"


@contextlib.contextmanager
def opened(request: Request, environ: Mapping[str, str]) -> Iterator[Source]:
    """The source that the user asked for, closed at the end.

    Raises:
        InfraError: no GPU can be watched.
    """
    source = _open(request, environ)
    try:
        yield source
    finally:
        source.close()


@contextlib.contextmanager
def served(
    request: Request, source: Source, measuring: Measuring, progress: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """`/metrics`, if a port was asked for.

    Raises:
        InfraError: the port cannot be had.
    """
    if request.metrics_port is None:
        yield
        return
    from rocm_ci.vram_probe.metrics import Metrics

    def text() -> str:
        tracker = measuring.tracker
        return prometheus.running(source.devices, tracker.last, tracker.peak, tracker.samples)

    with Metrics(request.metrics_port, text) as server:
        progress(f"metrics: http://127.0.0.1:{server.port}/metrics")
        yield


def _open(request: Request, environ: Mapping[str, str]) -> Source:
    if request.source == "torch":
        return _torch(request, environ)
    from rocm_ci.vram_probe.amdgpu_source import AmdgpuSource

    try:
        return AmdgpuSource(request.path_root, environ)
    except InfraError as error:
        if request.source == "amdgpu" or not _is_this_machine(request.path_root):
            raise
        if not _has_torch(request.python, environ):
            raise
        try:
            return _torch(request, environ)
        except InfraError as second:
            raise InfraError(f"{error.message}; {second.message}", help=error.help) from second


def _torch(request: Request, environ: Mapping[str, str]) -> Source:
    from rocm_ci.vram_probe.torch_source import TorchSource

    return TorchSource(request.python, environ)


def _is_this_machine(root: Path) -> bool:
    return os.path.realpath(root) == "/"


def _has_torch(python: str, environ: Mapping[str, str]) -> bool:
    """Whether the user's interpreter has torch at all; importing it only to see no GPU takes seconds."""
    try:
        done = subprocess.run(
            [python, "-c", _HAS_TORCH],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_LOOK_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
