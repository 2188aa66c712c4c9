"""The second step of every action: end what still runs, say the first cause again, exit with the recorded code.

Composite actions have no post step, a cancelled job in a container gets no signal, and some runners lose the exit code
of a step; so the first step writes a record and this one, which always runs, decides.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM

from rocm_ci.runner.console import Console
from rocm_ci.runner.delivery import say_verdict
from rocm_ci.runner.ending import DEFAULT_GRACE, Grace, end_groups
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, result_name
from rocm_ci.runner.evidence import evidence_line
from rocm_ci.runner.masking import Redactor
from rocm_ci.runner.outputs import write_outputs
from rocm_ci.runner.procfs import read_process
from rocm_ci.runner.record import BadRecordError, Record, read

_RUN_AGAIN = "run the job again; if it happens again, the step's log and the node's dmesg say why"

_NO_JOB = "RUNNER_TEMP is not set, so there is no job whose record could be read"
_SET_TEMP = "set RUNNER_TEMP to a folder of this job alone, for the check and for verdict"


@dataclass(frozen=True)
class Decision:
    """What the verdict step says.

    Attributes:
        code: its exit code.
        message: the first cause.
        help: what to do.
        from_check: it is the check's own verdict, not one about a missing or unfinished record.
    """

    code: Code
    message: str
    help: str
    from_check: bool


def decide(record: Record | None, problem: str = "") -> Decision:
    """The verdict that a record bears; never `PASSED` without a record that says so.

    Args:
        record: what the check step left; None when that cannot be used.
        problem: why it cannot be used.
    """
    if record is None:
        return Decision(
            Code.INFRA,
            f"the check left no usable record ({problem}), so nothing is known about the code",
            "the check step did not start or could not write to the runner's temporary folder; its log says why",
            from_check=False,
        )
    if record.state != "done" or record.code is None:
        return Decision(
            Code.INFRA,
            "the check did not come to its end: the job was cancelled, or the step was killed (out of memory?)",
            _RUN_AGAIN,
            from_check=False,
        )
    return Decision(record.code, record.message, record.help, from_check=True)


def verdict(
    stage: str,
    *,
    environ: Mapping[str, str] | None = None,
    grace: Grace = DEFAULT_GRACE,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Run the verdict step of a stage and consume its record.

    Args:
        stage: the stage's name.
        environ: the environment; the process's by default.
        grace: seconds that whatever still runs is given after each signal.
        clock: seconds, monotonic.
        sleep: waits.

    Returns:
        The exit code: that of the record; `Code.INFRA` where there is none, or it says that the check never ended.
    """
    env = RunnerEnv.from_environ(os.environ if environ is None else environ)
    console = Console(Redactor(env.variables), on_github=env.on_github)
    if env.private:
        # The record could be that of a check that somebody runs in another terminal right now.
        say_verdict(console, stage, Code.INFRA, _NO_JOB, _SET_TEMP, annotate=False)
        return int(Code.INFRA)
    path = env.record_path(stage)
    record, problem = _read(path, stage)
    if record is not None and record.state == "running":
        _end_check(record, grace, console, clock, sleep)
        # Asked to stop, the check ends its commands and closes its record; that is the better account.
        record, problem = _read(path, stage)
    left = end_groups(record.groups if record else (), grace=grace, notice=console.progress, clock=clock, sleep=sleep)
    for group in left:
        console.progress(f"{stage}: `{group.command}` (process group {group.pgid}) survived SIGKILL")
    with contextlib.suppress(OSError):
        path.unlink()
    decision = decide(record, problem)
    if not decision.from_check:
        _write_outputs(stage, env, decision, console)
    say_verdict(console, stage, decision.code, decision.message, decision.help, annotate=True)
    if decision.from_check and record and record.report:
        console.progress(f"report: {record.report}")
    return int(decision.code)


def main(args: Sequence[str]) -> int:
    """`verdict STAGE` without click: it must also work where the locked packages could not be installed."""
    if len(args) != 1 or not args[0] or args[0].startswith("-") or "/" in args[0]:
        Console().progress("usage: rocm-ci verdict STAGE")
        return int(Code.USAGE)
    return verdict(args[0])


def _read(path: Path, stage: str) -> tuple[Record | None, str]:
    try:
        return read(path, stage), ""
    except FileNotFoundError:
        return None, f"{path} does not exist"
    except BadRecordError as error:
        return None, f"{path}: {error}"


def _end_check(
    record: Record,
    grace: Grace,
    console: Console,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    """Ask the process that runs the check to stop, and end it in the end; it ends its own commands meanwhile."""

    def runs() -> bool:
        found = read_process(record.pid)
        return found is not None and found.started == record.pid_started and not found.ended

    # Its own ladder for its commands takes this long; only then is it stuck.
    patience = grace.interrupt + grace.terminate + grace.kill + 5
    for signum, seconds in ((SIGINT, patience), (SIGTERM, grace.terminate), (SIGKILL, grace.kill)):
        if record.pid <= 1 or record.pid_started is None or not runs():
            return
        console.progress(f"{record.stage}: the check still runs; ending it (process {record.pid}) with {signum.name}")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(record.pid, signum)
        deadline = clock() + seconds
        while runs() and clock() < deadline:
            sleep(0.1)


def _write_outputs(stage: str, env: RunnerEnv, decision: Decision, console: Console) -> None:
    """Outputs in place of those that the check could not write; the action takes them where the first step has none."""
    if env.output_file is None:
        return
    line = evidence_line(stage, decision.code, console.redact(decision.message), executed=0, unit="checks")
    with contextlib.suppress(InfraError):
        write_outputs(env.output_file, {"result": result_name(decision.code), "evidence": line})
