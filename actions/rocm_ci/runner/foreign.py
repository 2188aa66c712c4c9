"""The record that `verdict` needs, made from an exit code: for commands that are run like a stage and are none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace

from rocm_ci.runner.console import Console
from rocm_ci.runner.delivery import say_verdict
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, result_name
from rocm_ci.runner.evidence import evidence_line
from rocm_ci.runner.files import ensure_directory
from rocm_ci.runner.masking import Redactor
from rocm_ci.runner.outputs import write_outputs
from rocm_ci.runner.record import BadRecordError, Record, RecordFile, read


def forget_record(stage: str, *, environ: Mapping[str, str] | None = None) -> None:
    """Remove what an earlier run of the same command in this job left."""
    env = RunnerEnv.from_environ(os.environ if environ is None else environ)
    with contextlib.suppress(OSError):
        env.record_path(stage).unlink()


def keep_exit_code(stage: str, code: int, *, environ: Mapping[str, str] | None = None) -> int:
    """See to it that the second step of an action finds the verdict of a command that has ended.

    Args:
        stage: the command's name.
        code: its exit code; anything but 0 to 3 is the node's fault.
        environ: the environment; the process's by default.

    Returns:
        The exit code of the process: `code`, or 0 where the second step decides and a record of the command is there.
    """
    env = RunnerEnv.from_environ(os.environ if environ is None else environ)
    if not env.deferred:
        return code
    path = env.record_path(stage)
    try:
        record = read(path, stage)
    except (FileNotFoundError, BadRecordError):
        record = None
    if record is not None and record.state == "done":
        return int(Code.PASSED)
    verdict = Code(code) if code in list(Code) else Code.INFRA
    message = f"{stage} ended with exit code {code}" + ("; its log says why" if code else "")
    console = Console(Redactor(env.variables), on_github=env.on_github)
    try:
        ensure_directory(env.directory, private=env.private)
        file = RecordFile(path, replace(Record.of_this_process(stage), executed=1))
        if env.output_file:
            line = evidence_line(stage, verdict, message, executed=1, unit="commands")
            write_outputs(env.output_file, {"result": result_name(verdict), "evidence": line})
    except InfraError as error:
        say_verdict(console, stage, error.code, error.message, error.help, annotate=True)
        return int(Code.INFRA)
    recorded = file.finish(code=verdict, executed=1, message=message, help="", report="")
    return int(Code.PASSED) if recorded else max(code, int(Code.INFRA))
