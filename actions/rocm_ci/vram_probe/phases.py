"""Watching a stretch of a job: `--phase start` in one step, `--phase stop` in a later one."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import rocm_ci
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, UsageError
from rocm_ci.runner.outcome import Outcome
from rocm_ci.runner.procfs import read_process, start_time
from rocm_ci.runner.stage import StageContext
from rocm_ci.runner.text import one_line, plural
from rocm_ci.vram_probe import background, exchange, finishing, job
from rocm_ci.vram_probe.judge import Judgement
from rocm_ci.vram_probe.measuring import Start
from rocm_ci.vram_probe.request import Request
from rocm_ci.vram_probe.sizes import show
from rocm_ci.vram_probe.source import Device, Holder

_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from rocm_ci.vram_probe.background import main; sys.exit(main(sys.argv[2]))"
)
_READY_LIMIT = 180.0
_STOP_LIMIT = 30.0


def state_path(env: RunnerEnv) -> Path:
    """Where the state is kept between the steps."""
    return env.directory / "vram-probe.state.json"


def start(request: Request, context: StageContext) -> Outcome:
    """Start the sampler and leave its state behind.

    Raises:
        UsageError: the baseline is none.
        InfraError: there is no GPU, or the sampler does not start.
    """
    env = context.env
    finishing.past(request, env.variables)  # a broken baseline is told now, not after hours of work
    path = state_path(env)
    _end_older(path, context)
    token = secrets.token_hex(8)
    result, log = env.directory / f"vram-probe.{token}.json", env.directory / f"vram-probe.{token}.log"
    orders = background.order(request, job.find(os.getpid(), env.variables), token, path, result)
    process, head = _spawn(orders, env.child_variables, log)
    pid = process.pid
    process.returncode = 0  # it is meant to outlive us: no warning when this object goes
    if "error" in head:
        log.unlink(missing_ok=True)
        raise InfraError(str(head["error"]), help=str(head.get("help", "")))
    devices = tuple(Device(**device) for device in head["devices"])
    before = tuple(head["before"])
    if head["judgement"] is not None:
        log.unlink(missing_ok=True)
        verdict, code, message, advice = head["judgement"]
        told = Judgement(verdict, Code(code), message, advice)
        begun = Start(before, tuple(Holder(**holder) for holder in head["holders"]), told)
        return finishing.dirty_outcome(request, devices, begun, told)
    try:
        exchange.write(path, asdict(exchange.State(pid, start_time(pid), token, str(result), str(log))))
    except OSError as error:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        raise InfraError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error
    used = max((value for value in before if value is not None), default=None)
    return Outcome(
        code=Code.PASSED,
        message=f"watching {plural(len(devices), 'GPUs')}, at most {show(used)} in use now; `phase: stop` judges",
        executed=len(devices),
        unit="GPUs",
        report={
            "gpus": [
                {
                    "bdf": device.bdf,
                    "gfx": device.gfx,
                    "product": device.product,
                    "capacity_bytes": device.capacity_bytes,
                    "before_bytes": value,
                    "unknown": {**device.unknown, **({} if value is not None else {"before_bytes": "unreadable"})},
                }
                for device, value in zip(devices, before, strict=True)
            ],
            "samples": 1,
            "verdict": None,
            "phase": "start",
            "sampler": {"pid": pid, "source": head["source"], "interval_s": request.interval},
        },
        outputs={"peak-bytes": "", "leaked-bytes": ""},
        summary=f"### vram-probe: watching {plural(len(devices), 'GPUs')}\n",
        gpus=finishing.evidence(devices),
    )


def stop(request: Request, context: StageContext) -> Outcome:
    """End the sampler and judge.

    Raises:
        UsageError: no sampler was started in this job.
        InfraError: it did not survive, or does not answer.
    """
    path = state_path(context.env)
    try:
        state = exchange.state(path)
    except FileNotFoundError as error:
        raise UsageError(
            f"no sampler was started in this job: {path} does not exist",
            help="run `rocm-ci vram-probe --phase start` in an earlier step of the same job",
        ) from error
    except exchange.BadFileError as error:
        raise InfraError(f"{path} is not usable: {error}", help="run the job again") from error
    earlier = finishing.past(request, context.env.variables)
    alive = _alive(state)
    if alive:
        context.progress(f"ending the sampler; memory has up to {request.settle:g} s to come back")
        _end(state, request.settle + _STOP_LIMIT)
    said = _log(state)
    try:
        data = exchange.load(Path(state.result))
        measured = exchange.measurement(data)
    except (FileNotFoundError, exchange.BadFileError) as error:
        raise InfraError(
            f"the sampler left no figures{': ' + said if said else ''}",
            help="it was killed (out of memory?); run the job again",
        ) from error
    finally:
        for name in (path, Path(state.result), Path(state.log)):
            with contextlib.suppress(OSError):
                name.unlink()
    if not data.get("ended"):
        context.progress(f"the sampler ended before `stop`; these are its last figures {said}")
    result, _ = finishing.outcome(request, measured, earlier, context.env.variables, table_on_stdout=True)
    return result


def _spawn(
    orders: Mapping[str, object], environ: Mapping[str, str], log: Path
) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    root = str(Path(rocm_ci.__file__).resolve().parents[1])
    try:
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", _PROGRAM, root, json.dumps(orders)],
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
    except OSError as error:
        raise InfraError(f"the sampler cannot be started: {(error.strerror or str(error)).lower()}") from error
    try:
        head = _first_line(process)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if head is None:
        process.wait()
        said = one_line(log.read_text("utf-8", "replace")[-500:])
        log.unlink(missing_ok=True)
        raise InfraError(f"the sampler did not start: {said or 'it ended at once'}")
    if "error" in head or head.get("judgement") is not None:
        process.wait(30)
    return process, head


def _first_line(process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    with process.stdout as stream:
        deadline = time.monotonic() + _READY_LIMIT
        data = b""
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise InfraError(
                    f"the sampler did not see the GPUs within {_READY_LIMIT:g} s",
                    help="the driver hangs: look at dmesg, reset the GPU or the node",
                )
            part = os.read(stream.fileno(), 65536)
            if not part:
                return None
            data += part
    head = json.loads(data)
    return head if isinstance(head, dict) else None


def _alive(state: exchange.State) -> bool:
    found = read_process(state.pid)
    return found is not None and not found.ended and found.started == state.started


def _end(state: exchange.State, limit: float) -> None:
    for signum, seconds in ((signal.SIGTERM, limit), (signal.SIGKILL, 5.0)):
        if not _alive(state):
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(state.pid, signum)
        deadline = time.monotonic() + seconds
        while _alive(state) and time.monotonic() < deadline:
            time.sleep(0.02)


def _end_older(path: Path, context: StageContext) -> None:
    """End a sampler that an earlier `start` of this job left; its figures are nobody's any more."""
    try:
        state = exchange.state(path)
    except (FileNotFoundError, exchange.BadFileError):
        return
    if _alive(state):
        context.progress("an earlier sampler of this job still runs; it is ended")
    with contextlib.suppress(OSError):
        path.unlink()  # it ends by itself when its state is gone; the signal only makes that quick
    _end(state, 5.0)
    for name in (state.result, state.log):
        with contextlib.suppress(OSError):
            Path(name).unlink()


def _log(state: exchange.State) -> str:
    try:
        return one_line(Path(state.log).read_text("utf-8", "replace")[-500:])
    except OSError:
        return ""
