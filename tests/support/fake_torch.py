"""Stand-ins for PyTorch: packages that a real interpreter imports, and wheels that a real pip installs."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

CUDA = """
class _Properties:
    name, gcnArchName = "AMD Instinct MI300X", {device!r}
def is_available(): return {available}
def device_count(): return {count}
def get_arch_list(): return {arch_list!r}
def get_device_properties(index): return _Properties
"""


def fake_torch(
    folder: Path,
    *,
    version: str = "2.6.0+rocm6.3",
    hip: str | None = "6.3.42131-fa1d09cbd",
    cuda: str | None = None,
    available: str = "True",
    count: str = "8",
    arch_list: tuple[str, ...] = ("gfx90a", "gfx942"),
    device: str = "gfx942:sramecc+:xnack-",
    on_import: str = "",
    extra: Mapping[str, str] | None = None,
) -> Path:
    """Write a package `torch` with its metadata into `folder`, which then belongs on PYTHONPATH.

    `available` and `count` are Python expressions, so that a call can hang or die; `on_import` are statements.
    """
    package = folder / "torch"
    package.mkdir(parents=True)
    for name, text in torch_files(version, hip, cuda).items():
        (package / name).write_text(text, encoding="utf-8")
    head = f"from torch import version, cuda\n__version__ = {version!r}\n"
    (package / "__init__.py").write_text(on_import + "\n" + head, encoding="utf-8")
    text = CUDA.format(available=available, count=count, arch_list=list(arch_list), device=device)
    (package / "cuda.py").write_text(text, encoding="utf-8")
    for name, number in {"torch": version, **(extra or {})}.items():
        metadata(folder, name, number)
    return folder


def torch_files(version: str, hip: str | None, cuda: str | None) -> dict[str, str]:
    return {"version.py": f"__version__ = {version!r}\ncuda = {cuda!r}\nhip = {hip!r}\n"}


def metadata(folder: Path, name: str, version: str) -> None:
    """Make `name` an installed distribution of `folder`."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (info / "INSTALLER").write_text("pip\n", encoding="utf-8")
    (info / "RECORD").write_text(
        "".join(f"{path.relative_to(folder)},,\n" for path in folder.rglob("*") if path.is_file()), encoding="utf-8"
    )


def wheel(
    folder: Path, name: str, version: str, *, requires: tuple[str, ...] = (), files: Mapping[str, str] | None = None
) -> Path:
    """Write a wheel with these files (path → text) and requirements."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    contents = dict(files or {f"{module}/__init__.py": ""})
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    contents[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in contents.items())
    contents[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
    return target


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
