"""Bringing an outcome to everyone who waits for it: report, job summary, outputs, annotations, log, record."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rocm_ci.runner.annotations import Annotation, Selection, command_line, rest_markdown, select
from rocm_ci.runner.console import Console
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, result_name
from rocm_ci.runner.evidence import evidence_line
from rocm_ci.runner.files import cannot_write
from rocm_ci.runner.outcome import Outcome, internal_error
from rocm_ci.runner.outputs import write_outputs
from rocm_ci.runner.record import RecordFile
from rocm_ci.runner.report import build_report, encode_report, write_report
from rocm_ci.runner.summary import write_summary
from rocm_ci.runner.text import one_line, printable


class Delivery:
    """Writes the results of one stage; what cannot be written turns a pass into `Code.INFRA` and is told.

    Args:
        stage: its name.
        env: where it runs.
        console: prints and redacts.
        record: its record, which is closed last.
        report: where the report goes; None: the runner's temporary folder.
    """

    def __init__(self, stage: str, env: RunnerEnv, console: Console, record: RecordFile, report: Path | None) -> None:
        self.stage = stage
        self.env = env
        self.console = console
        self.record = record
        self.report_path = (report or env.report_path(stage)).absolute()

    def deliver(self, outcome: Outcome) -> tuple[Code, bool]:
        """Write and print everything; the final code, and whether the record holds it."""
        outcome = replace(
            outcome,
            message=one_line(self.console.redact(outcome.message)),
            help=self.console.redact(outcome.help),
            executed=max(0, outcome.executed),
        )
        selection = select(outcome.annotations)
        final = self._attempt(outcome, self._report)
        final = self._attempt(final, lambda it: self._summary(it, selection))
        final = self._attempt(final, self._outputs)
        if final is not outcome:
            # Something could not be written: what can be written must not go on to say that all is well.
            for write in (self._report, self._outputs):
                self._attempt(final, write, quiet=True)
        final = self._print(final, selection)
        recorded = self.record.finish(
            code=final.code,
            executed=final.executed,
            message=final.message,
            help=final.help,
            report=str(self.report_path),
        )
        if not recorded:
            text = f"cannot write {self.record.path}, so the verdict would be lost"
            say_verdict(self.console, self.stage, Code.INFRA, text, "", annotate=True)
            return Code.INFRA, False
        return final.code, True

    def _attempt(self, outcome: Outcome, write: Callable[[Outcome], None], *, quiet: bool = False) -> Outcome:
        try:
            write(outcome)
        except InfraError as error:
            if quiet:
                return outcome
            self.console.progress(f"{self.stage}: {error.message}")
            if outcome.code is Code.PASSED:
                return replace(outcome, code=Code.INFRA, message=one_line(error.message), help=error.help)
            # The first cause stays the verdict; a report that is missing has been told.
        except Exception as error:  # a defect of ours in rendering an outcome
            if not quiet:
                say_traceback(self.console, error)
            return internal_error(error, self.report_path)
        return outcome

    def _report(self, outcome: Outcome) -> None:
        report = build_report(
            self.stage,
            outcome.code,
            outcome.message,
            executed=outcome.executed,
            unit=outcome.unit,
            body=outcome.report,
        )
        text = encode_report(report)
        if self.console.redact(text) != text:
            # Redacting the text itself could break it: a secret of digits only also matches a number.
            text = encode_report(self.console.redact.walk(json.loads(text)))
        write_report(self.report_path, text)

    def _summary(self, outcome: Outcome, selection: Selection) -> None:
        if self.env.summary_file:
            parts = [outcome.summary or default_summary(self.stage, outcome), rest_markdown(selection.rest)]
            text = "\n".join(part.rstrip("\n") + "\n" for part in parts if part)
            write_summary(self.env.summary_file, self.console.redact(printable(text)))

    def _outputs(self, outcome: Outcome) -> None:
        if self.env.output_file:
            redact = self.console.redact
            outputs = {name: redact(value) for name, value in outcome.outputs.items()}
            outputs["result"] = result_name(outcome.code)
            outputs["report"] = str(self.report_path)
            outputs["evidence"] = evidence_line(
                self.stage,
                outcome.code,
                outcome.message,
                executed=outcome.executed,
                unit=outcome.unit,
                gpus=redact.walk(list(outcome.gpus)),
            )
            write_outputs(self.env.output_file, outputs)

    def _print(self, outcome: Outcome, selection: Selection) -> Outcome:
        console = self.console
        if outcome.text:
            console.out(outcome.text)
        for annotation in selection.shown:
            console.command(command_line(annotation, workspace=self.env.workspace, redact=console.redact))
        if console.failure and outcome.code is Code.PASSED:
            error = cannot_write(Path("stdout"), console.failure)
            outcome = replace(outcome, code=Code.INFRA, message=error.message)
            self._attempt(outcome, self._report, quiet=True)
            self._attempt(outcome, self._outputs, quiet=True)
        # In an action the second step says the error; twice would use up two of the step's annotations.
        say_verdict(console, self.stage, outcome.code, outcome.message, outcome.help, annotate=not self.env.deferred)
        console.progress(f"report: {self.report_path}")
        return outcome


def say_verdict(
    console: Console,
    stage: str,
    code: Code,
    message: str,
    help: str,  # noqa: A002
    *,
    annotate: bool,
) -> None:
    """Print the verdict of a stage on stderr and, when `annotate` and it is not a pass, as an annotation."""
    word = result_name(code) or "wrong use"
    console.progress(f"{stage}: {word}: {message}")
    if help:
        console.progress(f"  help: {help}")
    if annotate and code is not Code.PASSED:
        text = message + (f"\n{help}" if help else "")
        console.command(command_line(Annotation("error", text, title=f"{stage}: {word}"), redact=console.redact))


def say_traceback(console: Console, error: BaseException) -> None:
    """Print a traceback where a person can unfold it; elsewhere it is only in the report."""
    if console.on_github:
        with console.group("rocm-ci: traceback of an internal error"):
            console.progress("".join(traceback.format_exception(error)))


def default_summary(stage: str, outcome: Outcome) -> str:
    """The summary of a stage that has nothing more to show."""
    word = result_name(outcome.code) or "wrong use"
    text = f"### {stage}: {word}\n\n{outcome.message}\n"
    return text + (f"\n{outcome.help}\n" if outcome.help else "")
