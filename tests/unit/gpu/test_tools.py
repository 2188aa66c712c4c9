"""What AMD's tools print, as they really print it."""

from __future__ import annotations

import json

import pytest

from rocm_ci.gpu.tools import amd_smi, rocm_smi, rocminfo
from rocm_ci.gpu.tools.jsontext import values
from rocm_ci.gpu.unknown import Unknown

METRIC = [
    {"gpu": 0, "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 283, "unit": "MB"}}},
    {"gpu": 1, "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": "N/A"}},
]
CARDS = {
    "card0": {"VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "297771008"},
    "card10": {"VRAM Total Memory (B)": "51539607552"},
    "system": {"Driver version": "6.3.6"},
}
NOISE = "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n"


@pytest.mark.parametrize("wrap", [lambda records: records, lambda records: {"gpu_data": records}])
@pytest.mark.parametrize("noise", ["", NOISE, "'CTRL' + 'C' to stop watching output:\n"])
@pytest.mark.parametrize("indent", [None, 4])
def test_amd_smi_metric(wrap: object, noise: str, indent: int | None) -> None:
    found = amd_smi.parse_gpus(noise + json.dumps(wrap(METRIC), indent=indent) + "\n" + noise)  # type: ignore[operator]
    assert isinstance(found, tuple)
    first, second = found
    assert (first.vram_total_bytes, first.vram_used_bytes, first.resolution_bytes) == (206141652992, 283 << 20, 1 << 20)
    assert second.vram_used_bytes is None
    assert "N/A" in second.unknown["vram_used_bytes"]


def test_a_warning_within_the_json() -> None:
    lines = json.dumps(METRIC, indent=4).splitlines()
    lines.insert(5, "amdgpu_device_initialize: amdgpu_get_auth (1) failed (-1)")
    found = amd_smi.parse_gpus("\n".join(lines))
    assert isinstance(found, tuple)
    assert found[0].vram_used_bytes == 283 << 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        '{"error": "Can not find a device: GPU \'99\'", "code": -3}',
        "RuntimeError: WARNING: User is missing the following required groups: render, video.",
        json.dumps(METRIC, indent=4)[:-30],
        json.dumps(METRIC)[:-3],
        "[]",
        "{}",
        "[1, 2]",
        "null",
        "[" * 100000,
        '[{"gpu": NaN}]',
        '[{"gpu": ' + "9" * 5000 + "}]",
    ],
)
def test_amd_smi_that_gave_no_answer(text: str) -> None:
    found = amd_smi.parse_gpus(text)
    assert isinstance(found, Unknown)
    assert found.reason


def test_amd_smi_monitor_and_static() -> None:
    monitor = (
        '[{"gpu": 0, "vram_used": "N/A", "vram_total": "N/A"}, {"gpu": 1, "vram_used": {"value": 5, "unit": "GB"}}]'
    )
    found = amd_smi.parse_gpus(monitor)
    assert isinstance(found, tuple)
    assert (found[0].vram_used_bytes, found[1].vram_used_bytes) == (None, 5 << 30)
    static = [
        {
            "gpu": 3,
            "asic": {"market_name": "AMD Radeon Graphics", "target_graphics_version": "gfx942"},
            "bus": {"bdf": "0000:05:00.0"},
            "board": {"product_name": "N/A"},
            "driver": {"name": "amdgpu", "version": "6.10.5"},
            "vram": {"size": {"value": 196592, "unit": "MB"}},
        }
    ]
    found = amd_smi.parse_gpus(json.dumps(static))
    assert isinstance(found, tuple)
    gpu = found[0]
    assert (gpu.index, gpu.bdf, gpu.gfx, gpu.product) == (3, "0000:05:00.0", "gfx942", "AMD Radeon Graphics")
    assert (gpu.driver, gpu.vram_total_bytes) == ("6.10.5", 206141652992)


def test_amd_smi_static_as_text() -> None:
    text = (
        "GPU: 0\n    ASIC:\n        MARKET_NAME: AMD Instinct X\n        TARGET_GRAPHICS_VERSION: gfx950\n"
        "    BUS:\n        BDF: 0000:05:00.0\n    VRAM:\n        SIZE: 294896 MB\n"
    )
    found = amd_smi.parse_gpus(text)
    assert isinstance(found, tuple)
    assert (found[0].gfx, found[0].bdf, found[0].vram_total_bytes) == ("gfx950", "0000:05:00.0", 294896 << 20)


