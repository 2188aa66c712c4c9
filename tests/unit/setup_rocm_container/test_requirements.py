from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_ci.runner.errors import Code
from rocm_ci.setup_rocm_container.model import Check
from rocm_ci.setup_rocm_container.requirements import RequirementsError, check, load

TORCH = {"torch": "2.6.0+rocm6.3", "triton": "3.2.0"}


def judge(folder: Path, text: str, installed: dict[str, str] | None = None) -> Check:
    (folder / "requirements-rocm.txt").write_text(text, encoding="utf-8")
    return check(load(folder / "requirements-rocm.txt"), TORCH if installed is None else installed)


PINNED = """\
# what the tests need
numpy==1.26.4
pytest == 8.3.4 ; python_version >= "3.10"
transformers[torch]==4.48.0 \\
    --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000
amd-aiter @ https://example.org/amd_aiter-0.1.3-py3-none-any.whl
mylib @ git+https://example.org/mylib@0123456789abcdef0123456789abcdef01234567
torch
torch==2.6.0
triton>=3
pywin32 ; sys_platform == "win32"
--extra-index-url https://download.pytorch.org/whl/rocm6.3
"""


def test_a_pinned_file_is_ok(tmp_path: Path) -> None:
    found = judge(tmp_path, PINNED)
    assert (found.status, found.message) == ("ok", "8 requirements, all pinned, none for CUDA only")


@pytest.mark.parametrize(
    "line",
    ["numpy", "numpy>=1.0", "numpy==1.*", "numpy<2", "numpy==1.0,!=1.1", "mylib @ git+https://example.org/mylib@main"],
)
def test_what_is_not_pinned_fails_with_its_line(tmp_path: Path, line: str) -> None:
    found = judge(tmp_path, f"pytest==8.3.4\n{line}\n")
    assert (found.status, found.fault) == ("fail", Code.FAILED)
    assert f"requirements-rocm.txt:2: {line}" in found.message


def test_a_compatible_release_is_a_warning(tmp_path: Path) -> None:
    assert judge(tmp_path, "numpy~=1.26.4").status == "warn"


def test_a_constraints_file_pins(tmp_path: Path) -> None:
    (tmp_path / "pins.txt").write_text("numpy==1.26.4\ncupy-cuda12x==13\n", encoding="utf-8")
    assert judge(tmp_path, "-c pins.txt\nnumpy\n").status == "ok"


