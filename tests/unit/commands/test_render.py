"""`rocm-ci-gen render`, as a user types it."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import rocm_ci_gen.cli
from rocm_ci_gen.files import LIST_PATH
from rocm_ci_gen.workflow import WORKFLOW_PATH
from rocm_ci_gen.workflow.pins import CHECKOUT, load_pins

MANIFEST = """\
version: 1
runners:
  mi250: {labels: [self-hosted, mi250], gfx: gfx90a}
stages:
  hipify-check: {source: [src]}
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".rocm-ci.yml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def render(*arguments: str, color: bool = False) -> Result:
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["render", *arguments], color=color)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_workflow_is_written_and_then_up_to_date(repository: Path) -> None:
    result = render()
    assert result.exit_code == 0
    assert result.stdout == f"wrote      {WORKFLOW_PATH}\nwrote      {LIST_PATH}\n"
    assert result.stderr == ""
    assert render("--check").exit_code == 0
    assert render("--check").output == ""
    assert render().stdout == f"unchanged  {WORKFLOW_PATH}\n"


def test_check_shows_the_diff_and_the_command(repository: Path) -> None:
    render()
    (repository / ".rocm-ci.yml").write_text(MANIFEST.replace("[src]", "[lib]"))
    result = render("--check")
    assert result.exit_code == 1
    assert '-          source: "src"\n+          source: "lib"\n' in result.stdout
    assert f"{WORKFLOW_PATH} is out of date" in result.stderr
    assert "run `rocm-ci-gen render` and commit the result" in result.stderr
    shown = render("--diff")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, result.stdout, "")
    assert render().exit_code == 0
    assert render("--check").exit_code == 0


def test_check_names_the_options_that_it_was_given(repository: Path) -> None:
    result = render("--check", "--manifest", ".rocm-ci.yml", "--output", "my out")
    assert result.exit_code == 1
    assert "`rocm-ci-gen render --manifest .rocm-ci.yml --output 'my out'`" in result.stderr


def test_a_workflow_of_the_users_own_is_left_alone(repository: Path) -> None:
    path = repository / WORKFLOW_PATH
    path.parent.mkdir(parents=True)
    path.write_text("name: mine\n")
    result = render()
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert path.read_text() == "name: mine\n"
    check = render("--check")
    assert check.exit_code == 1
    assert "was not written by rocm-ci-gen" in check.stderr
    assert "`rocm-ci-gen render --force`" in check.stderr
    assert render("--force").exit_code == 0
    assert render("--check").exit_code == 0


def test_the_workflow_is_printed_with_a_dash(repository: Path) -> None:
    printed = render("--output", "-")
    assert printed.exit_code == 0
    assert not (repository / ".github").exists()
    render()
    assert printed.stdout == (repository / WORKFLOW_PATH).read_text()


@pytest.mark.parametrize("flag", ["--check", "--diff"])
def test_printing_and_comparing_exclude_each_other(repository: Path, flag: str) -> None:
    result = render("--output", "-", flag)
    assert result.exit_code == 2
    assert "--output -" in result.stderr


def test_another_folder(repository: Path) -> None:
    assert render("--output", "out/ci").exit_code == 0
    assert (repository / "out" / "ci" / WORKFLOW_PATH).is_file()
    assert not (repository / ".github").exists()
    assert render("--output", "out/ci", "--check").exit_code == 0


def test_from_a_folder_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "src").mkdir()
    monkeypatch.chdir(repository / "src")
    assert render().exit_code == 0
    assert "from .rocm-ci.yml." in (repository / WORKFLOW_PATH).read_text()


def test_a_manifest_of_another_name_stands_in_the_header(repository: Path) -> None:
    (repository / "ci").mkdir()
    (repository / ".rocm-ci.yml").rename(repository / "ci" / "amd.yml")
    assert render("--manifest", "ci/amd.yml").exit_code == 0
    text = (repository / WORKFLOW_PATH).read_text()
    assert "from ci/amd.yml." in text
    assert "rocm-ci-gen render --manifest ci/amd.yml" in text
    assert 'manifest: "ci/amd.yml"' in text


def test_a_manifest_behind_a_link_keeps_its_name(repository: Path) -> None:
    (repository / "ci").mkdir()
    (repository / ".rocm-ci.yml").rename(repository / "ci" / "amd.yml")
    (repository / ".rocm-ci.yml").symlink_to("ci/amd.yml")
    assert render().exit_code == 0
    assert "from .rocm-ci.yml." in (repository / WORKFLOW_PATH).read_text()


def test_a_raised_pin_survives(repository: Path) -> None:
    render()
    path = repository / WORKFLOW_PATH
    old = load_pins()[CHECKOUT]
    raised = path.read_text().replace(f"{old.sha} # {old.version}", f"{'d' * 40} # v99.0.0")
    path.write_text(raised)
    assert render("--check").exit_code == 0
    assert render().stdout.startswith("unchanged")
    assert path.read_text() == raised
    assert render("--output", "-").stdout == raised
    path.write_text(raised.replace(f"{'d' * 40} # v99.0.0", f"{'d' * 40} # v1.0.0"))
    assert render("--check").exit_code == 1


@pytest.mark.parametrize("target", ["gitlab", "jenkins", "dockerfile", "runner"])
def test_other_targets_are_not_there_yet(repository: Path, target: str) -> None:
    result = render("--target", target)
    assert result.exit_code == 2
    assert "not available in this version" in result.stderr
    assert not (repository / ".github").exists()


def test_a_wrong_manifest_is_exit_2_with_the_place(repository: Path) -> None:
    (repository / ".rocm-ci.yml").write_text(MANIFEST.replace("source", "sorce"))
    for arguments in ([], ["--check"], ["--output", "-"]):
        result = render(*arguments)
        assert result.exit_code == 2
        assert ".rocm-ci.yml:5:18: error:" in result.stderr
        assert result.stdout == ""
    assert not (repository / ".github").exists()


def test_no_manifest_is_exit_2(repository: Path) -> None:
    (repository / ".rocm-ci.yml").unlink()
    result = render()
    assert result.exit_code == 2
    assert "rocm-ci-gen init" in result.stderr
    assert render("--manifest", "nothing.yml").exit_code == 2


def test_a_file_in_the_way_is_told(repository: Path) -> None:
    (repository / ".github").write_text("")
    result = render()
    assert result.exit_code == 2
    assert "stands where a folder is needed" in result.stderr


def test_colours_only_on_a_terminal(repository: Path) -> None:
    assert "\x1b[" not in render("--diff").output
    assert "\x1b[32m" in render("--diff", color=True).output


def test_help_has_an_example_and_is_cheap(repository: Path) -> None:
    result = render("--help")
    assert "rocm-ci-gen render --check" in result.stdout
    code = (
        "import sys; sys.argv = ['rocm-ci-gen', 'render', '--help']\n"
        "from rocm_ci_gen.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'jinja2', 'ruamel', 'ruamel.yaml', 'jsonschema', 'requests'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_garbage_is_collected_again_afterwards(tmp_path: Path) -> None:
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["render", "--manifest", str(tmp_path / "none.yml")])
    assert result.exit_code == 2
    assert gc.isenabled()
