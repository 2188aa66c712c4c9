"""The command: exit codes, report, outputs, and the ways in which nothing is checked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocm_ci.hipify_check.command import command


@pytest.fixture
def tree(tmp_path, monkeypatch):
    root = tmp_path / "work"
    root.mkdir()
    monkeypatch.chdir(root)
    # No git above it may answer for the tree.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "runner"))
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "INPUT_", "ROCM_CI_"))]:
        monkeypatch.delenv(name)

    def write(**files):
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return root

    return write


def run(*arguments, env=None):
    result = CliRunner().invoke(command, list(map(str, arguments)), env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def report_of(*arguments, env=None):
    result = run(*arguments, "--report", "report.json", env=env)
    return result.exit_code, json.loads(Path("report.json").read_text())


def test_clean_tree_passes_and_says_why_there_is_no_coverage(tree):
    tree(a_dot_cu="hipMalloc(&p, n);\n")
    code, report = report_of(".")
    assert code == 0
    assert report["findings"] == []
    assert report["summary"] == {
        "files": 1,
        "bytes": 18,
        "lines": 1,
        "convertible": 0,
        "manual": 0,
        "unsupported": 0,
        "note": 0,
        "suppressed": 0,
        "known": 0,
        "untouched": 0,
        "not_checked": 0,
        "coverage_percent": None,
        "coverage_reason": "nothing that AMD compiles is CUDA, so there is nothing to convert",
    }


def test_finding_has_the_promised_fields(tree):
    tree(src__a_dot_cu="int x;\n  cudaMalloc(&p, n);\n")
    code, report = report_of("src")
    assert code == 1
    assert report["result"] == "failed"
    assert report["findings"] == [
        {
            "path": "src/a.cu",
            "line": 2,
            "column": 3,
            "rule": "HIP101",
            "verdict": "convertible",
            "name": "cudaMalloc",
            "hip": "hipMalloc",
            "message": "cudaMalloc is hipMalloc on ROCm",
        }
    ]
    assert report["summary"]["coverage_percent"] == 100.0


def test_text_shows_line_caret_and_replacement(tree):
    tree(a_dot_cu="\tcudaMalloc(&p, n);\n")
    result = run("a.cu")
    assert "a.cu:1:2: convertible HIP101" in result.output
    assert "|     cudaMalloc(&p, n);" in result.output
    assert "|     ^^^^^^^^^^ hipMalloc" in result.output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 1),
        (("--mode", "native"), 1),
        (("--mode", "hipify"), 0),
        (("--fail-on", "manual"), 0),
        (("--fail-on", "convertible", "--mode", "hipify"), 1),
        (("--fail-on", "never"), 0),
    ],
)
def test_policy_for_convertible(tree, arguments, code):
    tree(a_dot_cu="cudaMalloc(&p, n);\n")
    assert run(".", *arguments).exit_code == code


@pytest.mark.parametrize(("fail_on", "code"), [("unsupported", 0), ("manual", 1), ("convertible", 1), ("never", 0)])
def test_policy_for_manual(tree, fail_on, code):
    tree(a_dot_cu="v = __shfl_sync(0xffffffff, v, 0);\n")
    assert run(".", "--fail-on", fail_on).exit_code == code


def test_notes_never_fail(tree):
    tree(a_dot_cu="#ifndef USE_ROCM\ncudaMalloc(&p, n);\n#endif\n")
    code, report = report_of(".")
    assert code == 0
    assert [one["verdict"] for one in report["findings"]] == ["note"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere"],
        [],
        ["."],  # no source file in it
        ["a.cu", "--exclude", "*.cu"],
        ["a.cu", "--rocm-version", "new"],
        ["a.cu", "--mode", "magic"],
        ["a.cu", "--fail-on", "sometimes"],
        ["a.cu", "--jobs", "0"],
        ["--explain", "HIP000"],
    ],
)
def test_wrong_use(tree, arguments):
    tree(**({} if arguments == ["."] else {"a_dot_cu": "int x;\n"}), notes_dot_txt="x")
    assert run(*arguments).exit_code == 2


def test_nothing_was_checked_is_said(tree):
    tree(notes_dot_txt="x")
    assert "nothing was checked" in run(".").output


def test_convert_writes_a_tree_that_is_then_checked(tree):
    root = tree(src__a_dot_cu="// cudaFree\nvoid f(void* p) { cudaFree(p); }\n")
    code, report = report_of("src", "--convert", "converted")
    assert code == 0
    (converted,) = (root / "converted").rglob("a.cu")
    assert "// cudaFree" in converted.read_text()
    assert "{ hipFree(p); }" in converted.read_text()
    assert "cudaFree(p)" in (root / "src" / "a.cu").read_text()
    assert report["conversion"]["summary"]


def test_what_conversion_cannot_do_still_fails(tree):
    tree(src__a_dot_cu='__global__ void f() { asm("mov.u32 %0, %laneid;"); }\n')
    assert run("src", "--convert", "converted", "--mode", "hipify").exit_code == 1


@pytest.mark.parametrize("arguments", [("--offload-arch", "gfx90a"), ("--convert", "out", "--in-place")])
def test_options_that_do_not_fit_are_wrong_use(tree, arguments):
    tree(a_dot_cu="int x;\n")
    assert run("a.cu", *arguments).exit_code == 2


@pytest.mark.skipif(shutil.which("hipcc") is None, reason="hipcc is not installed (Debian, Ubuntu: apt install hipcc)")
@pytest.mark.hipcc
@pytest.mark.parametrize(("body", "code"), [("hipFree(p)", 0), ("hipFree(p, q)", 1)])
def test_compile_fails_what_the_check_cannot_see(tree, body, code):
    tree(a_dot_hip="#include <hip/hip_runtime.h>\nvoid f(void* p) { (void)" + body + "; }\n")
    found, report = report_of("a.hip", "--compile", "--offload-arch", "gfx90a")
    assert found == code
    assert report["compile"]["arch"] == ["gfx90a"]


def test_a_folder_that_cannot_be_listed_is_told(tree, monkeypatch):
    def walk(root, onerror):
        onerror(PermissionError(13, "Permission denied", str(Path(root) / "secret")))
        yield str(root), [], ["a.hip"]

    tree(a_dot_hip="int x;\n")
    monkeypatch.setattr("rocm_ci.hipify_check.files.os.walk", walk)
    result = run(".")
    assert "secret" in result.output
    assert "NOT checked: 1 file" in result.output


def test_inputs_come_from_the_environment(tree):
    tree(a__x_dot_cu="cudaMalloc(&p, n);\n", b__y_dot_cu="int y;\n", b__z_dot_cu="cudaFree(p);\n")
    env = {"INPUT_SOURCE": "a\nb\n", "INPUT_EXCLUDE": "a/**\nz.cu", "INPUT_MODE": "", "INPUT_FAIL_ON": ""}
    code, report = report_of(env=env)
    assert code == 0
    assert report["summary"]["files"] == 1


def test_what_cannot_be_checked_is_a_note(tree):
    root = tree(a_dot_cu="int x;\n", b_dot_cu=b"\x7fELF\0\0", utf16_dot_cu="\ufeffcudaFree(p);\n".encode("utf-16-le"))
    (root / "loop.cu").symlink_to("loop.cu")
    (root / "gone.cu").symlink_to("nowhere.cu")
    (root / "up").symlink_to("..", target_is_directory=True)
    os.mkfifo(root / "pipe.cu")
    with (root / "huge.cu").open("wb") as stream:
        stream.truncate(1 << 30)
    code, report = report_of(".")
    assert code == 1  # for the UTF-16 file, which is read
    assert [one["name"] for one in report["findings"] if one["verdict"] != "note"] == ["cudaFree"]
    assert {one["path"] for one in report["skipped"]} == {
        "b.cu",
        "gone.cu",
        "huge.cu",
        "loop.cu",
        "pipe.cu",
        "up",
    }
    notes = {one["path"]: one["message"] for one in report["findings"] if one["verdict"] == "note"}
    assert "binary content" in notes["b.cu"]
    assert "larger than 32 MiB" in notes["huge.cu"]
    assert "no regular file" in notes["pipe.cu"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_unreadable_file_is_a_note(tree):
    root = tree(a_dot_cu="int x;\n", b_dot_cu="cudaFree(p);\n")
    (root / "b.cu").chmod(0)
    code, report = report_of(".")
    assert code == 0
    assert report["skipped"] == [{"path": "b.cu", "reason": "cannot be read: Permission denied"}]


def test_gitignore_is_respected(tree, monkeypatch):
    root = tree(
        a_dot_cu="int x;\n", build__gen_dot_cu="cudaFree(p);\n", _dot_gitignore="build/\n", new__b_dot_cu="int y;\n"
    )
    monkeypatch.delenv("GIT_CEILING_DIRECTORIES")
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "a.cu"], check=True)
    code, report = report_of(".")
    assert (code, report["summary"]["files"]) == (0, 2)  # a.cu is tracked, new/b.cu is not, build/ is ignored
    # Named outright, the ignored directory is checked.
    assert report_of("build")[0] == 1


def test_compatibility_header_counts_where_it_is_included(tree):
    tree(
        inc__vendor_dot_h="#define cudaMalloc hipMalloc\n",
        inc__common_dot_h='#include "vendor.h"\n',
        src__ported_dot_cu='#include "../inc/common.h"\n#include "kernel.cuh"\ncudaMalloc(&p, n);\n',
        src__kernel_dot_cuh="cudaMalloc(&p, n);\n",
        src__other_dot_cu="cudaMalloc(&p, n);\n",
    )
    code, report = report_of(".")
    assert code == 1
    assert {one["path"] for one in report["findings"]} == {"src/other.cu"}


def test_project_header_of_the_same_name_is_not_cudas(tree):
    tree(cuda__helper_dot_cuh="int x;\n", main_dot_cu='#include "cuda/helper.cuh"\n#include "cuda/atomic"\n')
    _, report = report_of(".")
    assert [one["name"] for one in report["findings"]] == ["cuda/atomic"]


def test_headers_read_before_a_definition_know_nothing_of_it(tree):
    tree(
        late_dot_cu='#include "a.cuh"\n#define cudaFree hipFree\n',
        early_dot_cu='#define cudaMalloc hipMalloc\n#include "a.cuh"\n',
        a_dot_cuh="cudaFree(p);\ncudaMalloc(&p, n);\n",
    )
    _, report = report_of(".")
    assert [one["name"] for one in report["findings"]] == ["cudaFree"]


def test_header_of_another_program_is_not_meant(tree):
    tree(one__inc__cuda_dot_h="#define cuInit hipInit\n", two__main_dot_cu="#include <cuda.h>\ncuInit(0);\n")
    _, report = report_of(".")
    assert [one["name"] for one in report["findings"]] == ["cuda.h", "cuInit"]


def test_summary_lists_hard_bones_and_coverage(tree, tmp_path):
    tree(a_dot_cu='cudaMalloc(&p, n);\nasm("wgmma.fence.sync.aligned;");\nv = __any_sync(0xffffffff, v);\n')
    summary = tmp_path / "summary.md"
    output = tmp_path / "output"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
    result = run(".", env=env)
    assert result.exit_code == 1
    page = summary.read_text()
    assert page.index("wgmma") < page.index("any")
    assert "| 1 | 1 | 1 | 33.3 % |" in page
    assert "findings" in output.read_text()
    assert "::error" in result.output


def test_many_processes_find_the_same(tree, monkeypatch):
    from rocm_ci.hipify_check import parallel

    tree(**{f"f{number}_dot_cu": f"cudaFree(p{number});\n" * (number + 1) for number in range(12)})
    one = report_of(".", "--jobs", "1")[1]["findings"]
    monkeypatch.setattr(parallel, "WORTH_IT", 0)
    many = report_of(".", "--jobs", "3")[1]["findings"]
    assert one == many
    assert len(one) == 78


def test_worker_that_dies_is_no_pass(tree, monkeypatch):
    from rocm_ci.hipify_check import parallel

    tree(a_dot_cu="int x;\n", b_dot_cu="int y;\n")
    monkeypatch.setattr(parallel, "WORTH_IT", 0)
    monkeypatch.setattr(parallel.sys, "executable", "/bin/false")
    assert run(".", "--jobs", "2").exit_code == 3


def test_explain(tree):
    result = run("--explain", "HIP107")
    assert result.exit_code == 0
    assert "Inline PTX" in result.output


def test_baseline_lets_only_new_residue_fail(tree):
    root = tree(a_dot_cu="cudaFree(p);\ncudaMalloc(&p, n);\n")
    assert run(".", "--report", "base.json").exit_code == 1
    code, report = report_of(".", "--baseline", "base.json")
    assert (code, report["findings"], report["summary"]["known"]) == (0, [], 2)
    # Lines move and are indented; one call is new.
    (root / "a.cu").write_text("// new\n\n  cudaFree(p);\n  cudaMalloc(&p,  n);\ncudaFree(p);\n")
    code, report = report_of(".", "--baseline", "base.json")
    assert code == 1
    assert [(one["line"], one["name"]) for one in report["findings"]] == [(5, "cudaFree")]
    # A new report holds the old findings too, so that it can be the next baseline.
    assert len(report["fingerprints"]) == 3


@pytest.mark.parametrize("text", [None, "{", "[]", '{"fingerprints": 1}', '{"findings": []}'])
def test_bad_baseline_is_wrong_use(tree, text):
    root = tree(a_dot_cu="int x;\n")
    if text is not None:
        (root / "base.json").write_text(text)
    result = run("a.cu", "--baseline", "base.json")
    assert result.exit_code == 2
    assert "base.json" in result.output


@pytest.fixture
def repository(tree, monkeypatch):
    root = tree(old_dot_cu="cudaFree(p);\nint x;\n", gone_dot_cu="cudaFree(p);\n")
    monkeypatch.delenv("GIT_CEILING_DIRECTORIES")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "x")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "x@example.org")

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "base")
    git("checkout", "-q", "-b", "feature")
    (root / "gone.cu").unlink()
    (root / "old.cu").write_text("cudaFree(p);\nint x;\ncudaMalloc(&p, n);\n")
    git("commit", "-q", "-a", "-m", "change")
    (root / "n\u00e4w.cu").write_text("cudaFree(q);\n")
    return git, tree


def test_changed_only_reports_changed_lines_and_new_files(repository, tmp_path):
    git, _ = repository
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"sha": git("rev-parse", "main")}}}))
    code, report = report_of(".", "--changed-only", env={"GITHUB_EVENT_PATH": str(event)})
    assert code == 1
    assert [(one["path"], one["line"]) for one in report["findings"]] == [("n\u00e4w.cu", 1), ("old.cu", 3)]
    assert report["summary"]["untouched"] == 1


def test_changed_only_without_a_finding_in_the_change_passes(repository, tmp_path):
    git, _ = repository
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": git("rev-parse", "HEAD")}))
    git("add", ".")
    git("commit", "-q", "-m", "more")
    (Path("old.cu")).write_text("cudaFree(p);\nint x;\ncudaMalloc(&p, n);\nint y;\n")
    code, report = report_of("old.cu", "--changed-only", env={"GITHUB_EVENT_PATH": str(event)})
    assert (code, report["findings"], report["summary"]["untouched"]) == (0, [], 2)


@pytest.mark.parametrize("event", [{"before": "1" * 40}, {"pull_request": {"base": {"sha": "f" * 40}}}, {}])
def test_changed_only_reports_everything_when_in_doubt(repository, tmp_path, event):
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event))
    code, report = report_of(".", "--changed-only", env={"GITHUB_EVENT_PATH": str(path)})
    assert code == 1
    assert len(report["findings"]) == 3
    assert report["summary"]["changed_only_reason"]


def test_changed_only_outside_of_git_reports_everything(tree):
    tree(a_dot_cu="cudaFree(p);\n")
    code, report = report_of(".", "--changed-only")
    assert (code, len(report["findings"])) == (1, 1)


def test_sarif(tree, tmp_path):
    root = tree(**{"src__a b_dot_cu": "int x; cudaMalloc(&p, n);\n#if 0\ncudaFree(p);\n#endif\n"})
    (root / "bad.cu").write_bytes(b"\0")
    output = tmp_path / "output"
    env = {"GITHUB_WORKSPACE": str(root), "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(output)}
    assert run(str(root), "--sarif", "out/x.sarif", env=env).exit_code == 1
    data = json.loads((root / "out/x.sarif").read_text())
    assert data["version"] == "2.1.0"
    (sarif,) = data["runs"]
    rules = sarif["tool"]["driver"]["rules"]
    first, second = sarif["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "bad.cu", "uriBaseId": "%SRCROOT%"},
    }
    assert second["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/a%20b.cu", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1, "startColumn": 8, "endColumn": 18},
    }
    assert (first["level"], second["level"]) == ("note", "warning")
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in sarif["results"])
    assert "out/x.sarif" in output.read_text()
    marks = [one["partialFingerprints"] for one in sarif["results"]]
    (root / "src/a b.cu").write_text("\n\nint x; cudaMalloc(&p, n);\n#if 0\ncudaFree(p);\n#endif\n")
    run(str(root), "--sarif", "x.sarif", env=env)
    again = json.loads((root / "x.sarif").read_text())["runs"][0]["results"]
    assert [one["partialFingerprints"] for one in again] == marks


def test_sarif_keeps_what_github_takes():
    from rocm_ci.hipify_check.model import Finding
    from rocm_ci.hipify_check.output import sarif

    easy = [Finding("a.cu", n, 1, "HIP101", "convertible", "x", "y", "z") for n in range(1, sarif.LIMIT + 2)]
    hard = Finding("b.cu", 1, 1, "HIP107", "unsupported", "x", "", "z")
    results = json.loads(sarif.sarif([*easy, hard], "1.0"))["runs"][0]["results"]
    assert len(results) == sarif.LIMIT
    assert results[0]["ruleId"] == "HIP107"


@pytest.mark.parametrize("version", ["99.0", "1.0", "8.0"])
def test_a_release_that_nothing_is_known_of_is_wrong_use(tree, version):
    tree(a_dot_cu="int x;\n")
    result = run("a.cu", "--rocm-version", version)
    assert result.exit_code == 2
    assert "nothing is known of that release" in result.output


def test_a_newer_release_than_the_tables_is_told(tree):
    tree(a_dot_cu="int x;\n")
    result = run("a.cu", "--rocm-version", "7.2")
    assert result.exit_code == 0
    assert "names are those of 7.0" in result.output


@pytest.mark.parametrize("options", [(), ("--convert", "out")])
def test_an_empty_path_is_wrong_use_and_not_the_whole_folder(tree, options):
    tree(a_dot_cu="int x;\n")
    assert run("", *options).exit_code == 2


def test_a_sarif_file_that_cannot_be_written_hides_no_finding_and_is_no_pass(tree):
    tree(a_dot_cu="cudaFree(p);\n")
    code, report = report_of(".", "--sarif", "/dev/full")
    assert (code, report["summary"]["convertible"]) == (1, 1)
    tree(a_dot_cu="hipFree(p);\n")
    assert report_of(".", "--sarif", "/dev/full")[0] == 3
