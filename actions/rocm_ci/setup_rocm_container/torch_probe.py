# ruff: noqa: D103, PTH100, PTH120, PTH123, PTH207, UP031, A001, SIM105
"""Run by the user's interpreter, not imported: what its PyTorch says. Only the standard library and the user's torch.

Prints one line a step, each with the marker that is the first argument, so that a hang has a name and what torch
itself prints is told apart. With `light` as the second argument torch is not imported: nothing can hang.
"""

from __future__ import annotations

import os
import sys

# Python puts the script's folder first: its modules are ours, not the job's.
if sys.path and os.path.abspath(sys.path[0] or ".") == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import importlib.util
import json
from typing import Any

MARK = sys.argv[1]
FAMILY = ("torch", "torchvision", "torchaudio", "triton", "pytorch-triton-rocm", "triton-rocm", "pytorch-triton")


def say(**values: Any) -> None:
    sys.stdout.write("\n%s %s\n" % (MARK, json.dumps(values)))
    sys.stdout.flush()


def packages() -> tuple[dict[str, str], list[str]]:
    try:
        from importlib import metadata
    except ImportError:
        return {}, []
    family: dict[str, str] = {}
    cuda: list[str] = []
    for dist in metadata.distributions():
        try:
            name = (dist.metadata["Name"] or "").lower().replace("_", "-").replace(".", "-")
            version = str(dist.version)
        except Exception:  # noqa: S112 - a damaged installation of something else is not our business
            continue
        if name in FAMILY or name in ("aiter", "amd-aiter"):
            family.setdefault(name, version)
        if name.startswith("nvidia-") and name.rpartition("-")[2] in ("cu11", "cu12", "cu13"):
            cuda.append(name)
    return family, sorted(set(cuda))


def version_file() -> dict[str, str | None] | None:
    """torch/version.py, which names the build, without importing torch."""
    spec = importlib.util.find_spec("torch")
    if spec is None:
        return None
    values: dict[str, Any] = {}
    for folder in spec.submodule_search_locations or []:
        try:
            with open(folder + "/version.py", "rb") as file:
                exec(compile(file.read(), folder + "/version.py", "exec"), values)  # noqa: S102 - what `import torch` does
            break
        except Exception:  # noqa: S112 - the import that follows will tell
            continue
    keep = {key: values.get(key) for key in ("__version__", "hip", "cuda")}
    return {key: None if value is None else str(value) for key, value in keep.items()}


def prebuilt_aiter() -> bool:
    """Whether an installed AITER has compiled modules beside its sources, which AITER_JIT_DIR would hide."""
    import glob

    spec = importlib.util.find_spec("aiter")
    return any(glob.glob(folder + "/jit/*.so") for folder in (spec.submodule_search_locations or [])) if spec else False


def main() -> None:
    family, cuda = packages()
    aiter = False
    try:
        aiter = prebuilt_aiter()
    except Exception:  # noqa: S110 - only a hint about a cache
        pass
    try:
        build = version_file()
    except Exception as error:
        say(step="find", error="%s: %s" % (type(error).__name__, error))
        return
    say(step="find", python=sys.version.split()[0], packages=family, cuda=cuda, build=build, prebuilt_aiter=aiter)
    if build is None or sys.argv[2:3] == ["light"]:
        return
    for step, ask in (
        ("import", lambda torch: str(torch.__version__)),
        ("hip", lambda torch: torch.version.hip and str(torch.version.hip)),
        ("cuda", lambda torch: torch.version.cuda and str(torch.version.cuda)),
        ("available", lambda torch: bool(torch.cuda.is_available())),
        ("count", lambda torch: int(torch.cuda.device_count())),
        ("arch_list", lambda torch: [str(arch) for arch in torch.cuda.get_arch_list()]),
        ("devices", lambda torch: [device(torch, i) for i in range(int(torch.cuda.device_count()))]),
    ):
        say(step=step, begin=True)
        try:
            import torch  # type: ignore[import-not-found]

            say(step=step, value=ask(torch))
        except KeyboardInterrupt:  # it hung, and is being ended
            return
        except BaseException as error:
            say(step=step, error="%s: %s" % (type(error).__name__, error))
            if step == "import":
                return


def device(torch: Any, index: int) -> dict[str, str]:
    properties = torch.cuda.get_device_properties(index)
    return {"name": str(properties.name), "gfx": str(getattr(properties, "gcnArchName", ""))}


main()
