"""Whole trees: what lands in the folder, what is refused, and what the result says."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_ci.hipify_check import convert, engine
from rocm_ci.hipify_check.check_file import Target
from rocm_ci.hipify_check.convert import place
from rocm_ci.hipify_check.versions import NEWEST
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import UsageError
from rocm_ci.runner.processes import ProcessRegistry
from rocm_ci.runner.stage import StageContext

Write = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    root = tmp_path / "work"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for key in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(key, "nobody@example.org")

    def make(files: dict[str, str | bytes]) -> Path:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return root

    return make


def context(**variables: str) -> StageContext:
    environ = {"PATH": "/nowhere", "ROCM_PATH": "/nowhere", **variables}
    return StageContext(RunnerEnv.from_environ(environ), ProcessRegistry(dict(os.environ)), lambda _: None)


def run(*source: str, out: str | None = "out", where: StageContext | None = None, **options: object):
    request = convert.ConvertRequest(source or ("src",), Path(out) if out else None, **options)  # type: ignore[arg-type]
    return convert.run(request, where or context())


def status_of(result: convert.ConvertResult) -> dict[str, str]:
    return {file.path: file.status for file in result.files}


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def test_a_tree_is_converted_beside_and_the_sources_stay(write):
    files = {
        "src/a.cu": '#include <cuda_runtime.h>\nvoid f() { cudaFree(0); asm("mov.u32 %0, 1;"); }\n',
        "src/sub/util.h": "int add(int a, int b);\n",
        "src/CMakeLists.txt": "find_package(CUDA)\n",
        "src/data.bin": b"\0\1\2",
    }  # fmt: skip
    write(files)
    result = run()
    assert status_of(result) == {
        "src/a.cu": "converted",
        "src/sub/util.h": "unchanged",
        "src/CMakeLists.txt": "copied",
        "src/data.bin": "copied",
    }
    assert Path("out/a.cu").read_text() == files["src/a.cu"].replace("cuda_runtime", "hip/hip_runtime").replace(
        "cudaFree", "hipFree"
    )
    for name, text in files.items():
        assert Path(name).read_bytes() == (text if isinstance(text, bytes) else text.encode())
    assert Path("out/data.bin").read_bytes() == b"\0\1\2"
    assert Path("out/CMakeLists.txt").read_text() == "find_package(CUDA)\n"
    (a,) = [file for file in result.files if file.path == "src/a.cu"]
    assert (a.output, a.converted, a.left) == ("a.cu", 2, {"manual": 1})
    assert result.report["summary"]["converted"] == 2
    assert json.loads(json.dumps(result.report))["files"][1]["path"] == "src/a.cu"
    assert "left: 1 manual" in result.text
    assert "| src/a.cu | 0 | 1 |" in result.summary
    assert "1 convertible (1 of these in build files and scripts" in result.text


def test_what_is_left_is_what_the_check_finds_in_the_converted_tree(write):
    write(
        {
            "src/a.cu": '#include "b.h"\nvoid f() { cudaFree(0); cudaFoo(1); __shfl_sync(0xffffffff, 1, 1); }\n',
            "src/b.h": "#include <cuda.h>\n#include <cutlass/gemm.h>\n#define cudaFree(x) mine(x)\n",
        }
    )
    result = run()
    again = engine.check(result.found, Target(NEWEST), 1)
    assert again.findings == result.left
    assert {finding.verdict for finding in again.findings} == {"manual", "unsupported"}
    # The project's own macro is no CUDA, so its uses stay.
    assert "cudaFree(0)" in Path("out/a.cu").read_text()


def test_strings_stay_and_are_told(write):
    write({"src/a.cpp": 'void* l = dlopen("libcudart.so.12", 1);\nauto e = cudaFree(p);\n'})
    result = run()
    text = Path("out/a.cpp").read_text()
    assert 'dlopen("libcudart.so.12", 1)' in text
    assert "hipFree(p)" in text
    assert [(file.path, file.left["convertible"]) for file in result.files] == [("src/a.cpp", 1)]


def test_converting_the_result_changes_nothing(write):
    write({"src/a.cu": "void f() { cudaFree(0); }\n", "src/b.cu": "__global__ void k() {}\n"})
    first = run()
    second = run("out", out="again")
    assert first.converted == 1
    assert second.converted == 0
    for name in ("a.cu", "b.cu"):
        assert Path("out", name).read_bytes() == Path("again", name).read_bytes()


def test_a_cu_file_gets_the_header_that_nvcc_brings_by_itself(write):
    write(
        {
            "src/k.cu": "__global__ void k() {}\n",
            "src/user.cu": '#include "k.h"\n__global__ void u() {}\n',
            "src/k.h": "#include <cuda_runtime.h>\n",
            "src/plain.cu": "int main() { return 0; }\n",
        }
    )
    result = run()
    assert {file.path: file.added for file in result.files if file.added} == {"src/k.cu": ("hip/hip_runtime.h",)}
    assert Path("out/k.cu").read_text() == '#include "hip/hip_runtime.h"\n__global__ void k() {}\n'


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_are_kept(write, encoding):
    text = "\ufeff// é\r\nvoid f() { cudaFree(0); }\r\n"
    write({"src/a.cpp": text.encode(encoding)})
    run()
    assert Path("out/a.cpp").read_bytes() == text.replace("cudaFree", "hipFree").encode(encoding)


def test_the_mode_of_a_file_is_kept(write):
    write({"src/a.cu": "void f() { cudaFree(0); }\n", "src/tool": "#!/bin/sh\n"})
    Path("src/a.cu").chmod(0o750)
    Path("src/tool").chmod(0o555)
    run()
    assert stat.S_IMODE(Path("out/a.cu").stat().st_mode) == 0o750
    assert Path("out/tool").stat().st_mode & 0o111


def test_ignored_files_stay_behind_and_excluded_ones_come_along_as_they_are(write):
    write(
        {
            ".gitignore": "build/\n",
            "src/a.cu": "cudaError_t e;\n",
            "src/third_party/b.cu": "cudaError_t e;\n",
            "build/c.cu": "cudaError_t e;\n",
        }
    )
    git("init", "-q")
    result = run(".", out="../out", exclude=("third_party",))
    assert status_of(result) == {".gitignore": "copied", "src/a.cu": "converted", "src/third_party/b.cu": "copied"}
    assert Path("../out/src/third_party/b.cu").read_text() == "cudaError_t e;\n"
    assert not Path("../out/build").exists()


def test_links_inside_stay_links_and_links_outside_become_files(write):
    write({"src/a.cpp": "cudaError_t e;\n", "src/dir/x.h": "int x;\n", "outside.h": "cudaError_t o;\n"})
    Path("src/b.cpp").symlink_to("a.cpp")
    Path("src/alias").symlink_to("dir")
    Path("src/o.h").symlink_to("../outside.h")
    Path("src/loop.h").symlink_to("loop.h")
    Path("src/everything").symlink_to("/")
    os.mkfifo("src/pipe.h")
    result = run()
    assert Path("out/b.cpp").readlink() == Path("a.cpp")
    assert Path("out/alias").readlink() == Path("dir")
    assert Path("out/a.cpp").read_text() == "hipError_t e;\n"
    assert not Path("out/o.h").is_symlink()
    assert Path("out/o.h").read_text() == "hipError_t o;\n"
    assert Path("outside.h").read_text() == "cudaError_t o;\n"
    skipped = {file.path: file.reason for file in result.files if file.status == "skipped"}
    assert set(skipped) == {"src/loop.h", "src/everything", "src/pipe.h"}
    assert all(skipped.values())
    assert not os.path.lexists("out/everything")


def test_several_paths_land_below_the_folder(write):
    write({"src/a.cu": "cudaError_t e;\n", "lib/b.cu": "cudaError_t e;\n", "c.cu": "cudaError_t e;\n"})
    result = run("src", "lib", "c.cu")
    assert sorted(path.as_posix() for path in Path("out").rglob("*.cu")) == ["out/c.cu", "out/lib/b.cu", "out/src/a.cu"]
    assert (Path("lib"), Path("out/lib").resolve()) in result.roots


@pytest.mark.parametrize(
    ("source", "out", "said"),
    [
        (("src",), "src", "would replace the sources"),
        (("src/sub",), "src", "would replace the sources"),
        (("src",), "src/out", "lies within the sources"),
        (("src",), "full", "no conversion made it"),
        (("src",), "file", "is no folder"),
        (("src",), "link", "is a symbolic link"),
        (("nothing",), "out", "does not exist"),
        (("full",), "out", "nothing to convert"),
        (("../work/src", str(Path("sub/src"))), "out", "would both be"),
    ],
)
def test_refused(write, source, out, said):
    write(
        {"src/sub/a.cu": "cudaError_t e;\n", "full/x.txt": "mine", "file": "mine", "sub/src/b.cu": "cudaError_t e;\n"}
    )
    Path("link").symlink_to("full")
    if said == "would both be":
        source = ("../work/src", "../work/sub/src")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=said) as caught:
        run(*source, out=out)
    assert caught.value.help
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_a_folder_within_is_fine_when_it_is_excluded(write):
    write({"src/a.cu": "cudaError_t e;\n"})
    for _ in range(2):
        result = run("src", out="src/out", exclude=("out",))
        assert status_of(result) == {"src/a.cu": "converted"}
    assert not Path("src/out/out").exists()


def test_a_second_run_replaces_its_own_result_and_never_hand_work(write):
    write({"src/a.cu": "cudaError_t e;\n", "src/b.cu": "cudaError_t e;\n"})
    run()
    Path("src/b.cu").unlink()
    run()
    assert not Path("out/b.cu").exists()
    Path("out/a.cu").write_text("by hand\n")
    with pytest.raises(UsageError, match=r"worked on since.*a\.cu"):
        run()
    assert Path("out/a.cu").read_text() == "by hand\n"
    assert sorted(path.name for path in Path().iterdir()) == ["out", "src"]


def test_nothing_appears_when_it_fails_half_way(write, monkeypatch):
    write({"src/a.cu": "cudaError_t e;\n"})
    monkeypatch.setattr(place, "publish", lambda folder, out: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run()
    assert sorted(path.name for path in Path().iterdir()) == ["src"]


def test_in_place_needs_a_clean_git_tree(write):
    write({"src/a.cpp": "cudaError_t e;\n"})
    with pytest.raises(UsageError, match="not under git"):
        run(out=None, in_place=True)
    git("init", "-q")
    with pytest.raises(UsageError, match=r"not committed.*src/"):
        run(out=None, in_place=True)
    git("add", "src")
    git("commit", "-qm", "x")
    result = run(out=None, in_place=True)
    assert Path("src/a.cpp").read_text() == "hipError_t e;\n"
    assert result.out is None
    assert result.report["in_place"] is True
    with pytest.raises(UsageError, match=r"not committed.*src/a\.cpp"):
        run(out=None, in_place=True)
    with pytest.raises(UsageError, match="give one of the two"):
        run(in_place=True)


PERL = """#!/bin/sh
[ "$1" = -quiet-warnings ] && [ "$3" = -o ] || exit 9
case "$2" in
*slow.cu) exec sleep 60 ;;
*bad.cu) echo "cannot do that"; exit 3 ;;
*none.cu) exit 0 ;;
esac
sed 's/cudaFree/hipFree/; s/^/\\/\\/ by perl\\n/' "$2" > "$4"
"""


def test_an_installed_tool_does_it_and_our_tables_do_what_it_leaves(write):
    write({"src/a.cu": "#include <cuda.h>\nvoid f() { cudaFree(0); }\n", "bin/hipify-perl": PERL})
    for name in ("slow", "bad", "none"):
        write({f"src/{name}.cu": "#include <cuda.h>\nvoid f() { cudaFree(0); }\n"})
    Path("bin/hipify-perl").chmod(0o755)
    result = run(where=context(PATH=str(Path("bin").resolve())), tool_timeout=1.0)
    assert result.tool.endswith("bin/hipify-perl")
    assert "// by perl" in Path("out/a.cu").read_text()
    reasons = {file.path: file.reason for file in result.files}
    assert reasons["src/a.cu"] == ""
    assert "took longer than 1 s" in reasons["src/slow.cu"]
    assert "exit code 3 (cannot do that)" in reasons["src/bad.cu"]
    assert "wrote nothing" in reasons["src/none.cu"]
    for file in result.files:
        assert (file.converted, dict(file.left)) == (2, {}), file
        assert "#include <hip/hip_runtime.h>" in Path("out", file.output).read_text()
    assert sorted(path.name for path in Path("out").iterdir() if path.name != place.MARKER) == [
        "a.cu", "bad.cu", "none.cu", "slow.cu"
    ]  # fmt: skip


def test_a_tool_that_is_asked_for_and_not_there(write):
    write({"src/a.cu": "cudaError_t e;\n"})
    with pytest.raises(UsageError, match="hipify-clang is not installed"):
        run(tool="hipify-clang")
    assert run(tool="built-in").tool == "built-in"
