"""Every recorded machine against its right answers.

The recordings are of other people's machines and do not travel with the project. ROCM_CI_AMD_SAMPLES names a folder
with one folder a machine and EXPECTED.json, which maps the machine to what is right. The shapes that they have are also
made by support.fake_node, so that nothing is left untested where they are absent.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rocm_ci.gpu import Node, Unknown, discover, fdinfo, kfd, versions
from rocm_ci.gpu.sysfs_drm import read_cards
from rocm_ci.gpu.tools import amd_smi, rocm_smi, rocminfo
from rocm_ci.gpu.tree import Tree
from support.fake_node import FakeGpu, FakeNode

SAMPLES = Path(os.environ.get("ROCM_CI_AMD_SAMPLES", ""))
THERE = bool(os.environ.get("ROCM_CI_AMD_SAMPLES")) and (SAMPLES / "EXPECTED.json").is_file()
pytestmark = pytest.mark.skipif(not THERE, reason="ROCM_CI_AMD_SAMPLES names no folder with recorded machines")
# No reader of this package is for these: hwloc's XML, a profiler's table, the listing of another tool.
OTHER_FORMATS = {"mpibind-eas-tioga", "mpibind-epyc-corona", "mpibind-epyc-corona-p2", "libdrm-cezanne"}

# What was recorded is how the tools fail.
NO_ANSWER = {"capture-nogpu-debian12", "issue-mi250x-amd-smi-permission", "issue-ryzen3500u-rocm4.0-not-supported"}

ANSWERS = ("vram_total", "gfx", "driver", "gpus", "gpus_logical", "rocm_smi_shows_total")


@cache
def expected() -> dict[str, dict[str, Any]]:
    return dict(json.loads((SAMPLES / "EXPECTED.json").read_text("utf-8"))) if THERE else {}


def having(*keys: str) -> list[str]:
    return [name for name, answers in expected().items() if any(key in answers for key in keys)]


def trees(key: str) -> list[str]:
    return [name for name in having(key) if (SAMPLES / name / "sys").is_dir()]


def texts(name: str) -> Iterator[tuple[str, str]]:
    for path in sorted((SAMPLES / name).glob("*")):
        if path.is_file() and path.suffix not in {".rc", ".xml"}:
            yield path.name, path.read_text("utf-8", "replace")


def node(name: str) -> Node:
    return discover(SAMPLES / name)


@pytest.mark.parametrize("name", trees("drm"))
def test_cards(name: str) -> None:
    answers = expected()[name]
    cards = read_cards(Tree(SAMPLES / name))
    assert isinstance(cards, tuple)
    assert len(cards) == answers["drm_cards"]
    by_bdf = {card.bdf: card for card in cards}
    for answer in answers["drm"]:
        card = by_bdf[answer["bdf"]]
        assert (card.name, card.driver) == (answer["card"], answer["driver"])
        assert f"{card.vendor:04X}:{card.device:04X}" == answer["pci_id"]
        for key in ("vram_total", "vram_used", "gtt_total", "gtt_used"):
            right = answer.get(f"mem_info_{key}")
            figure = getattr(card, key)
            assert figure == right if right is not None else isinstance(figure, Unknown), key
    found = {gpu.bdf for gpu in node(name).gpus}
    assert found == {card.bdf for card in cards if card.driver == "amdgpu"}


@pytest.mark.parametrize("name", trees("kfd"))
def test_topology(name: str) -> None:
    answers = expected()[name]["kfd"]
    topology = kfd.read_topology(Tree(SAMPLES / name))
    gpus = topology.gpus
    assert (len(gpus), len(topology.nodes) - len(gpus)) == (answers["gpu_nodes"], answers["cpu_nodes"])
    assert sorted({gpu.memory_bytes for gpu in gpus}) == answers["distinct_totals"]  # type: ignore[type-var]
    assert sorted({"none" if isinstance(gpu.gfx, Unknown) else gpu.gfx for gpu in gpus}) == answers["gfx"]
    for gpu, answer in zip(gpus, answers["first"], strict=False):
        assert gpu.number == answer["node"]
        assert gpu.location == (answer["bdf"], answer["fn_bits"])
        assert (None if isinstance(gpu.gfx, Unknown) else gpu.gfx) == answer["gfx"]
        assert f"0x{gpu.properties['device_id']:04x}" == answer["device_id"]
        assert gpu.memory_bytes == answer["kfd_mem_total"]
        assert (None if isinstance(gpu.used_bytes, Unknown) else gpu.used_bytes) == answer["kfd_used_memory"]
        assert gpu.render_minor == answer["render_minor"]
    whole = node(name)
    assert len(whole.gpus) == answers["gpu_nodes"]
    assert len(whole.sockets) == answers["sockets"]
    assert {gpu.vram_total_bytes for gpu in whole.gpus} == set(answers["distinct_totals"])


@pytest.mark.parametrize("name", [name for name in trees("gpus") if "vram_total" in expected()[name]])
def test_whole_nodes(name: str) -> None:
    answers = expected()[name]
    gpus = node(name).gpus
    assert len(gpus) == answers["gpus"]
    assert {gpu.gfx for gpu in gpus} == {answers["gfx"]}
    assert {gpu.vram_total_bytes for gpu in gpus} == {answers["vram_total"]}
    assert [gpu.vram_used_bytes for gpu in gpus] == answers["vram_used"]


@pytest.mark.parametrize(
    "name", [name for name in having(*ANSWERS) if name not in OTHER_FORMATS and "rocprof" not in name]
)
def test_tools(name: str) -> None:
    """What the tools' outputs of a machine say is what is right for it, or nothing."""
    answers = expected()[name]
    totals = {answers[key] for key in ("vram_total", "rocm_smi_shows_total") if isinstance(answers.get(key), int)}
    read = 0
    for file, text in texts(name):
        outputs = (amd_smi.parse_gpus(text), rocm_smi.parse_cards(text), rocm_smi.parse_concise(text))
        read += any(isinstance(output, tuple) for output in outputs)
        for cards in outputs[:2]:
            for card in cards if isinstance(cards, tuple) else ():
                assert card.gfx in (None, answers.get("gfx")), file
                if totals and card.vram_total_bytes is not None:
                    assert card.vram_total_bytes in totals, file
                if "driver" in answers and isinstance(card, amd_smi.AmdSmiGpu):
                    assert card.driver == answers["driver"]
    assert bool(read) is (name not in NO_ANSWER)


