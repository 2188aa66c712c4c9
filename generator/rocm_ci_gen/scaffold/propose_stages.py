"""The stages: what hipify-check looks at and how, which tests are kernel tests, which server is measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rocm_ci_gen.scaffold import folders, not_for_amd
from rocm_ci_gen.scaffold.facts import Facts
from rocm_ci_gen.scaffold.folders import Role, role
from rocm_ci_gen.scaffold.halves import cuda_halves, other_halves
from rocm_ci_gen.scaffold.proposal import Answers, Choice, Hipify, KernelTests, Serving
from rocm_ci_gen.scaffold.sources import Mark

_GPU_CODE = (Mark.CUDA, Mark.HIP, Mark.TRITON, Mark.TILELANG)
_NOT_A_PATH = re.compile(r"[-@]")
_MOST_FOLDERS = 8
_MOST_EXCLUDES = 6


def propose_hipify(facts: Facts) -> Hipify:
    """Where the GPU code is, and whether the build hipifies it."""
    source = _source(facts)
    mode = _mode(facts)
    exclude, perhaps = _exclude(facts, source.value)
    paths = () if source.value == (".",) else patterns(source.value)
    return Hipify(replace(source, value=arguments(source.value)), mode, exclude, paths, perhaps)


def propose_tests(facts: Facts) -> KernelTests:
    """The pytest folders that hold the kernel tests."""
    tests = tuple(path for path in facts.having(Mark.TEST) if _runnable(path))
    gpu = tuple(path for path in facts.having(Mark.GPU_TEST) if _runnable(path))
    chosen = folders.test_folders(gpu or tests)
    if not chosen:
        choice: Choice[tuple[str, ...]] = Choice((), "no pytest file found")
    else:
        inside = sum(_below(path, chosen) for path in gpu or tests)
        touch = "touches" if len(gpu) == 1 else "touch"
        what = f"that {touch} the GPU" if gpu else "of the repository; none names a GPU"
        total = len(gpu or tests)
        which = "the only pytest file" if total == 1 else f"{inside:,} of the {total:,} pytest files"
        choice = Choice(arguments(chosen), f"{which} {what}")
    source = _source(facts).value
    paths = () if source == (".",) or not chosen else (*patterns(source), *patterns(chosen))
    build = (
        Choice("python3 -m pip install --no-build-isolation --no-deps -e .", f"{facts.packaging} builds the project")
        if facts.packaging
        else Choice("", "nothing to install")
    )
    return KernelTests(choice, tuple(dict.fromkeys(paths)), build)


def propose_serving(facts: Facts, answers: Answers) -> Serving | None:
    """The inference server that the project is or depends on; None where there is none."""
    where: dict[str, str] = {}
    for engine, mark in (("sglang", Mark.SGLANG), ("vllm", Mark.VLLM)):
        own = [path for path in facts.having(mark) if role(path) in {Role.PRODUCT, Role.TOOLING}]
        if facts.engine == engine:
            where[engine] = f"this is {engine} itself"
        elif own:
            where[engine] = f"{own[0]} needs {engine}"
    if not where and answers.model is None:
        return None
    engine = next(iter(where), "sglang")
    if answers.model is not None:
        model = Choice(answers.model, "as you said", answered=True)
    elif facts.models:
        model = Choice(facts.models[0].value, f"{facts.models[0].where} serves it")
    else:
        model = Choice("", "nothing here names one")
    source = _source(facts).value
    return Serving(
        Choice(engine, where.get(engine, "the default")), model, () if source == (".",) else patterns(source)
    )


def arguments(entries: Iterable[str]) -> tuple[str, ...]:
    """Paths as a command line takes them: no option, and no file of options."""
    return tuple(f"./{entry}" if _NOT_A_PATH.match(entry) else entry for entry in entries)


def patterns(entries: Iterable[str]) -> tuple[str, ...]:
    """Path filters for folders and files: everything below a folder, a file as it is."""
    return tuple(literal_pattern(entry) if _is_file(entry) else f"{literal_pattern(entry)}/**" for entry in entries)


def literal_pattern(path: str) -> str:
    """A path or branch as a filter pattern that matches only it: GitHub's special characters behind a backslash."""
    return "".join(f"\\{char}" if char in "*?+[]!\\" else char for char in path)


def _is_file(entry: str) -> bool:
    return entry.rpartition("/")[2].endswith((".py", ".cu", ".cuh", ".hip", ".cpp", ".cc", ".h", ".hpp", ".c"))


def _runnable(path: str) -> bool:
    return role(path) not in {Role.VENDORED, Role.EXAMPLES, Role.BENCHMARKS} and not _nvidia(path)


def _nvidia(path: str) -> bool:
    return not_for_amd.nvidia_folder(path) != ""


def _below(path: str, entries: Sequence[str]) -> bool:
    return any(path == entry or path.startswith(entry + "/") for entry in entries)


def _code(facts: Facts, *roles: Role) -> tuple[str, ...]:
    tests = set(facts.having(Mark.TEST))
    return tuple(path for path in facts.having(*_GPU_CODE) if role(path) in roles and path not in tests)


