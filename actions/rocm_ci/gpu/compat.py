"""Whether a kernel driver serves a ROCm (`data/driver_rocm.tsv`, `data/modules.tsv`).

Three schemes number drivers: by ROCm release (up to 6.4), by a release of amdgpu's own (30.10 and later), and by the
version of
the DKMS module (6.10.5). A driver of the kernel has none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocm_ci.gpu import versions
from rocm_ci.gpu.tables import rows
from rocm_ci.gpu.versions import Version

Verdict = Literal["compatible", "not compatible", "unknown"]
_FIRST_AMDGPU = (30,)


@dataclass(frozen=True, slots=True)
class Compatibility:
    """An answer.

    Attributes:
        verdict: what AMD's tables say.
        reason: why, in one sentence.
        source: where the table is from; empty without one.
    """

    verdict: Verdict
    reason: str
    source: str = ""


def of_module(module: str | None, rocm: str) -> Compatibility:
    """Whether the DKMS module of this version (None: the kernel's own driver) serves ROCm `rocm`."""
    if module is None:
        return Compatibility("unknown", "the kernel's own amdgpu has no version that AMD's tables know")
    number = versions.parse(module)
    if number is None or len(number) < 2:
        return Compatibility("unknown", f"the module's version {module!r} is none")
    found, exact = _release_of(number)
    if found is None:
        return Compatibility("unknown", _between(number))
    answer = of_release(found["rocm"], rocm)
    how = "is the driver of" if exact and found["confidence"] == "high" else "is of the line of"
    return Compatibility(
        answer.verdict,
        f"module {module} {how} ROCm {found['rocm']} ({found['source']}); {answer.reason}",
        answer.source or found["source"],
    )


def of_release(driver: str, rocm: str) -> Compatibility:
    """Whether the driver of this release (`6.2.4` of ROCm, or `30.10.1` of amdgpu) serves ROCm `rocm`."""
    driver_number, rocm_number = versions.parse(driver), versions.parse(rocm)
    if driver_number is None or rocm_number is None:
        return Compatibility("unknown", f"{driver if driver_number is None else rocm!r} is no version")
    scheme = "amdgpu" if driver_number >= _FIRST_AMDGPU else "rocm"
    if scheme == "rocm" and versions.release(driver_number) == versions.release(rocm_number):
        return Compatibility(
            "compatible", f"driver and ROCm are both of {versions.show(versions.release(rocm_number))}"
        )
    listed = _rows_for(scheme, driver_number)
    for row, lines in listed:
        if any(versions.covers(line, rocm_number) for line in lines):
            return Compatibility("compatible", f"AMD lists driver {driver} with ROCm {rocm}", row["source"])
    for row, lines in listed:
        newest = versions.parse(row["known_to"]) or ()
        if row["complete"] == "yes" and versions.release(rocm_number) <= newest:
            span = f"{versions.show(min(lines))} to {versions.show(max(lines))}"
            return Compatibility(
                "not compatible", f"AMD lists driver {driver} with ROCm {span} only, not {rocm}", row["source"]
            )
    preview = ", a preview" if versions.is_preview(rocm_number) else ""
    if listed:
        return Compatibility(
            "unknown", f"the table for driver {driver} does not reach ROCm {rocm}{preview}", listed[0][0]["source"]
        )
    return Compatibility("unknown", f"no table of AMD's tells of driver {driver} with ROCm {rocm}{preview}")


def _rows_for(scheme: str, driver: Version) -> list[tuple[dict[str, str], list[Version]]]:
    """Rows that speak of `driver`, the most exact first."""
    found = []
    for row in rows("driver_rocm.tsv"):
        line = versions.parse(row["driver"]) or ()
        if row["scheme"] == scheme and versions.covers(line, driver):
            tested = [number for text in row["tested_rocm"].split(",") if (number := versions.parse(text))]
            found.append((len(line), dict(row), tested))
    return [(row, tested) for _, row, tested in sorted(found, key=lambda item: -item[0])]


def _release_of(module: Version) -> tuple[dict[str, str] | None, bool]:
    """The row of this module version, or else of its line, and whether it is the very version."""
    line = None
    for row in rows("modules.tsv"):
        number = versions.parse(row["module"]) or ()
        if row["rocm"] and number == module:
            return dict(row), True
        if row["rocm"] and number[:2] == module[:2]:
            line = dict(row)
    return line, False


def _between(module: Version) -> str:
    seen = sorted((versions.parse(row["module"]) or (), row["rocm"]) for row in rows("modules.tsv") if row["rocm"])
    below = [rocm for number, rocm in seen if number < module]
    above = [rocm for number, rocm in seen if number > module]
    where = " and ".join(
        part
        for part in (
            f"after that of ROCm {below[-1]}" if below else "",
            f"before that of ROCm {above[0]}" if above else "",
        )
        if part
    )
    return f"module {versions.show(module)} is not in the table: {where}"
