"""What kind of file a path is, by its name alone."""

from __future__ import annotations

from typing import Literal

Kind = Literal["c", "python", "cmake", "docker", "shell", "yaml", "requirements", "toml"]

_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys(["cu", "cuh", "cui", "hip"], "c"),
    **dict.fromkeys(["c", "cc", "cpp", "cxx", "c++", "ixx", "cppm"], "c"),
    **dict.fromkeys(["h", "hh", "hpp", "hxx", "h++", "inl", "inc", "ipp", "tpp", "tcc", "impl"], "c"),
}


def kind_of(path: str) -> Kind | None:
    """The kind of a file, or ``None`` where no rule can read it."""
    name = path.rsplit("/", 1)[-1]
    lower = name.lower()
    stem, dot, suffix = lower.rpartition(".")
    if dot and stem and suffix == "in":
        # config.h.in is a header once it is configured.
        suffix = stem.rpartition(".")[2]
    return _SUFFIXES.get(suffix) if dot else None
