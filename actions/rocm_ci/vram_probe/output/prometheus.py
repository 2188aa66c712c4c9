"""Figures for Prometheus, in the text format 0.0.4 that node_exporter's textfile collector and a scrape both take.

Names after prometheus.io/docs/practices/naming: base unit bytes, the unit last. No timestamps (the textfile collector
refuses files with them), no process numbers and no host names in labels. An unknown figure has no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rocm_ci.vram_probe.figures import Measurement
from rocm_ci.vram_probe.judge import Verdict
from rocm_ci.vram_probe.source import Device

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_VERDICTS: tuple[Verdict, ...] = ("ok", "leak", "growth", "dirty-start", "lost")

Sample = tuple[Mapping[str, str], float | int | None]


def finished(measured: Measurement, verdict: Verdict | None) -> str:
    """The figures of a run that has ended."""
    devices = [gpu.device for gpu in measured.gpus]

    def each(values: Iterable[int | None]) -> list[Sample]:
        return list(zip(map(labels, devices), values, strict=True))

    return "".join(
        [
            metric("rocm_ci_vram_capacity_bytes", "VRAM of the GPU.", each(d.capacity_bytes for d in devices)),
            metric("rocm_ci_vram_before_bytes", "VRAM in use before the run.", each(g.before for g in measured.gpus)),
            metric("rocm_ci_vram_peak_bytes", "Most VRAM in use during the run.", each(g.peak for g in measured.gpus)),
            metric("rocm_ci_vram_after_bytes", "VRAM in use after the run.", each(g.after for g in measured.gpus)),
            metric(
                "rocm_ci_vram_leaked_bytes", "VRAM that the run left in use.", each(g.leaked for g in measured.gpus)
            ),
            metric("rocm_ci_vram_samples", "Samples that were taken.", [({}, measured.samples)]),
            metric("rocm_ci_vram_run_seconds", "Time that was sampled.", [({}, round(measured.seconds, 3))]),
            metric(
                "rocm_ci_vram_verdict",
                "1 for the verdict of the run, 0 for the others.",
                [({"verdict": name}, int(name == verdict)) for name in _VERDICTS],
            ),
        ]
    )


def running(devices: Sequence[Device], last: Sequence[int | None], peak: Sequence[int | None], samples: int) -> str:
    """The figures of a run that goes on."""
    names = [labels(device) for device in devices]
    capacity = [device.capacity_bytes for device in devices]
    return "".join(
        [
            metric("rocm_ci_vram_capacity_bytes", "VRAM of the GPU.", list(zip(names, capacity, strict=True))),
            metric("rocm_ci_vram_used_bytes", "VRAM in use now.", list(zip(names, last, strict=True))),
            metric("rocm_ci_vram_peak_bytes", "Most VRAM in use so far.", list(zip(names, peak, strict=True))),
            metric("rocm_ci_vram_samples", "Samples taken so far.", [({}, samples)]),
        ]
    )


def labels(device: Device) -> dict[str, str]:
    """Labels of a device; partitions of one socket share its address and are told apart by `partition`."""
    found = {"bdf": device.bdf or f"unknown-{device.index}", "gfx": device.gfx or "unknown"}
    if device.partition:
        found["partition"] = device.partition
    return found


def metric(name: str, text: str, samples: Sequence[Sample]) -> str:
    """One gauge with its HELP and TYPE; empty when no value is known."""
    lines = [f"{name}{_labels(names)} {value}" for names, value in samples if value is not None]
    return "\n".join([f"# HELP {name} {text}", f"# TYPE {name} gauge", *lines, ""]) if lines else ""


def _labels(names: Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{_escape(value)}"' for name, value in names.items())
    return f"{{{inside}}}" if inside else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