def _source(facts: Facts) -> Choice[tuple[str, ...]]:
    code = _code(facts, Role.PRODUCT) or _code(facts, Role.EXAMPLES, Role.BENCHMARKS) or _code(facts, Role.TESTS)
    if not code:
        return Choice((".",), "the whole repository, for no CUDA, HIP, Triton or TileLang source was found")
    told = _told(facts, code)
    tops = folders.top_folders(code)
    if "." in tops:
        at_root = tuple(path for path in code if "/" not in path)
        entries = (*(top for top in tops if top != "."), *at_root)
    else:
        entries = tops
    if len(entries) > _MOST_FOLDERS:
        return Choice((".",), f"{told}, spread over the repository")
    return Choice(entries, told)


def _told(facts: Facts, code: Sequence[str]) -> str:
    """`120 CUDA sources, 14 Triton files`."""
    inside = set(code)
    names = (
        (Mark.CUDA, "CUDA source"),
        (Mark.HIP, "HIP source"),
        (Mark.TRITON, "Triton file"),
        (Mark.TILELANG, "TileLang file"),
    )
    counts = ((len(inside.intersection(facts.marked.get(mark, ()))), name) for mark, name in names)
    return ", ".join(_count(number, name) for number, name in counts if number)


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}" + ("" if number == 1 else "s")


def _mode(facts: Facts) -> Choice[str]:
    """`hipify` where something hipifies the sources before they are compiled, or where nothing is ported yet."""

    def own(mark: Mark) -> list[str]:
        return [path for path in facts.having(mark) if role(path) is Role.PRODUCT and not _nvidia(path)]

    cuda, hip = own(Mark.CUDA), own(Mark.HIP)
    hip_build = own(Mark.HIP_BUILD)
    twins = not_for_amd.matching([half.glob for half in cuda_halves(facts.paths) if half.sure], cuda)
    if twins and len(twins) * 2 >= len(cuda):
        return Choice("native", f"CUDA and HIP side by side ({_shortest(twins)}): the HIP half is ported by hand")
    for mark, text in (
        (Mark.HIPIFY, "hipifies the sources"),
        (Mark.TORCH_EXTENSION, "builds with torch's CUDAExtension, which hipifies on ROCm"),
    ):
        if own(mark) and cuda:
            return Choice("hipify", f"{_shortest(own(mark))} {text}")
    if hip or hip_build:
        if hip_build:
            return Choice("native", f"{_shortest(hip_build)} compiles HIP as it stands, no hipify step found")
        return Choice("native", f"HIP sources ({_shortest(hip)}), no hipify step found")
    if cuda:
        return Choice(
            "hipify", "nothing is ported yet: only what hipify cannot convert is told; `native` once it is HIP"
        )
    return Choice("native", "no CUDA source to convert: any CUDA-only name is a mistake")


def _shortest(paths: Iterable[str]) -> str:
    """The path nearest to the root."""
    return min(paths, key=lambda path: (path.count("/"), path))


def _exclude(facts: Facts, source: tuple[str, ...]) -> tuple[Choice[tuple[str, ...]], Choice[tuple[str, ...]]]:
    """What is left out, and what may be left out by somebody who knows.

    Only what is proved is left out: a wrong exclusion hides code from every later run, and the run is green.
    """
    inside = [path for path in facts.paths if source == (".",) or _below(path, source)]
    code = [path for path in facts.having(*_GPU_CODE) if source == (".",) or _below(path, source)]
    cuda = [path for path in facts.having(Mark.CUDA) if path in set(code)]
    halves = [*cuda_halves(inside), *other_halves(inside, cuda)]
    vendored = [f"{folder}/**" for folder in folders.vendored_folders(code)]
    globs: list[str] = []
    reasons: dict[str, None] = {}
    doubtful: list[tuple[str, str]] = []
    proved = [(glob, "code of others") for glob in vendored] + [(half.glob, half.why) for half in halves if half.sure]
    for glob, reason in _outermost(proved):
        if not _adds(glob, globs):
            continue
        left = [path for path in code if path not in set(not_for_amd.matching([*globs, glob], code))]
        # Never so much that no CUDA is left, unless its HIP half is looked at.
        if not left or (reason == "code of others" and cuda and not set(left) & set(cuda)):
            doubtful.append((glob, f"{reason}, but then no {'CUDA' if cuda else 'GPU code'} is looked at"))
        elif len(globs) < _MOST_EXCLUDES:
            globs.append(glob)
            reasons[reason] = None
    named = [f"{folder}/**" for folder in not_for_amd.nvidia_folders(inside)]
    doubtful += [(half.glob, half.why) for half in halves if not half.sure]
    doubtful += [(glob, "its name says NVIDIA") for glob in named]
    doubtful += [(glob, "named after an NVIDIA architecture") for glob in not_for_amd.arch_globs(inside, named)]
    perhaps = [(glob, reason) for glob, reason in _outermost(doubtful) if _adds(glob, globs)][:_MOST_EXCLUDES]
    return (
        Choice(arguments(globs), "; ".join(reasons) or "nothing to leave out"),
        Choice(arguments(glob for glob, _ in perhaps), "; ".join(f"{glob}: {reason}" for glob, reason in perhaps)),
    )


def _outermost(globs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each glob once, with its reason, without those below another."""
    once = dict(reversed(globs))
    return [
        (glob, once[glob])
        for glob in dict.fromkeys(glob for glob, _ in globs)
        if not any(other != glob and _within(glob, other) for other in once)
    ]


def _adds(glob: str, globs: Sequence[str]) -> bool:
    return not any(_within(glob, other) for other in globs)


def _within(glob: str, other: str) -> bool:
    return other.endswith("/**") and glob.startswith(other.removesuffix("**"))
