"""Code that an AMD build does not compile, told by its place alone: NVIDIA-only folders, CUDA halves beside HIP halves.

In: all paths of a repository. Out: globs for `exclude`, in the syntax of .gitignore.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from rocm_ci_gen.scaffold.folders import names_of_folders

_HIP_WORDS = ("hip", "rocm", "amd")
_HALF_WORDS = (*_HIP_WORDS, "ck")
_OTHER_WORDS = ("sycl", "omp", "openmp", "opencl", "oneapi", "dpct")
_SEPARATORS = ("-", "_", ".")
_ARCH_FILE = re.compile(r"_sm[0-9]{2,3}a?(?:[_.].*)?\.(?:cu|cuh|h|hpp|cc|cpp|py)$")
ARCH_GLOB = "*_sm[0-9]*"
"""Files that are named after an NVIDIA architecture, such as `gemm_sm90.cu`, in every folder."""


def nvidia_folder(path: str) -> str:
    """The topmost folder above a file that is named after what only NVIDIA has, such as `hopper`; empty: none."""
    parts = path.split("/")[:-1]
    words = names_of_folders()["nvidia_words"]
    for index, part in enumerate(parts):
        if not words.isdisjoint(re.split(r"[-_.]", part.lower())):
            return "/".join(parts[: index + 1])
    return ""


def nvidia_folders(paths: Iterable[str]) -> tuple[str, ...]:
    """All such folders."""
    return tuple(sorted({folder for path in paths if (folder := nvidia_folder(path))}))


def arch_globs(paths: Iterable[str], excluded: Iterable[str]) -> tuple[str, ...]:
    """`ARCH_GLOB` where a file is called after an NVIDIA architecture that no glob of `excluded` names already."""
    named = [path for path in paths if _ARCH_FILE.search(path)]
    return (ARCH_GLOB,) if len(matching(excluded, named)) < len(named) else ()


def cuda_halves(paths: Collection[str]) -> tuple[str, ...]:
    """Globs of folders and files that say CUDA, beside others of the same name that say HIP.

    `src/adam-cuda` beside `src/adam-hip` gives `src/*-cuda/**`; `kernels/cuda` beside `kernels/hip` gives
    `kernels/cuda/**`; `ops.cu` beside `ops.hip` gives `*.cu` of that folder.
    """
    folders = _folders(paths)
    found = _suffixed(folders, ("cuda",))
    for folder in folders:
        parent, _, name = folder.rpartition("/")
        if name.lower() == "cuda" and any(_join(parent, word) in folders for word in _HIP_WORDS):
            found.add(f"{folder}/**")
    files = set(paths)
    for path in paths:
        stem, dot, suffix = path.rpartition(".")
        if dot and suffix == "cu" and {f"{stem}.hip", f"{stem}.hip.cpp", f"{stem}_hip.cpp"} & files:
            found.add(_join(path.rpartition("/")[0], "*.cu"))
    return tuple(sorted(found))


def other_halves(paths: Collection[str], cuda: Iterable[str]) -> tuple[str, ...]:
    """Globs of what stands beside a HIP half without saying CUDA.

    Other programming models (`src/adam-sycl` beside `src/adam-hip`), and the plain name with CUDA sources beside one
    for AMD (`csrc/flash_attn` beside `csrc/flash_attn_ck`).

    Args:
        paths: All paths.
        cuda: The CUDA sources among them.
    """
    folders = _folders(paths)
    found = _suffixed(folders, _OTHER_WORDS)
    for folder in _folders(cuda):
        if any(f"{folder}{separator}{word}" in folders for separator in _SEPARATORS for word in _HALF_WORDS):
            found.add(f"{folder}/**")
    return tuple(sorted(found))


def matching(globs: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that one of this module's globs names."""
    patterns = [re.compile(_regex(glob)) for glob in globs]
    return tuple(path for path in paths if any(pattern.fullmatch(path) for pattern in patterns))


def _suffixed(folders: Collection[str], words: Iterable[str]) -> set[str]:
    """`parent/*-word/**` where a folder `name-word` has a `name-hip` beside it."""
    wanted = set(words)
    found = set()
    for folder in folders:
        parent, _, name = folder.rpartition("/")
        for separator in _SEPARATORS:
            stem, present, word = name.rpartition(separator)
            hip = (f"{_join(parent, stem)}{separator}{other}" for other in _HIP_WORDS)
            if present and stem and word.lower() in wanted and any(name in folders for name in hip):
                found.add(f"{_join(parent, '*')}{separator}{word}/**")
    return found


def _folders(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _regex(glob: str) -> str:
    if glob == ARCH_GLOB:
        return r"(?:.*/)?[^/]*_sm[0-9][^/]*"
    pattern = "[^/]*".join(re.escape(part) for part in glob.removesuffix("/**").split("*"))
    return pattern + ("/.*" if glob.endswith("/**") else "")


def _join(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name
