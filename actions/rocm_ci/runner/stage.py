"""Running one stage: its check, and everything that the check's outcome has to reach."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from rocm_ci.runner.console import Console
from rocm_ci.runner.delivery import Delivery, say_traceback, say_verdict
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, RocmCiError
from rocm_ci.runner.files import ensure_directory
from rocm_ci.runner.heartbeat import INTERVAL, Heartbeat
from rocm_ci.runner.interrupts import Interrupted, Interrupts
from rocm_ci.runner.masking import Redactor
from rocm_ci.runner.outcome import Outcome, error_outcome, honest, internal_error
from rocm_ci.runner.processes import ProcessRegistry
from rocm_ci.runner.record import Record, RecordFile
from rocm_ci.runner.text import one_line

__all__ = ["Check", "Outcome", "StageContext", "fail_stage", "run_stage"]


@dataclass(frozen=True)
class StageContext:
    """What a check is given: where it runs, a way to run commands, and a way to say what it is doing (on stderr)."""

    env: RunnerEnv
    processes: ProcessRegistry
    progress: Callable[[str], None]


Check = Callable[[StageContext], Outcome]


def run_stage(
    stage: str,
    check: Check,
    *,
    report: Path | None = None,
    environ: Mapping[str, str] | None = None,
    timeout: float | None = None,
    heartbeat: float = INTERVAL,
) -> int:
    """Run a check and deliver its outcome: report, evidence, outputs, annotations, summary, record.

    Every error becomes an outcome: `RocmCiError` with its own code, anything else as an internal error with
    `Code.INFRA`.

    Args:
        stage: the stage's name.
        check: what to run.
        report: where the JSON report goes instead of the runner's temporary folder.
        environ: the environment; the process's by default.
        timeout: seconds that the check may take; a longer one has failed. Kept here, because a job that GitHub ends by
            its own limit shows as cancelled and hides the log.
        heartbeat: seconds of silence after which a line is printed.

    Returns:
        The exit code of the process: the verdict; 128 + the signal's number when a signal stopped it; 0 in the first
        step of an action, whose second step reads the verdict from the record.
    """
    env = RunnerEnv.from_environ(os.environ if environ is None else environ, own_inputs=_own_inputs())
    console = Console(Redactor(env.variables), on_github=env.on_github)
    record = RecordFile(env.record_path(stage), Record.of_this_process(stage))
    try:
        ensure_directory(env.directory, private=env.private)
        record.write()
    except InfraError as error:
        say_verdict(console, stage, error.code, error.message, error.help, annotate=True)
        return int(Code.INFRA)

    console.mask()
    delivery = Delivery(stage, env, console, record, report)
    interrupts = Interrupts(lambda: _end_quietly(processes), timeout)
    processes = ProcessRegistry(
        env.child_variables, console=console, on_change=record.set_groups, hurry=interrupts.take_hurry
    )
    doing = [""]

    def progress(text: str) -> None:
        doing[0] = one_line(text, 200)
        console.progress(text)

    def still_running(seconds: float) -> str:
        return f"{stage}: still running after {seconds:.0f} s" + (f": {doing[0]}" if doing[0] else "")

    beat = Heartbeat(still_running, silent_for=lambda: console.silent_for, emit=console.progress, interval=heartbeat)
    with interrupts, beat:
        try:
            interrupts.arm()
            outcome = _outcome(check, StageContext(env, processes, progress), delivery.report_path, console)
            interrupts.disarm()
        except Interrupted as stop:
            outcome = _too_long(stage, timeout or 0) if stop.signal is signal.SIGALRM else _stopped(stage, stop)
        interrupts.join()
        code, recorded = delivery.deliver(honest(_end_commands(outcome, processes)))
    if interrupts.received is not None and code is Code.INFRA:
        return 128 + interrupts.received
    return int(Code.PASSED) if env.deferred and recorded else int(code)


def fail_stage(stage: str, error: RocmCiError, *, environ: Mapping[str, str] | None = None) -> int:
    """Deliver an error that came before the stage's check could start; returns as `run_stage`."""

    def check(_: StageContext) -> NoReturn:
        raise error

    return run_stage(stage, check, environ=environ)


def _outcome(check: Check, context: StageContext, report_path: Path, console: Console) -> Outcome:
    try:
        return _as_outcome(check(context))
    except RocmCiError as error:
        return error_outcome(error)
    except (Exception, SystemExit, GeneratorExit, KeyboardInterrupt) as error:
        say_traceback(console, error)
        return internal_error(error, report_path)


def _as_outcome(value: object) -> Outcome:
    if isinstance(value, Outcome):
        return value
    raise TypeError(f"the check returned {type(value).__name__}, not an Outcome")


def _too_long(stage: str, seconds: float) -> Outcome:
    return Outcome(
        code=Code.FAILED,
        message=f"{stage} did not end within its time limit of {seconds:g} s",
        executed=0,
        unit="checks",
        report={"timeout_s": seconds},
        help="find out what hangs, or raise `timeout`",
    )


def _stopped(stage: str, stop: Interrupted) -> Outcome:
    return Outcome(
        code=Code.INFRA,
        message=f"{stage} was stopped by {stop.signal.name} before it came to a verdict",
        executed=0,
        unit="checks",
        report={"signal": stop.signal.name},
        help="the job was cancelled or its time was over; run it again",
    )


def _end_commands(outcome: Outcome, processes: ProcessRegistry) -> Outcome:
    """Leave no command of the stage running; one that cannot be ended is the node's fault."""
    try:
        processes.close()
    except InfraError as error:
        if outcome.code is Code.PASSED:
            return replace(outcome, code=Code.INFRA, message=one_line(error.message), help=error.help)
    return outcome


def _end_quietly(processes: ProcessRegistry) -> None:
    # What survives is found, and told, once more by `_end_commands`.
    with contextlib.suppress(InfraError):
        processes.close()


def _own_inputs() -> frozenset[str]:
    # Without click, which a failed installation leaves us without, no option was read either.
    if "click" not in sys.modules:
        return frozenset()
    from rocm_ci.runner.options import own_inputs

    return own_inputs()
