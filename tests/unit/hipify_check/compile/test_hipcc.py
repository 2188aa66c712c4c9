"""The compiler itself: stand-ins for what cannot be had here, and the real one (marked ``hipcc``) for what can."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from rocm_ci.hipify_check import compile as compile_test
from rocm_ci.hipify_check import convert, files
from rocm_ci.runner.environ import RunnerEnv
from rocm_ci.runner.errors import Code, InfraError, UsageError
from rocm_ci.runner.processes import ProcessRegistry
from rocm_ci.runner.stage import StageContext

HIPCC = """#!/bin/sh
case " $* " in
*" --version "*) echo "HIP version: 6.3.42131-1"; exit 0 ;;
*"/probe.hip "*) exit ${PROBE:-0} ;;
*"/slow.cu "*) exec sleep 60 ;;
*"/killed.cu "*) kill -9 $$ ;;
*"/silent.cu "*) echo "gave up"; exit 4 ;;
*"/bad.cu "*) echo "bad.h:3:1: error: use of undeclared identifier 'cudaFree'"; exit 1 ;;
*"/lib.cu "*) echo "lib.cu:1:10: fatal error: 'hipblas/hipblas.h' file not found"; exit 1 ;;
esac
[ "$HIP_PLATFORM" = amd ] || { echo "clang: error: HIP_PLATFORM"; exit 1; }
for last; do :; done
echo object > "$last"
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    root = tmp_path / "work"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def make(contents, **programs):
        for name, text in contents.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        for name, text in programs.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return folder

    return make


def context(path, **variables):
    environ = {**os.environ, "PATH": str(path), "ROCM_PATH": "/nowhere"}
    environ.update(variables)
    commands = {**environ, "PATH": f"{path}:{os.environ['PATH']}"}
    return StageContext(RunnerEnv.from_environ(environ), ProcessRegistry(commands), lambda _: None)


def run(where, *sources, **options):
    found = files.discover(sources or ("src",))
    roots = [(Path(source), Path(source)) for source in sources or ("src",)]
    options.setdefault("offload_arch", ("gfx90a",))
    return compile_test.run(compile_test.CompileRequest(found, roots, **options), where)


def test_each_status_and_what_the_result_says(tree, tmp_path):
    bin_ = tree(
        {f"src/{name}.cu": "" for name in ("good", "slow", "killed", "silent", "bad", "lib")} | {"src/bad.h": ""},
        hipcc=HIPCC,
    )
    result = run(context(bin_), timeout=1.0, jobs=3)
    assert {unit.path: (unit.status, unit.cause) for unit in result.units} == {
        "src/good.cu": ("ok", ""),
        "src/slow.cu": ("timeout", ""),
        "src/killed.cu": ("not-judged", "toolchain"),
        "src/silent.cu": ("failed", "other"),
        "src/bad.cu": ("failed", "unknown-name"),
        "src/lib.cu": ("not-judged", "header-missing"),
    }
    assert (result.judged, result.failed, result.code) == (3, True, Code.FAILED)
    assert result.message == (
        "src/bad.h:3:1 (in src/bad.cu): use of undeclared identifier 'cudaFree'; "
        "cudaFree is hipFree on ROCm, and 1 more file"
    )
    report = json.loads(json.dumps(result.report))
    assert report["summary"] == {"units": 6, "ok": 1, "failed": 2, "not-judged": 2, "timeout": 1}
    assert report["causes"] == {"toolchain": 1, "other": 1, "unknown-name": 1, "header-missing": 1}
    assert (report["hip"], report["arch"]) == ("6.3.42131-1", ["gfx90a"])
    bad = next(file for file in report["files"] if file["path"] == "src/bad.cu")
    assert bad["error"]["path"] == "src/bad.h"
    assert (bad["error"]["line"], bad["error"]["column"]) == (3, 1)
    assert "src/lib.cu" in result.text
    assert "install hipblas-dev" in result.summary
    assert {(one.level, one.path) for one in result.annotations} == {
        ("error", "src/bad.h"),
        ("error", "src/silent.cu"),
        ("warning", "src/slow.cu"),
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "work"]


@pytest.mark.parametrize(
    ("names", "code", "said"),
    [
        (("good",), Code.PASSED, "1 file compiled for gfx90a"),
        (("good", "lib"), Code.PASSED, "1 file compiled for gfx90a; 1 file not judged"),
        (("lib",), Code.INFRA, "no file could be judged; first src/lib.cu:1:10: 'hipblas"),
        (("good", "slow"), Code.INFRA, "was not compiled in time"),
        (("good", "bad"), Code.FAILED, "cudaFree is hipFree"),
        ((), Code.INFRA, "there is no file to compile"),
    ],
)
def test_the_verdict(tree, names, code, said):
    bin_ = tree({f"src/{name}.cu": "" for name in names} | {"src/none.h": ""}, hipcc=HIPCC)
    result = run(context(bin_), timeout=1.0)
    assert result.code == code
    assert said in result.message


def test_no_hipcc_is_no_fault_of_the_code(tree):
    bin_ = tree({"src/a.cu": ""})
    with pytest.raises(InfraError, match="hipcc is not installed") as caught:
        run(context(bin_))
    assert "apt install hipcc" in caught.value.help
    with pytest.raises(UsageError, match="no program"):
        run(context(bin_), hipcc=Path("src/a.cu"))


