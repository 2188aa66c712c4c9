"""The sampler that runs between steps: started by `--phase start`, ended by `--phase stop` or by itself.

By itself it ends when the job's process is gone, when the state file is (a runner empties its temporary folder), when
another sampler took its place, and after `_LONGEST` at the latest.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from rocm_ci.runner.errors import RocmCiError
from rocm_ci.vram_probe import exchange, opening
from rocm_ci.vram_probe.job import Job
from rocm_ci.vram_probe.judge import Judgement, Limits
from rocm_ci.vram_probe.measuring import Measuring, Start
from rocm_ci.vram_probe.request import Request
from rocm_ci.vram_probe.sizes import parse_amount
from rocm_ci.vram_probe.source import Source

_LOOK = 1.0
_SNAPSHOT = 10.0
_LONGEST = 5 * 86400.0
_LONGEST_UNWATCHED = 86400.0


def order(request: Request, job: Job, token: str, state: Path, result: Path) -> dict[str, object]:
    """What the sampler has to know, as JSON."""
    limits = request.limits
    return {
        "interval": request.interval,
        "settle": request.settle,
        "require_clear": limits.require_clear.text if limits.require_clear else None,
        "max_leak": limits.max_leak,
        "source": request.source,
        "python": request.python,
        "path_root": str(request.path_root),
        "metrics_port": request.metrics_port,
        "job": [job.pid, job.started, job.name],
        "token": token,
        "state": str(state),
        "result": str(result),
    }


def main(text: str) -> int:
    """Run the sampler as `order` says; the first line on stdout tells how it began."""
    orders = json.loads(text)
    stop = threading.Event()

    def ask(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        stop.set()

    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a job's Ctrl-C is not for it: `stop` still wants the figures
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    request = _request(orders)
    try:
        with opening.opened(request, os.environ) as source:
            measuring = Measuring(source, request.interval, request.limits, request.settle)
            start = measuring.check_start()
            if start.judgement is None:
                measuring.begin()
            _say(_head(source, start))
            if start.judgement is not None:
                return 0
            _watch(measuring, source, request, orders, stop)
    except RocmCiError as error:
        sys.stderr.write(f"{error.message}\n")  # the log, which `stop` reads
        _say({"error": error.message, "help": error.help, "code": int(error.code)})
        return int(error.code)
    return 0


def _watch(
    measuring: Measuring, source: Source, request: Request, orders: Mapping[str, Any], stop: threading.Event
) -> None:
    state, result = Path(orders["state"]), Path(orders["result"])
    pid, started, name = orders["job"]
    job = Job(pid, started, name)
    begun = time.monotonic()
    longest = _LONGEST if pid else _LONGEST_UNWATCHED
    snapshot = begun
    with opening.served(request, source, measuring):
        while not stop.wait(_LOOK):
            now = time.monotonic()
            if now - begun < 10 and not state.exists():
                continue  # `start` writes it once it has read our first line
            if job.gone() or not _mine(state, orders["token"]) or now - begun > longest or not measuring.alive:
                measuring.end(settle_limit=0)
                return
            if now - snapshot >= _SNAPSHOT:
                snapshot = now
                exchange.write(result, {**exchange.dump_measurement(measuring.measurement()), "ended": False})
        measuring.end()
        exchange.write(result, {**exchange.dump_measurement(measuring.measurement()), "ended": True})


def _mine(state: Path, token: str) -> bool:
    try:
        return exchange.state(state).token == token
    except (FileNotFoundError, exchange.BadFileError):
        return False


def _head(source: Source, start: Start) -> dict[str, object]:
    told: Judgement | None = start.judgement
    return {
        "source": source.name,
        "devices": [_plain(device) for device in source.devices],
        "before": list(start.before),
        "holders": [_plain(holder) for holder in start.holders],
        "judgement": None if told is None else [told.verdict, int(told.code), told.message, told.help],
    }


def _plain(value: Any) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(value)


def _request(orders: Mapping[str, Any]) -> Request:
    clear = orders["require_clear"]
    return Request(
        interval=orders["interval"],
        settle=orders["settle"],
        limits=Limits(require_clear=parse_amount(clear) if clear else None, max_leak=orders["max_leak"]),
        source=orders["source"],
        python=orders["python"],
        path_root=Path(orders["path_root"]),
        metrics_port=orders["metrics_port"],
    )


def _say(head: Mapping[str, object]) -> None:
    """Tell the step how it began, then let go of its output: a runner waits for all who hold it."""
    sys.stdout.write(json.dumps(head) + "\n")
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
