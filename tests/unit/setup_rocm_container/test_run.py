"""The whole command on made-up machines."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rocm_ci.cli
from rocm_ci.gate.proof import parse_evidence
from rocm_ci.runner.errors import Code
from rocm_ci.runner.stage import run_stage
from rocm_ci.setup_rocm_container import devices, place, vendor
from rocm_ci.setup_rocm_container import run as engine
from rocm_ci.setup_rocm_container.run import Request
from support.fake_node import FakeGpu, FakeNode
from support.fake_torch import fake_torch

BDFS = tuple(f"0000:{bus}5:00.0" for bus in range(8))
TOOLS = vendor.TOOLS
OUTPUTS = {"gfx", "gpu-count", "gpu-name", "rocm-version", "driver-version", "os", "torch-version"}


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path / "node", [FakeGpu(bdf) for bdf in BDFS], dev=False)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCM_PATH", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GITHUB_WORKSPACE", "GITHUB_ENV", "GITHUB_ACTIONS", "KUBERNETES_SERVICE_HOST", "RUNNER_TOOL_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def opened(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> FakeNode:
    """The machine with device nodes, all of which open: a host's folders that are mounted in a container."""
    node.folder("dev/dri")
    for name in ("kfd", *(f"dri/renderD{number}" for number in node.renders)):
        node.write(f"dev/{name}", "")
    monkeypatch.setattr(place, "_has_device_nodes", lambda _: True)
    monkeypatch.setattr(devices, "open_node", lambda _: None)
    monkeypatch.setattr(vendor, "TOOLS", ())
    return node


def call(node: FakeNode, tmp_path: Path, *options: str, **environ: str) -> tuple[Result, dict[str, Any]]:
    report = tmp_path / "report.json"
    runner_temp = tmp_path / "temp"
    args = ["setup-rocm-container", "--path-root", str(node.root), "--report", str(report), *options]
    result = CliRunner().invoke(rocm_ci.cli.main, args, env={"RUNNER_TEMP": str(runner_temp), **environ})
    return result, json.loads(report.read_text()) if report.exists() else {}


def statuses(report: dict[str, Any]) -> dict[str, str]:
    names = [check["id"] for check in report["checks"]]
    assert len(names) == len(set(names))
    assert all(set(check) == {"id", "status", "message", "fix"} for check in report["checks"])
    assert all(check["message"] for check in report["checks"])
    assert all(check["fix"] for check in report["checks"] if check["status"] in {"warn", "fail"})
    return {check["id"]: check["status"] for check in report["checks"]}


def test_a_healthy_machine_is_green_with_evidence(node: FakeNode, tmp_path: Path) -> None:
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    files = {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}
    result, report = call(node, tmp_path, "--expect-gfx", "gfx942", "--expect-gpus", "8", "--min-rocm", "6.2", **files)
    assert result.exit_code == 0, result.output
    found = statuses(report)
    assert {found[name] for name in ("gpu", "gpu-count", "gfx", "rocm", "driver", "os", "kernel", "vram")} == {"ok"}
    assert {found[name] for name in ("kfd", "render-nodes", "groups", "vendor-tools")} == {"skip"}
    assert report["executed"] == sum(status != "skip" for status in found.values())
    assert (report["driver"], report["rocm"], report["os"]) == ("6.10.5", "6.3.1", "ubuntu-22.04")
    first = report["gpus"][0]
    assert (first["index"], first["bdf"], first["gfx"], first["partition"]) == (0, BDFS[0], "gfx942", "SPX/NPS1")
    assert (first["vram_total_bytes"], first["vram_used_bytes"]) == (206141652992, 297771008)
    text = outputs.read_text()
    assert all(f"{name}<<" in text for name in OUTPUTS)
    line = next(line for line in text.splitlines() if line.startswith('{"schema"'))
    evidence = parse_evidence(line, "setup-rocm-container")
    assert (evidence.code, len(evidence.gpus), evidence.gpus[0].gfx) == (Code.PASSED, 8, "gfx942")
    assert "### ✅ setup-rocm-container" in summary.read_text()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--expect-gfx", "gfx90a"], "gfx"),
        (["--expect-gpus", "9"], "gpu-count"),
        (["--min-rocm", "6.10"], "rocm"),
        (["--partition", "cpx"], "partition"),
        (["--partition", "SPX/NPS4"], "partition"),
        (["--expect-os", "ubuntu-24.04"], "os"),
        (["--expect-kernel", "6.11"], "kernel"),
        (["--visible-devices", "0,9"], "visible-devices"),
    ],
)
def test_a_broken_promise_is_the_nodes_fault(node: FakeNode, tmp_path: Path, options: list[str], name: str) -> None:
    result, report = call(node, tmp_path, *options)
    assert result.exit_code == 3, result.output
    assert {key for key, status in statuses(report).items() if status == "fail"} == {name}
    assert report["message"].startswith(f"{name}: ")


