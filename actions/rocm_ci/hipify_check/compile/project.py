"""How the project compiles its files: ``compile_commands.json``, else the nearest build file."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FILE = "compile_commands.json"
_FOLDERS = ("", "build", "out", "build/release", "build/Release", "cmake-build-release")
_BUILD_FILES = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "setup.py")
_STD = re.compile(r"-{1,2}std[= ]?((?:c|gnu)\+\+[0-9a-z]{2})\b")
_CMAKE_STD = re.compile(r"\b(?:CMAKE_)?(HIP|CUDA|CXX)_STANDARD\s+(\d\d)\b")
_DEFINE = re.compile(r"(?<!\S)-D\s*([A-Za-z_]\w*(?:=[\w.+\-]*)?)(?!\S)")
_PAIRED = {
    "-I": "-I",
    "-D": "-D",
    "-U": "-U",
    "-isystem": "-isystem",
    "-iquote": "-iquote",
    "-idirafter": "-idirafter",
    "-include": "-include",
}
_FOLDER_OPTIONS = ("-I", "-isystem", "-iquote", "-idirafter")
DEFAULT_STANDARD = "gnu++17"
"""What nvcc of CUDA 12 and ROCm's clang from 6.0 on take by themselves; Debian's hipcc 5.2 would take C++11."""
_SIZE_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the files to compile lie now, against where their sources are; both absolute."""

    pairs: tuple[tuple[Path, Path], ...]

    @classmethod
    def of(cls, roots: Sequence[tuple[Path, Path]]) -> Roots:
        """From the pairs as the user gave them."""
        return cls(tuple((source.resolve(), now.resolve()) for source, now in roots))

    def now(self, path: Path) -> Path:
        """Where a file or folder of the sources lies now; the path itself outside of them."""
        for source, now in self.pairs:
            if path == source or source in path.parents:
                return now / path.relative_to(source)
        return path

    def top(self, path: Path) -> Path:
        """The root that holds ``path``, a file that is compiled; its own folder if none does."""
        return next((now for _, now in self.pairs if now == path or now in path.parents), path.parent)


def find_commands(given: Path | None, roots: Roots) -> Path | None:
    """The ``compile_commands.json`` to use.

    Raises:
        UsageError: The one that was given does not exist.
    """
    if given is not None:
        if not given.is_file():
            raise UsageError(f"{given} does not exist", help="configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        return given
    for source, now in roots.pairs:
        for root in dict.fromkeys((now, source)):
            for folder in _FOLDERS:
                path = root / folder / _FILE
                if path.is_file():
                    return path
    return None


def read_commands(path: Path, roots: Roots) -> dict[str, list[str]]:
    """The options that matter to hipcc, by the absolute path of the file that is compiled.

    Raises:
        UsageError: It is no such file.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        found: dict[str, list[str]] = {}
        for row in rows:
            words = row.get("arguments") or shlex.split(row["command"])
            directory = Path(path.parent, row["directory"])
            file = Path(os.path.normpath(directory / row["file"]))
            found[str(roots.now(file.resolve()))] = _options(words, directory, roots)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} cannot be used: {error}", help="let CMake write it again, or remove it") from error
    return found


def _options(words: Sequence[str], directory: Path, roots: Roots) -> list[str]:
    kept: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        option = next((one for one in sorted(_PAIRED, key=len, reverse=True) if word.startswith(one)), None)
        if option is not None:
            value = word[len(option) :].removeprefix("=" if option == "-isystem" else "") or next(rest, "")
            kept += _with_value(option, value, directory, roots)
        elif match := _STD.fullmatch(word):
            kept.append(f"-std={match[1]}")
        elif word in {"-std", "--std"}:
            kept.append(f"-std={next(rest, '')}")
    return kept


def _with_value(option: str, value: str, directory: Path, roots: Roots) -> list[str]:
    if option not in _FOLDER_OPTIONS:
        return [option, value]
    folder = Path(os.path.normpath(directory / value))
    # The converted copy first; what the build made (generated headers) exists only beside the sources.
    return [part for place in dict.fromkeys((roots.now(folder), folder)) for part in (option, str(place))]


def nearest(location: Path, top: Path, cache: dict[Path, tuple[str, tuple[str, ...]]]) -> list[str]:
    """``-std`` and ``-D`` options of the nearest build file, from the unit's folder up to ``top``.

    The standard is looked for upwards until a file names one; definitions only in the nearest Makefile, and there
    only where no ``ifeq`` decides. Without any it is ``DEFAULT_STANDARD``.
    """
    standard = ""
    defines: tuple[str, ...] = ()
    folder = location.parent
    while True:
        if folder not in cache:
            cache[folder] = _read_folder(folder)
        found, here = cache[folder]
        standard = standard or found
        defines = defines or here
        if standard or folder == top or folder == folder.parent or top not in folder.parents:
            break
        folder = folder.parent
    language = [] if location.suffix.lower() == ".c" else [f"-std={standard or DEFAULT_STANDARD}"]
    return language + [f"-D{define}" for define in defines]


def _read_folder(folder: Path) -> tuple[str, tuple[str, ...]]:
    standard = ""
    defines: tuple[str, ...] = ()
    for name in _BUILD_FILES:
        path = folder / name
        try:
            if not path.is_file() or path.stat().st_size > _SIZE_LIMIT:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        standard = standard or _standard(text)
        if not defines and "akefile" in name:
            defines = tuple(dict.fromkeys(_DEFINE.findall(unconditional(text))))
    return standard, defines


def _standard(text: str) -> str:
    match = _STD.search(text)
    if match:
        return match[1]
    # HIP's own standard says more than CUDA's, and that more than the host's.
    found: Mapping[str, str] = {match[1]: match[2] for match in reversed(list(_CMAKE_STD.finditer(text)))}
    return next((f"c++{found[language]}" for language in ("HIP", "CUDA", "CXX") if language in found), "")


def unconditional(makefile: str) -> str:
    """The lines of a Makefile that hold whatever its variables are: no comments, nothing inside ``ifeq``."""
    kept: list[str] = []
    depth = 0
    for line in makefile.replace("\\\n", " ").splitlines():
        word = line.split("#")[0].split()[:1]
        if word and word[0] in {"ifeq", "ifneq", "ifdef", "ifndef"}:
            depth += 1
        elif word == ["endif"]:
            depth -= 1
        elif not depth:
            kept.append(line.split("#")[0])
    return "\n".join(kept)