@pytest.mark.parametrize("name", [n for n in having("vram_used") if isinstance(expected()[n]["vram_used"], int)])
def test_use_by_rocm_smi(name: str) -> None:
    answers = expected()[name]
    for file, text in texts(name):
        cards = rocm_smi.parse_cards(text)
        assert isinstance(cards, tuple), file
        assert [(card.vram_total_bytes, card.vram_used_bytes) for card in cards] == [
            (answers["vram_total"], answers["vram_used"])
        ]
        assert [card.gfx for card in cards] == [answers["gfx"]]


@pytest.mark.skipif(not (SAMPLES / "issue-2xrx6800-rocm-smi-1.4.1").is_dir(), reason="it is not among the recordings")
def test_memory_activity_is_not_memory_use() -> None:
    for _, text in texts("issue-2xrx6800-rocm-smi-1.4.1"):
        cards = rocm_smi.parse_cards(text)
        assert isinstance(cards, tuple)
        assert {(card.vram_total_bytes, card.vram_used_bytes) for card in cards} == {(None, None)}


@pytest.mark.parametrize("name", [n for n in having("gpus") if n.startswith("issue")])
def test_count_by_tools(name: str) -> None:
    for file, text in texts(name):
        for parse in (amd_smi.parse_gpus, rocm_smi.parse_cards, rocm_smi.parse_concise):
            found = parse(text)
            assert isinstance(found, Unknown) or len(found) == expected()[name]["gpus"], file


