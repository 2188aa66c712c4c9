from __future__ import annotations

from collections.abc import Callable

import pytest

from rocm_ci_gen.manifest import Manifest, check, format_diagnostics

BASE = """
version: 1
runners:
  cpu: {labels: ubuntu-latest}
  mi250: {labels: [self-hosted, roc-gpu-mi200], gfx: gfx90a, gpus: 2}
  mi300x: {labels: [self-hosted, roc-gpu-mi300], gfx: gfx942, gpus: 8}
container: {image: "rocm/pytorch:rocm6.2.3"}
triggers:
  push: {branches: [main]}
  pull_request: {branches: [main]}
  merge_group: true
  schedule: ["0 3 * * *"]
  manual: true
stages:
  hipify-check: {paths: ["src/**"]}
  kernel-tests: {runner: [mi250, mi300x], shards: 2, paths: ["src/**", "!src/docs/**", requirements-rocm.txt]}
  sglang-regression: {runner: mi250, model: a/b, paths: ["configs/**"], needs: [kernel-tests]}
"""


def load(text: str) -> Manifest:
    checked = check(text.encode(), ".rocm-ci.yml")
    assert checked.manifest is not None, format_diagnostics(checked.diagnostics, color=False)
    return checked.manifest


@pytest.fixture(scope="session")
def make() -> Callable[..., Manifest]:
    """Builds a manifest from the base text plus further top-level keys; `base` replaces the base."""

    def build(extra: str = "", *, base: str = BASE) -> Manifest:
        return load(f"{base}{extra}\n")

    return build


@pytest.fixture(scope="session")
def manifest() -> Manifest:
    return load(BASE)
