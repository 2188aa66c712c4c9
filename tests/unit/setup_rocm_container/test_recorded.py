"""Recorded machines, where there are any: see tests/unit/gpu/test_recorded.py for what ROCM_CI_AMD_SAMPLES is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import rocm_ci.cli

SAMPLES = Path(os.environ.get("ROCM_CI_AMD_SAMPLES") or "/nonexistent")
MACHINES = sorted(path.parent for path in SAMPLES.glob("*/sys")) if SAMPLES.is_dir() else []
FIT = {"lact-strixpoint", "mi25-kfd-old-kernel", "mi308x-cpx-kfd", "synth-8x-gfx942-fake-sysfs"}
pytestmark = pytest.mark.skipif(not MACHINES, reason="ROCM_CI_AMD_SAMPLES names no folder with recorded machines")


def call(machine: Path, tmp_path: Path, *options: str) -> tuple[Result, dict[str, Any]]:
    report = tmp_path / "report.json"
    args = ["setup-rocm-container", "--path-root", str(machine), "--report", str(report), *options]
    environ = {"RUNNER_TEMP": str(tmp_path), "HIP_VISIBLE_DEVICES": None, "ROCR_VISIBLE_DEVICES": None}
    result = CliRunner().invoke(rocm_ci.cli.main, args, env=environ)
    return result, json.loads(report.read_text())


@pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.name)
def test_a_recorded_machine_with_kfd_is_fit_and_another_says_why_not(machine: Path, tmp_path: Path) -> None:
    result, report = call(machine, tmp_path)
    assert result.exit_code == (0 if machine.name in FIT else 3), result.output
    assert "Traceback" not in result.output
    if machine.name not in FIT:
        assert report["gpus"] == []
        assert "no AMD GPU" in report["message"]
        return
    for gpu in report["gpus"]:
        for name in ("bdf", "gfx", "product", "vram_total_bytes", "vram_used_bytes", "render_node", "partition"):
            assert (gpu[name] is None) == (name in gpu["unknown"]), (name, gpu)


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("synth-8x-gfx942-fake-sysfs", ["--expect-gfx", "gfx942", "--expect-gpus", "8"], 0),
        ("synth-8x-gfx942-fake-sysfs", ["--expect-gfx", "gfx90a"], 3),
        ("mi308x-cpx-kfd", ["--expect-gfx", "gfx942", "--expect-gpus", "32"], 0),
        ("mi308x-cpx-kfd", ["--expect-gpus", "33"], 3),
        ("mi308x-cpx-kfd", ["--partition", "spx"], 3),
        ("mi25-kfd-old-kernel", ["--expect-gfx", "gfx900"], 3),
        ("lact-strixpoint", ["--expect-gfx", "gfx1150", "--expect-gpus", "1"], 0),
    ],
)
def test_promises_about_recorded_machines(name: str, options: list[str], code: int, tmp_path: Path) -> None:
    if SAMPLES / name not in MACHINES:
        pytest.skip(f"{name} is not among them")
    result, _ = call(SAMPLES / name, tmp_path, *options)
    assert result.exit_code == code, result.output
