from __future__ import annotations

import pytest

from rocm_ci_gen.manifest.hosted import is_self_hosted
from rocm_ci_gen.manifest.model import Runner

HOSTED = """
ubuntu-latest ubuntu-22.04 ubuntu-24.04 ubuntu-24.04-arm ubuntu-26.04 ubuntu-slim Ubuntu-Latest
windows-latest windows-2022 windows-2025 windows-11-arm
macos-latest macos-14 macos-15-intel macos-latest-xlarge macos-13-large
ubuntu-latest-16-cores
"""
SELF_HOSTED: list[tuple[str, ...]] = [
    ("self-hosted",),
    ("self-hosted", "ubuntu-latest"),
    ("ubuntu-mi300",),
    ("ubuntu-latest-gpu",),
    ("linux",),
    (),
]


@pytest.mark.parametrize("label", HOSTED.split())
def test_githubs_own(label: str) -> None:
    assert not is_self_hosted(Runner("cpu", (label,)))


@pytest.mark.parametrize("labels", SELF_HOSTED)
def test_everything_else_is_somebodys_machine(labels: tuple[str, ...]) -> None:
    assert is_self_hosted(Runner("x", labels))


def test_a_runner_group_is_somebodys_machine() -> None:
    assert is_self_hosted(Runner("x", ("ubuntu-latest",), group="gpu"))
