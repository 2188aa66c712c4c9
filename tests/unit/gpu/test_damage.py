"""Damaged input, in every parser: no exception, and never a number that the input does not hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_ci.gpu import discover, fdinfo, kfd, products, versions
from rocm_ci.gpu.os_release import parse_os_release
from rocm_ci.gpu.rocm import parse_torch_version, parse_version_file
from rocm_ci.gpu.tools import amd_smi, rocm_smi, rocminfo
from support.fake_node import FakeGpu, FakeNode

TOTAL, USED, MEBIBYTES = 206141652992, 297771008, 196592
AMD = json.dumps(
    [
        {
            "gpu": n,
            "mem_usage": {"total_vram": {"value": MEBIBYTES, "unit": "MB"}, "used_vram": {"value": 283, "unit": "MB"}},
        }
        for n in range(3)
    ],
    indent=4,
)
ROCM = json.dumps(
    {f"card{n}": {"VRAM Total Memory (B)": f"{TOTAL}", "VRAM Total Used Memory (B)": f"{USED}"} for n in range(3)},
    indent=2,
)
TEXT = "".join(
    f"GPU[{n}]\t\t: VRAM Total Memory (B): {TOTAL}\nGPU[{n}]\t\t: VRAM Total Used Memory (B): {USED}\n"
    for n in range(3)
)
CSV = "device,VRAM Total Memory (B),VRAM Total Used Memory (B)\n" + "".join(
    f"card{n},{TOTAL},{USED}\n" for n in range(3)
)
CONCISE = (
    "0       2     0x74a1,   28851  48.0C  135.0W    NPS1, SPX, 0   124Mhz  900Mhz  0%   auto  750.0W  12%     0%    \n"
)
INFO = (
    "*******\nAgent 1\n*******\n  Name:   gfx942\n  Uuid:  GPU-0123456789abcdef\n"
    "  Node:   2\n  Device Type:  GPU\n  BDFID:  1280\n"
)
FDINFO = "drm-driver:\tamdgpu\ndrm-client-id:\t4\ndrm-pdev:\t0000:04:00.0\ndrm-memory-vram:\t44564 KiB\n"

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "amd-smi": (amd_smi.parse_gpus, AMD),
    "amd-smi processes": (amd_smi.parse_processes, AMD.replace("mem_usage", "process_list")),
    "amd-smi version": (amd_smi.parse_version, "AMDSMI Tool: 26.2.1 | ROCm version: 7.2.0 |"),
    "rocm-smi json": (rocm_smi.parse_cards, ROCM),
    "rocm-smi text": (rocm_smi.parse_cards, TEXT),
    "rocm-smi csv": (rocm_smi.parse_cards, CSV),
    "rocm-smi concise": (rocm_smi.parse_concise, CONCISE),
    "rocm-smi processes": (rocm_smi.parse_processes, '{"system": {"PID42": "a, 1, 8589934592, 0, 0"}}'),
    "rocminfo": (rocminfo.parse_rocminfo, INFO),
    "enumerator": (rocminfo.parse_enumerator, "gfx000\ngfx90a\n"),
    "fdinfo": (fdinfo.parse_fdinfo, FDINFO),
    "kfd properties": (kfd.parse_properties, "simd_count 1216\nlocation_id 1280\n"),
    "amdgpu.ids": (products.parse_ids, "74A1,\t00,\tAMD Instinct MI300X\n"),
    "os-release": (parse_os_release, 'ID=ubuntu\nVERSION_ID="22.04"\n'),
    "torch": (parse_torch_version, "hip: Optional[str] = '6.2.4'\n"),
    "version file": (parse_version_file, "6.2.4-149\n"),
    "version": (versions.parse, "6.10.5-2095006.22.04"),
}
WARNINGS = [
    "WARNING: low-power state\n",
    'Expected integer value from monitor, but got ""\n',
    "ERROR: 2 GPU[0]: power: RSMI_STATUS\n",
]


def damaged(text: str) -> st.SearchStrategy[str]:
    """The text cut off, with bytes flipped, with warnings between its lines, and any text at all."""
    data = text.encode()

    def flip(places: list[tuple[int, int]]) -> str:
        changed = bytearray(data)
        for place, value in places:
            changed[place] = value
        return changed.decode("utf-8", "replace")

    def mix(places: list[tuple[int, str]]) -> str:
        lines = text.splitlines(keepends=True)
        for place, warning in places:
            lines.insert(place % (len(lines) + 1), warning)
        return "".join(lines)

    return st.one_of(
        st.integers(0, len(text)).map(lambda end: text[:end]),
        st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), min_size=1, max_size=6).map(flip),
        st.lists(st.tuples(st.integers(0, 99), st.sampled_from(WARNINGS)), min_size=1, max_size=4).map(mix),
        st.text(max_size=60),
    )


@pytest.mark.parametrize("name", PARSERS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_no_parser_raises(name: str, data: st.DataObject) -> None:
    parse, text = PARSERS[name]
    found = parse(data.draw(damaged(text)))
    for value in found if isinstance(found, tuple) else ():
        if is_dataclass(value) and hasattr(value, "unknown"):
            empty = {field.name for field in fields(value) if getattr(value, field.name) is None}
            assert empty == set(value.unknown)


@pytest.mark.parametrize("name", ["amd-smi", "rocm-smi json", "rocm-smi text", "rocm-smi csv"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_cut_off_or_mixed_output_gives_the_right_figures_or_none(name: str, data: st.DataObject) -> None:
    parse, text = PARSERS[name]
    end = data.draw(st.integers(0, len(text)))
    place = data.draw(st.integers(0, text.count("\n")))
    lines = text.splitlines(keepends=True)
    lines.insert(place, data.draw(st.sampled_from(WARNINGS)))
    for output in (text[:end], "".join(lines)):
        found = parse(output)
        for gpu in found if isinstance(found, tuple) else ():
            assert gpu.vram_total_bytes in (None, TOTAL)
            assert gpu.vram_used_bytes in (None, USED, 283 << 20)


@given(place=st.integers(0, 10**6), value=st.binary(max_size=40), cut=st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_node_with_one_damaged_file_is_still_told_of(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: bytes, cut: bool
) -> None:
    root = tmp_path_factory.mktemp("node")
    fake = FakeNode(root, [FakeGpu("0000:05:00.0"), FakeGpu("0000:15:00.0", parts=2, compute="DPX")])
    fake.process(42, {0: 1 << 30})
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    victim: Path = files[place % len(files)]
    victim.write_bytes(victim.read_bytes()[: len(value)] if cut else value)
    for gpu in discover(root).gpus:
        assert gpu.vram_total_bytes is None or gpu.vram_total_bytes > 0
        assert all(gpu.unknown.values())
        empty = {name for name in gpu.__slots__ if getattr(gpu, name) is None}
        assert empty <= set(gpu.unknown)
