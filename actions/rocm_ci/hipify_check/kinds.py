"""What kind of file a path is, by its name alone."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["c", "python", "cmake", "docker", "shell", "yaml", "requirements", "toml"]

_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys(["cu", "cuh", "cui", "hip"], "c"),
    **dict.fromkeys(["c", "cc", "cpp", "cxx", "c++", "ixx", "cppm"], "c"),
    **dict.fromkeys(["h", "hh", "hpp", "hxx", "h++", "inl", "inc", "ipp", "tpp", "tcc", "impl"], "c"),
    **dict.fromkeys(["py", "pyi", "pyx", "pxd"], "python"),
    "cmake": "cmake",
    **dict.fromkeys(["sh", "bash", "zsh", "ksh", "mk", "slurm", "sbatch"], "shell"),
    **dict.fromkeys(["yml", "yaml"], "yaml"),
    **dict.fromkeys(["dockerfile", "containerfile"], "docker"),
}
_NAMES: dict[str, Kind] = {
    "cmakelists.txt": "cmake",
    **dict.fromkeys(["dockerfile", "containerfile"], "docker"),
    **dict.fromkeys(["makefile", "gnumakefile", "makefile.am", "makefile.in"], "shell"),
    **dict.fromkeys(["pyproject.toml", "pixi.toml", "pipfile"], "toml"),
    **dict.fromkeys(["pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock"], "toml"),
}
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?|reqs?)(?:[-_.].*)?\.(?:txt|in)")


def kind_of(path: str) -> Kind | None:
    """The kind of a file, or ``None`` where no rule can read it."""
    folder, _, name = path.lower().rpartition("/")
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith(("dockerfile.", "containerfile.")):
        return "docker"
    if _REQUIREMENTS.fullmatch(name) or (folder.endswith("requirements") and name.endswith((".txt", ".in"))):
        return "requirements"
    stem, dot, suffix = name.rpartition(".")
    if suffix == "in" and stem:
        # config.h.in is a header once it is configured.
        stem, dot, suffix = stem.rpartition(".")
    return _SUFFIXES.get(suffix) if dot and stem else None
