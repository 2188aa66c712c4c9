"""Repositories in memory."""

from __future__ import annotations

from rocm_ci_gen.scaffold.repository import Repository
from rocm_ci_gen.scaffold.tree import Tree

CUDA = "#include <cuda_runtime.h>\n__global__ void k() {}\n"
HIP = "#include <hip/hip_runtime.h>\n__global__ void k() {}\n"
TRITON = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(): ...\n"
GPU_TEST = "import torch\n\ndef test_k():\n    torch.cuda.synchronize()\n"

CUDA_EXTENSION = {
    "setup.py": (
        "from torch.utils.cpp_extension import CUDAExtension\nsetup(ext_modules=[CUDAExtension('a', ['csrc/a.cu'])])\n"
    ),
    "csrc/a.cu": CUDA,
    "csrc/b.cuh": CUDA,
    "csrc/third_party/x/y.cu": CUDA,
    "pkg/__init__.py": "import torch\n",
    "tests/kernels/test_a.py": GPU_TEST,
    "tests/test_docs.py": "def test_a(): ...\n",
}
HIP_PROJECT = {
    "CMakeLists.txt": "project(a LANGUAGES CXX HIP)\nset(CMAKE_HIP_ARCHITECTURES gfx942)\n",
    "src/a.hip": HIP,
    "src/b.cpp": HIP,
}
TRITON_PROJECT = {
    "pyproject.toml": "[project]\nname = 'k'\n",
    "src/k/ops.py": TRITON,
    "test/test_ops.py": GPU_TEST,
    "benchmark/b.py": TRITON,
    ".github/workflows/amd.yml": (
        "on: [push, merge_group]\njobs:\n  t:\n    runs-on: linux-mi300-gpu-1\n"
        "    container: rocm/pytorch:rocm7.1_ubuntu24.04_py3.12_pytorch_release_2.8.0\n    steps: []\n"
    ),
}


def tree(files: dict[str, str], repository: Repository | None = None) -> Tree:
    """A repository with these files."""
    return Tree(
        tuple(sorted(files)),
        lambda path, limit: files[path][:limit],
        repository or Repository(default_branch="main", default_branch_reason="origin/HEAD"),
    )
