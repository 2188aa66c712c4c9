"""Running a stage: one outcome reaches the report, the outputs, the summary, the log, the record and the exit code."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rocm_ci.runner.annotations import Annotation
from rocm_ci.runner.errors import CheckFailed, Code, InfraError, NotAvailable, RocmCiError, UsageError
from rocm_ci.runner.interrupts import Interrupted, Interrupts
from rocm_ci.runner.record import read
from rocm_ci.runner.report import build_report, encode_report, envelope_schema
from rocm_ci.runner.stage import Outcome, StageContext, fail_stage, run_stage

TOKEN = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"


class Runner:
    """The files and variables of a runner."""

    def __init__(self, root: Path, **more: str) -> None:
        self.root = root
        self.environ = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(root / "output"),
            "GITHUB_STEP_SUMMARY": str(root / "summary"),
            "GITHUB_WORKSPACE": "/w",
            "RUNNER_TEMP": str(root),
            "PATH": "/usr/bin:/bin",
            **more,
        }

    def outputs(self) -> dict[str, str]:
        text = (self.root / "output").read_text("utf-8")
        blocks = re.findall(r"^([\w-]+)<<(ghadelimiter_\w+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
        return {name: value for name, _, value in blocks}

    def report(self, stage: str = "demo") -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.root / "rocm-ci" / f"{stage}.json").read_text("utf-8"))
        jsonschema.Draft202012Validator(envelope_schema()).validate(report)
        return report

    def summary(self) -> str:
        return (self.root / "summary").read_text("utf-8")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def outcome(code: Code = Code.PASSED, executed: int = 3, **more: Any) -> Outcome:
    values: dict[str, Any] = {"message": "3 files are fine", "unit": "files", "report": {"files": []}, **more}
    return Outcome(code=code, executed=executed, **values)


def test_a_pass_reaches_everyone(runner: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    gpu = {"bdf": "0000:c1:00.0", "gfx": "gfx90a", "product": "AMD Instinct MI250X", "serial": "not evidence"}

    def check(context: StageContext) -> Outcome:
        context.progress("reading")
        note = Annotation("notice", "look", path="/w/a.cu", line=3)
        return outcome(
            text="the result\n", outputs={"findings": "0"}, annotations=[note], summary="# Fine\n", gpus=[gpu]
        )

    assert run_stage("demo", check, environ=runner.environ) == 0
    out, err = capfd.readouterr()
    assert out == "the result\n::notice file=a.cu,line=3::look\n"
    assert err.startswith("reading\ndemo: passed: 3 files are fine\n")
    report = runner.report()
    assert list(report) == ["schema", "stage", "result", "code", "message", "executed", "unit", "files"]
    assert (report["result"], report["executed"]) == ("passed", 3)
    outputs = runner.outputs()
    assert outputs["findings"] == "0"
    assert outputs["result"] == "passed"
    assert outputs["report"] == str(runner.root / "rocm-ci" / "demo.json")
    evidence = json.loads(outputs["evidence"])
    assert evidence == {
        "schema": 1,
        "stage": "demo",
        "result": "passed",
        "code": 0,
        "executed": 3,
        "unit": "files",
        "gpus": [{"bdf": "0000:c1:00.0", "gfx": "gfx90a", "product": "AMD Instinct MI250X"}],
        "message": "3 files are fine",
    }
    assert runner.summary() == "# Fine\n"
    record = read(runner.root / "rocm-ci" / "demo.record.json", "demo")
    assert (record.state, record.code, record.executed) == ("done", Code.PASSED, 3)


@pytest.mark.parametrize(
    ("error", "code", "result"),
    [
        (CheckFailed("two findings", help="fix them"), 1, "failed"),
        (UsageError("bad option", help="fix it"), 2, ""),
        (NotAvailable("not built", help="wait"), 2, ""),
        (InfraError("no GPU", help="reboot"), 3, "infra"),
    ],
)
def test_an_error_is_an_outcome(
    runner: Runner, capfd: pytest.CaptureFixture[str], error: RocmCiError, code: int, result: str
) -> None:
    assert fail_stage("demo", error, environ=runner.environ) == code
    out, err = capfd.readouterr()
    assert error.message in err
    assert error.help in err
    assert out.startswith("::error title=demo%3A ")
    assert runner.report()["code"] == code
    assert runner.outputs()["result"] == result
    assert error.message in runner.summary()


def test_the_verdict_step_decides_where_the_action_says_so(runner: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    environ = {**runner.environ, "ROCM_CI_VERDICT": "deferred"}
    for error in (CheckFailed("f"), UsageError("u"), InfraError("i")):
        assert fail_stage("demo", error, environ=environ) == 0
        assert read(runner.root / "rocm-ci" / "demo.record.json", "demo").code is error.code
    # The second step annotates; the first would only use up the step's ten.
    assert "::error" not in capfd.readouterr().out


@pytest.mark.parametrize("executed", [0, -1])
def test_nothing_executed_is_never_a_pass(runner: Runner, executed: int) -> None:
    assert run_stage("demo", lambda _: outcome(executed=executed), environ=runner.environ) == 3
    report = runner.report()
    assert "nothing was executed" in report["message"]
    assert report["executed"] == 0
    assert runner.outputs()["result"] == "infra"


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), SystemExit(0), KeyboardInterrupt(), RecursionError()])
def test_a_defect_of_ours_is_infra_with_its_traceback_in_the_report(
    runner: Runner, capfd: pytest.CaptureFixture[str], error: BaseException
) -> None:
    def check(_: StageContext) -> Outcome:
        raise error

    assert run_stage("demo", check, environ=runner.environ) == 3
    report = runner.report()
    assert report["message"].startswith(
        f"internal error of rocm-ci, not of the code under test: {type(error).__name__}"
    )
    assert "Traceback" in report["internal_error"]["traceback"]
    out, err = capfd.readouterr()
    assert "::group::" in out
    assert "Traceback" in err
    laptop = {"TMPDIR": str(runner.root), "PATH": "/usr/bin:/bin"}
    assert run_stage("demo", check, environ=laptop) == 3
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "body",
    [{"figure": float("nan")}, {"x": object()}, {"code": 0}, {"result": "passed"}, {"x": {1, 2}}],
)
def test_a_report_that_is_no_json_is_a_defect_and_no_pass(runner: Runner, body: Mapping[str, object]) -> None:
    assert run_stage("demo", lambda _: outcome(report=body), environ=runner.environ) == 3
    assert "internal_error" in runner.report()
    assert runner.outputs()["result"] == "infra"


def test_a_check_must_return_an_outcome(runner: Runner) -> None:
    def check(_: StageContext) -> Outcome:
        return None  # type: ignore[return-value]

    assert run_stage("demo", check, environ=runner.environ) == 3


def test_secrets_leave_nowhere(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runner = Runner(tmp_path, DEPLOY_PASSWORD="correct horse")
    secrets = f"{TOKEN} correct horse"

    def check(context: StageContext) -> Outcome:
        context.progress(secrets)
        context.processes.run(["echo", secrets])
        return outcome(
            Code.FAILED,
            message=secrets,
            help=secrets,
            text=secrets,
            report={"x": [secrets], secrets: 1},
            outputs={"x": secrets},
            annotations=[Annotation("error", secrets, path=secrets, title=secrets)] * 12,
            summary=secrets,
            gpus=[{"bdf": "x", "gfx": "gfx90a", "product": secrets}],
        )

    assert run_stage("demo", check, environ=runner.environ) == 1
    out, err = capfd.readouterr()
    # The runner itself has to be told what to hide, and takes that line out of the log.
    assert out.count("::add-mask::correct horse\n") == 1
    seen = out.replace("::add-mask::correct horse\n", "") + err
    for path in tmp_path.rglob("*"):
        if path.is_file():
            seen += path.read_text("utf-8")
    assert TOKEN not in seen
    assert "correct horse" not in seen
    assert "***" in seen


def test_what_a_check_quotes_is_no_command(runner: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    def check(context: StageContext) -> Outcome:
        context.progress("::stop-commands::x")
        return outcome(text="a\n  ::add-mask::passed\n##[error]b")

    run_stage("demo", check, environ=runner.environ)
    out, err = capfd.readouterr()
    assert not [line for line in (out + err).splitlines() if line.lstrip().startswith("::") or "##[" in line]


def test_annotations_beyond_ten_are_in_the_summary(runner: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    many = [Annotation("error", f"finding {i}", path="a.cu", line=i) for i in range(1, 13)]
    run_stage("demo", lambda _: outcome(Code.FAILED, annotations=many, summary="# Found\n"), environ=runner.environ)
    assert capfd.readouterr().out.count("::error file=") == 10
    assert "finding 12" in runner.summary()
    assert "finding 10" not in runner.summary()


def test_the_report_goes_where_the_user_says(runner: Runner) -> None:
    path = runner.root / "out" / "r.json"
    assert run_stage("demo", lambda _: outcome(), report=path, environ=runner.environ) == 0
    assert json.loads(path.read_text())["stage"] == "demo"
    assert runner.outputs()["report"] == str(path)


# --- what cannot be written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"])
def test_a_full_disk_is_infra_and_never_a_pass(runner: Runner, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    environ = {**runner.environ, name: "/dev/full"}
    assert run_stage("demo", lambda _: outcome(), environ=environ) == 3
    assert "no space left" in capfd.readouterr().err
    assert runner.report()["result"] == "infra"
    assert read(runner.root / "rocm-ci" / "demo.record.json", "demo").code is Code.INFRA
    # What the check found stays the verdict.
    assert run_stage("demo", lambda _: outcome(Code.FAILED), environ=environ) == 1


def test_a_report_that_cannot_be_written_is_infra(runner: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    for path in (Path("/dev/full"), runner.root / "output" / "x", Path("/proc/x/y")):
        (runner.root / "output").write_bytes(b"")
        assert run_stage("demo", lambda _: outcome(), report=path, environ=runner.environ) == 3
        assert "cannot write" in capfd.readouterr().err
        assert runner.outputs()["result"] == "infra"


@pytest.mark.parametrize("deferred", ["", "deferred"])
def test_no_place_for_the_record_is_infra_in_both_steps(
    runner: Runner, deferred: str, capfd: pytest.CaptureFixture[str]
) -> None:
    environ = {**runner.environ, "RUNNER_TEMP": "/dev/null/x", "ROCM_CI_VERDICT": deferred}
    assert run_stage("demo", lambda _: outcome(), environ=environ) == 3
    err = capfd.readouterr().err
    assert "cannot write /dev/null/x/rocm-ci" in err
    assert "Traceback" not in err


def test_a_verdict_that_cannot_be_recorded_fails_the_first_step(runner: Runner) -> None:
    def check(_: StageContext) -> Outcome:
        folder = runner.root / "rocm-ci"
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        folder.write_text("in the way")
        return outcome()

    assert run_stage("demo", check, environ={**runner.environ, "ROCM_CI_VERDICT": "deferred"}) == 3


# --- commands of the check ------------------------------------------------------------------------------------------


def test_commands_are_recorded_while_they_run_and_ended_with_the_stage(runner: Runner) -> None:
    seen = []

    def check(context: StageContext) -> Outcome:
        running = context.processes.start(["sleep", "600"])
        record = read(runner.root / "rocm-ci" / "demo.record.json", "demo")
        seen.append((record.state, [group.pgid for group in record.groups] == [running.pid], running))
        return outcome()

    assert run_stage("demo", check, environ=runner.environ) == 0
    state, recorded, running = seen[0]
    assert (state, recorded) == ("running", True)
    assert running.poll() == -signal.SIGINT
    assert read(runner.root / "rocm-ci" / "demo.record.json", "demo").groups == ()


def test_a_signal_ends_the_commands_and_is_the_first_cause(runner: Runner) -> None:
    started = []

    def check(context: StageContext) -> Outcome:
        started.append(context.processes.start(["sleep", "600"]))
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the signal did not stop the check")

    assert run_stage("demo", check, environ=runner.environ) == 128 + signal.SIGTERM
    assert started[0].poll() == -signal.SIGINT
    report = runner.report()
    assert (report["result"], report["signal"]) == ("infra", "SIGTERM")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_in_the_first_step_is_recorded(runner: Runner) -> None:
    def check(context: StageContext) -> Outcome:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the signal did not stop the check")

    run_stage("demo", check, environ={**runner.environ, "ROCM_CI_VERDICT": "deferred"})
    record = read(runner.root / "rocm-ci" / "demo.record.json", "demo")
    assert (record.state, record.code) == ("done", Code.INFRA)
    assert "SIGINT" in record.message


def test_a_signal_after_the_check_does_not_change_its_verdict(runner: Runner) -> None:
    class Late(dict[str, str]):
        def items(self) -> Any:
            signal.raise_signal(signal.SIGINT)
            return super().items()

    assert run_stage("demo", lambda _: outcome(outputs=Late()), environ=runner.environ) == 0
    assert runner.outputs()["result"] == "passed"


def test_signals_before_the_check_stop_it_before_it_starts() -> None:
    ended = threading.Event()
    with Interrupts(ended.set) as interrupts:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interrupted):
            interrupts.arm()
        interrupts.join()
        assert ended.is_set()
        signal.raise_signal(signal.SIGTERM)
        assert interrupts.take_hurry()
        assert not interrupts.take_hurry()


def test_a_stage_runs_in_any_thread(runner: Runner) -> None:
    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(run_stage("demo", lambda _: outcome(), environ=runner.environ))
    )
    thread.start()
    thread.join()
    assert codes == [0]


def test_a_laptop_needs_no_runner(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    environ = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    many = [Annotation("error", "finding")] * 12
    found = outcome(Code.FAILED, text="1 finding\n", annotations=many)
    assert run_stage("demo", lambda _: found, environ=environ) == 1
    out, err = capfd.readouterr()
    assert out == "1 finding\n"
    assert "report: " in err
    assert "::" not in out + err


# --- the envelope ---------------------------------------------------------------------------------------------------


def test_the_schema_refuses_a_pass_without_work() -> None:
    schema = jsonschema.Draft202012Validator(envelope_schema())
    good = build_report("demo", Code.PASSED, "m", executed=1, unit="files", body={})
    assert schema.is_valid(good)
    assert not schema.is_valid({**good, "executed": 0})
    assert not schema.is_valid({**good, "result": "failed"})
    assert not schema.is_valid({**good, "code": 4})
    assert not schema.is_valid({**good, "schema": 2})


def test_a_report_keeps_characters_and_paths() -> None:
    assert json.loads(encode_report({"p": Path("/a"), "t": "ü😀", "n": None})) == {"p": "/a", "t": "ü😀", "n": None}


def test_a_report_has_a_line_for_each_item_of_a_list() -> None:
    report = {"a": 1, "items": [{"path": "x", "line": 1}, {"path": "y\n", "line": 2}], "none": []}
    assert encode_report(report).split("\n") == [
        "{",
        '  "a": 1,',
        '  "items": [',
        '    {"path": "x", "line": 1},',
        '    {"path": "y\\n", "line": 2}',
        "  ],",
        '  "none": []',
        "}",
        "",
    ]


def test_a_check_over_its_time_limit_has_failed_and_leaves_no_command(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    started: list[int] = []

    def check(context: StageContext) -> Outcome:
        started.append(context.processes.start(["sleep", "600"]).pid)
        threading.Event().wait(600)
        raise AssertionError

    assert run_stage("demo", check, environ=runner.environ, timeout=0.3) == int(Code.FAILED)
    assert runner.report()["message"] == "demo did not end within its time limit of 0.3 s"
    assert runner.outputs()["result"] == "failed"
    assert not Path(f"/proc/{started[0]}").exists()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_check_within_its_time_limit_is_left_alone(tmp_path: Path) -> None:
    runner = Runner(tmp_path)

    def check(_: StageContext) -> Outcome:
        return Outcome(Code.PASSED, "done", 1, "files", {})

    assert run_stage("demo", check, environ=runner.environ, timeout=30) == int(Code.PASSED)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
