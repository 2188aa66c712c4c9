"""Which source is right for a GPU's memory: pure functions over what the readers found.

Total: KFD's memory banks when the card is partitioned (the counter of the PCI function is the whole socket's), on an
APU (that
counter is only what the firmware set aside) and where the counter is absent or 0; else the counter. Used: the
counter of the
pool that the total is of. Of a partition no counter exists: only the sum of what KFD's processes hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocm_ci.gpu.unknown import Unknown

SYSFS, KFD = "sysfs", "kfd"
SYSFS_VRAM, SYSFS_GTT, KFD_PROCESSES = "sysfs vram", "sysfs gtt", "kfd processes"


@dataclass(frozen=True, slots=True)
class Sources:
    """Every figure there is of one GPU."""

    vram_total: int | Unknown
    vram_used: int | Unknown
    gtt_total: int | Unknown
    gtt_used: int | Unknown
    kfd_total: int | Unknown
    kfd_used: int | Unknown
    kfd_processes: int | Unknown


@dataclass(frozen=True, slots=True)
class Memory:
    """The figures that count, and where they are from."""

    total: int | Unknown
    used: int | Unknown
    total_source: str | None
    used_source: str | None
    scope: str | None


def choose(sources: Sources, *, part: bool, apu: bool | None, counts_as_gtt: bool = False) -> Memory:
    """The right total and use.

    Args:
        sources: what was read.
        part: whether it is a partition of a divided socket.
        apu: whether it is an APU; None when that is not known.
        counts_as_gtt: whether the driver counts this device's memory as GTT although KFD calls it VRAM (MI300A).
    """
    if part:
        return _part(sources)
    if apu or (apu is None and _is_host_pool(sources)):
        return _apu(sources, counts_as_gtt=counts_as_gtt)
    total, source = _first((sources.vram_total, SYSFS), (sources.kfd_total, KFD))
    used: int | Unknown = sources.vram_used
    used_source: str | None = SYSFS_VRAM
    if isinstance(used, Unknown) and not isinstance(sources.kfd_used, Unknown):
        used, used_source = sources.kfd_used, KFD
    return _memory(total, used, source, used_source, "device")


def socket(sources: Sources, parts: list[int | Unknown]) -> tuple[int | Unknown, int | Unknown]:
    """Total and use of a whole divided socket: the PCI function's counters, else the sum of its parts."""
    total = _sum(parts) if isinstance(sources.vram_total, Unknown) or not sources.vram_total else sources.vram_total
    used = sources.vram_used
    # AMD's driver shows the socket's use in every partition.
    return total, sources.kfd_used if isinstance(used, Unknown) else used


def _part(sources: Sources) -> Memory:
    total: int | Unknown = sources.kfd_total
    if isinstance(total, Unknown):
        total = Unknown(f"{total.reason}, and sysfs only knows the whole socket's", total.errno)
    return _memory(total, sources.kfd_processes, KFD, KFD_PROCESSES, "processes")


def _apu(sources: Sources, *, counts_as_gtt: bool) -> Memory:
    total, source = _first((sources.kfd_total, KFD), (sources.vram_total, SYSFS))
    if source == SYSFS or isinstance(total, Unknown):
        why = sources.kfd_total.reason if isinstance(sources.kfd_total, Unknown) else "KFD gives 0"
        total = Unknown(f"an APU takes host memory, and {why}; sysfs only knows what the firmware set aside")
        return _memory(total, total, None, None, None)
    if counts_as_gtt or total == sources.gtt_total:
        return _memory(total, sources.gtt_used, source, SYSFS_GTT, "device")
    if total == sources.vram_total:
        return _memory(total, sources.vram_used, source, SYSFS_VRAM, "device")
    used = Unknown("KFD's total is neither that of VRAM nor that of GTT, so that no counter is of the same memory")
    return _memory(total, used, source, None, None)


def _is_host_pool(sources: Sources) -> bool:
    """KFD offers the GTT pool, not VRAM: only an APU does."""
    return sources.kfd_total == sources.gtt_total != sources.vram_total and isinstance(sources.kfd_total, int)


def _first(*options: tuple[int | Unknown, str]) -> tuple[int | Unknown, str | None]:
    """The first total that is known and not 0."""
    reasons = []
    for value, name in options:
        if isinstance(value, Unknown):
            reasons.append(value.reason)
        elif value:
            return value, name
        else:
            reasons.append(f"{name} gives 0 bytes in total")
    return Unknown("; ".join(reasons)), None


def _sum(parts: list[int | Unknown]) -> int | Unknown:
    total = 0
    for part in parts:
        if isinstance(part, Unknown):
            return part
        total += part
    return total if parts else Unknown("it has no part that can be read")


def _memory(
    total: int | Unknown, used: int | Unknown, total_source: str | None, used_source: str | None, scope: str | None
) -> Memory:
    """With no source where there is no figure, and no use beyond the total."""
    if isinstance(total, int) and isinstance(used, int) and used > total:
        used = Unknown(f"{used_source} says {used} bytes in use of {total}")
    return Memory(
        total,
        used,
        None if isinstance(total, Unknown) else total_source,
        None if isinstance(used, Unknown) else used_source,
        None if isinstance(used, Unknown) else scope,
    )
