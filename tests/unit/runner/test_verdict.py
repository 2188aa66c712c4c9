"""The second step of an action: the recorded code, or infra; never a pass by default."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocm_ci.runner.ending import Grace, Group
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code
from rocm_ci.runner.foreign import forget_record, keep_exit_code
from rocm_ci.runner.procfs import start_time
from rocm_ci.runner.record import BadRecordError, Record, RecordFile, decode, encode, read
from rocm_ci.runner.verdict import main, verdict

QUICK = Grace(interrupt=0.3, terminate=0.3, kill=20)
DONE = Record(stage="demo", state="done", pid=1, code=Code.PASSED, executed=2, message="2 files are fine")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "rocm-ci").mkdir()
    return {"RUNNER_TEMP": str(tmp_path), "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(tmp_path / "output")}


def put(environ: dict[str, str], text: str) -> Path:
    path = Path(environ["RUNNER_TEMP"]) / "rocm-ci" / "demo.record.json"
    path.write_text(text, encoding="utf-8")
    return path


# --- the record -----------------------------------------------------------------------------------------------------


def test_a_record_reads_back() -> None:
    group = Group(4321, 99, "marker", "bash -c x")
    for record in (DONE, Record(stage="demo", pid=7, pid_started=8, groups=(group,), message="é\n")):
        assert decode(encode(record), "demo") == record


def broken(**changes: Any) -> str:
    return json.dumps({**json.loads(encode(DONE)), **changes})


BROKEN = [
    "",
    "{",
    "null",
    "[]",
    "[" * 100_000,
    broken(schema=2),
    broken(schema=True),
    broken(stage="other"),
    broken(state="finished"),
    broken(state=None),
    broken(code=None),
    broken(code=4),
    broken(code=-1),
    broken(code=False),
    broken(code="0"),
    broken(executed=0),
    broken(executed=None),
    broken(executed=-1),
    broken(executed=True),
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_doubtful_record_is_no_record(text: str, environ: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadRecordError):
        decode(text, "demo")
    path = put(environ, text)
    assert verdict("demo", environ=environ) == 3
    assert not path.exists()
    assert "no usable record" in capfd.readouterr().err


def test_groups_that_cannot_be_verified_are_not_taken_over() -> None:
    groups = [{"pgid": 1, "started": 1}, {"pgid": 5, "started": None}, {"pgid": -1, "started": 1}, 3, {"pgid": True}]
    assert decode(broken(groups=groups), "demo").groups == ()


def test_a_full_disk_at_the_end_leaves_no_record_that_could_mislead(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "missing" / ".." / "file" / "x", DONE)
    (tmp_path / "file").write_text("")
    assert not file.finish(code=Code.PASSED, executed=1, message="", help="", report="")


# --- the step -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", list(Code))
def test_the_recorded_code_is_the_exit_code_and_is_used_once(
    code: Code, environ: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    record = Record(
        stage="demo", state="done", pid=1, code=code, executed=1, message="100% the cause", help="do this", report="/r"
    )
    put(environ, encode(record))
    assert verdict("demo", environ=environ) == code
    out, err = capfd.readouterr()
    assert "100% the cause\n  help: do this\nreport: /r\n" in err
    assert out == ("" if code is Code.PASSED else out)
    assert ("::error title=demo%3A " in out) == (code is not Code.PASSED)
    assert "100%25 the cause%0Ado this" in out or code is Code.PASSED
    # The check's own outputs stand.
    assert not Path(environ["GITHUB_OUTPUT"]).exists()
    assert verdict("demo", environ=environ) == 3


def test_no_record_is_infra_with_outputs_in_its_place(
    environ: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert verdict("demo", environ=environ) == 3
    assert "does not exist" in capfd.readouterr().err
    text = Path(environ["GITHUB_OUTPUT"]).read_text()
    assert "result<<" in text
    assert '"stage":"demo","result":"infra","code":3,"executed":0' in text


def test_a_check_that_never_ended_is_infra(environ: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    put(environ, encode(Record(stage="demo", pid=2**22 + 1, pid_started=1)))
    assert verdict("demo", environ=environ) == 3
    assert "did not come to its end" in capfd.readouterr().err


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")
class TestEnding:
    def test_what_the_record_says_still_runs_is_ended(
        self, environ: dict[str, str], sleeper: subprocess.Popen[bytes]
    ) -> None:
        group = Group(sleeper.pid, start_time(sleeper.pid), "", "sleep 600")
        put(environ, encode(Record(stage="demo", pid=2**22 + 1, pid_started=1, groups=(group,))))
        assert verdict("demo", environ=environ, grace=QUICK) == 3
        assert sleeper.wait() == -signal.SIGINT

    def test_a_stranger_with_the_same_number_is_not(
        self, environ: dict[str, str], sleeper: subprocess.Popen[bytes]
    ) -> None:
        started = start_time(sleeper.pid)
        assert started is not None
        stranger = Group(sleeper.pid, started - 1, "", "sleep 600")
        put(environ, encode(Record(stage="demo", pid=sleeper.pid, pid_started=started - 1, groups=(stranger,))))
        assert verdict("demo", environ=environ, grace=QUICK) == 3
        assert sleeper.poll() is None

    def test_a_check_that_still_runs_is_asked_to_stop_and_tells_its_story(self, environ: dict[str, str]) -> None:
        script = (
            "import sys\n"
            "from rocm_ci.runner.stage import run_stage\n"
            "def check(context):\n"
            "    process = context.processes.start(['sleep', '600'])\n"
            "    print(process.pid, flush=True)\n"
            "    process.wait()\n"
            "sys.exit(run_stage('demo', check))\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert verdict("demo", environ=environ, grace=QUICK) == 3
        _, err = process.communicate()
        assert process.returncode == 128 + signal.SIGINT
        assert b"demo was stopped by SIGINT" in err
        assert start_time(child) is None


def test_the_command_line() -> None:
    for args in ([], ["a", "b"], ["--help"], [""], ["../x"]):
        assert main(args) == 2


# --- commands that are no stage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "recorded"), [(0, 0), (1, 1), (2, 2), (3, 3), (130, 3), (-9, 3)])
def test_an_exit_code_becomes_a_record(code: int, recorded: int, environ: dict[str, str]) -> None:
    deferred = {**environ, "ROCM_CI_VERDICT": "deferred"}
    assert keep_exit_code("plan", code, environ=deferred) == 0
    assert verdict("plan", environ=environ) == recorded
    assert keep_exit_code("plan", code, environ=environ) == code


def test_a_record_of_the_command_itself_stands(environ: dict[str, str]) -> None:
    path = put(environ, encode(DONE))
    deferred = {**environ, "ROCM_CI_VERDICT": "deferred"}
    assert keep_exit_code("demo", 1, environ=deferred) == 0
    assert read(path, "demo") == DONE
    forget_record("demo", environ=environ)
    forget_record("demo", environ=environ)
    assert not path.exists()


def test_a_record_that_cannot_be_written_fails_the_first_step(environ: dict[str, str]) -> None:
    deferred = {**environ, "ROCM_CI_VERDICT": "deferred", "RUNNER_TEMP": "/dev/null/x"}
    assert keep_exit_code("plan", 0, environ=deferred) == 3


def test_without_a_job_nothing_is_read_and_nobody_is_ended(tmp_path: Path) -> None:
    environ = {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        env = RunnerEnv.from_environ(environ)
        env.directory.mkdir(mode=0o700)
        record = replace(Record.of_this_process("demo"), pid=other.pid, pid_started=start_time(other.pid))
        RecordFile(env.record_path("demo"), record).write()
        assert verdict("demo", environ=environ) == int(Code.INFRA)
        assert other.poll() is None
        other.kill()
    assert env.record_path("demo").exists()
