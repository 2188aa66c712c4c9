"""The tool that rebuilds the name mapping, on small checkouts made in upstream's form."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import build_hip_mapping as tool
from rocm_ci.hipify_check import mapping, versions

HEAD = """\
|**CUDA**|**A**|**D**|**C**|**R**|**HIP**|**A**|**D**|**C**|**R**|**E**|
|:--|:-:|:-:|:-:|:-:|:--|:-:|:-:|:-:|:-:|:-:|
"""
RUNTIME = f"""# CUDA Runtime API supported by HIP

## **1. Device Management**

{HEAD}|`cudaMalloc`| | | | |`hipMalloc`|1.5.0| | | | |
|`cudaGone`|8.0| | | | | | | | | |
|`cudaOld`| | | | |`hipOld`|1.6.0|5.0.0| |6.1.0| |
|`CUDART_INF`| | | | |`HIP_INF`|5.7.0| | | | |
|`cudaEvent_t`| | | | |`hipEvent_t`|1.6.0| | | | |
|`cudaSuccess`| | | | |`hipSuccess`|1.5.0| | | | |
|`CUsize`| | | | |`void*`| | | | | |
"""
BLAS = """## **1. CUBLAS Helper Function Reference**

|**CUDA**|**A**|**D**|**C**|**R**|**HIP**|**A**|**D**|**C**|**R**|**E**|**ROC**|**A**|**D**|**C**|**R**|**E**|
|:--|:-:|:-:|:-:|:-:|:--|:-:|:-:|:-:|:-:|:-:|:--|:-:|:-:|:-:|:-:|:-:|
|`cublasSgemm`| | | | |`hipblasSgemm`|1.8.2| | | | |`rocblas_sgemm`|1.5.0| | | | |
|`cublasNew`|12.0| | | |`hipblasNew`|6.3.0| | | |6.3.0|`rocblas_new`|6.2.0| | | |6.2.0|
|`cublasRoc`| | | | | | | | | | |`rocblas_roc`|3.0.0| | | | |
"""
BLAS_HIP = f"""{HEAD}|`cublasSgemm`| | | | |`hipblasSgemm`|1.8.2| | | | |
|`cublasNew`|12.0| | | |`hipblasNew`|6.3.0| | | |6.3.0|
|`cublasRoc`| | | | | | | | | | |
"""
BLAS_ROC = """|**CUDA**|**A**|**D**|**C**|**R**|**ROC**|**A**|**D**|**C**|**R**|**E**|
|:--|:-:|:-:|:-:|:-:|:--|:-:|:-:|:-:|:-:|:-:|
|`cublasSgemm`| | | | |`rocblas_sgemm`|1.5.0| | | | |
"""
NEWER_FORM = """|**CUDA**|**A**|**D**|**C**|**R**|**HIP**|**A**|**D**|**C**|**R**|**U**|**E**|
|:--|:-:|:-:|:-:|:-:|:--|:-:|:-:|:-:|:-:|:-:|:-:|
|`cudnnCreate`|1.0.0| | | |`hipdnnCreate`| | | | |9.0|6.0.0|
"""


def code(name: str, conv: str, api: str = "API_RUNTIME", hip: str = "hipX", flags: str = "") -> str:
    return f'  {{"{name}",   {{"{hip}",   "", {conv}, {api}, SEC::DEVICE{flags}}}}},\n'


MAPS = (
    "const std::map<llvm::StringRef, hipCounter> CUDA_RUNTIME_FUNCTION_MAP {\n  // 1. Device Management\n"
    + code("cudaMalloc", "CONV_MEMORY")
    + code("cudaGone", "CONV_MEMORY", flags=", HIP_UNSUPPORTED | CUDA_REMOVED")
    + code("cudaOld", "CONV_MEMORY")
    + code("CUDART_INF", "CONV_DEFINE")
    + code("cudaEvent_t", "CONV_TYPE")
    + code("cudaSuccess", "CONV_NUMERIC_LITERAL")
    + code("CUsize", "CONV_TYPE")
    + code("cublasSgemm", "CONV_LIB_FUNC", "API_BLAS")
    + code("cublasNew", "CONV_LIB_FUNC", "API_BLAS")
    + code("cublasRoc", "CONV_LIB_FUNC", "API_BLAS")
    + code("cudnnCreate", "CONV_LIB_FUNC", "API_DNN")
    + code("caffe2::Tensor", "CONV_TYPE", "API_CAFFE2")
    + '};\nconst std::map<llvm::StringRef, cudaAPIversions> VER { {"cudaMalloc", {CUDA_80, CUDA_0, CUDA_0}}, };\n'
)
INCLUDES = (
    "const std::map <llvm::StringRef, hipCounter> CUDA_INCLUDE_MAP {\n"
    + code("cuda_runtime.h", "CONV_INCLUDE_CUDA_MAIN_H", hip="hip/hip_runtime.h")
    + code("cublas.h", "CONV_INCLUDE", "API_BLAS", hip="hipblas.h")
    + code("device_launch_parameters.h", "CONV_INCLUDE", hip="")
    + code("caffe2/core/common_gpu.h", "CONV_INCLUDE", "API_CAFFE2", hip="x.h", flags=", UNSUPPORTED")
    + "};\n"
    + code("after_the_map.h", "CONV_INCLUDE", hip="x.h")
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make(tmp_path / "hipify", "docs/tables")


def make(root: Path, folder: str) -> Path:
    tables, source = root / folder, root / "src"
    tables.mkdir(parents=True)
    source.mkdir()
    (tables / "CUDA_Runtime_API_functions_supported_by_HIP.md").write_text(RUNTIME)
    (tables / "CUBLAS_API_supported_by_HIP.md").write_text(BLAS_HIP)
    (tables / "CUBLAS_API_supported_by_HIP_and_ROC.md").write_text(BLAS)
    (tables / "CUBLAS_API_supported_by_ROC.md").write_text(BLAS_ROC)
    (tables / "CUDNN_API_supported_by_HIP.md").write_text(NEWER_FORM)
    (source / "CUDA2HIP_Runtime_API_functions.cpp").write_text(MAPS)
    (source / "CUDA2HIP.cpp").write_text(INCLUDES)
    return root


def build(tmp_path: Path, *arguments: str) -> dict[str, list[str]]:
    output = tmp_path / "names.tsv"
    assert tool.main([*arguments, "--output", str(output)]) == 0
    rows = [line.split("\t") for line in output.read_text().splitlines() if not line.startswith("#")]
    return {row[0]: row[1:] for row in rows}


def test_one_release(checkout: Path, tmp_path: Path) -> None:
    rows = build(tmp_path, "--hipify", f"6.2={checkout}")
    assert rows == {
        "CUDART_INF": ["m", "runtime", "HIP_INF@5.7.0", ""],
        "CUsize": ["t", "runtime", "void*", ""],
        "cublas.h": ["h", "cublas", "hipblas/hipblas.h", ""],
        "cublasNew": ["f", "cublas", "hipblasNew@6.3.0@@x", ""],
        "cublasRoc": ["f", "cublas", "", "rocblas_roc"],
        "cublasSgemm": ["f", "cublas", "hipblasSgemm@1.8.2", ""],
        "cudaEvent_t": ["t", "runtime", "hipEvent_t@1.6.0", ""],
        "cudaGone": ["f", "runtime", "", ""],
        "cudaMalloc": ["f", "runtime", "hipMalloc@1.5.0", ""],
        "cudaOld": ["f", "runtime", "hipOld@1.6.0@6.1.0", ""],
        "cudaSuccess": ["e", "runtime", "hipSuccess@1.5.0", ""],
        "cuda_runtime.h": ["h", "runtime", "hip/hip_runtime.h", ""],
        "cudnnCreate": ["f", "cudnn", "hipdnnCreate@@@x", ""],
        "device_launch_parameters.h": ["h", "runtime", "", ""],
    }


def test_the_next_release_beside_the_one_before(checkout: Path, tmp_path: Path) -> None:
    newer = make(tmp_path / "newer", "docs/reference/tables")
    runtime = newer / "docs/reference/tables/CUDA_Runtime_API_functions_supported_by_HIP.md"
    runtime.write_text(
        RUNTIME.replace("|`cudaGone`|8.0| | | | | | | | | |", "|`cudaGone`|8.0| | | |`hipGone`|7.0.0| | | | |").replace(
            "|`cudaOld`| | | | |`hipOld`|1.6.0|5.0.0| |6.1.0| |\n", "|`cudaLate`| | | | |`hipLate`|7.0.0| | | | |\n"
        )
    )
    maps = newer / "src/CUDA2HIP_Runtime_API_functions.cpp"
    maps.write_text(MAPS.replace("cudaOld", "cudaLate"))
    includes = newer / "src/CUDA2HIP.cpp"
    includes.write_text(INCLUDES.replace("};", code("cuda_fp4.h", "CONV_INCLUDE", hip="hip/hip_fp4.h") + "};"))

    rows = build(tmp_path, "--hipify", f"7.0={newer}", "--hipify", f"6.3={checkout}")

    assert rows["cudaMalloc"] == ["f", "runtime", "hipMalloc@1.5.0", "=", ""]
    assert rows["cudaGone"] == ["f", "runtime", "", "hipGone@7.0.0", ""]
    assert rows["cudaOld"] == ["f", "runtime", "hipOld@1.6.0@6.1.0", "-", ""]
    assert rows["cudaLate"] == ["f", "runtime", "-", "hipLate@7.0.0", ""]
    assert rows["cuda_fp4.h"] == ["h", "runtime", "-", "hip/hip_fp4.h@7.0.0", ""]
    assert rows["cublasRoc"] == ["f", "cublas", "", "=", "rocblas_roc"]


def test_it_says_what_changes(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path, "--hipify", f"6.2={checkout}")
    (checkout / "docs/tables/CUDNN_API_supported_by_HIP.md").write_text(
        NEWER_FORM.replace("hipdnnCreate", "hipdnnMake")
    )
    capsys.readouterr()
    build(tmp_path, "--hipify", f"6.2={checkout}")
    assert capsys.readouterr().out.endswith("14 names: 0 new, 0 gone, 1 changed\n")


def test_the_header_names_the_commit_of_a_git_checkout_and_of_no_other(checkout: Path, tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        done = subprocess.run(
            ["git", *identity, "-C", str(checkout), *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    output = tmp_path / "names.tsv"
    tool.main(["--hipify", f"6.2={checkout}", "--output", str(output)])
    assert "#   ROCm 6.2: a copy without git history\n" in output.read_text()
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "x")
    git("tag", "rocm-6.2.0")
    tool.main(["--hipify", f"6.2={checkout}", "--output", str(output)])
    assert f"#   ROCm 6.2: rocm-6.2.0 ({git('rev-parse', 'HEAD')})\n" in output.read_text()


@pytest.mark.parametrize(
    ("page", "text", "said"),
    [
        (
            "CUFFT_API_supported_by_HIP.md",
            "|   **type**   |   **CUDA**   |\n",
            ":1: a table without the head |**CUDA**|",
        ),
        ("CUFFT_API_supported_by_HIP.md", HEAD.replace("**C**", "**Q**"), ":1: the column Q is not known"),
        ("CUFFT_API_supported_by_HIP.md", HEAD.replace("**E**", "**D**"), ":1: the column HIP.D stands there twice"),
        ("CUFFT_API_supported_by_HIP.md", HEAD.replace("|**E**", ""), ":1: the head lacks HIP.E"),
        ("CUFFT_API_supported_by_HIP.md", "|**CUDA**|**A**|\n", ":1: the head lacks HIP, ROC or MIOPEN"),
        ("CUFFT_API_supported_by_HIP.md", HEAD + "|`a`| |\n", ":3: 2 cells in a table of 11 columns"),
        ("CUFFT_API_supported_by_HIP.md", HEAD + "|`a`" + "| " * 10 + "|\n", "a is in a table, but in no map of"),
        ("CUFFT_supported_by_HIP.md", HEAD, "no library in the name"),
    ],
)
def test_an_unknown_table_form_is_named(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str, text: str, said: str
) -> None:
    (checkout / "docs/tables" / page).write_text(text)
    output = tmp_path / "names.tsv"
    assert tool.main(["--hipify", f"6.2={checkout}", "--output", str(output)]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert said in message
    assert not output.exists()


def test_a_map_of_an_unknown_form_is_named(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["--hipify", f"6.2={checkout}", "--output", str(tmp_path / "names.tsv")]
    (checkout / "src/CUDA2HIP.cpp").write_text(INCLUDES.replace("API_BLAS", "API_QUANTUM"))
    assert tool.main(run) == 2
    assert "API_QUANTUM of cublas.h is not known" in capsys.readouterr().err
    (checkout / "src/CUDA2HIP.cpp").write_text("int x;\n")
    assert tool.main(run) == 2
    assert "no header in CUDA_INCLUDE_MAP" in capsys.readouterr().err
    (checkout / "src/CUDA2HIP_Runtime_API_functions.cpp").write_text("int x;\n")
    assert tool.main(run) == 2
    assert "no map of names" in capsys.readouterr().err


def test_a_wrong_path_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--hipify", f"7.0={tmp_path}", "--output", str(tmp_path / "x")]) == 2
    assert f"error: {tmp_path} is no checkout of ROCm/HIPIFY" in capsys.readouterr().err
    (tmp_path / "docs/tables").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/CUDA2HIP.cpp").write_text(INCLUDES)
    (tmp_path / "src/CUDA2HIP_Runtime_API_functions.cpp").write_text(MAPS)
    assert tool.main(["--hipify", f"7.0={tmp_path}", "--output", str(tmp_path / "x")]) == 2
    assert "has no table" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["7.0", "7.0=", "new=x"])
def test_a_wrong_argument_is_named(argument: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        tool.main(["--hipify", argument, "--output", str(tmp_path / "x")])
    assert ended.value.code == 2
    assert "--hipify" in capsys.readouterr().err


def test_a_third_release_needs_the_tool_alone(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    middle = make(tmp_path / "middle", "docs/reference/tables")
    newest = make(tmp_path / "newest", "docs/reference/tables")
    runtime = newest / "docs/reference/tables/CUDA_Runtime_API_functions_supported_by_HIP.md"
    runtime.write_text(
        RUNTIME.replace("|`cudaGone`|8.0| | | | | | | | | |", "|`cudaGone`|8.0| | | |`hipGone`|7.2.0| | | | |")
    )
    releases = [f"6.3={checkout}", f"7.0={middle}", f"7.2={newest}"]
    cells = build(tmp_path, *(word for release in releases for word in ("--hipify", release)))
    assert cells["cudaMalloc"] == ["f", "runtime", "hipMalloc@1.5.0", "=", "=", ""]
    assert cells["cudaGone"] == ["f", "runtime", "", "=", "hipGone@7.2.0", ""]

    # The package's own code, on the new file instead of the packaged one.
    text = (tmp_path / "names.tsv").read_text()
    data = {"names.tsv": [line.split("\t") for line in text.splitlines() if line[0] != "#"]}
    covered = versions.columns(text)
    assert covered == ((6, 3), (7, 0), (7, 2))
    monkeypatch.setattr(mapping, "rows", lambda name: iter(data.get(name, [])))
    monkeypatch.setattr(mapping, "COVERED", covered)
    for cached in (mapping.names, mapping._headers, mapping.header):
        cached.cache_clear()
    try:
        for version, verdict in (((6, 2), "unsupported"), ((7, 0), "unsupported"), ((7, 1), "unsupported"),
                                 ((7, 2), "convertible"), ((7, 3), "convertible")):  # fmt: skip
            table = mapping.names(version)
            assert table[b"cudaGone"].verdict == verdict
            assert table[b"cudaMalloc"].hip == "hipMalloc"
            header = mapping.header("cublas.h", version)
            assert header is not None
            assert header.hip == "hipblas/hipblas.h"
        assert mapping.names((7, 0))[b"cudaGone"].note == "HIP has it from ROCm 7.2"
    finally:
        for cached in (mapping.names, mapping._headers, mapping.header):
            cached.cache_clear()


@pytest.mark.parametrize("head", ["", "# Columns: name, kind\n", "# Columns: target in 7.0, target in 6.3\n"])
def test_a_header_without_releases_in_order_is_refused(head: str) -> None:
    with pytest.raises(ValueError, match="oldest first"):
        versions.columns(head)


def test_two_releases_give_the_columns_that_the_package_reads(checkout: Path, tmp_path: Path) -> None:
    rows = build(tmp_path, "--hipify", f"6.3={checkout}", "--hipify", f"7.0={checkout}")
    assert {len(row) + 1 for row in rows.values()} == {len(row) for row in mapping.rows("names.tsv")}
