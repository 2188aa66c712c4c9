"""What is made of a node's files: which GPUs there are, and which figure is the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_ci.gpu import Gpu, Node, discover
from support.fake_node import KFD, MI300X_TOTAL, FakeGpu, FakeNode

A, B = "0000:05:00.0", "0000:15:00.0"
STRIX = FakeGpu(
    "0000:c1:00.0",
    device=0x150E,
    target=110500,
    total=512 << 20,
    used=490 << 20,
    gtt_total=16441004032,
    gtt_used=3946811392,
    compute=None,
    memory=None,
    kfd_total=16441004032,
)


def only(node: Node) -> Gpu:
    assert len(node.gpus) == 1, node
    return node.gpus[0]


def test_a_plain_card(tmp_path: Path) -> None:
    node = discover(FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B, used=5)]).root)
    first, second = node.gpus
    assert (first.index, first.key, first.bdf, first.gfx, first.product) == (0, A, A, "gfx942", "AMD Instinct MI300X")
    assert (first.vram_total_bytes, first.vram_used_bytes) == (MI300X_TOTAL, 297771008)
    assert (first.vram_total_source, first.vram_used_source, first.vram_used_scope) == ("sysfs", "sysfs vram", "device")
    assert (first.render_node, first.kfd_gpu_id, first.kfd_node) == ("/dev/dri/renderD128", 10001, 1)
    assert (first.unique_id, first.pci_device, first.pci_revision) == ("0000000000001000", "0x74a1", "0x00")
    assert (first.apu, first.visible, first.hidden_reason, first.selected) == (False, True, "", True)
    assert str(first.partition) == "spx/nps1"
    assert not first.partition.is_part
    assert first.unknown == {}
    assert second.vram_used_bytes == 5
    assert [socket.bdf for socket in node.sockets] == [A, B]
    assert str(node.driver) == "amdgpu 6.10.5 (dkms)"
    assert (node.others, node.notes, node.kfd_problem) == ((), (), "")


def test_cpus_connectors_and_cards_of_others_are_no_gpus(tmp_path: Path) -> None:
    node = discover(
        FakeNode(
            tmp_path,
            [
                FakeGpu("0000:01:00.0", device=0x6818, driver="radeon", kfd=False),
                FakeGpu(A),
                FakeGpu("0000:02:00.0", vendor=0x1A03, device=0x2000, driver="ast", kfd=False),
                FakeGpu("0000:03:00.0", device=0x6617, kfd=False),
            ],
        ).root
    )
    assert only(node).bdf == A
    reasons = {card.bdf: card.reason for card in node.others}
    assert "radeon" in reasons["0000:01:00.0"]
    assert "not AMD's" in reasons["0000:02:00.0"]
    assert "KFD has no node" in reasons["0000:03:00.0"]
    assert {card.pci_id for card in node.others} == {"1002:6818", "1a03:2000", "1002:6617"}


@pytest.mark.parametrize(("parts", "compute"), [(2, "DPX"), (4, "QPX"), (8, "CPX")])
def test_partitions_have_their_own_total_and_no_counter(tmp_path: Path, parts: int, compute: str) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A, parts=parts, compute=compute), FakeGpu(B)])
    fake.process(77, {1: 3 << 30})
    fake.process(78, {0: 1 << 20, 1: 1})
    node = discover(fake.root)
    assert len(node.gpus) == parts + 1
    part = node.gpus[1]
    assert (part.bdf, part.key, part.partition.number, part.partition.of) == (A, f"{A}/1", 1, parts)
    assert (part.partition.compute, part.partition.memory) == (compute.lower(), "nps1")
    assert part.vram_total_bytes == MI300X_TOTAL // parts
    assert (part.vram_used_bytes, part.vram_used_source) == ((3 << 30) + 1, "kfd processes")
    assert part.vram_used_scope == "processes"
    assert part.render_node == "/dev/dri/renderD129"
    socket = node.sockets[0]
    assert (socket.bdf, socket.gpus, socket.vram_total_bytes) == (A, tuple(range(parts)), MI300X_TOTAL)
    assert socket.vram_used_bytes == 297771008
    assert len({gpu.key for gpu in node.gpus}) == parts + 1


def test_64_partitions_in_a_domain_of_their_own(tmp_path: Path) -> None:
    gpus = [FakeGpu(f"{domain:04x}:0b:00.0", parts=8, compute="CPX") for domain in range(8)]
    node = discover(FakeNode(tmp_path, gpus).root)
    assert (len(node.gpus), len(node.sockets)) == (64, 8)
    assert len({gpu.key for gpu in node.gpus}) == 64
    assert {gpu.vram_total_bytes for gpu in node.gpus} == {25767706624}
    assert sum(gpu.vram_total_bytes or 0 for gpu in node.gpus) == sum(s.vram_total_bytes or 0 for s in node.sockets)


def test_a_partition_without_kfds_list_of_processes_has_no_use(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A, parts=8, compute="CPX", kfd_used=2907979776)])
    (tmp_path / KFD / "proc").rmdir()
    part = discover(fake.root).gpus[3]
    assert part.vram_used_bytes is None
    assert "kfd/proc" in part.unknown["vram_used_bytes"]


def test_an_apu_has_the_hosts_memory(tmp_path: Path) -> None:
    gpu = only(discover(FakeNode(tmp_path, [STRIX]).root))
    assert (gpu.apu, gpu.gfx) == (True, "gfx1150")
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes) == (16441004032, 3946811392)
    assert (gpu.vram_total_source, gpu.vram_used_source) == ("kfd", "sysfs gtt")


def test_an_apu_without_kfd_has_no_total(tmp_path: Path) -> None:
    gpu = only(discover(FakeNode(tmp_path, [FakeGpu("0000:c1:00.0", device=0x150E, total=512 << 20, kfd=False)]).root))
    assert (gpu.apu, gpu.vram_total_bytes, gpu.vram_used_bytes) == (True, None, None)
    assert "firmware set aside" in gpu.unknown["vram_total_bytes"]
    assert gpu.visible is False
    assert "KFD" in gpu.hidden_reason


def test_mi300a_counts_its_use_as_gtt(tmp_path: Path) -> None:
    gpu = FakeGpu(A, device=0x74A0, total=128 << 30, used=0, gtt_total=120 << 30, gtt_used=7 << 30, kfd_total=128 << 30)
    found = only(discover(FakeNode(tmp_path, [gpu]).root))
    assert (found.apu, found.vram_total_bytes, found.vram_used_bytes) == (True, 128 << 30, 7 << 30)
    assert found.vram_used_source == "sysfs gtt"


def test_an_old_kernel_has_no_gfx_and_no_counter_in_sysfs(tmp_path: Path) -> None:
    fake = FakeNode(
        tmp_path, [FakeGpu("0000:19:00.0", device=0x6860, target=None, total=17163091968, kfd_used=14102528)]
    )
    for name in ("total", "used"):
        (tmp_path / fake.device("0000:19:00.0") / f"mem_info_vram_{name}").unlink()
    gpu = only(discover(fake.root))
    assert gpu.gfx is None
    assert "old kernel" in gpu.unknown["gfx"]
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes, gpu.vram_used_source) == (17163091968, 14102528, "kfd")


@pytest.mark.parametrize("content", ["", "N/A", "\0\0\0\0", "-1", "1e9", "12 34", "9" * 30, "0x10", "1" * 70000])
def test_a_file_without_a_number_is_unknown_and_never_zero(tmp_path: Path, content: str) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    fake.write(f"{fake.device(A)}/mem_info_vram_used", content)
    gpu = only(discover(fake.root))
    assert gpu.vram_used_bytes is None
    assert "mem_info_vram_used" in gpu.unknown["vram_used_bytes"]
    assert gpu.vram_total_bytes == MI300X_TOTAL


def test_a_number_padded_with_nul_is_a_number(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A)])
    (tmp_path / fake.device(A) / "mem_info_vram_used").write_bytes(b"4096\n\0\0\0")
    assert only(discover(fake.root)).vram_used_bytes == 4096


def test_a_total_of_zero_is_not_believed(tmp_path: Path) -> None:
    gpu = only(discover(FakeNode(tmp_path, [FakeGpu(A, total=0, used=0, kfd_total=64 << 30)]).root))
    assert (gpu.vram_total_bytes, gpu.vram_total_source) == (64 << 30, "kfd")
    gpu = only(discover(FakeNode(tmp_path / "b", [FakeGpu(A, total=0, used=0, kfd_total=0)]).root))
    assert gpu.vram_total_bytes is None


def test_the_device_cgroup_hides_nodes(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B)])
    (tmp_path / "dev/dri/renderD128").unlink()
    node = discover(fake.refusing(fake.hide(1)))
    assert [gpu.bdf for gpu in node.gpus] == [B]
    assert node.hidden_nodes == 1
    assert [(card.bdf, card.hidden) for card in node.others] == [(A, True)]
    assert "cgroup" in node.notes[0]


def test_a_missing_device_node_hides_a_gpu(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B)])
    (tmp_path / "dev/dri/renderD128").unlink()
    first, second = discover(fake.root, environ={"HIP_VISIBLE_DEVICES": "0"}).gpus
    assert (first.visible, first.selected, first.hidden_reason) == (False, False, "there is no /dev/dri/renderD128")
    assert (second.visible, second.selected) == (True, True)
    (tmp_path / "dev/kfd").unlink()
    assert {gpu.hidden_reason for gpu in discover(fake.root).gpus} == {"there is no /dev/kfd"}


def test_without_dev_nothing_is_said_of_visibility(tmp_path: Path) -> None:
    gpu = only(discover(FakeNode(tmp_path, [FakeGpu(A)], dev=False).root))
    assert gpu.visible is None
    assert gpu.unknown["visible"] == "there is no dev below the root"


def test_virtual_functions_are_no_partitions(tmp_path: Path) -> None:
    node = discover(
        FakeNode(tmp_path, [FakeGpu("0000:0b:02.1", device=0x74B5), FakeGpu("0000:0b:02.2", device=0x74B5)]).root
    )
    assert [gpu.key for gpu in node.gpus] == ["0000:0b:02.1", "0000:0b:02.2"]
    assert {gpu.vram_used_source for gpu in node.gpus} == {"sysfs vram"}
    assert {gpu.product for gpu in node.gpus} == {"AMD Instinct MI300X VF"}


def test_render_nodes_of_partitions_are_no_cards(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A, parts=2, compute="DPX")])
    fake.write("sys/devices/platform/amdgpu_xcp_0/uevent", "DRIVER=amdgpu_xcp")
    fake.link("sys/devices/platform/amdgpu_xcp_0/drm/card9/device", "../../../amdgpu_xcp_0")
    fake.link("sys/class/drm/card9", "../../devices/platform/amdgpu_xcp_0/drm/card9")
    node = discover(fake.root)
    assert len(node.gpus) == 2
    assert node.others == ()


def test_an_empty_root_and_a_missing_one(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "missing"):
        node = discover(root)
        assert node.gpus == ()
        assert "No such file" in node.kfd_problem


def test_damaged_topology_is_noted_and_the_rest_is_read(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B)])
    (tmp_path / KFD / "topology/nodes/1/properties").write_bytes(b"simd_cou\0\xff\xfe")
    node = discover(fake.root)
    assert [gpu.bdf for gpu in node.gpus] == [B]
    assert any("KFD node 1" in note for note in node.notes)


def test_a_bank_that_is_missing_makes_the_total_unknown(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A, parts=2, compute="DPX")])
    (tmp_path / KFD / "topology/nodes/1/mem_banks/0/properties").unlink()
    first, second = discover(fake.root).gpus
    assert first.vram_total_bytes is None
    assert second.vram_total_bytes == MI300X_TOTAL // 2


def test_names_come_from_the_nodes_own_list_first(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B, device=0x7FFF, revision=0xC1)])
    fake.write("usr/share/libdrm/amdgpu.ids", "# list\n1.0.0\n74A1,\t00,\tAMD Instinct Special\n")
    fake.write(f"{fake.device(B)}/product_name", "Board 7")
    first, second = discover(fake.root).gpus
    assert (first.product, second.product) == ("AMD Instinct Special", "Board 7")
    (tmp_path / fake.device(B) / "product_name").unlink()
    gpu = discover(fake.root).gpus[1]
    assert gpu.product is None
    assert "0x7fff" in gpu.unknown["product"]


def test_use_beyond_the_total_is_not_believed(tmp_path: Path) -> None:
    gpu = only(discover(FakeNode(tmp_path, [FakeGpu(A, total=1 << 30, used=2 << 30)]).root))
    assert gpu.vram_used_bytes is None
    assert "in use of" in gpu.unknown["vram_used_bytes"]


def test_every_unknown_field_has_a_reason(tmp_path: Path) -> None:
    fake = FakeNode(tmp_path, [FakeGpu(A), FakeGpu(B, parts=4, compute="QPX"), STRIX])
    for node in (
        discover(fake.root),
        discover(tmp_path / "x"),
        discover(fake.refusing("sys/devices", "sys/class/drm")),
    ):
        for gpu in node.gpus:
            empty = {name for name in gpu.__slots__ if getattr(gpu, name) is None}
            assert empty <= set(gpu.unknown), gpu
            assert all(gpu.unknown.values())
