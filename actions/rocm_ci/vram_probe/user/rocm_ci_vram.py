"""A plugin for your own pytest: the GPU memory of each test, and `@pytest.mark.vram_limit("2GiB")`.

    PYTHONPATH=<this folder> pytest -p rocm_ci_vram

One file, standard library only, and your own torch if a test has loaded it. `rocm-ci vram-probe --per-test` sets it up.
With the variable ROCM_CI_VRAM_TESTS each test appends one line of JSON to that file:
`{"test": "tests/test_a.py::test_x", "allocated": {"0": BYTES}, "reserved": {"0": BYTES}}`, where `allocated` and
`reserved` are torch's peaks during the test (set-up and tear-down included), by GPU. They are those of the test's own
process: what its subprocesses take is not in them.

The mark fails a test whose peak of allocated memory on some GPU is above the limit;
`@pytest.mark.vram_limit("2GiB", of="reserved")` takes the memory that torch's allocator held instead.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from typing import Any

import pytest

VARIABLE = "ROCM_CI_VRAM_TESTS"
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


def pytest_configure(config: Any) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers", 'vram_limit(size, of="allocated"): fail a test that takes more GPU memory, as "2GiB"'
    )


def parse_size(text: object) -> int:
    """Bytes of `2GiB`, `512MiB`, or a number of bytes."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    found = re.match(r"([0-9]+(?:\.[0-9]+)?) ?(B|KiB|MiB|GiB)$", str(text).strip())
    if not found:
        raise pytest.UsageError(f"vram_limit: {text!r} is no size; write it as 512MiB or 2GiB")
    return int(float(found.group(1)) * _UNITS[found.group(2)])


def _cuda() -> Any:
    """torch.cuda, once a test has opened a GPU; importing or opening it here would change what is measured."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    try:
        return cuda if cuda is not None and cuda.is_initialized() else None
    except Exception:
        return None


def _peaks(kind: str) -> dict[str, int]:
    cuda = _cuda()
    if cuda is None:
        return {}
    read = cuda.max_memory_allocated if kind == "allocated" else cuda.max_memory_reserved
    try:
        return {str(index): int(read(index)) for index in range(cuda.device_count())}
    except Exception:
        return {}


def _limit(item: Any) -> tuple[int | None, str]:
    mark = item.get_closest_marker("vram_limit")
    if mark is None:
        return None, "allocated"
    if len(mark.args) != 1 or set(mark.kwargs) - {"of"}:
        raise pytest.UsageError('vram_limit takes one size, as @pytest.mark.vram_limit("2GiB")')
    of = mark.kwargs.get("of", "allocated")
    if of not in ("allocated", "reserved"):
        raise pytest.UsageError(f"vram_limit: `of` is allocated or reserved, not {of!r}")
    return parse_size(mark.args[0]), of


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Refuse a mark that is wrong."""
    for item in items:
        _limit(item)  # a wrong mark is told before anything runs


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Any:
    """Forget earlier peaks before a test, and keep its own after it."""
    del nextitem
    cuda = _cuda()
    if cuda is not None:
        with contextlib.suppress(Exception):  # a GPU in a bad state is the test's to find
            for index in range(cuda.device_count()):
                cuda.reset_peak_memory_stats(index)
    yield
    path = os.environ.get(VARIABLE)
    if path:
        entry = {"test": item.nodeid, "allocated": _peaks("allocated"), "reserved": _peaks("reserved")}
        try:
            # One write of one line: tests of several workers do not mix.
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, (json.dumps(entry) + "\n").encode())
            finally:
                os.close(handle)
        except OSError as error:
            sys.stderr.write(f"rocm_ci_vram: cannot write {path}: {error}\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Fail a test that took more than its limit."""
    del call
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" or not report.passed:
        return
    limit, of = _limit(item)
    if limit is None:
        return
    peaks = _peaks(of)
    if not peaks:
        return
    index, peak = max(peaks.items(), key=lambda pair: pair[1])
    if peak > limit:
        report.outcome = "failed"
        report.longrepr = (
            f"VRAM limit: {peak / 1024**2:.1f} MiB were {of} on GPU {index}, the limit is {limit / 1024**2:.1f} MiB"
        )
