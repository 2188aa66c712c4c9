"""The job's PyTorch, asked in a real subprocess."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rocm_ci.runner.ending import Grace
from rocm_ci.runner.processes import ProcessRegistry
from rocm_ci.setup_rocm_container import torch_checks
from rocm_ci.setup_rocm_container.model import Check
from rocm_ci.setup_rocm_container.torch_build import TorchBuild, probe
from support.fake_torch import fake_torch, metadata


def ask(path: Path | None, *, limit: float = 60, light: bool = False) -> TorchBuild:
    environ = {"PATH": os.environ["PATH"], **({"PYTHONPATH": str(path)} if path else {})}
    registry = ProcessRegistry(environ, grace=Grace(0.1, 0.1, 2.0))
    return probe(sys.executable, registry, limit=limit, light=light)


def judge(build: TorchBuild, *, gpus: int = 8, recorded: bool = False, asked: bool = False) -> dict[str, Check]:
    found = torch_checks.checks(build, ["gfx942"], gpus, recorded=recorded, asked=asked, rocm="6.3.1")
    assert [check.id for check in found] == list(torch_checks.IDS)
    return {check.id: check for check in found}


def test_a_build_for_rocm_is_ok(tmp_path: Path) -> None:
    build = ask(fake_torch(tmp_path, extra={"triton": "3.2.0"}))
    assert (build.version, build.hip, build.available, build.count) == ("2.6.0+rocm6.3", "6.3.42131-fa1d09cbd", True, 8)
    assert build.packages == {"torch": "2.6.0+rocm6.3", "triton": "3.2.0"}
    assert {name: check.status for name, check in judge(build).items()} == dict.fromkeys(torch_checks.IDS, "ok")


def test_no_torch_is_skipped(tmp_path: Path) -> None:
    build = ask(tmp_path)
    if build.present:
        pytest.skip("the interpreter of these tests has PyTorch")
    assert {check.status for check in judge(build).values()} == {"skip"}


def test_a_wheel_for_cuda_is_named_with_the_index_for_this_rocm(tmp_path: Path) -> None:
    fake_torch(tmp_path, version="2.6.0+cu124", hip=None, cuda="12.4")
    metadata(tmp_path, "nvidia-cublas-cu12", "12.4.5.8")
    found = judge(ask(tmp_path))
    assert found["torch"].status == "fail"
    assert "a build for CUDA 12.4, not for ROCm" in found["torch"].message
    assert found["torch"].fix.endswith("--index-url https://download.pytorch.org/whl/rocm6.3")
    assert found["torch-gpu"].status == "skip"
    assert (found["torch-cuda-wheels"].status, "nvidia-cublas-cu12" in found["torch-cuda-wheels"].fix) == ("warn", True)


def test_a_wheel_for_cuda_that_cannot_even_be_imported_is_still_that(tmp_path: Path) -> None:
    fake_torch(tmp_path, hip=None, cuda="12.4", on_import="raise ImportError('libcudart.so.12: cannot open')")
    found = judge(ask(tmp_path))["torch"]
    assert "a build for CUDA 12.4" in found.message
    assert "libcudart" in found.message


def test_on_a_recorded_tree_this_machines_own_torch_does_not_fail(tmp_path: Path) -> None:
    build = ask(fake_torch(tmp_path, version="2.6.0+cpu", hip=None))
    assert judge(build, recorded=True)["torch"].status == "warn"
    assert judge(build, recorded=True, asked=True)["torch"].status == "fail"
    assert judge(build)["torch"].status == "fail"


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"on_import": "import time; time.sleep(600)"}, "`import torch` did not end within"),
        ({"available": "__import__('time').sleep(600)"}, "`torch.cuda.is_available()` did not end within"),
    ],
)
def test_a_hang_is_ended_and_has_a_name(tmp_path: Path, what: dict[str, str], told: str) -> None:
    found = judge(ask(fake_torch(tmp_path, **what), limit=3))  # type: ignore[arg-type]
    assert found["torch"].status == "fail"
    assert told in found["torch"].message
    assert "dmesg" in found["torch"].fix


def test_a_step_that_kills_the_interpreter_is_named(tmp_path: Path) -> None:
    build = ask(fake_torch(tmp_path, available="__import__('os').kill(__import__('os').getpid(), 6)"))
    found = judge(build)
    assert found["torch"].status == "ok"
    assert "ended by signal 6" in found["torch-gpu"].message


def test_an_import_error(tmp_path: Path) -> None:
    found = judge(ask(fake_torch(tmp_path, on_import="raise ImportError('libamdhip64.so.6: cannot open')")))
    assert found["torch"].status == "fail"
    assert "libamdhip64" in found["torch"].message


def test_what_torch_prints_does_not_confuse(tmp_path: Path) -> None:
    noise = "import sys; print('{\"step\": \"hip\"}'); sys.stdout.write('half a line'); sys.stdout.flush()"
    assert judge(ask(fake_torch(tmp_path, on_import=noise)))["torch"].status == "ok"


def test_no_gpu_for_torch(tmp_path: Path) -> None:
    build = ask(fake_torch(tmp_path, available="False", count="0", arch_list=()))
    assert judge(build)["torch-gpu"].status == "fail"
    assert judge(build, recorded=True)["torch-gpu"].status == "skip"
    assert judge(build)["torch-gfx"].status == "skip"


def test_fewer_gpus_than_there_are(tmp_path: Path) -> None:
    found = judge(ask(fake_torch(tmp_path, count="2")))["torch-gpu"]
    assert (found.status, found.message) == ("warn", "PyTorch sees 2 of the 8 GPUs")


def test_no_code_for_the_gpu(tmp_path: Path) -> None:
    found = judge(ask(fake_torch(tmp_path, arch_list=("gfx906", "gfx90a"))))["torch-gfx"]
    assert found.status == "fail"
    assert "no code for gfx942 (it has: gfx906, gfx90a)" in found.message
    assert "PYTORCH_ROCM_ARCH=gfx942" in found.fix


def test_light_does_not_import(tmp_path: Path) -> None:
    fake_torch(tmp_path, on_import="raise SystemExit('imported')")
    build = ask(tmp_path, light=True)
    assert (build.built, build.errors) == (("2.6.0+rocm6.3", "6.3.42131-fa1d09cbd"), {})


def test_a_folder_named_torch_in_the_checkout_is_not_the_jobs_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fake_torch(tmp_path / "checkout", version="0"))
    assert ask(fake_torch(tmp_path / "site")).version == "2.6.0+rocm6.3"


@pytest.mark.parametrize("program", ["/bin/false", "/bin/true", "/nonexistent/python"])
def test_an_interpreter_that_is_none(program: str) -> None:
    build = probe(program, ProcessRegistry({}), limit=10)
    found = judge(build)["torch"]
    assert (found.status, "cannot be asked" in found.message) == ("fail", True)


@pytest.mark.parametrize(
    ("device", "arch_list", "expected"),
    [
        ("gfx90a", ["gfx90a"], True),
        ("gfx90a", ["gfx906", "gfx908"], False),
        ("gfx90a:sramecc+:xnack-", ["gfx90a"], True),
        ("gfx90a:sramecc+:xnack-", ["gfx90a:xnack-"], True),
        ("gfx90a:sramecc+:xnack-", ["gfx90a:xnack+"], False),
        ("gfx90a:sramecc+:xnack-", ["gfx90a:xnack+", "gfx90a:xnack-"], True),
        ("gfx90a", ["gfx90a:xnack+"], True),  # the node's features are not known: no false alarm
        ("gfx942", ["gfx9-4-generic"], True),
        ("gfx90a", ["gfx9-generic", "gfx9-4-generic"], False),
        ("gfx1151", ["gfx11-generic"], True),
        ("gfx1201", ["gfx11-generic", "gfx12-generic"], True),
        ("gfx942", ["gfx94"], False),
    ],
)
def test_target_ids(device: str, arch_list: list[str], expected: bool) -> None:
    assert torch_checks.covered(device, arch_list) is expected


def test_a_stopgap_is_named_for_rdna_only(tmp_path: Path) -> None:
    build = ask(fake_torch(tmp_path, arch_list=("gfx1030", "gfx1100"), device="gfx1031"))
    found = torch_checks.checks(build, ["gfx1031"], 8, recorded=False, asked=False, rocm=None)[2]
    assert "HSA_OVERRIDE_GFX_VERSION=10.3.0" in found.fix
    assert "HSA_OVERRIDE" not in judge(ask(fake_torch(tmp_path / "b", arch_list=("gfx900",))))["torch-gfx"].fix
