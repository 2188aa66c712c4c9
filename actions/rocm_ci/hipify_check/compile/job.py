"""The compile test from end to end: find the compiler, choose the units, compile them side by side, judge."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_ci.hipify_check.compile import causes, diagnostics, hipcc, project, units
from rocm_ci.hipify_check.compile.model import (
    NOT_JUDGED,
    Cause,
    CompileError,
    CompileRequest,
    CompileResult,
    Status,
    UnitResult,
)
from rocm_ci.runner.text import plural

if TYPE_CHECKING:
    from rocm_ci.hipify_check.files import SourceFile
    from rocm_ci.hipify_check.versions import Version
    from rocm_ci.runner.processes import Completed, ProcessRegistry
    from rocm_ci.runner.stage import StageContext

_KEEP = 4000
"""Lines of a compiler's output that are read: the first ones, for the first error decides."""

_ERROR_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Plan:
    """One unit and the command that compiles it, up to where the object file goes."""

    file: SourceFile
    command: tuple[str, ...]


def run(request: CompileRequest, context: StageContext) -> CompileResult:
    """Compile the units of a tree.

    Commands run in the stage's process registry, each in a process group of its own, so that a cancelled job leaves
    neither a compiler nor its files behind. See ``CompileResult.code`` for the exit code.

    Raises:
        InfraError: hipcc is not installed or cannot compile an empty kernel for the target.
        UsageError: No target is known, or ``compile_commands`` cannot be used.
    """
    environ = context.env.variables
    path = hipcc.find(request.hipcc, environ)
    with tempfile.TemporaryDirectory(prefix="rocm-ci-hipcc-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        env = hipcc.environment(context.processes.environ, folder)
        arch = hipcc.targets(request.offload_arch, context.processes, env, environ)
        compiler = hipcc.ask(path, context.processes, env)
        chosen = units.find(request.found.files)
        plans = plan(chosen, request, compiler.path, arch)
        if plans:
            hipcc.probe(compiler, arch, context.processes, env, folder)
            context.progress(
                f"compiling {plural(len(plans), 'files')} for {', '.join(arch)} with HIP {compiler.version}"
            )
        names = {os.path.realpath(file.location): file.name for file in request.found.files}
        work = _Work(context.processes, env, folder, request.timeout, names, compiler.release, request.version)
        results = _all(plans, work, request.jobs, context)
    return CompileResult(
        units=tuple(sorted(results, key=lambda unit: unit.path)),
        compiler=compiler.path,
        hip=compiler.version,
        hip_release=compiler.release,
        arch=arch,
        included=chosen.included,
    )


def plan(chosen: units.Units, request: CompileRequest, compiler: str, arch: Sequence[str]) -> list[Plan]:
    """The command of each unit; reads build files and ``compile_commands.json``, runs nothing."""
    roots = project.Roots.of(request.roots)
    database = project.find_commands(request.compile_commands, roots)
    known = project.read_commands(database, roots) if database else {}
    tree = units.graph(chosen.includes)
    locations = {file.name: os.path.abspath(file.location) for file in request.found.files}  # noqa: PTH100 - no links
    cache: dict[Path, tuple[str, tuple[str, ...]]] = {}
    fixed = [compiler, "-c", *(f"--offload-arch={one}" for one in arch), "-w", "-fno-color-diagnostics"]
    fixed.append(f"-ferror-limit={_ERROR_LIMIT}")
    plans: list[Plan] = []
    for file in chosen.compile:
        location = Path(locations[file.name])
        options = known.get(str(location.resolve()))
        if options is None:
            options = units.include_options(file, chosen, tree, locations)
            options += project.nearest(location, roots.top(location), cache)
        # For C hipcc does not say by itself which platform the HIP headers are for.
        platform = ["-D__HIP_PLATFORM_AMD__"] if location.suffix.lower() == ".c" else []
        plans.append(Plan(file, (*fixed, *platform, *options, *request.flags, str(location))))
    return plans


@dataclass(frozen=True, slots=True)
class _Work:
    """What every unit needs: where and how to run, and how to judge."""

    processes: ProcessRegistry
    env: Mapping[str, str]
    folder: Path
    timeout: float
    names: Mapping[str, str]
    hip: Version | None
    target: Version

    def unit(self, number: int, plan: Plan) -> UnitResult:
        """Compile one unit."""
        target = self.folder / f"{number}.o"
        command = (*plan.command, "-o", str(target))
        lines: list[str] = []
        try:
            done = self.processes.run(
                command,
                cwd=Path(plan.file.location).resolve().parent,
                env=self.env,
                timeout=self.timeout,
                echo=False,
                on_line=lambda line: lines.append(line) if len(lines) < _KEEP else None,
                keep=1,
            )
        finally:
            target.unlink(missing_ok=True)
        return self.judge(plan.file, done, lines)

    def judge(self, file: SourceFile, done: Completed, lines: Sequence[str]) -> UnitResult:
        """The verdict on one compiler run."""
        name, seconds = file.name, done.seconds
        if done.timed_out:
            return UnitResult(name, "timeout", seconds=seconds, command=done.argv)
        if done.returncode == 0:
            return UnitResult(name, "ok", seconds=seconds, command=done.argv)
        errors = diagnostics.parse(lines)
        decided = causes.judge(errors, hip=self.hip, target=self.target) or _silent(done, lines)
        cause, error = decided
        shown = (
            self.names.get(os.path.realpath(Path(file.location).parent / error.path), error.path) if error.path else ""
        )
        error = CompileError(shown, error.line, error.column, error.message, error.name, error.advice)
        status: Status = "not-judged" if cause in NOT_JUDGED else "failed"
        return UnitResult(name, status, cause, error, len(errors), seconds, done.argv)


def _silent(done: Completed, lines: Sequence[str]) -> tuple[Cause, CompileError]:
    """A compiler that ended without telling an error: killed, or in a way that we do not know."""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
    if done.returncode < 0 or done.returncode in {137, 143}:
        number = -done.returncode if done.returncode < 0 else done.returncode - 128
        said = f"the compiler was ended by signal {number}"
        return "toolchain", CompileError("", None, None, said, advice="most often memory ran out: try fewer --jobs")
    return "other", CompileError("", None, None, f"hipcc ended with exit code {done.returncode}: {last}")


def _all(plans: Sequence[Plan], work: _Work, jobs: int, context: StageContext) -> list[UnitResult]:
    results: list[UnitResult] = []
    pool = ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="rocm-ci-hipcc")
    try:
        # Large files first: the last one to finish should not be the longest.
        ordered = sorted(plans, key=lambda one: -one.file.size)
        running: list[Future[UnitResult]] = [pool.submit(work.unit, n, one) for n, one in enumerate(ordered)]
        step = max(1, len(running) // 10)
        for future in as_completed(running):
            results.append(future.result())
            if len(results) % step == 0 and len(results) < len(running):
                context.progress(f"compiled {len(results):,} of {plural(len(running), 'files')}")
    finally:
        # On a signal the stage ends the compilers that run; none that waits may start after that.
        pool.shutdown(wait=True, cancel_futures=True)
    return results
