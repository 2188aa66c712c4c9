"""Workflow commands, annotations, outputs and summary, held against how the runner reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci.runner.annotations import MESSAGE_LIMIT, Annotation, command_line, relative_path, rest_markdown, select
from rocm_ci.runner.commands import keep_commands_running, neutralize, workflow_command
from rocm_ci.runner.errors import InfraError
from rocm_ci.runner.outputs import output_block, write_outputs
from rocm_ci.runner.summary import LIMIT, NOTE, fit, write_summary
from rocm_ci.runner.text import utf16_length


def parse_outputs(data: bytes) -> dict[str, str]:
    """The runner's own algorithm (actions/runner, FileCommandManager.cs): the first of `=` and `<<` decides."""
    lines = data.decode("utf-8").split("\n")
    assert lines.pop() == "", "the last line has no end"
    found: dict[str, str] = {}
    while lines:
        line = lines.pop(0)
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
            continue
        assert heredoc > 0, f"invalid line {line!r}"
        name, delimiter = line[:heredoc], line[heredoc + 2 :]
        body = []
        while (line := lines.pop(0)) != delimiter:
            body.append(line)
        found[name] = "\n".join(body)
    return found


def is_command(text: str) -> bool:
    """Whether the runner would take a line of `text` for a command (ActionCommand.cs, both forms)."""
    return any(line.lstrip().startswith("::") or "##[" in line for line in text.splitlines())


def unescape(data: str) -> str:
    return data.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",").replace("%25", "%")


# --- commands -------------------------------------------------------------------------------------------------------


def test_data_and_properties_are_escaped() -> None:
    line = workflow_command("error", "100%\r\nsee: a,b", file="a,b:c%", line=3, col=None, title="x\ny")
    assert line == "::error file=a%2Cb%3Ac%25,line=3,title=x%0Ay::100%25%0D%0Asee: a,b"


@given(st.text(), st.text())
def test_a_command_is_one_line_and_reads_back(data: str, value: str) -> None:
    line = workflow_command("notice", data, title=value)
    assert "\n" not in line
    assert "\r" not in line
    title, _, rest = line.removeprefix("::notice title=").partition("::")
    assert unescape(title) == value
    assert unescape(rest) == data


@given(st.lists(st.sampled_from(["::error::x", "  ::add-mask::x", "##[group]x", "a ##[error]b", ":", "#", "[", "ok"])))
def test_text_never_becomes_a_command(lines: list[str]) -> None:
    text = "\n".join(lines)
    shown = neutralize(text)
    assert not is_command(shown)
    assert shown.replace("\u200b", "") == text


def test_the_users_own_commands_pass_but_none_stops_ours() -> None:
    assert keep_commands_running("::error file=a::b") == "::error file=a::b"
    assert not is_command(keep_commands_running("  ::Stop-Commands::token"))


# --- annotations ----------------------------------------------------------------------------------------------------


def test_ten_of_each_level_fit_and_the_rest_goes_to_the_summary() -> None:
    levels = ("error", "warning", "notice")
    many = [Annotation(level, f"{level} {i}", path="a.cu", line=i) for i in range(1, 13) for level in levels]
    selection = select(many)
    for level in levels:
        assert [a.message for a in selection.shown if a.level == level] == [f"{level} {i}" for i in range(1, 11)]
    assert len(selection.rest) == 6
    text = rest_markdown(selection.rest)
    assert "6 more" in text
    assert "`a.cu:12` notice 12" in text


@given(st.text(min_size=1, max_size=40), st.integers(min_value=1, max_value=9000))
def test_a_message_is_shorter_than_what_the_runner_cuts(part: str, times: int) -> None:
    message = (part * times)[:9000]
    line = command_line(Annotation("error", message))
    assert utf16_length(unescape(line.removeprefix("::error::"))) <= MESSAGE_LIMIT < 4096


def test_a_cut_message_says_so_and_counts_as_dotnet_does() -> None:
    line = command_line(Annotation("error", "\U0001f600" * 4000))
    message = line.removeprefix("::error::")
    assert message.endswith("(cut)")
    assert utf16_length(message) in range(4090, 4096)


