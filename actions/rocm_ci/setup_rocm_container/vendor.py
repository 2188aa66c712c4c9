"""A cross-check with AMD's own tools, where they are installed: they never decide, for each fails in its own ways.

rocm-smi sees GPUs that the container may not use, amd-smi asks for group names, and all of them may hang on a broken
GPU.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocm_ci.gpu.tools import amd_smi, rocm_smi, rocminfo
from rocm_ci.gpu.unknown import Unknown
from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.processes import ProcessRegistry, Running
from rocm_ci.setup_rocm_container.found import Found, targets
from rocm_ci.setup_rocm_container.model import Check, ok, skip, warn

TIME_LIMIT = 10.0
"""Seconds for all of them together; amd-smi takes 2 on a healthy node, rocminfo less."""


@dataclass(frozen=True)
class Answer:
    """What a tool says of the GPUs: how many, and their gfx targets (empty when it does not tell)."""

    count: int
    gfx: tuple[str, ...] = ()


def _rocminfo(text: str) -> Answer | Unknown:
    found = rocminfo.parse_rocminfo(text)
    if isinstance(found, Unknown):
        return found
    return Answer(len(found), tuple(agent.gfx for agent in found if agent.gfx))


def _amd_smi(text: str) -> Answer | Unknown:
    found = amd_smi.parse_gpus(text)
    if isinstance(found, Unknown):
        return found
    return Answer(len(found), tuple(gpu.gfx for gpu in found if gpu.gfx))


def _rocm_smi(text: str) -> Answer | Unknown:
    found = rocm_smi.parse_cards(text)
    if isinstance(found, Unknown):
        return found
    return Answer(len(found), tuple(card.gfx for card in found if card.gfx))


TOOLS: tuple[tuple[str, tuple[str, ...], Callable[[str], Answer | Unknown]], ...] = (
    ("rocminfo", (), _rocminfo),
    ("amd-smi", ("static", "--asic", "--json"), _amd_smi),
    ("rocm-smi", ("--showproductname", "--json"), _rocm_smi),
)


def ask(processes: ProcessRegistry, environ: Mapping[str, str], limit: float | None = None) -> dict[str, Answer | str]:
    """Run the tools that are installed, at the same time; what each said, or why it said nothing."""
    limit = TIME_LIMIT if limit is None else limit
    path = f"{environ.get('PATH', '')}:{environ.get('ROCM_PATH') or '/opt/rocm'}/bin"
    said: dict[str, Answer | str] = {}
    started: dict[str, Running] = {}
    for name, options, _ in TOOLS:
        program = shutil.which(name, path=path)
        if program is None:
            continue
        try:
            started[name] = processes.start([program, *options], echo=False, keep=100_000)
        except InfraError as error:
            said[name] = error.message
    deadline = time.monotonic() + limit
    for name, _, parse in TOOLS:
        running = started.get(name)
        if running is None:
            continue
        try:
            running.wait(max(0.1, deadline - time.monotonic()))
        except TimeoutError:
            said[name] = _ended(running, limit)
            continue
        answer = parse("".join(f"{line}\n" for line in running.lines))
        said[name] = answer.reason if isinstance(answer, Unknown) else answer
    return said


def _ended(running: Running, limit: float) -> str:
    try:
        running.end()
    except InfraError as error:
        return f"it did not answer within {limit:g} s, and {error.message}"
    return f"it did not answer within {limit:g} s"


def check(said: Mapping[str, Answer | str], found: Found) -> Check:
    """Whether the tools agree with what the kernel says."""
    if not said:
        return skip("vendor-tools", "neither rocminfo nor amd-smi nor rocm-smi is installed")
    wanted = set(targets(found.usable))
    # Each counts something else: what ROCR_VISIBLE_DEVICES leaves, what the container has, what the node has, cards.
    right = {len(found.chosen), len(found.usable), len(found.node.gpus), len(found.node.sockets)}
    told: list[str] = []
    for name, answer in said.items():
        if isinstance(answer, str):
            told.append(f"{name}: {answer}")
        elif answer.count not in right:
            told.append(f"{name} lists {answer.count} GPUs, the kernel {len(found.usable)}")
        elif answer.gfx and wanted and not wanted <= set(answer.gfx):
            told.append(f"{name} says {', '.join(sorted(set(answer.gfx)))}, the kernel {', '.join(sorted(wanted))}")
    if told:
        return warn("vendor-tools", "; ".join(told), "; ".join(said) + "   # run them by hand in this container")
    return ok("vendor-tools", f"{' and '.join(said)} agree{'s' if len(said) == 1 else ''} with the kernel")