@pytest.mark.parametrize(
    "options",
    [
        ["--expect-gfx", "gfx90a,gfx942"],
        ["--expect-gfx", "gfx942:sramecc+:xnack-"],
        ["--min-rocm", "6.3.1"],
        ["--partition", "spx"],
        ["--partition", "SPX/NPS1"],
        ["--expect-os", "Ubuntu 22.04 LTS"],
        ["--expect-kernel", "6.8.0-40"],
        ["--expect-gpus", "2", "--visible-devices", "1,0"],
    ],
)
def test_a_promise_that_is_kept(node: FakeNode, tmp_path: Path, options: list[str]) -> None:
    result, _ = call(node, tmp_path, *options)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "options",
    [
        ["--expect-gfx", "mi300x"],
        ["--min-rocm", "newest"],
        ["--partition", "whole"],
        ["--python", "/nonexistent/python"],
        ["--requirements", "/nonexistent/requirements.txt"],
        ["--path-root", "/nonexistent"],
        ["--expect-gpus", "0"],
    ],
)
def test_wrong_use(node: FakeNode, tmp_path: Path, options: list[str]) -> None:
    result, _ = call(node, tmp_path, *options)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


def no_gpu(result: Result, report: dict[str, Any]) -> str:
    assert result.exit_code == 3, result.output
    assert (report["gpus"], statuses(report)) == ([], {"gpu": "fail"})
    assert f"infra: {report['message']}" in result.output
    return str(report["message"])


def test_a_machine_without_any_gpu_says_one_sentence_and_what_to_do(tmp_path: Path) -> None:
    message = no_gpu(*call(FakeNode(tmp_path / "node", module=None, initstate=None), tmp_path))
    assert message.startswith("no AMD GPU was found")


def test_an_old_radeon_and_a_card_without_kfd(tmp_path: Path) -> None:
    radeon = FakeNode(tmp_path / "a", [FakeGpu("0000:01:00.0", 0x6818, driver="radeon", kfd=False)], dev=False)
    assert "its driver is radeon" in no_gpu(*call(radeon, tmp_path))
    bare = FakeNode(tmp_path / "b", [FakeGpu("0000:01:00.0", kfd=False)], dev=False)
    assert "no KFD" in no_gpu(*call(bare, tmp_path))


def test_an_old_kernel_without_gfx_targets(tmp_path: Path) -> None:
    node = FakeNode(
        tmp_path / "node", [FakeGpu("0000:19:00.0", 0x6860, target=None, compute=None, memory=None)], dev=False
    )
    result, report = call(node, tmp_path)
    assert (result.exit_code, statuses(report)["gfx"]) == (0, "warn")
    assert report["gpus"][0]["gfx"] is None
    assert report["gpus"][0]["unknown"]["gfx"]
    result, report = call(node, tmp_path, "--expect-gfx", "gfx900")
    assert (result.exit_code, statuses(report)["gfx"]) == (3, "fail")


def test_partitions_count_as_gpus(tmp_path: Path) -> None:
    gpus = [FakeGpu(bdf, parts=8, compute="CPX", memory="NPS4") for bdf in BDFS]
    node = FakeNode(tmp_path / "node", gpus, dev=False)
    result, report = call(node, tmp_path, "--expect-gpus", "64", "--partition", "CPX/NPS4")
    assert result.exit_code == 0, result.output
    assert (report["gpus"][9]["partition"], report["gpus"][9]["partition_number"]) == ("CPX/NPS4", 1)
    result, report = call(node, tmp_path, "--partition", "spx")
    assert "is in CPX, SPX was promised" in report["message"]


# --- device nodes ---------------------------------------------------------------------------------------------------


def test_on_a_host_that_is_mounted_elsewhere_devices_are_opened(opened: FakeNode, tmp_path: Path) -> None:
    result, report = call(opened, tmp_path)
    found = statuses(report)
    assert (found["kfd"], found["render-nodes"]) == ("ok", "ok"), result.output


