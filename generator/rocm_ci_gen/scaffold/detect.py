"""Look at a repository: a `Tree` in, `Facts` out. Pure but for the tree's `read`."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from rocm_ci_gen.scaffold import sources, workflows
from rocm_ci_gen.scaffold.facts import Facts, Found
from rocm_ci_gen.scaffold.folders import Role, role
from rocm_ci_gen.scaffold.sources import Mark
from rocm_ci_gen.scaffold.tree import Tree
from rocm_ci_gen.workflow import WORKFLOW_PATH

MAX_SOURCES = 20_000
"""More source files than this are not opened."""
_MAX_CI_FILES = 300
_GFX = re.compile(r"\bgfx[0-9]{1,2}[0-9a-f]{2}\b")
_ARCH_LINE = re.compile(
    r"(?:PYTORCH_ROCM_ARCH|--offload-arch|\bAMDGPU_TARGETS|\bGPU_TARGETS|\bGPU_ARCHS|HIP_ARCHITECTURES|ROCM_ARCH|HIP_ARCH)[^\n]*"
)
_CONTAINER_NAME = re.compile(r"dockerfile|containerfile|docker-compose|compose\.ya?ml", re.IGNORECASE)
_ENGINES = {"sglang": ("sglang/__init__.py", "python/sglang/__init__.py"), "vllm": ("vllm/__init__.py",)}
_SKIPPED_ROLES = frozenset({Role.VENDORED, Role.EXAMPLES})


def detect(tree: Tree) -> Facts:
    """Look at every file whose name promises something."""
    marked, gfx, notes = _marks(tree)
    runners: list[workflows.RunnerUse] = []
    images: list[Found] = []
    models: list[Found] = []
    merge_group = ""
    gates = []
    for path in _ci_files(tree):
        text = tree.whole(path)
        images += (Found(image, path) for image in workflows.images(text))
        models += (Found(model, path) for model in workflows.models(text))
        gfx += _gfx_targets(path, text)
        if is_workflow(path) and path != WORKFLOW_PATH:
            read = workflows.read_workflow(path, text)
            runners += read.runners
            merge_group = merge_group or (path if read.merge_group else "")
            gates += [path] if read.gate else []
    files = set(tree.paths)
    return Facts(
        paths=tree.paths,
        marked=marked,
        packaging=_packaging(tree),
        requirements=tuple(path for path in tree.paths if sources.requirements_file(path) and _own(path)),
        runners=tuple(runners),
        images=tuple(images),
        gfx_targets=tuple(gfx),
        models=tuple(models),
        engine=next((name for name, paths in _ENGINES.items() if files & set(paths)), ""),
        merge_group=merge_group,
        gates=tuple(gates),
        workflows=tuple(path for path in tree.paths if is_workflow(path)),
        repository=tree.repository,
        notes=(*tree.notes, *notes),
    )


def is_workflow(path: str) -> bool:
    """Tell whether GitHub reads the file as a workflow."""
    pure = PurePosixPath(path)
    return pure.parent.as_posix() == ".github/workflows" and pure.suffix in {".yml", ".yaml"}


def _own(path: str) -> bool:
    return role(path) not in _SKIPPED_ROLES


def _marks(tree: Tree) -> tuple[dict[Mark, tuple[str, ...]], list[Found], list[str]]:
    marked: dict[Mark, list[str]] = {}
    gfx: list[Found] = []
    wanted = [path for path in tree.paths if sources.worth_reading(path)]
    notes = []
    if len(wanted) > MAX_SOURCES:
        notes.append(f"only the first {MAX_SOURCES:,} of {len(wanted):,} source files were opened")
        wanted = wanted[:MAX_SOURCES]
    for path in wanted:
        text = tree.head(path)
        for mark in sources.marks(path, text):
            marked.setdefault(mark, []).append(path)
        if PurePosixPath(path).name in {"CMakeLists.txt", "setup.py", "Makefile"} and _own(path):
            gfx += _gfx_targets(path, text)
    return {mark: tuple(paths) for mark, paths in marked.items()}, gfx, notes


def _gfx_targets(path: str, text: str) -> list[Found]:
    named = dict.fromkeys(gfx for line in _ARCH_LINE.findall(text) for gfx in _GFX.findall(line))
    return [Found(gfx, path) for gfx in named]


def _ci_files(tree: Tree) -> list[str]:
    """Workflows, the scripts beside them, and the Dockerfiles that are the project's own."""
    found = [
        path
        for path in tree.paths
        if (path.startswith(".github/") and path.endswith((".yml", ".yaml", ".sh", ".json")))
        or (_CONTAINER_NAME.search(PurePosixPath(path).name) and _own(path))
    ]
    return found[:_MAX_CI_FILES]


def _packaging(tree: Tree) -> str:
    if "setup.py" in tree.paths:
        return "setup.py"
    if "pyproject.toml" in tree.paths and re.search(
        r"^\[(?:build-system|project)\]", tree.head("pyproject.toml"), re.MULTILINE
    ):
        return "pyproject.toml"
    return ""