@pytest.mark.parametrize(
    "places", [("55eccbf5:95:1a.0", "0000:05:00.0"), ("0000:00:00.0", "0000:05:00.0"), ("0000:05:00.0",) * 2]
)
def test_addresses_that_amd_smi_made_up(places: tuple[str, str]) -> None:
    found = amd_smi.parse_gpus(json.dumps([{"gpu": number, "bdf": place} for number, place in enumerate(places)]))
    assert isinstance(found, tuple)
    assert [gpu.bdf for gpu in found] == [None, None]
    assert all(gpu.unknown["bdf"] for gpu in found)


def test_a_size_without_a_unit_is_unknown() -> None:
    for size in (
        5,
        "5",
        {"value": 5},
        {"value": 5, "unit": "apples"},
        {"value": -5, "unit": "MB"},
        {"value": 1.5, "unit": "MB"},
        True,
    ):
        found = amd_smi.parse_gpus(json.dumps([{"gpu": 0, "mem_usage": {"total_vram": size}}]))
        assert isinstance(found, tuple)
        assert found[0].vram_total_bytes is None


def test_amd_smi_processes() -> None:
    none = '[{"gpu": 0, "process_list": [{"process_info": "No running processes detected"}]}]'
    assert amd_smi.parse_processes(none) == ()
    one = {"name": "python3", "pid": 42, "memory_usage": {"vram_mem": {"value": 5, "unit": "B"}}}
    text = json.dumps(
        {"gpu_data": [{"gpu": 1, "process_list": [{"process_info": one}, {"process_info": {"pid": "N/A"}}]}]}
    )
    assert amd_smi.parse_processes(text) == (amd_smi.AmdSmiProcess(1, 42, "python3", 5),)
    assert isinstance(amd_smi.parse_processes("[]"), Unknown)


def test_amd_smi_versions() -> None:
    line = (
        "AMDSMI Tool: 26.2.1+fc0010cf6a | AMDSMI Library version: 26.2.1 | ROCm version: 7.2.0 | amdgpu version: Linux"
    )
    assert amd_smi.parse_version(line) == ("26.2.1+fc0010cf6a", "7.2.0")
    assert amd_smi.parse_version('[{"tool": "AMDSMI Tool", "version": "24.7.0", "rocm_version": "N/A"}]') == (
        "24.7.0",
        None,
    )


@pytest.mark.parametrize("noise", ["", NOISE])
def test_rocm_smi_json(noise: str) -> None:
    found = rocm_smi.parse_cards(noise + json.dumps(CARDS))
    assert isinstance(found, tuple)
    assert [card.index for card in found] == [0, 10]
    assert (found[0].vram_total_bytes, found[0].vram_used_bytes) == (206141652992, 297771008)
    assert found[1].vram_used_bytes is None
    assert "there is no VRAM Total Used" in found[1].unknown["vram_used_bytes"]
    assert "1 of 2 cards" in rocm_smi.partition_trap(found)
    assert rocm_smi.partition_trap(found[:1]) == ""


def test_rocm_smi_keys_of_old_and_new_releases() -> None:
    old = {"Unique ID": "0x1000", "Card series": "0x74a1", "Card model": "0x74a1"}
    new = {
        "Unique ID": "0x1000",
        "Card Series": "Instinct",
        "Card Model": "0x74a1",
        "PCI Bus": "0000:0A:00.1",
        "GFX Version": "gfx942",
        "Node ID": "2",
        "GUID": "24248",
    }
    found = rocm_smi.parse_cards(json.dumps({"card0": old, "card1": new}))
    assert isinstance(found, tuple)
    assert [card.unique_id for card in found] == ["0000000000001000"] * 2
    assert [card.pci_device for card in found] == ["0x74a1"] * 2
    assert [card.product for card in found] == [None, "Instinct"]
    assert (found[1].bdf, found[1].gfx, found[1].node_id, found[1].kfd_id) == ("0000:0a:00.1", "gfx942", 2, 24248)


def test_busy_memory_is_not_used_memory() -> None:
    found = rocm_smi.parse_cards('{"card0": {"GPU memory use (%)": "0", "GPU Memory Allocated (VRAM%)": "87"}}')
    assert isinstance(found, tuple)
    assert found[0].vram_used_bytes is None