def test_a_denied_device_is_red_with_the_group(
    opened: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = opened

    def denied(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(devices.Credentials, "of_this_process", classmethod(lambda cls: cls(1000, frozenset({1000}))))
    request = Request(path_root=node.root)
    report = tmp_path / "report.json"
    code = run_stage(
        "setup-rocm-container",
        lambda context: engine.run(request, context, denied),
        report=report,
        environ={"RUNNER_TEMP": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    data = json.loads(report.read_text())
    assert statuses(data)["groups"] == "warn"
    assert (code, data["message"].startswith("kfd: permission denied")) == (3, True)


def test_gpus_that_are_not_mapped_into_the_container(opened: FakeNode, tmp_path: Path) -> None:
    node = opened
    (node.root / "dev/kfd").unlink()
    result, report = call(node, tmp_path)
    assert (result.exit_code, report["message"].startswith("kfd: ")) == (3, True), result.output
    assert "does not exist" in report["message"]


def test_only_two_of_eight_are_mapped(opened: FakeNode, tmp_path: Path) -> None:
    node = opened
    for number in node.renders[2:]:
        (node.root / f"dev/dri/renderD{number}").unlink()
    result, report = call(node, tmp_path, "--expect-gpus", "2")
    assert result.exit_code == 0, result.output
    assert [gpu["bdf"] for gpu in report["gpus"]] == list(BDFS[:2])
    result, report = call(node, tmp_path, "--expect-gpus", "8")
    assert result.exit_code == 3
    assert "6 more are hidden from this container" in report["message"]


# --- memory ---------------------------------------------------------------------------------------------------------


def vram(report: dict[str, Any]) -> tuple[str, str, str]:
    row = next(check for check in report["checks"] if check["id"] == "vram")
    return row["status"], row["message"], row["fix"]


def test_memory_with_an_owner_is_named_and_nobody_is_ended(node: FakeNode, tmp_path: Path) -> None:
    node.use(BDFS[3], 40 << 30)
    node.process(4242, {3: 39 << 30}, name="vllm", uid=1001)
    result, report = call(node, tmp_path)
    status, message, fix = vram(report)
    assert (result.exit_code, status) == (3, "fail")
    assert f"in use on {BDFS[3]} before the job; held by process 4242 vllm (uid 1001, 39 GiB" in message
    assert "kill -INT 4242   # only what is yours" in fix


def test_memory_of_nobody_needs_a_reset(opened: FakeNode, tmp_path: Path) -> None:
    node = opened
    node.use(BDFS[0], 46 << 30)
    node.link("proc/self/ns/pid", "pid:[4026531836]")
    result, report = call(node, tmp_path)
    status, message, fix = vram(report)
    assert (result.exit_code, status) == (3, "fail")
    assert "unowned: no process holds it, so the node needs a reset" in message
    assert "--gpureset" in fix


def test_a_little_memory_is_a_warning(node: FakeNode, tmp_path: Path) -> None:
    node.use(BDFS[0], 4 << 30)
    result, report = call(node, tmp_path)
    assert (result.exit_code, vram(report)[0]) == (0, "warn")


def test_memory_of_a_gpu_that_is_not_ours_does_not_count(node: FakeNode, tmp_path: Path) -> None:
    node.use(BDFS[3], 40 << 30)
    result, _ = call(node, tmp_path, "--visible-devices", "0,1")
    assert result.exit_code == 0, result.output


# --- the job's Python -----------------------------------------------------------------------------------------------


def test_torch_is_asked_in_the_jobs_interpreter(opened: FakeNode, tmp_path: Path) -> None:
    site = fake_torch(tmp_path / "site")
    result, report = call(opened, tmp_path, "--python", sys.executable, PYTHONPATH=str(site))
    found = statuses(report)
    assert [found[name] for name in ("torch", "torch-gpu", "torch-gfx")] == ["ok", "ok", "ok"], result.output
    assert report["torch"] == {"version": "2.6.0+rocm6.3", "hip": "6.3.42131-fa1d09cbd"}


def test_a_cuda_wheel_over_the_images_torch_is_red(opened: FakeNode, tmp_path: Path) -> None:
    site = fake_torch(tmp_path / "site", version="2.6.0+cu124", hip=None, cuda="12.4")
    result, report = call(opened, tmp_path, "--python", sys.executable, PYTHONPATH=str(site))
    assert (result.exit_code, report["message"].startswith("torch: PyTorch 2.6.0+cu124")) == (3, True)


def test_requirements_that_are_not_pinned_are_the_repositorys_fault(node: FakeNode, tmp_path: Path) -> None:
    file = tmp_path / "requirements-rocm.txt"
    file.write_text("numpy\n")
    result, report = call(node, tmp_path, "--requirements", str(file))
    found = statuses(report)
    assert (result.exit_code, found["requirements"], found["install"]) == (1, "fail", "skip"), result.output


def test_nothing_is_installed_on_a_broken_node(node: FakeNode, tmp_path: Path) -> None:
    file = tmp_path / "requirements-rocm.txt"
    file.write_text("no-such-package==1\n")
    result, report = call(node, tmp_path, "--requirements", str(file), "--expect-gfx", "gfx90a")
    assert (result.exit_code, statuses(report)["install"]) == (3, "skip")
    assert "the node is not fit" in result.output


# --- variables ------------------------------------------------------------------------------------------------------


def test_variables_reach_the_steps_that_follow(node: FakeNode, tmp_path: Path) -> None:
    env, cache = tmp_path / "env", tmp_path / "cache"
    given_by_user = {"HF_HOME": str(tmp_path / "mine"), "RUNNER_TOOL_CACHE": str(cache), "GITHUB_ENV": str(env)}
    result, report = call(node, tmp_path, "--visible-devices", "0,1", **given_by_user)
    assert result.exit_code == 0, result.output
    lines = env.read_text().splitlines()
    values = {line.partition("<<")[0]: lines[i + 1] for i, line in enumerate(lines) if "<<" in line}
    assert values == report["exports"]
    assert (values["PYTORCH_ROCM_ARCH"], values["HIP_VISIBLE_DEVICES"]) == ("gfx942", "0,1")
    assert "HF_HOME" not in values
    for name in ("TRITON_CACHE_DIR", "AITER_JIT_DIR", "MIOPEN_USER_DB_PATH", "MIOPEN_CUSTOM_CACHE_DIR"):
        assert Path(values[name]).is_dir()
        assert values[name].startswith(str(cache))
    assert "export " not in result.output


def test_elsewhere_they_are_printed_for_a_shell(node: FakeNode, tmp_path: Path) -> None:
    result, _ = call(node, tmp_path, "--visible-devices", "1")
    assert "\nexport PYTORCH_ROCM_ARCH=gfx942\nexport HIP_VISIBLE_DEVICES=1\n" in result.output


def test_a_red_check_sets_nothing(node: FakeNode, tmp_path: Path) -> None:
    env = tmp_path / "env"
    call(node, tmp_path, "--expect-gfx", "gfx90a", GITHUB_ENV=str(env))
    assert not env.exists()


def test_a_cache_that_cannot_be_made_is_left_out(node: FakeNode, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    result, report = call(node, tmp_path, RUNNER_TOOL_CACHE=str(tmp_path / "cache"))
    assert (result.exit_code, statuses(report)["caches"]) == (0, "warn")
    assert not [name for name in report["exports"] if name.startswith(("TRITON", "MIOPEN", "AITER"))]


# --- isolation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "exit_code"),
    [
        ({"ROCR_VISIBLE_DEVICES": "0,1"}, 0),
        ({"HIP_VISIBLE_DEVICES": "7"}, 0),
        ({"ROCR_VISIBLE_DEVICES": "0,1", "HIP_VISIBLE_DEVICES": "0,1"}, 3),
        ({"HIP_VISIBLE_DEVICES": "8"}, 3),
        ({"ROCR_VISIBLE_DEVICES": "GPU-0000000000001002"}, 0),
        ({"ROCR_VISIBLE_DEVICES": "GPU-00000000000fffff"}, 3),
    ],
)
def test_visibility_variables(node: FakeNode, tmp_path: Path, environ: dict[str, str], exit_code: int) -> None:
    result, _ = call(node, tmp_path, **environ)
    assert result.exit_code == exit_code, result.output


@pytest.mark.parametrize(
    ("name", "text", "environ", "status"),
    [
        ("gha-render-devices", "--device /dev/dri/renderD128", {"HIP_VISIBLE_DEVICES": "0"}, "ok"),
        ("gha-render-devices", "--device /dev/dri/renderD128", {}, "warn"),
        ("gha-render-devices", "--device /dev/dri/renderD999", {}, "fail"),
        ("gha-render-devices", "", {}, "warn"),
        ("gha-gpu-isolation-settings", "ROCR_VISIBLE_DEVICES=0,1", {"ROCR_VISIBLE_DEVICES": "0,1"}, "ok"),
        ("gha-gpu-isolation-settings", "ROCR_VISIBLE_DEVICES=0,1", {}, "warn"),
    ],
)
def test_what_a_pod_was_given(
    node: FakeNode, tmp_path: Path, name: str, text: str, environ: dict[str, str], status: str
) -> None:
    node.write(f"etc/podinfo/{name}", text)
    _, report = call(node, tmp_path, **environ)
    assert statuses(report)["podinfo"] == status


def test_an_override_of_the_target_is_a_warning(node: FakeNode, tmp_path: Path) -> None:
    _, report = call(node, tmp_path, HSA_OVERRIDE_GFX_VERSION="9.0.0")
    assert statuses(report)["gfx-override"] == "warn"


# --- driver and tools -----------------------------------------------------------------------------------------------


def test_a_driver_that_is_too_old_for_the_container(tmp_path: Path) -> None:
    node = FakeNode(tmp_path / "node", [FakeGpu(BDFS[0])], dev=False, module="5.18.13", rocm="6.3.1")
    result, report = call(node, tmp_path)
    assert (result.exit_code, statuses(report)["driver-rocm"]) == (3, "fail"), result.output


def test_a_driver_that_is_going_away(tmp_path: Path) -> None:
    node = FakeNode(tmp_path / "node", [FakeGpu(BDFS[0])], dev=False, initstate="going")
    result, report = call(node, tmp_path)
    assert (result.exit_code, statuses(report)["driver"]) == (3, "fail"), result.output


def test_vendor_tools_are_a_cross_check_with_a_time_limit(
    opened: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vendor, "TIME_LIMIT", 1.0)
    monkeypatch.setattr(vendor, "TOOLS", TOOLS)
    agent = "*******\\nAgent 1\\n*******\\n  Name:  gfx942\\n  Device Type:  GPU\\n"
    programs = {"rocminfo": f"printf '{agent}'", "amd-smi": "exec sleep 600", "rocm-smi": "echo nonsense"}
    for name, text in programs.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    result, report = call(opened, tmp_path, PATH=path)
    row = next(check for check in report["checks"] if check["id"] == "vendor-tools")
    assert row["status"] == "warn"
    assert "rocminfo lists 1 GPUs, the kernel 8" in row["message"]
    assert "amd-smi: it did not answer within 1 s" in row["message"]
    assert result.exit_code == 0, result.output


# --- robustness -----------------------------------------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_the_files_are_no_traceback(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    node = FakeNode(folder / "node", [FakeGpu(bdf) for bdf in BDFS[:2]], dev=False)
    node.process(77, {0: 1 << 30})
    node.write("etc/podinfo/gha-render-devices", "--device /dev/dri/renderD128")
    files = sorted(path for path in node.root.rglob("*") if path.is_file() and not path.is_symlink())
    for path in data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=6)):
        path.write_bytes(data.draw(st.binary(max_size=64)))
    # Without an interpreter: what the files say does not change what it says.
    result, report = call(node, folder, "--expect-gfx", "gfx942", PATH="/nonexistent")
    assert result.exit_code in {0, 3}, result.output
    assert "Traceback" not in result.output
    assert "internal_error" not in report


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no system Python")
def test_it_runs_without_torch_in_a_python_of_its_own(node: FakeNode, tmp_path: Path) -> None:
    program = "import sys; from rocm_ci.cli import main; main()"
    command = [sys.executable, "-c", program, "setup-rocm-container", "--path-root", str(node.root)]
    environ = {
        "PATH": "/usr/bin:/bin",
        "RUNNER_TEMP": str(tmp_path),
        # Not the standard library: /usr/bin/python3, which is asked for PyTorch, may be of another version.
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p and not p.startswith(sys.base_prefix)),
    }
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + shlex.join(command)


@pytest.mark.parametrize(
    "options",
    [["--visible-devices", "0-3"], ["--visible-devices", "1,1"], ["--min-rocm", "6,2"], ["--min-rocm", "6.x"]],
)
def test_a_malformed_value_is_wrong_use(tmp_path: Path, options: list[str]) -> None:
    result, _ = call(FakeNode(tmp_path / "node", [FakeGpu("0000:05:00.0")]), tmp_path, *options)
    assert result.exit_code == 2
    assert options[0] in result.output
