"""Python, by its syntax tree: imports, calls, strings. `torch.cuda` is legal on ROCm and no finding."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import packages, ptx, pychunks, pyguards, words
from rocm_ci.hipify_check.model import Hit
from rocm_ci.hipify_check.pyguards import dotted
from rocm_ci.hipify_check.requirements import requirement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocm_ci.hipify_check.model import Verdict
    from rocm_ci.hipify_check.versions import Version

_RUNNERS = re.compile(
    r"(?:subprocess\.)?(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|os\.(?:system|popen|exec\w+|spawn\w+)|"
    r"(?:shutil\.)?which|(?:asyncio\.)?create_subprocess_(?:exec|shell)|(?:shlex\.)?split|find_executable"
)
_GATES = {
    "get_device_capability": "compute capability: on ROCm it is the number of the gfx target, so 9.0 is no Hopper",
    "get_device_name": "names of AMD GPUs differ, and change with the driver",
}
_INSTALL_KEYS = frozenset(
    {"install_requires", "setup_requires", "tests_require", "extras_require", "requires", "dependencies"}
)
# What these are given is for a person to read.
_SPEAKERS = frozenset(
    "print warn warning info debug error exception critical log fatal fail skip xfail exit secho echo".split()  # noqa: SIM905
)
_LINKED = frozenset({"libraries", "extra_libraries"})
_NEWLINE = re.compile(rb"\n")
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([\w.]+)", re.MULTILINE)


def scan(raw: bytes, name: str, version: Version, *, explicit: bool = False) -> list[Hit]:
    """Find CUDA in a Python source; offsets are in bytes.

    Only the statements that can hold something are parsed. What this Python cannot parse (an older or newer syntax,
    a template) is searched for imports only.
    """
    words_at = pychunks.triggers(raw)
    if not words_at:
        return []
    reader = _Reader(raw, name, version, words_at, explicit=explicit)
    chunks = pychunks.split(raw, words_at)
    trees = _parse(raw, chunks)
    if trees is None:
        chunks = [pychunks.Chunk(0, 0, len(raw))]
        trees = _parse(raw, chunks)
    if trees is None:
        return _imports_only(raw)
    try:
        for chunk, tree in zip(chunks, trees, strict=True):
            reader.read(chunk, tree)
    except RecursionError:
        return _imports_only(raw)
    return reader.hits


def _parse(raw: bytes, chunks: Sequence[pychunks.Chunk]) -> list[ast.Module] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [ast.parse(chunk.text(raw)) for chunk in chunks]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imports_only(raw: bytes) -> list[Hit]:
    hits = []
    for match in _IMPORT.finditer(raw.decode("latin-1")):
        found = packages.module(match[1])
        if found:
            hits.append(packages.hit(found[0], found[1], match.start(1)))
    return hits


class _Reader:
    """One walk over the tree, which knows whether ROCm gets to a statement."""

    def __init__(self, raw: bytes, name: str, version: Version, words_at: Sequence[int], *, explicit: bool) -> None:
        self.hits: list[Hit] = []
        self._raw = raw
        self._version = version
        self._release = f"{version[0]}.{version[1]}" if explicit else ""
        self._is_setup = name.rpartition("/")[2].startswith("setup")
        self._lines = [0, *(match.end() for match in _NEWLINE.finditer(raw))]
        self._words_at = () if self._is_setup else words_at
        self._first = 0  # index in _lines of the first line of the chunk that is read
        self._reached = True
        self._optional = False
        self._told = False
        self._seen: set[tuple[int, str]] = set()

    # -- statements ---------------------------------------------------------------------------------------------------

    def read(self, chunk: pychunks.Chunk, tree: ast.Module) -> None:
        """Read the statements of one chunk."""
        self._first = bisect_right(self._lines, chunk.start) - 1 - chunk.wrapped
        self.block(tree.body)

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Read statements; what follows an early return for the other platform is not tracked."""
        for index, statement in enumerate(body):
            docstring = index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not docstring and self._worth(statement):
                self._statement(statement)

    def _worth(self, node: ast.stmt) -> bool:
        """Does the statement hold a word that a rule knows?"""
        if not self._words_at:
            return True
        decorators = getattr(node, "decorator_list", None)
        first = min(node.lineno, decorators[0].lineno) if decorators else node.lineno
        start = self._lines[max(0, first - 1 + self._first)]
        after = (node.end_lineno or node.lineno) + self._first
        end = self._lines[after] if after < len(self._lines) else len(self._raw)
        at = bisect_left(self._words_at, start)
        return at < len(self._words_at) and self._words_at[at] < end

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
        elif isinstance(node, ast.If):
            self._choice(node.test, node.body, node.orelse)
        elif isinstance(node, ast.Try):
            self._try(node)
        elif isinstance(node, ast.Raise):
            self._spoken(node.exc)
        elif isinstance(node, ast.Assert):
            self._expression(node.test)
            self._spoken(node.msg)
        elif isinstance(node, ast.Assign) and self._is_setup and {dotted(to) for to in node.targets} & _LINKED:
            self._libraries(node.value)
        else:
            for field, value in ast.iter_fields(node):
                if field in {"body", "orelse", "finalbody"} and isinstance(value, list):
                    self.block(value)
                else:
                    self._any(value)

    def _choice(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        known = pyguards.evaluate(test)
        if known is None or not self._names_hip(test):
            self._expression(test)
        before = self._reached
        self._reached = before and known is not False
        self.block(body)
        self._reached = before and known is not True
        self.block(orelse)
        self._reached = before

    def _names_hip(self, test: ast.expr) -> bool:
        return any(
            "hip" in dotted(node) or "rocm" in dotted(node) for node in ast.walk(test) if isinstance(node, ast.expr)
        )

    def _try(self, node: ast.Try) -> None:
        """An import whose failure is caught is optional: a note."""
        before = self._optional
        caught = {dotted(part).rpartition(".")[2] for handler in node.handlers for part in _types(handler)}
        self._optional = before or bool(
            caught & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", ""}
        )
        self.block(node.body)
        self._optional = before
        for handler in node.handlers:
            self.block(handler.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.ImportFrom):
            if node.level or not node.module:
                return
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            if "torch.utils.cpp_extension.CUDA_HOME" in names:
                self._add(node, "py-gate", "note", "CUDA_HOME", "ROCM_HOME", "it is None on ROCm")
            if node.module.startswith("triton.language.extra.cuda"):
                self._add(
                    node, "triton", "convertible", "triton.language.extra.cuda", "triton.language.extra.libdevice"
                )
                return
        else:
            names = [alias.name for alias in node.names]
        for name in names:
            found = packages.module(name)
            if found:
                hit = packages.hit(found[0], found[1], self._within(node, found[0]))
                self._keep(
                    hit._replace(verdict="note", note="optional: its absence is caught") if self._optional else hit
                )
            elif name.startswith("triton.language.extra.cuda"):
                self._add(
                    node, "triton", "convertible", "triton.language.extra.cuda", "triton.language.extra.libdevice"
                )

    # -- expressions --------------------------------------------------------------------------------------------------

    def _spoken(self, value: object) -> None:
        """What a person is told: a program or a path in it is not used."""
        before, self._told = self._told, True
        self._any(value)
        self._told = before

    def _any(self, value: object) -> None:
        if isinstance(value, ast.expr):
            self._expression(value)
        elif isinstance(value, ast.stmt):
            self._statement(value)
        elif isinstance(value, ast.AST):
            for _, inner in ast.iter_fields(value):
                self._any(inner)
        elif isinstance(value, list):
            for item in value:
                self._any(item)

    def _expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self._string(node, node.value)
            return
        if isinstance(node, ast.IfExp):
            known = pyguards.evaluate(node.test)
            before = self._reached
            self._reached = before and known is not False
            self._expression(node.body)
            self._reached = before and known is not True
            self._expression(node.orelse)
            self._reached = before
            return
        if isinstance(node, ast.Call):
            self._call(node)
            if dotted(node.func).rpartition(".")[2] in _SPEAKERS:
                self._spoken([node.args, node.keywords])
                return
        elif isinstance(node, ast.Compare) and all(isinstance(how, ast.In | ast.NotIn) for how in node.ops):
            self._spoken(node.left)
            self._any(node.comparators)
            return
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        for _, value in ast.iter_fields(node):
            self._any(value)

    def _attribute(self, node: ast.Attribute) -> None:
        if node.attr == "cuda" and dotted(node).endswith("version.cuda"):
            self._add(node, "py-gate", "note", "torch.version.cuda", "torch.version.hip", "it is None on ROCm")
        elif node.attr == "CUDA_HOME" and dotted(node).endswith("cpp_extension.CUDA_HOME"):
            self._add(node, "py-gate", "note", "CUDA_HOME", "ROCM_HOME", "it is None on ROCm")
        elif node.attr in _GATES:
            self._add(node, "py-gate", "note", node.attr, "", _GATES[node.attr])
        elif node.attr == "cuda" and dotted(node).endswith(("language.extra.cuda", "tl.extra.cuda")):
            self._add(node, "triton", "convertible", "triton.language.extra.cuda", "triton.language.extra.libdevice")

    def _call(self, node: ast.Call) -> None:
        function = dotted(node.func)
        if function.rpartition(".")[2] == "inline_asm_elementwise":
            self._assembly(node)
        elif _RUNNERS.fullmatch(function):
            for argument in node.args[:1]:
                self._command(argument)
        elif function.endswith("path.join") and len(node.args) > 1:
            self._command(node.args[-1])
        elif function.endswith("find_library") and node.args:
            text = node.args[0]
            row = words.library(text.value) if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
            if row and isinstance(text, ast.Constant):
                self._keep(
                    Hit(
                        self._offset(text), "library-file", row.verdict, str(text.value), row.hip, row.note, "libraries"
                    )
                )
        for keyword in node.keywords:
            if self._is_setup and keyword.arg in _INSTALL_KEYS:
                self._dependencies(keyword.value)
            elif keyword.arg in _LINKED and function.endswith("Extension"):
                self._libraries(keyword.value)

    def _assembly(self, node: ast.Call) -> None:
        given = [keyword.value for keyword in node.keywords if keyword.arg == "asm"] or node.args[:1]
        for part in given:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found = ptx.instruction(part.value)
                if found:
                    self._keep(Hit(self._within(part, found[0]), "ptx", "manual", found[0], "", "", "ptx"))

    def _command(self, argument: ast.expr) -> None:
        """The first word of a command line, or the first element of an argument list, is the program."""
        first = argument.elts[0] if isinstance(argument, ast.List | ast.Tuple) and argument.elts else argument
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            whole = first.value if first is argument else first.value.split("/")[-1]
            for hit in words.tools(whole):
                self._keep(hit._replace(offset=self._within(first, hit.name)))

    def _libraries(self, value: ast.expr) -> None:
        """Names of libraries to link, without ``lib`` and suffix."""
        for node in ast.walk(value):
            row = words.library(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
            if row and isinstance(node, ast.Constant):
                at = self._within(node, str(node.value))
                self._keep(Hit(at, "library-file", row.verdict, str(node.value), row.hip, row.note, "libraries"))

    def _dependencies(self, value: ast.expr) -> None:
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for hit in requirement(node.value, self._version):
                    self._keep(hit._replace(offset=self._within(node, hit.name)))

    def _string(self, node: ast.Constant, text: str) -> None:
        if self._told:
            return
        if text == "nvidia-smi" or text.endswith(("bin/nvcc", "bin/nvidia-smi")):
            text = text.rpartition("/")[2]
            self._keep(next(iter(words.tools(text)))._replace(offset=self._within(node, text)))
            return
        if words.is_variable(text):
            self._keep(words.variable(text, self._within(node, text)))
            return
        if len(text) > 20_000:
            return
        for hit in self._in_string(text):
            self._keep(hit._replace(offset=self._within(node, hit.name)))

    def _in_string(self, text: str) -> Iterator[Hit]:
        yield from words.indexes(text, self._release)
        yield from words.roots(text)
        yield from words.library_files(text)
        if text.lstrip().startswith("-"):
            options = list(words.flags(text))
            yield from options
            if not options:
                yield from words.architectures(text)
        elif text.startswith("nvidia-smi "):
            yield from words.tools(text)

    # -- places -------------------------------------------------------------------------------------------------------

    def _add(self, node: ast.stmt | ast.expr, slug: str, verdict: Verdict, name: str, hip: str, note: str = "") -> None:
        at = self._within(node, name)
        self._keep(Hit(at, slug, verdict, name, hip, note, "python"))

    def _keep(self, hit: Hit) -> None:
        if (hit.offset, hit.name) in self._seen:
            return
        self._seen.add((hit.offset, hit.name))
        if not self._reached:
            hit = hit._replace(slug="guarded", verdict="note", note="")
        self.hits.append(hit)

    def _offset(self, node: ast.stmt | ast.expr) -> int:
        return self._lines[node.lineno - 1 + self._first] + node.col_offset

    def _within(self, node: ast.stmt | ast.expr, needle: str) -> int:
        """Where the text stands within the node's source; the node's start where it is written with escapes."""
        start = self._offset(node)
        if node.end_lineno is None or node.end_col_offset is None:
            return start
        end = self._lines[node.end_lineno - 1 + self._first] + node.end_col_offset
        at = self._raw.find(needle.encode(), start, end)
        return at if at >= 0 else start


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    if handler.type is None:
        return [ast.Name("Exception")]
    return handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
