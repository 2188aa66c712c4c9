"""What `amd-smi` prints: metric, monitor, static, list, process with --json; static and version as text.

JSON is a bare list before amd-smi 26 (ROCm 7) and `{"gpu_data": […]}` since. A wrong option gives exit code 0 and
`{"error": …}`. Memory in "MB" is MiB, rounded down: nothing smaller than a MiB can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rocm_ci.gpu import gfx, pci
from rocm_ci.gpu.tools.jsontext import Reasons, number, values, whole_lines, words
from rocm_ci.gpu.unknown import Unknown, count, known

_UNITS = {"b": 1, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30}
_NO_PLACE = "bdf is no PCI address"
_HOST_BRIDGE = "0000:00:00.0"
_TEXT_GPU = re.compile(r"\AGPU: ([0-9]{1,6})\s*\Z")
_TEXT_FIELD = re.compile(r"\A(\s+)([A-Z_]+): ?(.*)\Z")
_VERSION = re.compile(r"AMDSMI Tool: (\S+) *\|.*?ROCm version: ([^|\s]+)")


@dataclass(frozen=True, slots=True)
class AmdSmiGpu:
    """What amd-smi says of one GPU. None stands for unknown.

    Attributes:
        index: amd-smi's number of it, which is no other tool's.
        bdf: PCI address; without /dev/dri some versions print memory that they never set, which is refused.
        gfx: gfx target.
        product: board name, or else the market name, which some versions give only in general terms.
        driver: version of the driver.
        vram_total_bytes: rounded down to `resolution_bytes`.
        vram_used_bytes: rounded down to `resolution_bytes`.
        resolution_bytes: unit of both.
        kfd_id: KFD's gpu_id.
        node_id: number of the topology node.
        partition_id: number of the partition.
        unknown: why each field that is None is.
    """

    index: int
    bdf: str | None = None
    gfx: str | None = None
    product: str | None = None
    driver: str | None = None
    vram_total_bytes: int | None = None
    vram_used_bytes: int | None = None
    resolution_bytes: int | None = None
    kfd_id: int | None = None
    node_id: int | None = None
    partition_id: int | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AmdSmiProcess:
    """A process that amd-smi lists.

    Attributes:
        gpu: amd-smi's number of the GPU.
        pid: its number.
        name: the program.
        vram_bytes: what it holds; None when it is not told.
    """

    gpu: int
    pid: int
    name: str
    vram_bytes: int | None


def parse_gpus(text: str) -> tuple[AmdSmiGpu, ...] | Unknown:
    """GPUs in the JSON of `metric -m`, `monitor -v`, `static` or `list`, or in the text of `static`."""
    records = _records(text)
    if isinstance(records, Unknown):
        records = _text_records(text) or records
    if isinstance(records, Unknown):
        return records
    gpus: dict[int, AmdSmiGpu] = {}
    for record in records:
        index = number(record.get("gpu"), "gpu")
        if not isinstance(index, Unknown):
            gpus.setdefault(index, _gpu(index, record))
    return _with_trusted_places(tuple(gpus.values())) or Unknown("amd-smi lists no GPU")


def parse_processes(text: str) -> tuple[AmdSmiProcess, ...] | Unknown:
    """Processes in the JSON of `process`; empty when amd-smi says that none runs."""
    records = _records(text)
    if isinstance(records, Unknown):
        return records
    found = []
    seen = False
    for record in records:
        index = number(record.get("gpu"), "gpu")
        entries = record.get("process_list")
        if isinstance(index, Unknown) or not isinstance(entries, list):
            continue
        seen = True
        for entry in entries:
            info = entry.get("process_info") if isinstance(entry, dict) else None
            process = _process(index, info) if isinstance(info, dict) else None
            if process:
                found.append(process)
    return tuple(found) if seen else Unknown("amd-smi gave no process_list")


def parse_version(text: str) -> tuple[str, str | None] | Unknown:
    """Versions of amd-smi and of its ROCm, from the JSON or the text of `version`."""
    if found := _VERSION.search(text[:20000]):
        rocm = known(found.group(2), "ROCm version")
        return found.group(1), None if isinstance(rocm, Unknown) else rocm
    records = _records(text)
    if isinstance(records, Unknown):
        return records
    for record in records:
        version = words(record.get("version"), "version")
        if not isinstance(version, Unknown):
            rocm = words(record.get("rocm_version"), "rocm_version")
            return version, None if isinstance(rocm, Unknown) else rocm
    return Unknown("amd-smi gave no version")


def _records(text: str) -> list[Mapping[str, object]] | Unknown:
    found = values(text)
    if isinstance(found, Unknown):
        return found
    value = found[0]
    if isinstance(value, dict):
        if "error" in value:
            return Unknown(f"amd-smi says: {str(value['error'])[:200]}")
        value = value.get("gpu_data", [value])
    if not isinstance(value, list):
        return Unknown("amd-smi gave no list of GPUs")
    return [entry for entry in value if isinstance(entry, dict)]


def _gpu(index: int, record: Mapping[str, object]) -> AmdSmiGpu:
    why = Reasons()
    usage = record.get("mem_usage")
    if isinstance(usage, dict):
        total, used = _size(usage.get("total_vram"), "total_vram"), _size(usage.get("used_vram"), "used_vram")
    else:
        size = _inside(record, "vram", "size") if "vram" in record else record.get("vram_total")
        total, used = _size(size, "vram_total"), _size(record.get("vram_used"), "vram_used")
    steps = [step for value, step in (total, used) if not isinstance(value, Unknown)]
    bdf = words(record.get("bdf", _inside(record, "bus", "bdf")), "bdf")
    target = words(_inside(record, "asic", "target_graphics_version"), "target_graphics_version")
    product = words(_inside(record, "board", "product_name"), "product_name")
    if isinstance(product, Unknown):
        product = words(_inside(record, "asic", "market_name"), "market_name")
    return AmdSmiGpu(
        index=index,
        bdf=why.text("bdf", bdf if isinstance(bdf, Unknown) else pci.address(bdf) or Unknown(_NO_PLACE)),
        gfx=why.text(
            "gfx", target if isinstance(target, Unknown) else gfx.base_name(target) or Unknown("it is no gfx target")
        ),
        product=why.text("product", product),
        driver=why.text("driver", words(_inside(record, "driver", "version"), "driver version")),
        vram_total_bytes=why.number("vram_total_bytes", total[0]),
        vram_used_bytes=why.number("vram_used_bytes", used[0]),
        resolution_bytes=why.number("resolution_bytes", max(steps) if steps else Unknown("no size is given")),
        kfd_id=why.number("kfd_id", number(record.get("kfd_id"), "kfd_id")),
        node_id=why.number("node_id", number(record.get("node_id"), "node_id")),
        partition_id=why.number("partition_id", number(record.get("partition_id"), "partition_id")),
        unknown=why,
    )


def _with_trusted_places(gpus: tuple[AmdSmiGpu, ...]) -> tuple[AmdSmiGpu, ...]:
    """Without any PCI address when one is nonsense: without /dev/dri amd-smi prints memory that it never set."""
    places = [gpu.bdf for gpu in gpus if gpu.bdf]
    refused = any(_NO_PLACE in gpu.unknown.get("bdf", "") for gpu in gpus)
    if places and (refused or len(places) > len(set(places)) or _HOST_BRIDGE in places):
        why = "some of the addresses that amd-smi gives are none"
        return tuple(replace(gpu, bdf=None, unknown={**gpu.unknown, "bdf": why}) for gpu in gpus)
    return gpus


def _size(value: object, what: str) -> tuple[int | Unknown, int]:
    """Bytes of `{"value": N, "unit": U}` or of `N U`, and the unit that they are rounded down to."""
    unit: object = None
    if isinstance(value, dict):
        unit = value.get("unit")
        value = value.get("value")
    elif isinstance(value, str) and value.strip()[:1].isdigit():
        value, _, unit = value.strip().partition(" ")
    amount = number(value, what)
    if isinstance(amount, Unknown):
        return amount, 1
    factor = _UNITS.get(unit.strip().lower()) if isinstance(unit, str) else None
    if factor is None:
        return Unknown(f"{what} has no unit that is known"), 1
    return count(str(amount * factor), what), factor


def _inside(record: Mapping[str, object], *keys: str) -> object:
    value: object = record
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _process(gpu: int, info: Mapping[str, object]) -> AmdSmiProcess | None:
    pid = number(info.get("pid"), "pid")
    if isinstance(pid, Unknown):
        return None
    name = words(info.get("name"), "name")
    held = _size(_inside(info, "memory_usage", "vram_mem"), "vram_mem")[0]
    if isinstance(held, Unknown):
        held = _size(info.get("mem_usage", info.get("mem")), "mem")[0]
    return AmdSmiProcess(
        gpu, pid, "" if isinstance(name, Unknown) else name, None if isinstance(held, Unknown) else held
    )


def _text_records(text: str) -> list[Mapping[str, object]]:
    """The text of `static` as the records that its JSON would be: `GPU: 0`, sections and fields by indentation."""
    records: list[Mapping[str, object]] = []
    section: dict[str, object] = {}
    record: dict[str, object] = {}
    for line in whole_lines(text, 1 << 20).splitlines():
        if found := _TEXT_GPU.match(line):
            record = {"gpu": int(found.group(1))}
            records.append(record)
        elif records and (entry := _TEXT_FIELD.match(line)):
            name, value = entry.group(2).lower(), entry.group(3).strip()
            if value:
                section[name] = value
            else:
                section = {}
                record[name] = section
    return records
