"""CMake: packages, languages, targets, variables and commands of CUDA; branches by three-valued logic."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

from rocm_ci.hipify_check import words
from rocm_ci.hipify_check.cfamily import macros
from rocm_ci.hipify_check.cfamily.condition import truth
from rocm_ci.hipify_check.cfamily.macros import UNKNOWN
from rocm_ci.hipify_check.mapping import rows
from rocm_ci.hipify_check.model import Hit
from rocm_ci.hipify_check.requirements import moved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_ci.hipify_check.model import Verdict


class Row(NamedTuple):
    """One row of ``data/cmake.tsv``."""

    verdict: Verdict
    hip: str
    note: str


_TOKENS = re.compile(
    r"(?P<comment>#\[(?P<level>=*)\[.*?\](?P=level)\]|#[^\n]*)|(?P<bracket>\[(?P<depth>=*)\[.*?\](?P=depth)\])"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<open>\()|(?P<close>\))|(?P<word>(?:[^\s()\"#\\]|\\.)+)",
    re.DOTALL,
)
_LANGUAGE = re.compile(r"\$<(?:COMPILE_LANGUAGE|LINK_LANGUAGE|COMPILE_LANG_AND_ID):(?:[\w,]*,)?CUDA\b")
_TARGET = re.compile(r"(?<![\w:])CUDA::(\w+)")
_VARIABLE = re.compile(r"(?<![\w-])(?:CMAKE_CUDA_\w+|CUDAToolkit_\w+|(?:CUDA|TORCH_CUDA)_\w+)")
_WORTH = re.compile(
    r"(?i)cuda|nv(?:cc|idia|prof|disasm|tx|shmem|-nsight|comp|infer|jpeg|jit|ptx|toolsext|rtc)|cudnn|nccl|\bcub\b|thrust|cutlass"
    r"|tensorrt|optix|\brmm\b|cutensor|cccl|libcu|libnpp|cublas|cufft|curand|cusparse|cusolver|cufile|nppc|cupti|cuobj|\bncu\b|nsys|ptxas|fatbinary|compute[-_][s\d]|\bsm_\d"
    r"|gen(?:code|erate-)|gpu-arch|arch=(?:sm|compute)|code=sm|fast_math|expt-|extended-lambda|-rdc=|relocatable-d|lineinfo|default-stream"
    r"|-Xcompiler|compiler-opt|-Xfatbin|compress-all|maxrreg|-ccbin|-ftz=|-fmad=|prec-(?:div|sqrt)|source-in-ptx|diag-supp"
)

# Commands whose arguments are texts, folders or names, but never something to link.
_NO_LIBRARIES = frozenset(
    [
        "add_custom_command",
        "add_custom_target",
        "add_dependencies",
        "add_subdirectory",
        "add_test",
        "cmake_parse_arguments",
        "enable_language",
        "execute_process",
        "fetchcontent_declare",
        "fetchcontent_makeavailable",
        "file",
        "find_dependency",
        "find_file",
        "find_package",
        "find_path",
        "find_program",
        "foreach",
        "function",
        "get_filename_component",
        "get_property",
        "get_target_property",
        "include",
        "include_directories",
        "install",
        "macro",
        "mark_as_advanced",
        "message",
        "option",
        "project",
        "return",
        "set_property",
        "set_source_files_properties",
        "set_tests_properties",
        "source_group",
        "string",
        "target_compile_definitions",
        "target_compile_options",
        "target_include_directories",
        "target_sources",
        "unset",
    ]
)
_DEFINES = frozenset({"add_library", "add_executable", "add_custom_target", "project", "function", "macro"})
_NAMED_FIRST = frozenset(
    {"set", "add_library", "add_executable", "target_link_libraries", "set_target_properties", "find_library"}
)
# Also the names of folders, variables and switches: a library only where something is linked or looked for.
_ONLY_LINKED = frozenset({"cuda", "nccl", "cudnn", "cutensor", "nvinfer"})
_LINK_KEYS = frozenset({"LINK_LIBRARIES", "INTERFACE_LINK_LIBRARIES", "LIBRARIES", "LIBS", "LINK_LIBS"})


class Command(NamedTuple):
    """One command: its name, the offset of the name, its arguments as (offset, text); quotes are taken off."""

    name: str
    offset: int
    arguments: list[tuple[int, str]]


class _Branch(NamedTuple):
    state: bool | None  # is this branch compiled: yes, no, not known
    taken: bool  # an earlier branch, or this one, certainly is
    unknown: bool
    guarded: bool  # whether it is dead because of AMD


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, Row]]:
    table: dict[str, dict[str, Row]] = {"package": {}, "target": {}, "variable": {}, "command": {}}
    for kind, name, verdict, hip, note, _source in rows("cmake.tsv"):
        table[kind][name] = Row(cast("Verdict", verdict), hip, note)
    return table


def scan(text: str) -> list[Hit]:
    """Find CUDA in a CMake file."""
    if _WORTH.search(text) is None:
        return []
    parsed = list(commands(text))
    amd_half = any(
        macros.is_amd(word.strip("${}")) or word.strip("\"'").upper() in {"HIP", "ROCM"}
        for command in parsed
        if command.name in {"if", "elseif"}
        for _, word in command.arguments
    )
    own = {command.arguments[0][1] for command in parsed if command.name in _DEFINES and command.arguments}
    hits: list[Hit] = []
    stack: list[_Branch] = []
    for command in parsed:
        if command.name in {"if", "elseif", "else", "endif"}:
            _conditional(stack, command, amd_half=amd_half)
            continue
        dead = next((branch for branch in stack if branch.state is False), None)
        found = [*_command(command), *_libraries(command, text, own)]
        hits += found if dead is None else (_quiet(hit, "guarded" if dead.guarded else "dead-code") for hit in found)
    return hits


def _quiet(hit: Hit, slug: str) -> Hit:
    return Hit(hit.offset, slug, "note", hit.name, hit.hip, "", hit.library)


def commands(text: str) -> Iterator[Command]:
    """Read a CMake file; what stands outside of commands is ignored."""
    name, start, depth = "", 0, 0
    arguments: list[tuple[int, str]] = []
    for match in _TOKENS.finditer(text):
        if match["comment"] is not None:
            continue
        if match["open"] is not None:
            depth += 1
            if depth > 1:
                arguments.append((match.start(), "("))
        elif match["close"] is not None:
            depth = max(0, depth - 1)
            if depth:
                arguments.append((match.start(), ")"))
            elif name:
                yield Command(name.lower(), start, arguments)
                name, arguments = "", []
        elif depth == 0:
            if match["word"] is not None:
                name, start, arguments = match["word"], match.start(), []
        elif match["string"] is not None:
            arguments.append((match.start() + 1, match["string"][1:-1]))
        elif match["word"] is not None:
            arguments.append((match.start(), match["word"]))


def _conditional(stack: list[_Branch], command: Command, *, amd_half: bool) -> None:
    if command.name == "if":
        known, guarded = _evaluate(command, amd_half=amd_half)
        stack.append(_Branch(known, known is True, known is None, guarded))
    elif not stack:
        return
    elif command.name == "endif":
        stack.pop()
    else:
        before = stack.pop()
        if command.name == "else":
            known, guarded = (None if before.unknown else True), before.guarded
        else:
            known, guarded = _evaluate(command, amd_half=amd_half)
        guarded = guarded or before.guarded
        state = False if before.taken else known
        stack.append(_Branch(state, before.taken or known is True, before.unknown or known is None, guarded))


def _evaluate(command: Command, *, amd_half: bool) -> tuple[bool | None, bool]:
    """Is the condition true in an AMD build, and does it ask for AMD or CUDA at all?"""
    tokens = [word for _, word in command.arguments]
    reader = _Condition(tokens, amd_half=amd_half)
    return reader.alternatives(), reader.platform


_HIP_NAMES = frozenset({"HIP_FOUND", "HIP", "ROCM_FOUND", "HIP_PLATFORM_AMD", "CMAKE_HIP_COMPILER"})
_CUDA_NAMES = frozenset({"CUDA_FOUND", "CUDATOOLKIT_FOUND", "CUDA", "CMAKE_CUDA_COMPILER"})


class _Condition:
    """``if()`` arguments, read by CMake's precedence: parentheses, tests, NOT, AND, OR."""

    def __init__(self, tokens: list[str], *, amd_half: bool) -> None:
        self._tokens = tokens
        self._at = 0
        self._amd_half = amd_half
        self.platform = False

    def alternatives(self) -> bool | None:
        left = self._all()
        while self._take("OR"):
            right = self._all()
            left = True if left or right else (None if left is None or right is None else False)
        return left

    def _all(self) -> bool | None:
        left = self._not()
        while self._take("AND"):
            right = self._not()
            left = False if left is False or right is False else (None if left is None or right is None else True)
        return left

    def _not(self) -> bool | None:
        negated = False
        while self._take("NOT"):
            negated = not negated
        value = self._primary()
        return value if value is None else value is not negated

    def _take(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == word:
            self._at += 1
            return True
        return False

    def _primary(self) -> bool | None:
        if self._take("("):
            inner = self.alternatives()
            self._take(")")
            return inner
        words_: list[str] = []
        while self._at < len(self._tokens) and self._tokens[self._at] not in {"AND", "OR", ")", "("}:
            words_.append(self._tokens[self._at])
            self._at += 1
        return self._test(words_)

    def _test(self, test: list[str]) -> bool | None:
        if len(test) == 2 and test[0] in {"DEFINED", "TARGET"}:
            test = test[1:]
        if len(test) == 3 and test[1] in {"STREQUAL", "MATCHES", "EQUAL"}:
            side = test[2].strip('"').upper()
            if side in {"HIP", "ROCM", "AMD", "CUDA", "NVIDIA"} and not test[0].startswith("CMAKE_SYSTEM"):
                self.platform = True
                return (
                    side in {"HIP", "ROCM", "AMD"} if self._amd_half else (None if side in {"CUDA", "NVIDIA"} else True)
                )
            return None
        if len(test) != 1:
            return None
        name = test[0].strip("${}")
        upper = name.upper()
        if upper in {"TRUE", "ON", "1", "YES", "Y"}:
            return True
        if upper in {"FALSE", "OFF", "0", "NO", "N", "IGNORE"}:
            return False
        if upper in _HIP_NAMES or macros.is_amd(upper):
            self.platform = True
            return True
        if macros.is_cuda_switch(upper) or upper in _CUDA_NAMES:
            self.platform = True
            return False if self._amd_half else None
        value = macros.value(name, has_amd_half=self._amd_half)
        return None if value is UNKNOWN or value is None else truth(value)


def _command(command: Command) -> Iterator[Hit]:
    row = _table()["command"].get(command.name)
    if row:
        yield _hit(command.offset, row, command.name)
    arguments = command.arguments
    first = arguments[0][1] if arguments else ""
    if command.name in {"find_package", "find_dependency", "include"}:
        yield from _package(command, first)
    elif command.name in {"enable_language", "check_language"} and any(word == "CUDA" for _, word in arguments):
        yield Hit(command.offset, "cmake", "convertible", f"{command.name}(CUDA)", f"{command.name}(HIP)", "", "cmake")
    elif command.name == "project":
        yield from (
            Hit(offset, "cmake", "convertible", "LANGUAGES CUDA", "LANGUAGES HIP", "", "cmake")
            for offset, word in arguments[1:]
            if word == "CUDA"
        )
    elif command.name in {"set_source_files_properties", "set_property"}:
        for (_, word), (offset, after) in pairwise(arguments):
            if word == "LANGUAGE" and after == "CUDA":
                yield Hit(offset, "cmake", "convertible", "LANGUAGE CUDA", "LANGUAGE HIP", "", "cmake")
    if command.name in {"message", "option"}:
        return
    runs = command.name in {"find_program", "execute_process", "add_custom_command", "add_custom_target"}
    for offset, word in arguments:
        if runs:
            yield from (moved(hit, offset) for hit in words.tools(word))
        yield from (moved(hit, offset) for hit in _argument(word))


def _package(command: Command, first: str) -> Iterator[Hit]:
    """``find_package(CUDA)``, and the module behind it: ``include(FindCUDA)``."""
    module = command.name == "include"
    row = _table()["package"].get(first.removeprefix("Find") if module else first)
    if row is None or (module and not first.startswith("FindCUDA")):
        return
    if first == "CUDA":  # one package and one call; the others are told by their own name
        yield _hit(command.offset, row, "find_package(CUDA)")
    else:
        yield _hit(command.arguments[0][0], row, first)


def _libraries(command: Command, text: str, own: set[str]) -> Iterator[Hit]:
    """Libraries by their bare name, as an argument of whatever command links them; ``own`` are the file's targets."""
    if command.name in _NO_LIBRARIES:
        return
    linking = command.name in {"target_link_libraries", "link_libraries", "find_library"}
    skipped = 1 if command.name in _NAMED_FIRST else 2 if command.name == "list" else 0
    after_key = False
    for offset, word in command.arguments[skipped:]:
        if word.isupper():
            after_key = word in _LINK_KEYS
            continue
        quoted = text[offset - 1 : offset] == '"'
        start = offset
        for name in word.split(";"):
            row = words.library(name.removesuffix("_static"))
            linked = linking or after_key
            if row and name not in own and (linked or not (quoted or name in _ONLY_LINKED)):
                yield Hit(start, "library-file", row.verdict, name, row.hip, row.note, "libraries")
            start += len(name) + 1


def _argument(word: str) -> Iterator[Hit]:
    for match in _TARGET.finditer(word):
        row = _table()["target"].get(match[1], Row("unsupported", "", ""))
        yield _hit(match.start(), row, match[0])
    for match in _LANGUAGE.finditer(word):
        hip = match[0].replace("CUDA", "HIP")
        yield Hit(match.start(), "cmake", "convertible", match[0] + ">", hip + ">", "", "cmake")
    for match in _VARIABLE.finditer(word):
        found = _variable(match[0])
        if found:
            yield _hit(match.start(), found, match[0])
    yield from words.roots(word)
    options = list(words.flags(word))
    yield from options
    if not options:
        yield from words.architectures(word)
    yield from words.library_files(word)
    yield from words.linked(word)


def _variable(name: str) -> Row | None:
    table = _table()["variable"]
    row = table.get(name)
    if row:
        return row
    for pattern, candidate in table.items():
        if pattern.endswith("*") and name.startswith(pattern[:-1]):
            return candidate._replace(hip=candidate.hip.replace("*", name[len(pattern) - 1 :]))
    return None


def _hit(offset: int, row: Row, name: str) -> Hit:
    return Hit(offset, "cmake", row.verdict, name, row.hip, row.note, "cmake")
