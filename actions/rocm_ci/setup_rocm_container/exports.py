"""Variables for the steps that follow: what the node is, which GPUs to use, and where caches outlive the job."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocm_ci.runner.files import append_whole
from rocm_ci.runner.outputs import output_block
from rocm_ci.setup_rocm_container.model import Check, ok, skip, warn
from rocm_ci.setup_rocm_container.tables import rows
from rocm_ci.setup_rocm_container.torch_build import TorchBuild

ROCM_PATH = Path("/opt/rocm")


@dataclass(frozen=True)
class Exports:
    """Variables to set, and those that the user had set already, which stay."""

    values: Mapping[str, str]
    kept: Mapping[str, str] = field(default_factory=dict)


def collect(
    environ: Mapping[str, str],
    *,
    gfx: Sequence[str],
    rocm: str | None,
    visible_devices: str | None,
    torch: TorchBuild,
    rocm_path: Path = ROCM_PATH,
) -> Exports:
    """The variables that the following steps get.

    Args:
        environ: the job's environment; what it has set is not set again, HIP_VISIBLE_DEVICES excepted.
        gfx: gfx targets of the GPUs, each once.
        rocm: ROCm release of the container.
        visible_devices: the option's value.
        torch: the job's PyTorch; part of the name of the folder for compiled AITER modules.
        rocm_path: where ROCm is installed.
    """
    wanted: dict[str, str] = {}
    if gfx:
        # PyTorch's extensions take a list with semicolons (torch/utils/cpp_extension.py).
        wanted["PYTORCH_ROCM_ARCH"] = ";".join(gfx)
    if rocm_path.is_dir():
        wanted["ROCM_PATH"] = str(rocm_path)
    wanted |= _caches(environ, gfx, rocm, torch)
    kept = {name: environ[name] for name in wanted if environ.get(name)}
    values = {name: value for name, value in wanted.items() if name not in kept}
    if visible_devices:
        values["HIP_VISIBLE_DEVICES"] = visible_devices
    return Exports(values, kept)


def _caches(environ: Mapping[str, str], gfx: Sequence[str], rocm: str | None, torch: TorchBuild) -> dict[str, str]:
    base = environ.get("RUNNER_TOOL_CACHE", "")
    if not base:
        return {}
    found = {}
    for name, folder, keyed, _why, _source in rows("caches.tsv"):
        if name == "AITER_JIT_DIR" and torch.prebuilt_aiter:
            continue  # AITER looks only there, so the modules that the image brings would be built again
        path = Path(base) / "rocm-ci" / "caches" / folder
        found[name] = str(path / _key(environ, gfx, rocm, torch) if keyed == "keyed" else path)
    return found


def _key(environ: Mapping[str, str], gfx: Sequence[str], rocm: str | None, torch: TorchBuild) -> str:
    """Names the stack that compiled modules belong to; AITER loads what it finds there without a look at versions."""
    installed = torch.packages.get("amd-aiter") or torch.packages.get("aiter")
    # Without an installed AITER the checkout may build its own: then another commit is another AITER.
    parts = [
        installed or f"commit {environ.get('GITHUB_SHA', '')}",
        torch.version or "",
        torch.python or "",
        rocm or "",
        *gfx,
    ]
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(filter(None, [installed, *gfx]))).strip("-") or "any"
    return f"{readable}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:12]}"


def check_caches(exports: Exports) -> Check:
    """Make the cache folders; one that cannot be written is told, and its variable is left out by `usable`."""
    names = {row[0] for row in rows("caches.tsv")}
    folders = {name: value for name, value in exports.values.items() if name in names}
    kept = {name: value for name, value in exports.kept.items() if name in names}
    failed = {name: why for name, value in {**kept, **folders}.items() if (why := _unwritable(Path(value)))}
    if failed:
        first, why = next(iter(failed.items()))
        folder = kept.get(first) or folders[first]
        fix = f'sudo mkdir -p {shlex.quote(folder)} && sudo chown "$(id -u):$(id -g)" {shlex.quote(folder)}'
        return warn("caches", f"{', '.join(failed)} cannot be written ({folder}: {why})", fix)
    if not folders and not kept:
        return skip("caches", "RUNNER_TOOL_CACHE is not set: caches stay where each program keeps them")
    mine = f"{', '.join(folders)} in the tool cache" if folders else ""
    theirs = f"{', '.join(kept)} as the job has set them" if kept else ""
    return ok("caches", "; ".join(filter(None, [mine, theirs])))


def usable(exports: Exports) -> Exports:
    """Without the cache folders that cannot be written: a program's own default is better than an error."""
    names = {row[0] for row in rows("caches.tsv")}
    values = {k: v for k, v in exports.values.items() if k not in names or (Path(v).is_dir() and os.access(v, os.W_OK))}
    return Exports(values, exports.kept)


def write(path: Path | None, exports: Exports) -> None:
    """Append them to the file that `$GITHUB_ENV` names, so that all steps after this one have them.

    Raises:
        InfraError: it cannot be written.
    """
    if path and exports.values:
        append_whole(path, "".join(output_block(name, value) for name, value in exports.values.items()).encode())


def shell(exports: Exports) -> str:
    """The same as lines for a shell."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in exports.values.items())


def _unwritable(folder: Path) -> str:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "" if os.access(folder, os.W_OK | os.X_OK) else "permission denied"
