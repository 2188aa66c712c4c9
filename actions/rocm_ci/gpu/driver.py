"""The kernel driver amdgpu: loaded or not, AMD's DKMS package or the kernel's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from errno import ENOENT

from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown

MODULE = "sys/module/amdgpu"


@dataclass(frozen=True, slots=True)
class Driver:
    """amdgpu on this machine. None stands for unknown.

    Attributes:
        loaded: whether the kernel has it.
        kind: `dkms` (AMD's package, with a version of its own) or `inbox` (the kernel's own, loaded or built in).
        module_version: version of the DKMS module, as `6.10.5`; an inbox driver has none and goes by the kernel
            release.
        initstate: `live`, `coming`, `going`; a driver that is built in has none.
        kernel_release: as `uname -r` says.
        unknown: why each field that is None is.
    """

    loaded: bool | None
    kind: str | None
    module_version: str | None
    initstate: str | None
    kernel_release: str | None
    unknown: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """`amdgpu 6.10.5 (dkms)`, `amdgpu of kernel 6.8.0-40-generic`, or what is wrong."""
        if not self.loaded:
            return "amdgpu is not loaded" if self.loaded is False else "not known whether amdgpu is loaded"
        if self.module_version:
            return f"amdgpu {self.module_version} (dkms)"
        return f"amdgpu of kernel {self.kernel_release or 'unknown'}"


def read_driver(tree: Tree) -> Driver:
    """What the kernel says of amdgpu."""
    unknown: dict[str, str] = {}
    release = _or_none(_kernel_release(tree), "kernel_release", unknown)
    there = tree.exists(MODULE)
    modules = tree.exists("sys/module")
    if there is not True:
        seen = modules is True and there is False
        why = (
            f"there is no {MODULE}"
            if seen
            else there.reason
            if isinstance(there, Unknown)
            else "there is no sys/module"
        )
        unknown.update(dict.fromkeys(("kind", "module_version", "initstate"), why))
        if not seen:
            unknown["loaded"] = why
        return Driver(False if seen else None, None, None, None, release, unknown)
    state = tree.text(f"{MODULE}/initstate")
    version = tree.text(f"{MODULE}/version")
    loaded = isinstance(state, Unknown) or state == "live"
    initstate = _or_none(state, "initstate", unknown)
    if isinstance(state, Unknown) and state.errno == ENOENT:
        unknown["initstate"] = "it is built into the kernel"
    kind: str | None = "dkms"
    if isinstance(version, Unknown):
        absent = version.errno == ENOENT
        kind = "inbox" if absent else None
        unknown["module_version"] = "the kernel's own driver has no version" if absent else version.reason
        if not absent:
            unknown["kind"] = version.reason
    return Driver(loaded, kind, None if isinstance(version, Unknown) else version, initstate, release, unknown)


def _or_none(value: str | Unknown, name: str, unknown: dict[str, str]) -> str | None:
    if isinstance(value, Unknown):
        unknown[name] = value.reason
        return None
    return value


def _kernel_release(tree: Tree) -> str | Unknown:
    text = tree.text("proc/sys/kernel/osrelease")
    if not isinstance(text, Unknown):
        return text.split()[0]
    line = tree.text("proc/version")
    words = [] if isinstance(line, Unknown) else line.split()
    return words[2] if words[:2] == ["Linux", "version"] and len(words) > 2 else text
