"""Peaks of single tests, as the plugin in the user's pytest wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

PLUGIN = "rocm_ci_vram"
FOLDER = Path(__file__).parent / "user"
VARIABLE = "ROCM_CI_VRAM_TESTS"
_MOST = 2000
_LARGEST = 64 * 1024**2


def environ(job: Mapping[str, str], path: Path) -> dict[str, str]:
    """The job's environment, with the plugin on for every pytest that the command starts."""
    search = job.get("PYTHONPATH", "")
    options = job.get("PYTEST_ADDOPTS", "")
    return {
        **job,
        "PYTHONPATH": f"{FOLDER}:{search}" if search else str(FOLDER),
        "PYTEST_ADDOPTS": f"{options} -p {PLUGIN}".strip(),
        VARIABLE: str(path),
    }


def read(path: Path) -> list[dict[str, object]]:
    """The tests, the greatest peak first; lines that are none are passed over (a test may have written to the file)."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST)
    except OSError:
        return []
    best: dict[str, tuple[int | None, int | None]] = {}
    for line in raw.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and isinstance(entry.get("test"), str):
            name = entry["test"]
            figures = (_greatest(entry.get("allocated")), _greatest(entry.get("reserved")))
            known = best.get(name, (None, None))
            best[name] = (_higher(figures[0], known[0]), _higher(figures[1], known[1]))
    found: list[dict[str, object]] = [
        {"test": name, "allocated_bytes": allocated, "reserved_bytes": reserved}
        for name, (allocated, reserved) in sorted(best.items(), key=lambda pair: -(pair[1][0] or 0))
    ]
    return found[:_MOST]


def _greatest(peaks: object) -> int | None:
    values = peaks.values() if isinstance(peaks, dict) else ()
    return max((value for value in values if isinstance(value, int) and not isinstance(value, bool)), default=None)


def _higher(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)
