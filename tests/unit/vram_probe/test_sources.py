"""What is read on machines of every kind, and by torch."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from rocm_ci.runner.errors import InfraError
from rocm_ci.vram_probe import opening
from rocm_ci.vram_probe.amdgpu_source import AmdgpuSource
from rocm_ci.vram_probe.request import Request
from rocm_ci.vram_probe.torch_source import TorchSource
from support.fake_node import FakeGpu, FakeNode

GIB = 1 << 30


def test_64_partitions_are_watched_as_8_cards(tmp_path: Path) -> None:
    gpus = [FakeGpu(f"0000:{bus:02x}:00.0", parts=8, compute="CPX", used=bus * GIB) for bus in range(1, 9)]
    node = FakeNode(tmp_path, gpus)
    node.process(77, {0: GIB, 1: GIB, 63: 2 * GIB})
    source = AmdgpuSource(node.root, {})
    assert list(source.read()) == [bus * GIB for bus in range(1, 9)]
    assert {device.partition for device in source.devices} == {"cpx/nps1, 8 of 8"}
    assert source.devices[0].capacity_bytes == 206141652992
    assert "whole card" in source.note
    holders, note = source.holders()
    assert [(each.device, each.pid, each.bytes) for each in holders] == [(0, 77, 2 * GIB), (7, 77, 2 * GIB)]
    assert note == ""
    source.close()


def test_an_apu_is_watched_by_the_pool_that_programs_get(tmp_path: Path) -> None:
    gpu = FakeGpu(
        "0000:c1:00.0",
        device=0x1586,
        target=110501,
        total=GIB // 2,
        used=300 << 20,
        gtt_total=64 * GIB,
        gtt_used=3 * GIB,
        kfd_total=64 * GIB,
        compute=None,
        memory=None,
    )
    source = AmdgpuSource(FakeNode(tmp_path, [gpu]).root, {})
    assert list(source.read()) == [3 * GIB]
    assert source.devices[0].capacity_bytes == 64 * GIB
    source.close()


def test_only_the_gpus_that_the_command_may_use(tmp_path: Path) -> None:
    node = FakeNode(tmp_path, [FakeGpu(f"0000:0{bus}:00.0") for bus in (3, 4, 5)])
    source = AmdgpuSource(node.root, {"HIP_VISIBLE_DEVICES": "1"})
    assert [device.bdf for device in source.devices] == ["0000:04:00.0"]
    source.close()
    for number in (128, 130):
        (node.root / f"dev/dri/renderD{number}").unlink()
    source = AmdgpuSource(node.root, {})
    assert [device.bdf for device in source.devices] == ["0000:04:00.0"]
    source.close()
    (node.root / "dev/kfd").unlink()
    with pytest.raises(InfraError, match="there is no /dev/kfd"):
        AmdgpuSource(node.root, {})


def test_each_client_of_fdinfo_is_counted_once(tmp_path: Path) -> None:
    node = FakeNode(tmp_path, [FakeGpu("0000:05:00.0")])
    node.process(10, {0: GIB})
    node.process(11, {0: 0})
    text = "drm-driver:\tamdgpu\ndrm-client-id:\t{0}\ndrm-pdev:\t0000:05:00.0\ndrm-memory-vram:\t{1} KiB"
    for pid, descriptor, client, kib in (
        (10, 2, 5, 3 << 20),
        (10, 3, 5, 3 << 20),
        (11, 2, 5, 3 << 20),
        (11, 3, 6, 2048),
    ):
        node.write(f"proc/{pid}/fdinfo/{descriptor}", text.format(client, kib))
    source = AmdgpuSource(node.root, {})
    holders, _ = source.holders()
    # KFD's figure and that of fdinfo are of the same memory: the higher one counts.
    assert {each.pid: each.bytes for each in holders} == {10: 3 * GIB, 11: 2 << 20}
    source.close()


def test_a_counter_that_nobody_may_read(tmp_path: Path) -> None:
    node = FakeNode(tmp_path, [FakeGpu("0000:05:00.0")])
    (node.root / node.device("0000:05:00.0") / "mem_info_vram_used").unlink()
    with pytest.raises(InfraError, match="cannot be read"):
        AmdgpuSource(node.root, {})


# --- torch ----------------------------------------------------------------------------------------------------------

TORCH = """
import os, types
__version__ = "2.9.0"
version = types.SimpleNamespace(hip=None)
class _Cuda:
    def is_available(self): return os.environ.get("FAKE_GPUS", "2") != "0"
    def device_count(self): return int(os.environ.get("FAKE_GPUS", "2"))
    def get_device_properties(self, index):
        return types.SimpleNamespace(name="Stand-in", pci_bus_id=16 + index, pci_device_id=0, pci_domain_id=0)
    def mem_get_info(self, index):
        used = int(open(os.environ["FAKE_USED"]).read())
        if used < 0: raise RuntimeError("CUDA error: the GPU fell off the bus\\nmore")
        return (100 * 2**30 - used, 100 * 2**30)
