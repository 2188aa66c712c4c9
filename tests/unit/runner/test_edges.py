"""Environment, files, options and text: the small parts at the edge."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, result_name
from rocm_ci.runner.files import append_whole, ensure_directory, write_atomic
from rocm_ci.runner.options import CONTEXT_SETTINGS, LINES, Lines, own_inputs
from rocm_ci.runner.text import cut_utf16, markdown_text, one_line, plural, printable

# --- environ --------------------------------------------------------------------------------------------------------


def test_a_github_runner(tmp_path: Path) -> None:
    env = RunnerEnv.from_environ(
        {
            "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": "/o",
            "GITHUB_STEP_SUMMARY": "/s",
            "GITHUB_WORKSPACE": "/w",
            "ROCM_CI_VERDICT": "deferred",
        }
    )
    assert (env.on_github, env.deferred, env.private) == (True, True, False)
    assert env.record_path("gate") == tmp_path / "rocm-ci" / "gate.record.json"
    assert env.report_path("gate") == tmp_path / "rocm-ci" / "gate.json"
    assert (env.output_file, env.summary_file, env.workspace) == (Path("/o"), Path("/s"), Path("/w"))


def test_a_laptop_has_a_private_folder(tmp_path: Path) -> None:
    environ = {"TMPDIR": str(tmp_path), "GITHUB_ACTIONS": "1", "RUNNER_TEMP": "", "GITHUB_OUTPUT": ""}
    env = RunnerEnv.from_environ(environ)
    assert (env.on_github, env.deferred, env.private) == (False, False, True)
    assert env.directory.parent == tmp_path
    assert env.directory.name.startswith(f"rocm-ci-{os.getuid()}-")
    assert env.output_file is None


def test_two_checkouts_of_one_user_share_no_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    seen = set()
    for folder in folders:
        folder.mkdir()
        monkeypatch.chdir(folder)
        seen.add(RunnerEnv.from_environ({"TMPDIR": str(tmp_path)}).directory)
    assert len(seen) == 2


def test_commands_see_the_jobs_environment_and_not_our_inputs() -> None:
    environ = {"PYTHONPATH": "/theirs", "INPUT_SOURCE": "src", "INPUT_DIR": "theirs", "ROCM_CI_VERDICT": "deferred"}
    env = RunnerEnv.from_environ(environ, own_inputs={"INPUT_SOURCE"})
    assert dict(env.child_variables) == {"PYTHONPATH": "/theirs", "INPUT_DIR": "theirs"}


# --- files ----------------------------------------------------------------------------------------------------------


def test_a_write_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "report.json"
    write_atomic(path, "first, which is longer\n")
    write_atomic(path, "ünd\ud800\n")
    assert path.read_bytes() == "ünd\\ud800\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_a_reader_that_holds_the_old_file_keeps_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomic(path, "old")
    with path.open() as reader:
        write_atomic(path, "new")
        assert reader.read() == "old"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_atomic(Path("/dev/null"), "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(InfraError, match="no space left on its file system"):
        write_atomic(Path("/dev/full"), "x" * 100_000)


@pytest.mark.parametrize("where", ["file/below/x", "folder"])
def test_what_cannot_be_written_is_an_infra_error_that_names_it(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InfraError, match=f"cannot write .*{where}: ") as caught:
        write_atomic(tmp_path / where, "x")
    assert caught.value.help
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "folder"]


def test_a_failed_append_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    append_whole(path, b"a\n")
    with pytest.raises(InfraError):
        append_whole(tmp_path / "missing" / "out", b"b\n")
    assert path.read_bytes() == b"before\na\n"


def test_a_private_folder_must_be_ours_and_closed(tmp_path: Path) -> None:
    folder = tmp_path / "rocm-ci-0"
    ensure_directory(folder, private=True)
    ensure_directory(folder, private=True)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    with pytest.raises(InfraError, match="not a private folder"):
        ensure_directory(folder, private=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(InfraError, match="not a private folder"):
        ensure_directory(link, private=True)


# --- options --------------------------------------------------------------------------------------------------------


@click.command("demo", context_settings=CONTEXT_SETTINGS)
@click.argument("source", nargs=-1, type=LINES, envvar="INPUT_SOURCE")
@click.option("--fail-on", type=click.Choice(["a", "b"]))
@click.option("--exclude", multiple=True, type=LINES)
@click.option("--port", multiple=True, type=Lines(click.INT))
@click.option("--compile", is_flag=True)
def demo(**values: object) -> None:
    click.echo(repr(values))
    click.echo(sorted(own_inputs()))


def run(*args: str, **environ: str) -> str:
    result = CliRunner().invoke(demo, args, env=environ)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_options_are_inputs() -> None:
    out = run(
        INPUT_SOURCE="src dir\n  lib\n\n",
        INPUT_FAIL_ON="b",
        INPUT_EXCLUDE="*.h\na b/**",
        INPUT_PORT="1\n2",
        INPUT_COMPILE="true",
    )
    assert "'source': ('src dir', 'lib')" in out
    assert "'fail_on': 'b'" in out
    assert "'exclude': ('*.h', 'a b/**')" in out
    assert "'port': (1, 2)" in out
    assert "'compile': True" in out
    assert "INPUT_SOURCE" in out
    assert "INPUT_FAIL_ON" in out


def test_an_empty_input_was_not_given() -> None:
    names = ("SOURCE", "FAIL_ON", "EXCLUDE", "PORT", "COMPILE")
    assert run(**{f"INPUT_{name}": "" for name in names}) == run()


def test_the_command_line_goes_first() -> None:
    out = run("x", "--exclude", "y", INPUT_SOURCE="a", INPUT_EXCLUDE="b")
    assert "'source': ('x',)" in out
    assert "'exclude': ('y',)" in out


def test_a_bad_line_is_wrong_use() -> None:
    result = CliRunner().invoke(demo, [], env={"INPUT_PORT": "1\nx"})
    assert result.exit_code == 2


# --- text and codes -------------------------------------------------------------------------------------------------


def test_one_line_is_one_printable_line() -> None:
    assert one_line("a\r\n\tb \x1b[31mred\x1b[0m\x00 c\u2028d") == "a b red c d"
    assert len(one_line("word " * 1000)) <= 1000
    assert printable("a\ud800") == "a\\ud800"


def test_cutting_counts_code_units() -> None:
    assert cut_utf16("abc", 3) == "abc"
    assert cut_utf16("😀" * 10, 16, "!") == "😀" * 7 + "!"


def test_markdown_stays_text_in_a_cell() -> None:
    assert markdown_text("a|b\n`c` <d> &") == "a\\|b \\`c\\` &lt;d&gt; &amp;"


def test_plurals() -> None:
    assert (plural(1, "files"), plural(1, "retries"), plural(2000, "files")) == ("1 file", "1 retry", "2,000 files")


def test_wrong_use_has_no_result() -> None:
    assert [result_name(code) for code in Code] == ["passed", "failed", "", "infra"]
