"""Which files are translation units for hipcc, and what each of them includes."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import files, mapping, ownership
from rocm_ci.hipify_check.cfamily import lexer
from rocm_ci.hipify_check.check_file import FileResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm_ci.hipify_check.cfamily.lexer import Include
    from rocm_ci.hipify_check.files import SourceFile

_GPU_SUFFIXES = (".cu", ".hip")
_HOST_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".c++")
_GPU_WORD = re.compile(
    rb"\b(?:__global__|__device__|__shared__|__launch_bounds__|hip[A-Z]\w+|cuda[A-Z]\w+|cu[A-Z][a-z]\w+)\b|<<<"
)
_GPU_HEADER = re.compile(r"(?:hip|rocprim|thrust|hipcub|rocblas|rccl|rocwmma)[/.]")


@dataclass(frozen=True, slots=True)
class Units:
    """What to compile.

    Attributes:
        compile: The units, by name.
        included: Sources that would be units, but another file includes them.
        includes: What each file of the tree includes, by name.
    """

    compile: tuple[SourceFile, ...]
    included: tuple[str, ...]
    includes: Mapping[str, tuple[Include, ...]] = field(default_factory=dict)


def find(found: Iterable[SourceFile]) -> Units:
    """Read the C-family files of a tree and choose its units."""
    sources = {file.name: file for file in found if file.kind == "c"}
    includes: dict[str, tuple[Include, ...]] = {}
    candidates: list[SourceFile] = []
    for file in sources.values():
        raw = files.read(file.location)
        if isinstance(raw, str):
            includes[file.name] = ()
            continue
        text = lexer.read(raw)
        includes[file.name] = text.includes
        if is_unit(file.name, text):
            candidates.append(file)
    tree = graph(includes)
    inner = {
        target
        for name, names in includes.items()
        for include in names
        if (target := tree.resolve(name, include.name)) and target != name
    }
    return Units(
        tuple(file for file in candidates if file.name not in inner),
        tuple(file.name for file in candidates if file.name in inner),
        includes,
    )


def graph(includes: Mapping[str, tuple[Include, ...]]) -> ownership.Tree:
    """The include graph, as the check has it."""
    return ownership.Tree(
        [FileResult(name, includes=tuple(one.name for one in many)) for name, many in includes.items()]
    )


def is_unit(name: str, text: lexer.Source) -> bool:
    """A GPU source by its name, or a C or C++ source that uses HIP or CUDA outside of comments and strings."""
    suffix = posixpath.splitext(name.lower())[1]
    if suffix in _GPU_SUFFIXES:
        return True
    if suffix not in _HOST_SUFFIXES:
        return False
    if _GPU_WORD.search(text.code):
        return True
    return any(_GPU_HEADER.match(include.name) or mapping.header(include.name) for include in text.includes)


def include_options(unit: SourceFile, units: Units, tree: ownership.Tree, locations: Mapping[str, str]) -> list[str]:
    """Options for the project's own include folders: those in which the names that the unit includes are found.

    ``-iquote`` for names in quotes; ``-idirafter`` for names in angle brackets, so that a system header of the same
    name still wins.

    Args:
        unit: The unit.
        units: The tree's.
        tree: ``graph`` of its includes.
        locations: Where each file lies, by name.
    """
    options: list[str] = []
    seen = {unit.name}
    stack = [unit.name]
    while stack:
        current = stack.pop()
        for include in units.includes.get(current, ()):
            target = tree.resolve(current, include.name)
            if target is None:
                continue
            if target not in seen:
                seen.add(target)
                stack.append(target)
            folder = _folder(locations[target], include.name)
            beside = folder is not None and folder == posixpath.dirname(locations[current])
            if folder is None or (include.quoted and beside):
                continue
            option = ("-iquote" if include.quoted else "-idirafter") + folder
            if option not in options:
                options.append(option)
    return options


def _folder(location: str, header: str) -> str | None:
    """The folder from which ``header`` leads to ``location``."""
    tail = "/" + posixpath.normpath(header)
    path = posixpath.abspath(location)
    return path[: -len(tail)] or "/" if path.endswith(tail) else None
