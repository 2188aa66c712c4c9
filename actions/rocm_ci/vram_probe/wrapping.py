"""Watching one command: `rocm-ci vram-probe -- COMMAND…`."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from rocm_ci.runner.ending import Group
from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.files import write_atomic
from rocm_ci.runner.outcome import Outcome
from rocm_ci.runner.record import BadRecordError, encode, read
from rocm_ci.runner.stage import StageContext
from rocm_ci.vram_probe import finishing, opening, tests_file
from rocm_ci.vram_probe.judge import CommandEnd
from rocm_ci.vram_probe.launch import Command, Ended
from rocm_ci.vram_probe.measuring import Measuring
from rocm_ci.vram_probe.request import Request

STAGE = "vram-probe"
_SETTLE_WHEN_STOPPED = 1.0
"""A job that is cancelled has seconds; GitHub kills what is left 10 s after its first signal."""


class Wrapped:
    """Watches a command; `status` is its exit status once it ended, None before."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.status: int | None = None

    def check(self, context: StageContext) -> Outcome:
        """Run the command and judge.

        Raises:
            UsageError: the baseline is none.
            InfraError: there is no GPU, or the command cannot be started.
        """
        request, environ = self.request, context.env.variables
        earlier = finishing.past(request, environ)
        with opening.opened(request, context.env.child_variables) as source:
            measuring = Measuring(source, request.interval, request.limits, request.settle)
            start = measuring.check_start()
            if start.judgement is not None:
                return finishing.dirty_outcome(request, source.devices, start, start.judgement)
            with (
                _per_test(request, context.env.child_variables) as (variables, tests),
                opening.served(request, source, measuring, context.progress),
            ):
                ended = self._runs(measuring, variables, context)
                found = tests_file.read(tests) if tests else []
            measured = measuring.measurement()
        self.status = ended[-1].status
        result, table = finishing.outcome(
            request,
            measured,
            earlier,
            environ,
            end=CommandEnd(ended[-1].status, ended[-1].words),
            command=_described(request, ended),
            tests=found,
        )
        # stdout is the command's: nothing of ours may get into what a reader makes of it.
        context.progress(table)
        return result

    def _runs(self, measuring: Measuring, variables: dict[str, str], context: StageContext) -> list[Ended]:
        ended: list[Ended] = []
        for turn in range(self.request.repeat):
            if self.request.repeat > 1:
                context.progress(f"run {turn + 1} of {self.request.repeat}")
            command = Command(
                self.request.argv,
                variables,
                notice=context.progress,
                remember=lambda group: _remember(context, group),
            )
            with command:
                measuring.begin()
                try:
                    ended.append(command.run())
                except InfraError:
                    measuring.end(settle_limit=0)
                    raise
                measuring.end(settle_limit=_SETTLE_WHEN_STOPPED if command.stopped_by else None)
                left = command.left()
                if left:
                    context.progress(f"the command left {left} of its processes running; they are ended")
            if ended[-1].returncode != 0 or ended[-1].stopped_by:
                break
        return ended


def _described(request: Request, ended: list[Ended]) -> dict[str, object]:
    last = ended[-1]
    return {
        "argv": list(request.argv),
        "exit_status": last.status,
        "signal": -last.returncode if last.returncode < 0 else None,
        "stopped_by": last.stopped_by.name if last.stopped_by else None,
        "seconds": [round(each.seconds, 3) for each in ended],
        "runs": len(ended),
    }


def _remember(context: StageContext, group: Group) -> None:
    """Put the command's group into the record, where `verdict` finds it should this process be killed."""
    path = context.env.record_path(STAGE)
    try:
        record = read(path, STAGE)
    except (FileNotFoundError, BadRecordError):
        return
    write_atomic(path, encode(replace(record, groups=(*record.groups, group))))


@contextlib.contextmanager
def _per_test(request: Request, job: Mapping[str, str]) -> Iterator[tuple[dict[str, str], Path | None]]:
    variables = dict(job)
    if not request.per_test:
        yield variables, None
        return
    with tempfile.TemporaryDirectory(prefix="rocm-ci-vram-") as folder:
        path = Path(folder) / "tests.jsonl"
        yield tests_file.environ(variables, path), path