def test_rocm_smi_text_and_csv() -> None:
    text = (
        "==== Memory Usage (Bytes) ====\n"
        "GPU[0]\t\t: VRAM Total Memory (B): 8\nGPU[0]\t\t: VRAM Total Used Memory (B): 3\n"
    )
    csv = NOISE + "device,VRAM Total Memory (B),VRAM Total Used Memory (B)\ncard0,8,3\ncard1,8\n"
    for output in (text, csv):
        found = rocm_smi.parse_cards(output)
        assert isinstance(found, tuple)
        assert [(card.index, card.vram_total_bytes, card.vram_used_bytes) for card in found] == [(0, 8, 3)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "WARNING: No JSON data to report",
        '{"system": {}}',
        "ERROR:root:Driver not initialized (amdgpu not found in modules)",
        '{"card0": {"a": "1"',
        "[]",
    ],
)
def test_rocm_smi_that_gave_no_answer(text: str) -> None:
    assert isinstance(rocm_smi.parse_cards(text), Unknown)


def test_rocm_smi_concise() -> None:
    new = (
        "62      64    0x74a1,   60795  43.0°C      134.0W    NPS1, CPX, 7        "
        "146Mhz  900Mhz  0%   auto  750.0W  0%     0%    \n"
    )
    old = (
        "GPU  Temp   AvgPwr  VRAM%  GPU%\n"
        "1    25.0c  10.0W   852Mhz  167Mhz  14.9%  auto  170.0W  N/A    0%\n"
        "2    37.0c  38.0W  300Mhz  1200Mhz  0%   auto  290.0W   12%   0%\n"
    )
    assert rocm_smi.parse_concise(new) == (rocm_smi.ConciseRow(62, 0, "cpx", "nps1", 7, "0x74a1"),)
    found = rocm_smi.parse_concise(old)
    assert isinstance(found, tuple)
    assert [(row.index, row.vram_percent) for row in found] == [(1, None), (2, 12)]
    split = rocm_smi.parse_concise("3\n0  1  37.0c  120%   0%\n")
    assert isinstance(split, tuple)
    assert [(row.index, row.vram_percent) for row in split] == [(0, None)]
    assert isinstance(rocm_smi.parse_concise("=== End of ROCm SMI Log ==="), Unknown)


def test_rocm_smi_processes() -> None:
    text = json.dumps(
        {
            "system": {
                "PID4242": "unknown, unknown, 8589934592, 0, unknown",
                "PID7": "a, b, 2, 5, 0, 0",
                "PID8": "x",
                "other": 1,
            }
        }
    )
    assert rocm_smi.parse_processes(text) == {4242: 8589934592, 7: 5, 8: None}
    assert isinstance(rocm_smi.parse_processes("No KFD PIDs currently running"), Unknown)


ROCMINFO = """\x1b[37mROCk module is loaded\x1b[0m
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD EPYC
  Uuid:                    CPU-XX
  Device Type:             CPU
*******
Agent 2
*******
  Name:                    gfx942
  Uuid:                    GPU-0123456789abcdef
  Marketing Name:          AMD Instinct MI300X
  Node:                    2
  Device Type:             GPU
  BDFID:                   1280
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
*** Done ***
"""


def test_rocminfo() -> None:
    found = rocminfo.parse_rocminfo(ROCMINFO)
    assert isinstance(found, tuple)
    (agent,) = found
    assert (agent.gfx, agent.product, agent.uuid) == ("gfx942", "AMD Instinct MI300X", "GPU-0123456789abcdef")
    assert (agent.node, agent.bdf) == (2, "0000:05:00.0")
    for text, said in (
        ("ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\n", "Permission denied"),
        ("\x1b[31mROCk module is NOT loaded, possibly no GPU devices\x1b[0m\n", "NOT loaded"),
        ("", "nothing"),
        ("Segmentation fault", "Segmentation"),
    ):
        failed = rocminfo.parse_rocminfo(text)
        assert isinstance(failed, Unknown)
        assert said in failed.reason


def test_enumerator() -> None:
    assert rocminfo.parse_enumerator("gfx000\ngfx90a\ngfx90a\n") == ("gfx90a", "gfx90a")
    assert rocminfo.parse_enumerator("gfx000\n") == ()
    for text in ("", "Traceback (most recent call last):\n  File\nFileNotFoundError: x", "sh: not found"):
        assert isinstance(rocminfo.parse_enumerator(text), Unknown)


def test_fragments_of_a_cut_document_are_not_taken_for_one() -> None:
    cut = '[\n{"gpu": 0, "mem_usage": {}},\n{"gpu": 1,'
    assert isinstance(values(cut), Unknown)
