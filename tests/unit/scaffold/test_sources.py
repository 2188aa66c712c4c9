"""What a file shows, by its content where the suffix does not tell."""

from __future__ import annotations

import pytest

from rocm_ci_gen.scaffold.sources import Mark, marks, requirements_file, worth_reading


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("csrc/k.cu", "__global__ void f() {}", {Mark.CUDA}),
        ("csrc/k.cu", "#include <cuda_runtime.h>\n", {Mark.CUDA}),
        ("csrc/k.cu", "#include <hip/hip_runtime.h>\n", {Mark.HIP}),
        ("csrc/k.cu", "#include <hip/hip_runtime.h>\n#include <cuda_fp16.h>\n", {Mark.HIP, Mark.CUDA}),
        ("csrc/k.hip", "", {Mark.HIP}),
        ("src/a.cpp", '#include "hip/hip_runtime.h"\n', {Mark.HIP}),
        ("src/a.cpp", "#  include <hipblas/hipblas.h>\n", {Mark.HIP}),
        ("src/a.cpp", "#include <cub/cub.cuh>\n", {Mark.CUDA}),
        ("src/a.h", "#include <c10/cuda/CUDAStream.h>\n", {Mark.CUDA}),
        ("src/a.cpp", "// #include <cuda.h>\nint x;\n", set()),
        ("src/a.cpp", "#include <vector>\n", set()),
        ("k.py", "import triton\n\n@triton.jit\ndef k(): ...\n", {Mark.TRITON}),
        ("k.py", "import triton.language as tl\n", {Mark.TRITON}),
        ("k.py", "# @triton.jit is what others use\n", set()),
        ("k.py", "from tilelang import language as T\n", {Mark.TILELANG}),
        ("setup.py", "ext = CUDAExtension('a', ['a.cu'])\n", {Mark.TORCH_EXTENSION}),
        ("pkg/jit.py", "from torch.utils.cpp_extension import load_inline\n", {Mark.TORCH_EXTENSION}),
        ("setup.py", "from torch.utils.hipify import hipify_python\n", {Mark.HIPIFY}),
        ("setup.py", "IS_HIP_EXTENSION = True\n", {Mark.HIP_BUILD}),
        ("CMakeLists.txt", "enable_language(HIP)\n", {Mark.HIP_BUILD}),
        ("CMakeLists.txt", "# enable_language(HIP) some day\nproject(a LANGUAGES CUDA)\n", set()),
        ("cmake/x.cmake", "execute_process(COMMAND hipify-perl a.cu)\n", {Mark.HIPIFY}),
        ("Makefile", "a: a.hip\n\thipcc -o a a.hip\n", {Mark.HIP_BUILD}),
        ("serve.py", "import vllm\n", {Mark.VLLM}),
        ("requirements.txt", "torch\nsglang[all]>=0.4\n", {Mark.SGLANG}),
        ("requirements/run.txt", "vllm==0.6\n", {Mark.VLLM}),
        ("requirements.txt", "vllm-flash-attn\n", set()),
        (
            "tests/test_k.py",
            "import torch\n\ndef test_a():\n    torch.cuda.synchronize()\n",
            {Mark.TEST, Mark.GPU_TEST},
        ),
        ("tests/test_k.py", "def test_a():\n    assert 1\n", {Mark.TEST}),
        ("tests/test_k.py", "x = 1\n", set()),
        ("tests/helpers.py", "def test_a():\n    x.cuda()\n", set()),
        ("README.md", "hipify-perl, enable_language(HIP), import vllm\n", set()),
    ],
)
def test_marks(path: str, text: str, expected: set[Mark]) -> None:
    assert marks(path, text) == expected


@pytest.mark.parametrize("path", ["README.md", "a.png", "data.json", "docs/index.rst", "requirements.yaml"])
def test_what_tells_nothing_is_not_opened(path: str) -> None:
    assert not worth_reading(path)


@pytest.mark.parametrize("path", ["a.CU", "x/CMakeLists.txt", "requirements-dev.txt", "requirements/a.in", "k.hip"])
def test_what_may_tell_something_is_opened(path: str) -> None:
    assert worth_reading(path)


def test_requirements_files_go_by_name() -> None:
    assert requirements_file("requirements-rocm.txt")
    assert requirements_file("requirements/gpu.txt")
    assert not requirements_file("docs/notes.txt")
