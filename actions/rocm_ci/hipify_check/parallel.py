"""Check many files on all cores.

The workers are plain child processes that speak pickle over their standard streams. Not ``multiprocessing``: forking
is unsafe beside the runner's threads, and its other start methods import the main script again.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rocm_ci.hipify_check import check_file
from rocm_ci.runner.errors import InfraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocm_ci.hipify_check.check_file import FileResult, Target
    from rocm_ci.hipify_check.files import SourceFile

_COLLECT_EVERY = 100_000
"""New objects between two looks for garbage: findings have no cycles, and each look passes over all of them."""

WORTH_IT = 6_000_000
"""Bytes of source below which starting workers costs more than it saves."""


def check_all(files: Sequence[SourceFile], target: Target, jobs: int) -> list[FileResult]:
    """Check ``files`` with up to ``jobs`` processes; the results are in the order of ``files``.

    Raises:
        InfraError: A file brought our own code down, or a worker ended.
    """
    if jobs <= 1 or sum(file.size for file in files) < WORTH_IT:
        return [check_one(file, target) for file in files]
    shares = _shares(files, jobs)
    workers = [_start(share, target) for share in shares]
    results: dict[str, FileResult] = {}
    try:
        for worker in workers:
            for result in _finish(worker):
                results[result.name] = result
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.kill()
            for stream in (worker.stdin, worker.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()
            worker.wait()
    return [results[file.name] for file in files]


@contextlib.contextmanager
def rare_collection() -> Iterator[None]:
    """Look for garbage seldom while a tree is checked: a tenth of the time else goes into that."""
    before = gc.get_threshold()
    gc.set_threshold(_COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def check_one(file: SourceFile, target: Target) -> FileResult:
    """Check one file; an error of our own names the file instead of ending in a bare traceback."""
    try:
        return check_file.check(file, target)
    except Exception as error:
        message = f"internal error while checking {file.name}: {type(error).__name__}: {error}"
        raise InfraError(message, help="exclude the file for now, and report this with the file") from error


def _shares(files: Sequence[SourceFile], jobs: int) -> list[list[SourceFile]]:
    """Deal the files out so that each worker has about the same number of bytes: the largest first."""
    shares: list[list[SourceFile]] = [[] for _ in range(min(jobs, len(files)))]
    heap = [(0, index) for index in range(len(shares))]
    for file in sorted(files, key=lambda file: (-file.size, file.name)):
        load, index = heapq.heappop(heap)
        shares[index].append(file)
        heapq.heappush(heap, (load + file.size + 2000, index))
    return [share for share in shares if share]


def _start(share: Sequence[SourceFile], target: Target) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).resolve().parents[2])
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join([source, *(path for path in sys.path if path)]))
    command = [sys.executable, "-m", "rocm_ci.hipify_check.parallel"]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
    assert worker.stdin is not None  # noqa: S101 - asked for above
    try:
        pickle.dump((list(share), target), worker.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        worker.stdin.close()
    except BrokenPipeError:
        pass  # its exit code is told by _finish
    return worker


def _finish(worker: subprocess.Popen[bytes]) -> list[FileResult]:
    assert worker.stdout is not None  # noqa: S101 - asked for in _start
    data = worker.stdout.read()
    worker.stdout.close()
    code = worker.wait()
    answer = pickle.loads(data) if code == 0 and data else None  # noqa: S301 - our own worker wrote it
    if isinstance(answer, str):
        raise InfraError(answer, help="exclude the file for now, and report this with the file")
    if answer is None:
        raise InfraError(f"a worker process ended with exit code {code}", help="try --jobs 1, or give it more memory")
    return cast("list[FileResult]", answer)


def _work() -> None:
    """The worker: one share in, its results (or the message of an error) out."""
    share, target = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own parent wrote it
    answer: list[FileResult] | str
    try:
        with rare_collection():
            answer = [check_one(file, target) for file in share]
    except InfraError as error:
        answer = error.message
    sys.stdout.buffer.write(pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL))


if __name__ == "__main__":
    _work()
