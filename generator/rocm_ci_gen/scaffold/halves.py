"""CUDA code beside a HIP half of itself, told by names alone.

A folder `cuda` beside a folder `hip` proves nothing: the two may have no file in common, and a CUDA folder that is
left out wrongly is never looked at again. So a half counts as one only where (nearly) each of its files has a
counterpart, a file of the same name in the HIP half.

In: all paths of a repository. Out: globs for `exclude`, each with whether the names prove it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

_HIP_WORDS = ("hip", "rocm", "amd")
_HALF_WORDS = (*_HIP_WORDS, "ck")
_OTHER_WORDS = ("sycl", "omp", "openmp", "opencl", "oneapi", "dpct")
_SEPARATORS = ("-", "_", ".")
_CODE = re.compile(r"\.(?:cu|cuh|c|cc|cpp|cxx|h|hh|hpp|hxx|inl|inc|ipp|hip|hiph|py)$", re.IGNORECASE)
_NO_KERNELS = frozenset({"setup.py", "__init__.py", "conftest.py"})
_WORDS = re.compile(r"(?<![a-z])(?:cuda|hip|rocm|amd|cu)(?![a-z])")
_TOLERATED = 10
"""One file in so many may be without a counterpart."""


@dataclass(frozen=True)
class Guess:
    """A glob that may be left out.

    Attributes:
        glob: In the syntax of `exclude`.
        sure: Counterparts were found; otherwise somebody who knows has to say it.
        why: What speaks for it, and where it is not sure, against it.
    """

    glob: str
    sure: bool
    why: str


def cuda_halves(paths: Collection[str]) -> tuple[Guess, ...]:
    """Folders and files that say CUDA, beside others that say HIP.

    `src/adam-cuda` beside `src/adam-hip` gives `src/*-cuda/**`, where (nearly) all such folders have a HIP half and
    else the folder alone; `kernels/cuda` beside `kernels/hip` gives `kernels/cuda/**`; `ops.cu` beside `ops.hip`
    gives `*.cu` of that folder, or the file alone.
    """
    folders = _Folders(paths)
    found: dict[str, Guess] = {}
    for folder in sorted(folders.names):
        parent, _, name = folder.rpartition("/")
        if name.lower() == "cuda":
            halves = [half for word in _HIP_WORDS if (half := _join(parent, word)) in folders.names]
            if halves:
                found[f"{folder}/**"] = folders.judged(f"{folder}/**", [(folder, halves)])
    for guess in (*_suffixed_cuda(folders), *_twin_files(paths)):
        found[guess.glob] = guess
    return tuple(found[glob] for glob in sorted(found))


def other_halves(paths: Collection[str], cuda: Iterable[str]) -> tuple[Guess, ...]:
    """What stands beside a HIP half without saying CUDA.

    Other programming models (`src/adam-sycl` beside `src/adam-hip`), sure where no CUDA source is among them; and the
    plain name with CUDA sources beside one for AMD (`csrc/flash_attn` beside `csrc/flash_attn_ck`).

    Args:
        paths: All paths.
        cuda: The CUDA sources among them.
    """
    folders, sources = _Folders(paths), tuple(cuda)
    found = []
    for parent, ending in sorted(_suffixed(folders.names, _OTHER_WORDS)):
        inside = _below([folder for folder in folders.names if _named(folder, parent, ending)], sources)
        why = f"{ending[1:]} beside a HIP half" + (f", but there is CUDA in it ({inside[0]})" if inside else "")
        found.append(Guess(f"{_join(parent, '*')}{ending}/**", not inside, why))
    for folder in sorted(_folders(sources)):
        names = (f"{folder}{separator}{word}" for separator in _SEPARATORS for word in _HALF_WORDS)
        halves = [name for name in names if name in folders.names]
        if halves:
            found.append(folders.judged(f"{folder}/**", [(folder, halves)]))
    return tuple(found)


class _Folders:
    """The folders of a repository, and the names of the code files below each."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.names = _folders(paths)
        self._code = sorted(path for path in paths if _CODE.search(path) and path.rpartition("/")[2] not in _NO_KERNELS)
        self._known: dict[str, frozenset[str]] = {}

    def judged(self, glob: str, pairs: Sequence[tuple[str, Sequence[str]]]) -> Guess:
        """The guess about a glob that names the first folder of each pair; the second ones are the HIP halves."""
        total, alone = 0, []
        for folder, halves in pairs:
            have = frozenset().union(*map(self._stems, halves))
            wanted = self._stems(folder)
            total += len(wanted)
            alone += [f"{folder}/{stem}" for stem in sorted(wanted - have)]
        sure = total > 0 and len(alone) * _TOLERATED <= total
        halves = [half for _, halves in pairs for half in halves]
        why = f"the CUDA half beside the HIP half ({halves[0] if halves else pairs[0][0]})"
        if not sure:
            beside = halves[0] if halves else "a HIP half"
            why = f"{beside} is beside it, but without a counterpart there: {len(alone)} of {_files(total)}"
        return Guess(glob, sure, why)

    def _stems(self, folder: str) -> frozenset[str]:
        """Paths of the code files below a folder, without suffixes and without the words that differ by design."""
        if folder not in self._known:
            below = _below([folder], self._code)
            self._known[folder] = frozenset(_stem(path[len(folder) + 1 :]) for path in below)
        return self._known[folder]