@pytest.mark.skipif(not (SAMPLES / "issue-mi300x-cpx-rocm-smi-6.x").is_dir(), reason="it is not among the recordings")
def test_mi300x_cpx() -> None:
    name = "issue-mi300x-cpx-rocm-smi-6.x"
    answers = expected()[name]
    assert kfd.read_banks(Tree(SAMPLES / name), f"{kfd.NODES}/3")[0] == answers["vram_total_true_per_partition"]
    cards = rocm_smi.parse_cards((SAMPLES / name / "showmeminfo.head.txt").read_text())
    assert isinstance(cards, tuple)
    assert {card.vram_total_bytes for card in cards} == {answers["rocm_smi_shows_total"]}
    assert {card.vram_used_bytes for card in cards} == {answers["rocm_smi_shows_used"]}
    rows = rocm_smi.parse_concise((SAMPLES / name / "concise.partial.txt").read_text())
    assert isinstance(rows, tuple)
    assert (rows[0].compute, rows[0].partition) == ("cpx", 7)


@pytest.mark.skipif(not (SAMPLES / "synth-mi308x-cpx-tools").is_dir(), reason="it is not among the recordings")
def test_mi308x_cpx_by_tools() -> None:
    name = "synth-mi308x-cpx-tools"
    found = rocm_smi.parse_cards((SAMPLES / name / "rocm-smi-7.0dev-showmeminfo-json.stdout").read_text())
    assert isinstance(found, tuple)
    assert len(found) == expected()[name]["gpus_logical"]
    assert sum(card.vram_used_bytes is None for card in found) == 24
    assert rocm_smi.partition_trap(found)


@pytest.mark.skipif(not (SAMPLES / "kernel-fdinfo-2024").is_dir(), reason="it is not among the recordings")
def test_fdinfo() -> None:
    folder = SAMPLES / "kernel-fdinfo-2024"
    clients = [fdinfo.parse_fdinfo(path.read_text()) for path in sorted(folder.glob("*.fdinfo"))]
    assert [(client.client, client.vram, client.shared) for client in clients if not isinstance(client, Unknown)] == [
        (30, 557494272, 13584 << 10),
        (4, 45633536, 31952 << 10),
    ]


@pytest.mark.skipif(not (SAMPLES / "capture-nogpu-debian12").is_dir(), reason="it is not among the recordings")
def test_tools_without_a_gpu() -> None:
    for file, text in texts("capture-nogpu-debian12"):
        for parse in (amd_smi.parse_gpus, amd_smi.parse_processes, rocm_smi.parse_cards, rocm_smi.parse_concise):
            assert isinstance(parse(text), Unknown), file
        assert isinstance(rocminfo.parse_rocminfo(text), Unknown), file


@pytest.mark.parametrize("name", having("rocm"))
def test_rocm_versions(name: str) -> None:
    heading, row = (line.split(",") for line in (SAMPLES / name / "sysinfo.csv").read_text().splitlines()[:2])
    # Cells in quotes hold commas, so that columns are counted from the end.
    text = row[heading.index("rocm_version") - len(heading)]
    number = versions.parse(text)
    assert number is not None
    assert versions.show(number) == expected()[name]["rocm"]


TARGETS = {"gfx90a": 90010, "gfx906": 90006, "gfx942": 90402}
HWLOC_GPU = re.compile(
    r'"PCIDev"[^>]* pci_busid="(?P<bdf>[^"]+)" pci_type="03[0-9a-f]{2} \[1002:(?P<device>[0-9a-f]{4})\]'
)


