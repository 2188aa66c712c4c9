"""Code that an AMD build may not compile, told by its name alone: folders and files that are named after NVIDIA's.

A name proves nothing, so nothing is left out for it; `init` writes it as a comment for somebody who knows.

In: all paths of a repository. Out: globs for `exclude`, in the syntax of .gitignore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocm_ci_gen.scaffold.folders import names_of_folders

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


def matching(globs: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that one of this module's globs names."""
    patterns = [re.compile(_regex(glob)) for glob in globs]
    return tuple(path for path in paths if any(pattern.fullmatch(path) for pattern in patterns))


def _regex(glob: str) -> str:
    if glob == ARCH_GLOB:
        return r"(?:.*/)?[^/]*_sm[0-9][^/]*"
    pattern = "[^/]*".join(re.escape(part) for part in glob.removesuffix("/**").split("*"))
    return pattern + ("/.*" if glob.endswith("/**") else "")