def test_positions_are_left_out_where_there_is_none() -> None:
    assert command_line(Annotation("error", "m", path="a", line=0, column=3)) == "::error file=a::m"
    assert command_line(Annotation("error", "m", line=4)) == "::error::m"
    assert command_line(Annotation("error", "m", path="a", line=4, column=2)) == "::error file=a,line=4,col=2::m"


def test_paths_are_relative_to_the_workspace() -> None:
    workspace = Path("/__w/repo/repo")
    assert relative_path("/__w/repo/repo/src/a.cu", workspace) == "src/a.cu"
    assert relative_path("/__w/repo/repository/a.cu", workspace) == "/__w/repo/repository/a.cu"
    assert relative_path("./src/a.cu", workspace) == "src/a.cu"


# --- outputs --------------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,20}", fullmatch=True), st.text(), max_size=5))
def test_outputs_read_back_whatever_they_hold(outputs: dict[str, str]) -> None:
    data = "".join(output_block(name, value) for name, value in outputs.items()).encode("utf-8", "backslashreplace")
    expected = {name: value.encode("utf-8", "backslashreplace").decode() for name, value in outputs.items()}
    assert parse_outputs(data) == expected


def test_a_delimiter_that_occurs_in_the_value_is_not_used() -> None:
    offered = iter(["EOF", "EOF2"])
    block = output_block("a", "x\nEOF\nresult<<EOF\npassed", lambda: next(offered))
    # EOF2 is chosen although it only begins like the other.
    assert block.startswith("a<<EOF2\n")
    assert parse_outputs(block.encode()) == {"a": "x\nEOF\nresult<<EOF\npassed"}


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a<<b", "1a", "a\n", "ä"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name of an output"):
        output_block(name, "x")


def test_outputs_start_on_a_line_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"theirs=1")
    write_outputs(path, {"ours": "2"})
    write_outputs(path, {"more": "3"})
    assert parse_outputs(path.read_bytes()) == {"theirs": "1", "ours": "2", "more": "3"}


def test_outputs_on_a_full_disk_are_an_infra_error() -> None:
    with pytest.raises(InfraError, match="no space left"):
        write_outputs(Path("/dev/full"), {"a": "1"})


# --- summary --------------------------------------------------------------------------------------------------------


def test_a_summary_that_fits_is_kept_as_it_is() -> None:
    assert fit("# a\n", 100) == b"# a\n"
    assert fit("# a", 4) == b"# a\n"


@given(st.lists(st.text(alphabet="aé😀`<>|# ", max_size=30), max_size=40), st.integers(min_value=0, max_value=400))
def test_a_cut_summary_has_whole_lines_and_a_note(lines: list[str], room: int) -> None:
    text = "\n".join(lines)
    data = fit(text, room)
    assert len(data) <= room
    whole = (text + "" if text.endswith("\n") else text + "\n").encode()
    if data != whole and data:
        kept = data.decode("utf-8").removesuffix(NOTE)
        assert data.endswith(NOTE.encode())
        first = [line for line in kept.split("\n") if line]
        assert text.startswith(kept) or set(first) - set(text.split("\n")) <= {"```", "</details>"}


def test_blocks_that_the_cut_leaves_open_are_closed() -> None:
    text = "<details>\n\n```\n" + "x\n" * 1000 + "```\n</details>\n"
    data = fit(text, 600).decode()
    assert data.endswith("x\n```\n</details>\n" + NOTE)


def test_what_the_step_has_written_counts(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_bytes(b"u" * 600_000)
    write_summary(path, "y" * 99 + "\n" + "é" * 10 + "\n" + "z" * 600_000)
    data = path.read_bytes()
    assert len(data) <= LIMIT
    assert data[600_000:].decode().startswith("\n" + "y" * 99 + "\n" + "é" * 10 + "\n")
    assert data.endswith(NOTE.encode())
    path.write_bytes(b"u" * (LIMIT - 3))
    write_summary(path, "more than fits")
    assert path.read_bytes() == b"u" * (LIMIT - 3)
