"""Python, CMake, scripts and packaging files: what is CUDA there, and what only looks like it."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check.check_file import Target, check_text
from rocm_ci.hipify_check.kinds import kind_of


def found(name, text, *, version=(7, 0), explicit=False):
    kind = kind_of(name)
    assert kind is not None, name
    result = check_text(name, kind, text.encode(), Target(version, explicit))
    return [(one.line, one.verdict, one.name) for one in result.findings]


def python(text):
    return found("a.py", text)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = torch.zeros(3, device='cuda').cuda()\ntorch.cuda.synchronize()\n",
        "torch.backends.cudnn.benchmark = True\ntorch.cuda.nvtx.range_push('x')\n",
        "from torch.utils.cpp_extension import CUDAExtension, BuildExtension\nCUDAExtension('m', ['m.cu'])\n",
        '"""Set CUDA_HOME, or nvidia-smi fails; libcudart.so."""\nx = 1\n',
        "def f():\n    '''nvcc and /usr/local/cuda'''\n",
        "# import pynvml\n",
        "import mycuda, cuda_utils\nfrom .cuda import x\nfrom . import pynvml\n",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        "flags = {'nvcc': ['-O3']}\n",
        "x = tl.inline_asm_elementwise('v_add_f32 $0, $1, $2', '=v,v,v', [a], tl.float32, True, 1)\n",
        "from triton.language.extra import libdevice\n",
    ],
)
def test_python_left_alone(text):
    assert python(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import pynvml\n", [(1, "manual", "pynvml")]),
        ("import os, pycuda.driver as drv\n", [(1, "unsupported", "pycuda")]),
        ("from cuda import cudart\n", [(1, "unsupported", "cuda")]),
        ("from numba import cuda\n", [(1, "manual", "numba.cuda")]),
        ("import numba\n", []),
        ("lib = ctypes.CDLL('libcudart.so.12')\n", [(1, "convertible", "libcudart.so.12")]),
        ("p = find_library('cudart')\n", [(1, "convertible", "cudart")]),
        ("subprocess.check_output('nvcc --version', shell=True)\n", [(1, "convertible", "nvcc")]),
        ("subprocess.run([\n    'nvcc',\n    '-V'])\n", [(2, "convertible", "nvcc")]),
        ("nvcc = os.path.join(home, 'bin', 'nvcc')\n", [(1, "convertible", "nvcc")]),
        ("nvcc = f'{home}/bin/nvcc'\n", [(1, "convertible", "nvcc")]),
        ("if shutil.which('nvidia-smi'): pass\n", [(1, "manual", "nvidia-smi")]),
        ("home = os.environ.get('CUDA_HOME', '/usr/local/cuda-12.4')\n",
         [(1, "convertible", "CUDA_HOME"), (1, "convertible", "/usr/local/cuda-12.4")]),
        ("if torch.version.cuda is None: raise X\n", [(1, "note", "torch.version.cuda")]),
        ("major, minor = torch.cuda.get_device_capability()\n", [(1, "note", "get_device_capability")]),
        ("if 'A100' in torch.cuda.get_device_name(0): pass\n", [(1, "note", "get_device_name")]),
        ("y = tl.inline_asm_elementwise(asm='''\n  { .reg .b32 t;\n  mov.b32 t, $1; }''', constraints='')\n",
         [(3, "manual", "mov.b32")]),
        ("f = ['-gencode', 'arch=compute_90a,code=sm_90a']\n", [(1, "manual", "-gencode")]),
        ("setup(extra_compile_args=['--expt-extended-lambda'])\n", [(1, "convertible", "--expt-extended-lambda")]),
        ("url = 'https://download.pytorch.org/whl/cu121'\n", [(1, "convertible", "whl/cu121")]),
    ],
)  # fmt: skip
def test_python_found(text, expected):
    assert python(text) == expected


def test_python_optional_import_is_a_note():
    assert python("try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n") == [(2, "note", "pynvml")]
    assert python("try:\n    import pynvml\nexcept KeyError:\n    pass\n") == [(2, "manual", "pynvml")]


@pytest.mark.parametrize(
    "test",
    [
        "torch.version.hip is None",
        "not torch.version.hip",
        "not is_hip()",
        "not current_platform.is_rocm()",
        "current_platform.is_cuda()",
        "not (IS_HIP_EXTENSION or x)",
        "x and torch.version.hip is None",
    ],
)
def test_python_branch_that_rocm_never_takes(test):
    assert [verdict for _, verdict, name in python(f"if {test}:\n    import pynvml\n") if name == "pynvml"] == ["note"]
    text = f"if {test}:\n    pass\nelse:\n    import pynvml\n"
    assert (4, "manual", "pynvml") in python(text)


@pytest.mark.parametrize("test", ["torch.cuda.is_available()", "x.is_cuda", "torch.version.hip", "args.cuda"])
def test_python_branch_that_rocm_takes(test):
    assert (2, "manual", "pynvml") in python(f"if {test}:\n    import pynvml\n")


def test_python_that_does_not_parse_is_still_read():
    assert python("print 'x'\nimport pynvml\n") == [(2, "manual", "pynvml")]
    assert python("{% if x %}\nimport pycuda.autoinit\n") == [(2, "unsupported", "pycuda")]


def test_python_setup_dependencies():
    text = (
        "setup(\n    install_requires=[\n        'cupy-cuda12x',\n"
        "        'nvidia-nccl-cu12==2.20',\n        'numpy'])\n"
    )
    assert found("setup.py", text) == [(3, "convertible", "cupy-cuda12x"), (4, "unsupported", "nvidia-nccl-cu12")]


def test_python_encoding_and_line_ends():
    raw = "# -*- coding: latin-1 -*-\r\n# \xe9\r\nimport pynvml\r\n".encode("latin-1")
    result = check_text("a.py", "python", raw, Target((7, 0)))
    assert [(one.line, one.column, one.name) for one in result.findings] == [(3, 8, "pynvml")]


def cmake(text):
    return found("CMakeLists.txt", text)


@pytest.mark.parametrize(
    "text",
    [
        "# find_package(CUDA)\n#[[ enable_language(CUDA)\n]]\n",
        'message(STATUS "CUDA_TOOLKIT_ROOT_DIR is unset")\n',
        'option(USE_CUDA "with CUDA" OFF)\n',
        "enable_language(HIP)\nfind_package(hip REQUIRED)\n",
        "set(CMAKE_HIP_ARCHITECTURES gfx942)\n",
        "target_link_libraries(t MYCUDA::x hip::host)\n",
        "# link(cublas)\nmessage(STATUS cublas)\n",
        "add_subdirectory(cublas)\n",
        "add_library(cublas fake.cpp)\ntarget_link_libraries(t cublas)\n",
        "string(REPLACE cublas hipblas out ${in})\n",
        "if(cublas)\nendif()\n",
        'note_of(t "cublas")\n',
        "add_backend(nccl)\nadd_backend(cuda)\n",
    ],
)
def test_cmake_left_alone(text):
    assert cmake(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("project(\n  x\n  LANGUAGES CXX\n            CUDA)\n", [(4, "convertible", "LANGUAGES CUDA")]),
        ("check_language( CUDA )\n", [(1, "convertible", "check_language(CUDA)")]),
        ("find_package(CUDAToolkit 12 REQUIRED)\n", [(1, "convertible", "CUDAToolkit")]),
        ("find_package(CUDNN)\n", [(1, "manual", "CUDNN")]),
        ("target_link_libraries(t PRIVATE CUDA::nvml)\n", [(1, "manual", "CUDA::nvml")]),
        ("target_link_libraries(t PRIVATE CUDA::nppc)\n", [(1, "unsupported", "CUDA::nppc")]),
        ('set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -Xptxas -v")\n',
         [(1, "convertible", "CMAKE_CUDA_FLAGS"), (1, "convertible", "CMAKE_CUDA_FLAGS"), (1, "manual", "-Xptxas")]),
        ("set(CMAKE_CUDA_ARCHITECTURES 80;90)\n", [(1, "convertible", "CMAKE_CUDA_ARCHITECTURES")]),
        ("target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>)\n",
         [(1, "convertible", "$<COMPILE_LANGUAGE:CUDA>"), (1, "convertible", "--use_fast_math")]),
        ("include_directories(/usr/local/cuda/include)\n", [(1, "convertible", "/usr/local/cuda")]),
        ("find_program(NVCC nvcc)\n", [(1, "convertible", "nvcc")]),
        ("execute_process(COMMAND nvidia-smi -L)\n", [(1, "manual", "nvidia-smi")]),
        ("cuda_add_executable(x x.cu)\n", [(1, "convertible", "cuda_add_executable")]),
        ("set_source_files_properties(a.cpp PROPERTIES LANGUAGE CUDA)\n", [(1, "convertible", "LANGUAGE CUDA")]),
        ("add_benchmark(NAME mlp\n  LINK_LIBRARIES cublasLt)\n", [(2, "convertible", "cublasLt")]),
        ("own_link(cusparse)\n", [(1, "convertible", "cusparse")]),
        ("target_link_libraries(t PRIVATE cudart_static nccl -lcufft)\n",
         [(1, "convertible", "cudart_static"), (1, "convertible", "nccl"), (1, "convertible", "-lcufft")]),
        ('set(LIBS "x")\nlist(APPEND LIBS curand;cusolver)\n',
         [(2, "convertible", "curand"), (2, "convertible", "cusolver")]),
        ("find_library(CUDNN_LIB NAMES cudnn)\n", [(1, "manual", "cudnn")]),
        ("if(USE_HIP)\nelse()\nlink(cublas)\nendif()\n", [(3, "note", "cublas")]),
    ],
)  # fmt: skip
def test_cmake_found(text, expected):
    assert cmake(text) == expected


@pytest.mark.parametrize(
    ("name", "verdict", "hip"),
    [
        ("CMAKE_CUDA_ARCHITECTURES", "convertible", "CMAKE_HIP_ARCHITECTURES"),
        ("CMAKE_CUDA_FLAGS_RELEASE", "convertible", "CMAKE_HIP_FLAGS_RELEASE"),
        ("CMAKE_CUDA_COMPILER_LAUNCHER", "convertible", "CMAKE_HIP_COMPILER_LAUNCHER"),
        ("CUDAToolkit_INCLUDE_DIRS", "convertible", "hip_INCLUDE_DIRS"),
        ("CUDAToolkit_BIN_DIR", "convertible", "hip_BIN_INSTALL_DIR"),
        # CMake and the package hip have no variable of these names: a suggestion by pattern would be made up.
        ("CMAKE_CUDA_ARCHITECTURES_ALL", "manual", ""),
        ("CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR", "manual", ""),
        ("CMAKE_CUDA_COMPILER_TOOLKIT_ROOT", "manual", ""),
        ("CMAKE_CUDA_SEPARABLE_COMPILATION", "convertible", "-fgpu-rdc"),
        ("CUDAToolkit_TARGET_DIR", "manual", ""),
    ],
)
def test_cmake_suggests_only_variables_that_exist(name, verdict, hip):
    (hit,) = check_text("CMakeLists.txt", "cmake", f"f(${{{name}}})\n".encode(), Target((7, 0))).findings
    assert (hit.name, hit.verdict, hit.hip) == (name, verdict, hip)


@pytest.mark.parametrize(
    "condition",
    [
        "if(NOT USE_ROCM)",
        "if(USE_HIP)\nelse()",
        "if(USE_ROCM)\nelseif(X)",
        "if(NOT (USE_ROCM OR X))",
        "if(X AND NOT USE_HIP)",
        'if(GPU STREQUAL "HIP")\nelseif(GPU STREQUAL "CUDA")',
        "if(USE_HIP)\nendif()\nif(USE_CUDA)",
        "if(FALSE)",
    ],
)
def test_cmake_amd_never_gets_there(condition):
    assert {verdict for _, verdict, _ in cmake(f"{condition}\nenable_language(CUDA)\nendif()\n")} == {"note"}


@pytest.mark.parametrize("condition", ["if(USE_CUDA)", "if(X)", "if(USE_ROCM)", "if(NOT X)\nelse()", "if(X)\nelse()"])
def test_cmake_amd_may_get_there(condition):
    assert {verdict for _, verdict, _ in cmake(f"{condition}\nenable_language(CUDA)\nendif()\n")} == {"convertible"}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("b.sh", "# nvcc x\necho done # nvidia-smi\n", []),
        ("b.sh", 'echo "a # b" && nvidia-smi\n', [(1, "manual", "nvidia-smi")]),
        ("b.sh", "export CUDA_VISIBLE_DEVICES=1\n", []),
        ("b.sh", "NVCC_FLAGS=1 my-nvcc foo.nvcc\n", []),
        ("b.sh", "TORCH_CUDA_ARCH_LIST='8.0' pip install .\n", [(1, "convertible", "TORCH_CUDA_ARCH_LIST")]),
        ("b.sh", "nsys profile python x.py\n", [(1, "manual", "nsys")]),
        ("b.sh", "pip install \\\n  cupy-cuda12x \\\n  numpy\n", [(2, "convertible", "cupy-cuda12x")]),
        ("b.sh", "pip install torch --index-url https://download.pytorch.org/whl/cu126\n",
         [(1, "convertible", "whl/cu126")]),
        ("b.sh", "docker run --gpus all -it x\n", [(1, "convertible", "--gpus all")]),
        ("b.sh", "g++ a.o -lcudart -lm\n", [(1, "convertible", "-lcudart")]),
        ("Makefile", "NVCC = nvcc\nCFLAGS = -arch=sm_70\n", [(1, "convertible", "nvcc"), (2, "manual", "-arch=sm_")]),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.05-py3 AS base\n", [(1, "convertible", "nvidia/pytorch")]),
        ("Dockerfile", "FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel\n", [(1, "convertible", "pytorch/pytorch")]),
        ("Dockerfile", "FROM rocm/pytorch:latest\n# FROM nvidia/cuda\n", []),
        ("Dockerfile", "RUN apt-get update && apt-get install -y \\\n    libcudnn9-dev git\n",
         [(2, "manual", "libcudnn9-dev")]),
        ("Dockerfile", "ENV NVIDIA_VISIBLE_DEVICES=all\n", [(1, "convertible", "NVIDIA_VISIBLE_DEVICES")]),
        ("d.yaml", "limits:\n  nvidia.com/gpu: 1\n", [(2, "convertible", "nvidia.com/gpu")]),
        ("c.yml", "container:\n  image: nvidia/cuda:12.2.0-base\n", [(2, "convertible", "nvidia/cuda")]),
        ("c.yml", "runtime: nvidia\n", [(1, "manual", "nvidia")]),
        ("environment.yml", "dependencies:\n  - pytorch-cuda=12.1\n  - numpy\n", [(2, "unsupported", "pytorch-cuda")]),
        ("pyproject.toml", 'dependencies = [\n  "cupy-cuda12x>=13",\n  "numpy",\n]\n',
         [(2, "convertible", "cupy-cuda12x")]),
        ("uv.lock", '[[package]]\nname = "nvidia-cudnn-cu12"\n', [(2, "unsupported", "nvidia-cudnn-cu12")]),
        ("requirements.txt", "numpy\nFlash_Attn==2.5 ; python_version>'3.8'\n", [(2, "manual", "Flash_Attn")]),
        ("requirements.txt", "-r other.txt\ntorch==2.5.1+cu121 --hash=sha256:x\n", [(2, "manual", "+cu121")]),
        ("requirements.txt", "--extra-index-url https://pypi.nvidia.com\n", [(1, "manual", "https://pypi.nvidia.com")]),
        ("requirements.txt", "-f https://data.pyg.org/whl/torch-2.1.0+cu118.html\n",
         [(1, "manual", "https://data.pyg.org/whl/torch-2.1.0+cu118.html")]),
        ("requirements.txt", "jax[cuda12]==0.4\njax==0.4\n", [(1, "manual", "jax[cuda12]")]),
        ("environment.yml", "- pip:\n  - torch==2.1+cu121\n", [(2, "manual", "+cu121")]),
        ("Dockerfile", "FROM nvidia/cuda:${V}-devel-ubuntu22.04\n", [(1, "convertible", "nvidia/cuda")]),
        ("requirements-rocm.txt", "torch\nnumpy==1.26\ngit+https://x/y\n", [(1, "note", "torch")]),
    ],
)  # fmt: skip
def test_scripts_and_packages(name, text, expected):
    assert found(name, text) == expected


def test_index_follows_the_release_that_was_named():
    result = check_text(
        "requirements.txt",
        "requirements",
        b"--index-url https://download.pytorch.org/whl/cu121\n",
        Target((6, 3), explicit=True),
    )
    assert [one.hip for one in result.findings] == ["whl/rocm6.3"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/B.CU", "c"),
        ("x.h.in", "c"),
        ("CMakeLists.txt", "cmake"),
        ("FindX.cmake", "cmake"),
        ("docker/Dockerfile.rocm", "docker"),
        ("requirements/test.in", "requirements"),
        ("requirements-dev.txt", "requirements"),
        ("dev-requirements.txt", "requirements"),
        ("notes.txt", None),
        ("README.md", None),
        (".cu", None),
        ("cu", None),
    ],
)
def test_kinds(name, kind):
    assert kind_of(name) == kind


@pytest.mark.parametrize("package", ["datacenter-gpu-manager", "datacenter-gpu-manager-4-cuda12=1:4.0"])
def test_dcgm_is_a_package_of_nvidia(package):
    (hit,) = found("Dockerfile", f"# apt-get install {package}\nRUN apt-get install -y {package}\n")
    assert hit[:2] == (2, "manual")


@pytest.mark.parametrize("source", ["Mellanox/nv_peer_memory", "NVIDIA/gdrcopy"])
def test_sources_of_nvidias_rdma_modules(source):
    text = f"# https://github.com/{source}\nRUN git clone https://github.com/{source}.git\n"
    assert found("Dockerfile", text) == [(2, "manual", source.split("/")[1])]
