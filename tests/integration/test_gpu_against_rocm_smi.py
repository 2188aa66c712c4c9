"""The same made-up /sys, read by this project and by Debian's rocm-smi, which sees it in a mount namespace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_ci.gpu import Tree, discover, kfd
from rocm_ci.gpu.tools import rocm_smi
from support.fake_node import KFD, FakeGpu, FakeNode

# rocm-smi is a script of Debian's own Python; another python3 that comes first in PATH may lack what it needs.
PYTHON = "/usr/bin/python3"
SEE = 'mount -t tmpfs none /sys && cp -a "$0/sys/." /sys/ && exec "$@"'
IO_LINK = "type 2\nversion_major 0\nnode_from {number}\nnode_to 0\nweight 20\nmin_bandwidth 0\nmax_bandwidth 0"


@pytest.fixture(scope="module")
def program() -> str:
    found = shutil.which("rocm-smi")
    if not found or not Path(PYTHON).exists():
        pytest.skip("rocm-smi is not installed (Debian: rocm-smi)")
    try:
        allowed = subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/sys"], capture_output=True, check=False
        )
    except OSError:
        pytest.skip("unshare is not installed (util-linux)")
    if allowed.returncode:
        pytest.skip("this user may not mount in a namespace of its own")
    return found


def with_what_rocm_smi_needs(fake: FakeNode) -> FakeNode:
    """rocm-smi 5 gives up on a topology without links between nodes, and on cards without sensors."""
    for number in range(len(fake.gpu_ids) + 1):
        fake.write(f"{KFD}/topology/nodes/{number}/io_links/0/properties", IO_LINK.format(number=number))
    for number, gpu in enumerate(fake.gpus):
        folder = f"{fake.device(gpu.bdf)}/hwmon/hwmon{number}"
        fake.write(f"{folder}/name", "amdgpu")
        fake.write(f"{folder}/in0_label", "vddgfx")
        fake.write(f"{folder}/in0_input", "800")
        fake.write(f"{folder}/temp1_label", "edge")
        fake.write(f"{folder}/temp1_input", "40000")
    return fake


def ask(program: str, fake: FakeNode, *options: str) -> str:
    command = ["unshare", "-m", "sh", "-c", SEE, str(fake.root), PYTHON, program, *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip(), done.stderr
    json.loads(done.stdout.strip().splitlines()[-1])
    return done.stdout


def cards_of(program: str, fake: FakeNode, *options: str) -> tuple[rocm_smi.RocmSmiCard, ...]:
    cards = rocm_smi.parse_cards(ask(program, fake, *options))
    assert isinstance(cards, tuple), cards
    return cards


def test_memory_of_eight_cards(tmp_path: Path, program: str) -> None:
    gpus = [FakeGpu(f"0000:{bus:02x}:00.0", used=297771008 + bus) for bus in range(5, 0x85, 0x10)]
    fake = with_what_rocm_smi_needs(FakeNode(tmp_path, gpus))
    cards = cards_of(program, fake, "--showmeminfo", "vram", "--showuniqueid")
    ours = discover(fake.root).gpus
    assert [(card.vram_total_bytes, card.vram_used_bytes, card.unique_id) for card in cards] == [
        (gpu.vram_total_bytes, gpu.vram_used_bytes, gpu.unique_id) for gpu in ours
    ]
    assert len(ours) == 8


def test_addresses(tmp_path: Path, program: str) -> None:
    fake = with_what_rocm_smi_needs(FakeNode(tmp_path, [FakeGpu("0000:05:00.0"), FakeGpu("0000:c1:00.0")]))
    cards = cards_of(program, fake, "--showbus")
    assert [card.bdf for card in cards] == [gpu.bdf for gpu in discover(fake.root).gpus]


def test_processes(tmp_path: Path, program: str) -> None:
    fake = with_what_rocm_smi_needs(FakeNode(tmp_path, [FakeGpu("0000:05:00.0"), FakeGpu("0000:15:00.0")]))
    fake.process(4242, {0: 5 << 30, 1: 3 << 30})
    fake.write(f"{KFD}/proc/4242/pasid", "32770")
    fake.folder(f"{KFD}/proc/4242/queues")
    for gpu_id in fake.gpu_ids:
        fake.write(f"{KFD}/proc/4242/sdma_{gpu_id}", "0")
    theirs = rocm_smi.parse_processes(ask(program, fake, "--showpids"))
    ours = kfd.read_processes(Tree(fake.root))
    assert isinstance(ours, tuple)
    assert theirs == {
        process.pid: sum(held for held in process.vram.values() if isinstance(held, int)) for process in ours
    }
    assert theirs == {4242: 8 << 30}


def test_a_partitioned_socket_misleads_rocm_smi_and_not_us(tmp_path: Path, program: str) -> None:
    fake = with_what_rocm_smi_needs(FakeNode(tmp_path, [FakeGpu("0000:05:00.0", parts=8, compute="CPX")]))
    cards = cards_of(program, fake, "--showmeminfo", "vram")
    node = discover(fake.root)
    assert {card.vram_total_bytes for card in cards} == {node.sockets[0].vram_total_bytes}
    assert {gpu.vram_total_bytes for gpu in node.gpus} == {(node.sockets[0].vram_total_bytes or 0) // 8}


def test_the_real_root_is_read_as_any_other(tmp_path: Path, program: str) -> None:
    """Below `/` links are left to the kernel; below a folder they are followed by hand."""
    fake = FakeNode(tmp_path, [FakeGpu("0000:05:00.0", parts=4, compute="QPX"), FakeGpu("0000:c1:00.0", used=7)])
    fake.process(4242, {1: 1 << 30})
    fake.write("sys/devices/platform/amdgpu_xcp_0/uevent", "DRIVER=amdgpu_xcp\nMODALIAS=platform:amdgpu_xcp")
    fake.link("sys/devices/platform/amdgpu_xcp_0/drm/card9/device", "../../../amdgpu_xcp_0")
    fake.link("sys/class/drm/card9", "../../devices/platform/amdgpu_xcp_0/drm/card9")
    code = (
        "from rocm_ci.gpu import discover, VramSampler\n"
        "node = discover()\n"
        "print([(gpu.key, gpu.gfx, gpu.vram_total_bytes, gpu.vram_used_bytes) for gpu in node.gpus])\n"
        "print(VramSampler.of(node).read(), len(node.others))\n"
    )
    source = Path(__file__).resolve().parents[2] / "actions"
    command = ["unshare", "-m", "sh", "-c", SEE, str(fake.root), sys.executable, "-c", code]
    environ = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environ)
    node = discover(fake.root)
    ours = [(gpu.key, gpu.gfx, gpu.vram_total_bytes, gpu.vram_used_bytes) for gpu in node.gpus]
    assert len(ours) == 5
    assert node.others == ()
    assert done.stdout.splitlines() == [str(ours), "[297771008, 7] 0"]