cuda = _Cuda()
if os.environ.get("FAKE_HANG"):
    import time; time.sleep(600)
"""


@pytest.fixture
def torch(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "site" / "torch").mkdir(parents=True)
    (tmp_path / "site" / "torch" / "__init__.py").write_text(TORCH)
    (tmp_path / "used").write_text("500")
    return {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "FAKE_USED": str(tmp_path / "used")}


def test_torch_in_the_users_interpreter(torch: dict[str, str], tmp_path: Path) -> None:
    source = TorchSource(sys.executable, torch)
    assert list(source.read()) == [500, 500]
    (tmp_path / "used").write_text("700")
    assert list(source.read()) == [700, 700]
    first = source.devices[0]
    assert (first.bdf, first.gfx, first.product) == ("0000:10:00.0", None, "Stand-in")
    assert first.capacity_bytes == 100 * GIB
    assert "no ROCm GPU" in first.unknown["gfx"]
    process = source._process
    source.close()
    assert process.returncode == 0


def test_a_gpu_that_torch_loses(torch: dict[str, str], tmp_path: Path) -> None:
    source = TorchSource(sys.executable, torch)
    (tmp_path / "used").write_text("-1")
    assert list(source.read()) == [None, None]
    assert source.lost[0] == "RuntimeError: CUDA error: the GPU fell off the bus"
    source.close()


def test_a_torch_that_is_killed_or_hangs_is_a_lost_gpu(torch: dict[str, str]) -> None:
    source = TorchSource(sys.executable, torch, answer_limit=0.3)
    source._process.send_signal(19)
    assert list(source.read()) == [None, None]
    assert "the driver hangs" in source.lost[0]
    source._process.kill()
    source.close()
    source = TorchSource(sys.executable, torch)
    source._process.kill()
    assert list(source.read()) == [None, None]
    assert "ended" in source.lost[1]
    source.close()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"FAKE_GPUS": "0"}, "torch 2.9.0 sees no GPU"),
        ({"PYTHONPATH": ""}, "No module named 'torch'"),
        ({"FAKE_HANG": "1"}, "did not open the GPUs within 1 s"),
    ],
)
def test_why_torch_shows_no_gpu(torch: dict[str, str], changes: dict[str, str], why: str) -> None:
    begun = time.monotonic()
    with pytest.raises(InfraError, match=why):
        TorchSource(sys.executable, {**torch, **changes}, start_limit=1.0 if "FAKE_HANG" in changes else 30.0)
    assert time.monotonic() - begun < 60


def test_no_interpreter() -> None:
    with pytest.raises(InfraError, match="cannot be run"):
        TorchSource("/no/python", {})


def test_torch_is_taken_where_there_is_no_amdgpu(torch: dict[str, str], tmp_path: Path) -> None:
    if Path("/sys/class/kfd").exists():
        pytest.skip("this machine has amdgpu")
    with opening.opened(Request(python=sys.executable), torch) as source:
        assert source.name == "torch"
    # Never for a recorded machine: torch would tell of this one.
    with (
        pytest.raises(InfraError, match="there is no AMD GPU below"),
        opening.opened(Request(python=sys.executable, path_root=tmp_path), torch),
    ):
        pass
    with (
        pytest.raises(InfraError, match="there is no AMD GPU"),
        opening.opened(Request(source="amdgpu", python=sys.executable), torch),
    ):
        pass
    both = Request(python=sys.executable)
    with (
        pytest.raises(InfraError, match=r"no AMD GPU.*sees no GPU"),
        opening.opened(both, {**torch, "FAKE_GPUS": "0"}),
    ):
        pass
