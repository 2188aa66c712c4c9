"""The ROCm of user space: which release is installed, and which one a torch was built for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rocm_ci.gpu import versions
from rocm_ci.gpu.tree import Tree
from rocm_ci.gpu.unknown import Unknown, shown

_FOLDER = re.compile(r"\Arocm-([0-9]+(?:\.[0-9]+)+)\Z")
_HEADER = re.compile(r"^\s*#\s*define\s+ROCM_VERSION_(MAJOR|MINOR|PATCH)\s+([0-9]{1,6})\s*$", re.MULTILINE)
_ASSIGNED = re.compile(
    r"^(__version__|hip|cuda|rocm)\s*(?::[^=\n]*)?=\s*(?:'([^'\n]*)'|\"([^\"\n]*)\"|None)\s*$", re.MULTILINE
)
_CORE = re.compile(r"^Package: rocm-core\n(?:(?!\n).*\n)*?Version: ([0-9][0-9.]*)", re.MULTILINE)
_DPKG_LIMIT = 32 << 20
_INFO_FILES = (".info/version", ".info/version-dev", ".info/version-utils")


@dataclass(frozen=True, slots=True)
class Rocm:
    """An installed ROCm.

    Attributes:
        version: its release, as `6.2.4`.
        build: the whole text that was found, as `6.2.4-149`.
        folder: where it is, below the root.
        source: the file or link that says it.
        others: other releases that are installed beside it.
    """

    version: str
    build: str
    folder: str
    source: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """What torch/version.py says.

    Attributes:
        version: torch's own.
        hip: HIP version that it was built with, as `6.2.41133-dd7f95766`; None for another build.
        cuda: CUDA version; None for a ROCm build.
        rocm: ROCm release that it was built for: the first two numbers of HIP's version.
    """

    version: str | None
    hip: str | None
    cuda: str | None
    rocm: str | None


def read_rocm(tree: Tree, environ: Mapping[str, str] | None = None) -> Rocm | Unknown:
    """The ROCm that programs find: ROCM_PATH, /opt/rocm, then the newest /opt/rocm-X.Y.Z."""
    folders = []
    if path := (environ or {}).get("ROCM_PATH", ""):
        folders.append(path.strip("/"))
    numbered = _numbered(tree)
    folders += ["opt/rocm", *(f"opt/rocm-{versions.show(version)}" for version in numbered)]
    for folder in dict.fromkeys(folders):
        found = _in_folder(tree, folder)
        if found:
            version, build, source = found
            others = tuple(name for number in numbered if (name := versions.show(number)) != version)
            return Rocm(version, build, folder, source, others)
    status = tree.text("var/lib/dpkg/status", _DPKG_LIMIT)
    package = None if isinstance(status, Unknown) else _CORE.search(status)
    if package and (number := versions.parse(package.group(1))):
        return Rocm(versions.show(number[:3]), package.group(1), "", "package rocm-core")
    return Unknown("there is no ROCm in /opt/rocm, nor where ROCM_PATH points, nor a package rocm-core")


def parse_torch_version(text: str) -> TorchBuild | Unknown:
    """What the text of torch/version.py says, without running it."""
    values: dict[str, str | None] = {}
    for found in _ASSIGNED.finditer(text[:65536]):
        values.setdefault(found.group(1), found.group(2) or found.group(3) or None)
    if not values:
        return Unknown("torch/version.py has no version in it")
    hip = values.get("hip")
    number = versions.parse(hip or "")
    rocm = versions.show(number[:2]) if number and len(number) > 1 else None
    return TorchBuild(values.get("__version__"), hip, values.get("cuda"), rocm)


def parse_version_file(text: str) -> tuple[str, str] | Unknown:
    """Release and build in the text of .info/version."""
    build = text.split()[0] if text.split() else ""
    number = versions.parse(build)
    if number is None or len(number) < 2:
        return Unknown(f"it holds no version: {shown(text)}")
    return versions.show(number[:3]), build[:60]


def _numbered(tree: Tree) -> list[versions.Version]:
    names = tree.names("opt")
    if isinstance(names, Unknown):
        return []
    numbers = (versions.parse(found.group(1)) for name in names if (found := _FOLDER.match(name)))
    return sorted((number for number in numbers if number), reverse=True)


def _in_folder(tree: Tree, folder: str) -> tuple[str, str, str] | None:
    for name in _INFO_FILES:
        text = tree.text(f"{folder}/{name}")
        found = text if isinstance(text, Unknown) else parse_version_file(text)
        if not isinstance(found, Unknown):
            return (*found, f"{folder}/{name}")
    for name in ("include/rocm-core/rocm_version.h", "include/rocm_version.h"):
        text = tree.text(f"{folder}/{name}")
        parts = {} if isinstance(text, Unknown) else dict(_HEADER.findall(text))
        if len(parts) == 3:
            version = ".".join(str(int(parts[key])) for key in ("MAJOR", "MINOR", "PATCH"))
            return version, version, f"{folder}/{name}"
    real = tree.link(folder)
    if not isinstance(real, Unknown) and (linked := _FOLDER.match(real.rstrip("/").rpartition("/")[2])):
        return linked.group(1), linked.group(1), f"link {folder}"
    return None