def _suffixed_cuda(folders: _Folders) -> Iterable[Guess]:
    for (parent, ending), paired in _suffixed(folders.names, ("cuda",)).items():
        all_of_them = {folder: paired.get(folder, ()) for folder in folders.names if _named(folder, parent, ending)}
        together = folders.judged(f"{_join(parent, '*')}{ending}/**", list(all_of_them.items()))
        if together.sure:
            yield together
        else:
            for folder, halves in sorted(paired.items()):
                yield folders.judged(f"{folder}/**", [(folder, halves)])


def _twin_files(paths: Collection[str]) -> Iterable[Guess]:
    """`.cu` files with a HIP file of the same name in the same folder."""
    files = set(paths)
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith(".cu"):
            by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    for folder, sources in by_folder.items():
        stems = {path: path.removesuffix(".cu") for path in sources}
        twins = [path for path, stem in stems.items() if {f"{stem}.hip", f"{stem}.hip.cpp", f"{stem}_hip.cpp"} & files]
        why = "the CUDA half beside HIP files of the same names"
        if twins and len(twins) == len(sources):
            yield Guess(_join(folder, "*.cu"), True, why)
        else:
            yield from (Guess(path, True, why) for path in twins)


def _suffixed(folders: Collection[str], words: Iterable[str]) -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    """(parent, `-word`) -> folders `name-word` that have a `name-hip` beside them -> those HIP folders."""
    wanted = set(words)
    found: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for folder in folders:
        parent, _, name = folder.rpartition("/")
        for separator in _SEPARATORS:
            stem, present, word = name.rpartition(separator)
            if not (present and stem and word.lower() in wanted):
                continue
            hip = (f"{_join(parent, stem)}{separator}{other}" for other in _HIP_WORDS)
            halves = tuple(half for half in hip if half in folders)
            if halves:
                found.setdefault((parent, separator + word), {})[folder] = halves
    return found


def _named(folder: str, parent: str, ending: str) -> bool:
    """Whether the glob `parent/*ending/**` names the folder."""
    return folder.rpartition("/")[0] == parent and folder.endswith(ending)


def _stem(path: str) -> str:
    """`ops/gemm` of `ops/cuda_gemm.cu` and of `ops/gemm_hip.hip.cpp`."""
    folder, _, name = path.rpartition("/")
    name = _WORDS.sub("", name.split(".", 1)[0].lower())
    return _join(folder, name.strip("-_"))


def _below(folders: Iterable[str], paths: Iterable[str]) -> list[str]:
    prefixes = tuple(f"{folder}/" for folder in folders)
    return [path for path in paths if path.startswith(prefixes)]


def _folders(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _join(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name