@pytest.mark.parametrize(
    "name", [name for name in sorted(OTHER_FORMATS) if name.startswith("mpibind") and name in expected()]
)
def test_machines_that_hwloc_recorded(name: str, tmp_path: Path) -> None:
    """No reader is for hwloc's XML: the machine is made again from it, with the same cards and sizes."""
    answers = expected()[name]
    xml = (SAMPLES / name / "hwloc.xml").read_text()
    sizes = [int(size) << 10 for size in re.findall(r'"RSMIVRAMSize" value="(\d+)"', xml)]
    places = [(found["bdf"], int(found["device"], 16)) for found in HWLOC_GPU.finditer(xml)]
    assert places
    target = TARGETS[answers.get("gfx", "gfx906")]
    gpus = [
        FakeGpu(bdf, device, target=target, total=total)
        for (bdf, device), total in zip(places, sizes or [32 << 30] * len(places), strict=True)
    ]
    found = discover(FakeNode(tmp_path, gpus).root).gpus
    assert len(found) == answers.get("gpus", len(places))
    assert {gpu.gfx for gpu in found} == {answers.get("gfx", "gfx906")}
    if "vram_total_KiB" in answers:
        assert {gpu.vram_total_bytes for gpu in found} == {answers["vram_total_KiB"] << 10}
    assert all(gpu.apu is False for gpu in found)


@pytest.mark.parametrize("name", having("rocm"))
def test_machines_that_a_profiler_recorded(name: str, tmp_path: Path) -> None:
    answers = expected()[name]
    heading, row = (line.split(",") for line in (SAMPLES / name / "sysinfo.csv").read_text().splitlines()[:2])
    cell = {
        key: row[place - len(heading)] for place, key in enumerate(heading) if place > heading.index("linux_distro")
    }
    device = 0x74A0 if "MI300A" in cell["gpu_model"] else 0x74A1 if "MI300X" in cell["gpu_model"] else 0x7408
    modes = {key: cell[f"{key}_partition"] for key in ("compute", "memory")}
    fake = FakeNode(tmp_path, [FakeGpu("0000:05:00.0", device, target=TARGETS[cell["gpu_arch"]], **modes)])  # type: ignore[arg-type]
    (gpu,) = discover(fake.root).gpus
    assert gpu.gfx == answers["gfx"]
    assert str(gpu.partition).upper() == answers.get("partition", "")
    assert gpu.apu is (device == 0x74A0)


@pytest.mark.skipif(not (SAMPLES / "libdrm-cezanne").is_dir(), reason="it is not among the recordings")
def test_an_apu_that_libdrm_recorded(tmp_path: Path) -> None:
    """Its VRAM is what the firmware set aside; KFD offers GTT, which is what programs can get."""
    answers = expected()["libdrm-cezanne"]
    text = (SAMPLES / "libdrm-cezanne" / "amdgpu_info.txt").read_text()
    sizes = {
        name: [int(size) << 20 for size in found]
        for name, *found in re.findall(r"^(\w+) Usage:\s+(\d+)/(\d+) MiB", text, re.MULTILINE)
    }
    (used, total), (gtt_used, gtt_total) = sizes["VRAM"], sizes["GTT"]
    assert (total, used) == (answers["vram_total_MiB"] << 20, answers["vram_used_MiB"] << 20)
    apu = FakeGpu(
        "0000:04:00.0",
        0x1638,
        0xC9,
        90012,
        total,
        used,
        gtt_total,
        gtt_used,
        compute=None,
        memory=None,
        kfd_total=gtt_total,
    )
    (gpu,) = discover(FakeNode(tmp_path, [apu]).root).gpus
    assert gpu.apu is True
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes) == (answers["gtt_total_MiB"] << 20, gtt_used)


@pytest.mark.parametrize("name", list(expected()))
def test_no_parser_raises_on_anything_recorded(name: str) -> None:
    for _, text in texts(name):
        for parse in (
            amd_smi.parse_gpus,
            amd_smi.parse_processes,
            amd_smi.parse_version,
            rocm_smi.parse_cards,
            rocm_smi.parse_concise,
            rocm_smi.parse_processes,
            rocminfo.parse_rocminfo,
            rocminfo.parse_enumerator,
            fdinfo.parse_fdinfo,
        ):
            parse(text)
    discover(SAMPLES / name)
