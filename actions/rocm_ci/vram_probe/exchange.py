"""What the sampler between steps and the steps tell each other, as JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rocm_ci.vram_probe.figures import Course, GpuFigures, Measurement
from rocm_ci.vram_probe.source import Device, Holder

SCHEMA = 1


class BadFileError(Exception):
    """A file that is none of ours; the message says why."""


@dataclass(frozen=True, slots=True)
class State:
    """What `start` leaves for `stop`: which process samples, and where its results are."""

    pid: int
    started: int | None
    token: str
    result: str
    log: str


def write(path: Path, data: Mapping[str, object]) -> None:
    """Write JSON so that a reader never sees half of it; not synced, for it need not outlive the machine."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps({"schema": SCHEMA, **data}), encoding="utf-8")
    temporary.replace(path)


def load(path: Path) -> dict[str, Any]:
    """Read such a file.

    Raises:
        FileNotFoundError: there is none.
        BadFileError: it is none of ours.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise BadFileError(f"it cannot be read: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise BadFileError(f"it is not of schema {SCHEMA}")
    return data


def state(path: Path) -> State:
    """The state; for errors see `load`."""
    data = load(path)
    pid, started, token = data.get("pid"), data.get("started"), data.get("token")
    if not isinstance(pid, int) or pid <= 1 or not isinstance(token, str):
        raise BadFileError("it names no process")
    known = started if isinstance(started, int) else None
    return State(pid, known, token, str(data.get("result", "")), str(data.get("log", "")))


def dump_measurement(measured: Measurement) -> dict[str, object]:
    """A measurement as JSON."""
    return {"measurement": asdict(measured)}


def measurement(data: Mapping[str, Any]) -> Measurement:
    """A measurement that `dump_measurement` made.

    Raises:
        BadFileError: it is none.
    """
    try:
        raw = dict(data["measurement"])
        raw["gpus"] = tuple(GpuFigures(**{**gpu, "device": Device(**gpu["device"])}) for gpu in raw["gpus"])
        raw["course"] = Course(**raw["course"])
        raw["lost"] = {int(index): str(why) for index, why in raw["lost"].items()}
        raw["unreadable"] = tuple(raw["unreadable"])
        raw["taken"] = tuple(map(tuple, raw["taken"]))
        for name in ("holders_before", "holders_peak", "holders_after"):
            raw[name] = tuple(Holder(**holder) for holder in raw[name])
        return Measurement(**raw)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFileError(f"it is no measurement: {error}") from error