def test_included_files_are_read_and_may_go_round(tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("-r requirements-rocm.txt\nscipy\n", encoding="utf-8")
    found = judge(tmp_path, "-r more.txt\nnumpy==1.26.4\n")
    assert "more.txt:2: scipy is not pinned" in found.message


@pytest.mark.parametrize(
    ("line", "told", "fix"),
    [
        ("nvidia-cublas-cu12==12.4.5.8", "works with CUDA only", "remove nvidia-cublas-cu12"),
        ("NVIDIA_cudnn.cu12==9", "works with CUDA only", "remove nvidia-cudnn-cu12"),
        ("onnxruntime-gpu==1.20", "works with CUDA only", "write onnxruntime-rocm instead"),
        ("flashinfer-python==0.2", "works with CUDA only", "write aiter instead"),
        ("torch==2.6.0+cu124", "a wheel for CUDA", "without +cu"),
        ("jax[cuda12]==0.5", "the extra brings CUDA wheels", "without that extra"),
        ("--index-url https://download.pytorch.org/whl/cu124", "index or a file of CUDA wheels", "whl/rocm"),
        ("https://download.pytorch.org/whl/cu124/torch-2.6.0-cp310-linux.whl", "CUDA wheels", "whl/rocm"),
    ],
)
def test_what_is_for_cuda_only_is_refused(tmp_path: Path, line: str, told: str, fix: str) -> None:
    found = judge(tmp_path, line + "\n")
    assert (found.status, found.fault) == ("fail", Code.FAILED)
    assert told in found.message
    assert fix in found.fix


def test_what_can_be_had_for_rocm_in_another_way_is_a_warning(tmp_path: Path) -> None:
    assert judge(tmp_path, "bitsandbytes==0.45.0\n").status == "warn"
    chosen = "bitsandbytes @ https://example.org/bitsandbytes-0.45.0+rocm-py3-none-any.whl\n"
    assert judge(tmp_path, chosen).status == "ok"


def test_another_torch_than_the_containers_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    found = judge(tmp_path, "torch==2.5.1\n")
    assert (found.status, found.fault) == ("fail", Code.FAILED)
    assert "would replace the container's torch 2.6.0+rocm6.3" in found.message
    assert judge(tmp_path, "torch @ https://example.org/torch-2.6.0-cp311-cp311-linux_x86_64.whl\n").status == "fail"
    kept = "torch @ https://example.org/torch-2.6.0%2Brocm6.3-cp311-cp311-linux_x86_64.whl\n"
    assert judge(tmp_path, kept).status == "ok"
    assert judge(tmp_path, "torch==2.6.0+rocm6.2\n").status == "fail"


def test_pytorch_from_pypi_is_told_where_the_container_has_none(tmp_path: Path) -> None:
    found = judge(tmp_path, "torch==2.5.1\n", {})
    assert found.status == "warn"
    assert "the wheel on PyPI is built for CUDA" in found.message
    index = "--index-url https://download.pytorch.org/whl/rocm6.3\n"
    assert judge(tmp_path, f"{index}torch==2.5.1\n", {}).status == "ok"
    assert judge(tmp_path, "torchvision==0.19.0\n").status == "warn"


@pytest.mark.parametrize(
    "line",
    [
        "git+https://example.org/y",
        "-e git+https://example.org/y#egg=y",
        "this is not a req!!",
        "https://example.org/torch-2.4.0-cp311-none-any.whl",
    ],
)
def test_a_line_that_names_no_package_is_looked_at_all_the_same(tmp_path: Path, line: str) -> None:
    found = judge(tmp_path, f"pytest==8.3.4\n{line}\n")
    assert (found.status, found.fault) == ("fail", Code.FAILED)
    assert "requirements-rocm.txt:2" in found.message


@pytest.mark.parametrize("line", ["-e .", "./local", "-e ./local", "--editable=/opt/x"])
def test_a_folder_brings_requirements_that_nothing_pins(tmp_path: Path, line: str) -> None:
    found = judge(tmp_path, f"pytest==8.3.4\n{line}\n")
    assert found.status == "warn"
    assert "requirements of its own" in found.message


def test_a_file_of_windows_is_read_as_pip_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "requirements-rocm.txt"
    path.write_bytes("nvidia-cublas-cu12==12.4\n".encode("utf-16"))
    assert "works with CUDA only" in check(load(path), TORCH).message


@pytest.mark.parametrize("data", [b"a\xff\xfe\n", b"a\0b\n"])
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "requirements-rocm.txt"
    path.write_bytes(data)
    with pytest.raises(RequirementsError, match="is no text"):
        load(path)


def test_a_file_that_asks_for_nothing_is_no_pass(tmp_path: Path) -> None:
    assert judge(tmp_path, "# nothing\n").status == "skip"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RequirementsError, match="cannot be read: no such file"):
        load(tmp_path / "none.txt")
    with pytest.raises(RequirementsError, match="no regular file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(RequirementsError, match="no regular file"):
        load(tmp_path / "fifo")


@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("requirements") / "r.txt"
    path.write_bytes(data)
    with contextlib.suppress(RequirementsError):
        check(load(path), TORCH)


@given(st.text(alphabet="abt-_.=<>~!@;[] #\\\n\"'+:/12rc", max_size=200))
def test_any_text_is_judged_without_a_traceback(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("requirements") / "r.txt"
    path.write_text(text, encoding="utf-8")
    with contextlib.suppress(RequirementsError):
        check(load(path), TORCH)
