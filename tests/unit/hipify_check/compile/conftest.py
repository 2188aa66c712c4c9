"""The marker of the tests that run the real compiler."""

from __future__ import annotations

import shutil

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "hipcc: compiles with the real hipcc (no GPU needed)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which("hipcc"):
        return
    skip = pytest.mark.skip(reason="hipcc is not installed (Debian, Ubuntu: apt install hipcc)")
    for item in items:
        if item.get_closest_marker("hipcc"):
            item.add_marker(skip)