def test_a_compiler_that_cannot_compile_anything(tree):
    bin_ = tree({"src/a.cu": ""}, hipcc=HIPCC)
    where = context(bin_)
    where.processes.environ["PROBE"] = "1"
    with pytest.raises(InfraError, match="cannot compile an empty kernel for gfx90a"):
        run(where)


def test_rocm_path_is_searched_too(tree):
    bin_ = tree({"src/a.cu": ""}, hipcc=HIPCC)
    assert run(context("/nowhere", ROCM_PATH=str(bin_.parent))).compiler == str(bin_ / "hipcc")


@pytest.mark.parametrize(
    ("enumerator", "arch"),
    [
        ("echo gfx000; echo gfx90a:xnack-; echo gfx90a:xnack-; echo gfx942", ("gfx90a:xnack-", "gfx942")),
        ("echo gfx000", None),
        ("echo Traceback; echo gfx90a; exit 1", None),
        (None, None),
    ],
)  # fmt: skip
def test_the_target_comes_from_the_node_or_has_to_be_named(tree, enumerator, arch):
    programs = {"rocm_agent_enumerator": f"#!/bin/sh\n{enumerator}\n"} if enumerator else {}
    bin_ = tree({"src/a.cu": ""}, hipcc=HIPCC, **programs)
    if arch:
        assert run(context(bin_), offload_arch=()).arch == arch
        return
    with pytest.raises(UsageError, match="which GPU to compile for") as caught:
        run(context(bin_), offload_arch=())
    assert "--offload-arch gfx90a" in caught.value.help


def test_a_target_that_is_none(tree):
    bin_ = tree({"src/a.cu": ""}, hipcc=HIPCC)
    with pytest.raises(UsageError, match="'sm_90' is no gfx target"):
        run(context(bin_), offload_arch=("sm_90",))


def test_when_the_stage_is_ended_nothing_more_is_started_and_nothing_stays(tree, tmp_path):
    bin_ = tree({f"src/{name}/slow.cu": "" for name in "abcdef"}, hipcc=HIPCC)
    base = context(bin_)

    def progress(text: str) -> None:
        if text.startswith("compiling"):
            base.processes.close()

    where = StageContext(base.env, base.processes, progress)
    with pytest.raises(InfraError, match="is being ended"):
        run(where, jobs=2)
    assert base.processes.groups() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "work"]


REAL = {
    "p/ok.cu": (
        "#include <cuda_runtime.h>\n#include <util.h>\n"
        "__global__ void k(float* x) { x[threadIdx.x] = twice(x[0]); }\n"
        "int main() { float* x; cudaMalloc((void**)&x, 4); k<<<1, 1>>>(x);\n"
        "  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1);\n"
        "  return cudaDeviceSynchronize() != cudaSuccess; }\n"
    ),
    "p/inc/util.h": "#pragma once\n__device__ inline float twice(float x) { return 2 * x; }\n",
    "p/implicit.cu": "__global__ void k(float4* x) { x->x = blockIdx.x; }\n",
    "p/ptx.cu": '#include <cuda_runtime.h>\n__global__ void k(int* x) {\n  asm("add.s32 %0, 1, 2;" : "=r"(*x)); }\n',
    "p/lib.cu": "#include <cutensor.h>\n",
    "p/newer.cu": "__global__ void k(int* x) { *x = __shfl_down_sync(~0ull, *x, 1); }\n",
    "p/left.cpp": "#ifdef __CUDACC__\n#endif\n#include <cuda_runtime.h>\nvoid f() { cudaNotThere(1); }\n",
}


@pytest.mark.hipcc
def test_a_converted_tree_with_the_real_compiler(tree, monkeypatch):
    tree(REAL)
    monkeypatch.delenv("HIP_PLATFORM", raising=False)
    environ = dict(os.environ)
    where = StageContext(RunnerEnv.from_environ(environ), ProcessRegistry(environ), lambda _: None)
    converted = convert.run(convert.ConvertRequest(("p",), Path("out"), tool="built-in"), where)
    request = compile_test.CompileRequest(converted.found, converted.roots, offload_arch=("gfx90a",), jobs=2)
    result = compile_test.run(request, where)
    found = {unit.path: (unit.status, unit.cause) for unit in result.units}
    assert found["p/ok.cu"] == ("ok", "")
    assert found["p/implicit.cu"] == ("ok", "")
    assert found["p/ptx.cu"] == ("failed", "ptx")
    assert found["p/lib.cu"] == ("not-judged", "header-missing")
    assert found["p/left.cpp"] == ("failed", "unknown-name")
    if result.hip_release and result.hip_release < (6, 2):
        assert found["p/newer.cu"] == ("not-judged", "hip-too-old")
    ptx = next(unit for unit in result.units if unit.path == "p/ptx.cu")
    assert (ptx.error.path, ptx.error.line) == ("p/ptx.cu", 3)
    assert result.code is Code.FAILED


@pytest.mark.hipcc
def test_a_target_that_the_real_compiler_does_not_know(tree):
    tree({"src/a.cu": "int x;\n"})
    where = StageContext(RunnerEnv.from_environ(dict(os.environ)), ProcessRegistry(dict(os.environ)), lambda _: None)
    with pytest.raises(InfraError, match=r"cannot compile an empty kernel for gfx9ff: .*gfx9ff"):
        run(where, offload_arch=("gfx9ff",))
