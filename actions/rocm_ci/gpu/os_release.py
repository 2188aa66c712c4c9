"""The operating system: etc/os-release (os-release(5))."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown


@dataclass(frozen=True, slots=True)
class OperatingSystem:
    """A Linux distribution.

    Attributes:
        id: as `ubuntu`; `linux` where the file does not say it.
        version_id: as `22.04`; None for a rolling one.
        name: for people, as `Ubuntu 22.04.4 LTS`.
        lts: whether its name says LTS.
        like: ids of what it is made from.
    """

    id: str
    version_id: str | None
    name: str
    lts: bool
    like: tuple[str, ...] = ()


def parse_os_release(text: str) -> Mapping[str, str]:
    """The assignments of the file, quotes taken off; a line that is none is passed over."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if not equals or not key.isidentifier():
            continue
        try:
            words = shlex.split(value)
        except ValueError:
            continue
        found[key] = words[0][:200] if words else ""
    return found


def read_os(tree: Tree) -> OperatingSystem | Unknown:
    """What the root's os-release says."""
    text = tree.text("etc/os-release")
    if isinstance(text, Unknown):
        text = tree.text("usr/lib/os-release")
    if isinstance(text, Unknown):
        return text
    found = parse_os_release(text)
    if not found:
        return Unknown("etc/os-release holds no assignment")
    name = found.get("PRETTY_NAME") or found.get("NAME") or found.get("ID") or "Linux"
    lts = "LTS" in f"{name} {found.get('VERSION', '')}".split() or "LTS" in found.get("VERSION", "")
    return OperatingSystem(
        found.get("ID") or "linux", found.get("VERSION_ID") or None, name, lts, tuple(found.get("ID_LIKE", "").split())
    )
