"""The C-family scanner on what makes a plain text search wrong."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check.check_file import Target, check_text


def found(text, *, name="a.cu", version=(7, 0), **target):
    raw = text if isinstance(text, bytes) else text.encode()
    return [(one.line, one.verdict, one.name) for one in check_text(name, "c", raw, Target(version, **target)).findings]


def names(text, **options):
    return [name for _, verdict, name in found(text, **options) if verdict != "note"]


@pytest.mark.parametrize(
    "text",
    [
        "// cudaMalloc(&p, n)\n",
        "/* cudaMalloc\n cudaFree */ int x;\n",
        "/* never closed cudaMalloc(\n",
        'const char* s = "cudaMalloc \\" cudaFree";\n',
        'auto s = R"x(cudaMalloc )" cudaFree)x";\n',
        'auto s = u8R"(\ncudaMalloc\n)";\n',
        "// continued \\\n cudaMalloc(&p, n);\n",
        "// continued \\\r\n cudaMalloc(&p, n);\r\n",
        "int mycudaMalloc, cudaMallocs_x9_;\n",
        "obj.cudaMalloc(1); p->cudaFree(q); lib::cudaFree(q);\n",
        "#undef cudaMalloc\n",
        "#ifdef cudaStreamPerThread\n#endif\n",
        "int hipMalloc_; hipMalloc(&p, n);\n",
    ],
)
def test_left_alone(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int a = 1'000'000; cudaFree(p); // '\n", 1),
        ("int a = 0xFF'FFu; char c = '\\''; cudaFree(p);\n", 1),
        ("char c = '\"'; cudaFree(p); char d = '\"';\n", 1),
        ("#error don't\ncudaFree(p);\n", 2),
        ('const char* u = "http://x"; cudaFree(p);\n', 1),
        ("#define F(x) /* \\\n */ cudaFree(x)\n", 2),
        ("cuda\\\nFree(p);\n", 1),
        ("::cudaFree(p);\n", 1),
        ("\ufeffcudaFree(p);\n", 1),
        ("int x;\r\ncudaFree(p);\r\n", 2),
        ("/**/cudaFree(p);", 1),
        ('FOOR"(x"; cudaFree(p); // )"\n', 1),
    ],
)
def test_found_on_line(text, line):
    assert found(text) == [(line, "convertible", "cudaFree")]


def test_any_encoding():
    assert names(b"// caf\xe9 \xff\xfe\ncudaFree(p); // \x81\n") == ["cudaFree"]


def test_column_counts_characters():
    finding = check_text("a.cu", "c", 'f("é€", cudaFree(p));\n'.encode(), Target((7, 0))).findings[0]
    assert (finding.line, finding.column) == (1, 9)
    assert finding.source == 'f("é€", cudaFree(p));'


def branch(*lines):
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "condition",
    [
        "#ifndef USE_ROCM",
        "#ifdef __HIP_PLATFORM_NVIDIA__",
        "#if !defined(__HIP_PLATFORM_AMD__)",
        "#if !defined __HIPCC__ && defined(X)",
        "#if !(defined(USE_ROCM) || defined(X))",
        "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 800)",
        "#if __CUDA_ARCH__ >= 700 and X",
        "#if !USE_ROCM",
        "#if not USE_ROCM",
        "#if USE_ROCM == 0",
        "#if HIP_VERSION == 0",
        "#ifdef __HIPCC__\n#else",
        "#ifdef X\n#elif defined(USE_ROCM)\n#else",
        "#if defined(USE_ROCM) && \\\n  1\n#elif X",
        "#ifdef PROJECT_USE_HIP\n#else",
        "#ifdef USE_ROCM\n#endif\n#ifdef PADDLE_WITH_CUDA",
        "#ifdef __HIPCC__\n#define GPU 1\n#else\n#define GPU 0\n#endif\n#if !GPU",
        "#if __has_include(<cuda_runtime.h>)\n#define HAVE 1\n#endif\n#if defined(HAVE) && !defined(USE_ROCM)",
        "#if defined(X) ? 0 : !defined(USE_ROCM) && 0",
    ],
)
def test_amd_never_compiles(condition):
    text = f"{condition}\ncudaFree(p);\n#endif\n"
    assert names(text) == []
    assert [verdict for _, verdict, name in found(text) if name == "cudaFree"] == ["note"]


@pytest.mark.parametrize(
    "condition",
    [
        "#ifdef USE_ROCM",
        "#if defined(X) || defined(__HIPCC__)",
        "#ifdef X",
        "#ifdef USE_CUDA",
        "#if X > 3",
        "#ifndef MY_HIP_UTILS_H\n#define MY_HIP_UTILS_H",
        "#ifdef X\n#elif defined(USE_ROCM)",
        "#if 1",
        "#if 0\n#else",
        "#if HIP_VERSION >= 60000000",
        "#if ((((",
        "#if " + "(" * 500 + "1",
        "#ifdef",
    ],
)
def test_amd_may_compile(condition):
    assert names(f"{condition}\ncudaFree(p);\n#endif\n") == ["cudaFree"]


def test_nested_branches_end_where_they_end():
    text = branch(
        "#ifdef USE_ROCM",
        "#if 0",
        "cudaA0();",
        "#endif",
        "cudaFree(p);",
        "#else",
        "#ifdef USE_ROCM",
        "cudaMalloc(p);",
        "#endif",
        "#endif",
        "cudaDeviceReset();",
        "#endif",
        "cudaFreeHost(p);",
    )
    assert names(text) == ["cudaFree", "cudaDeviceReset", "cudaFreeHost"]


def test_hipify_mode_compiles_what_stands_behind_cudacc():
    text = "#ifdef __CUDACC__\ncudaFree(p);\n#endif\n"
    assert "cudaFree" not in names(text)
    assert "cudaFree" in names(text, hipify=True)


@pytest.mark.parametrize(
    "definition",
    [
        "#define cudaFree hipFree",
        "#define cudaFree(p) hipFree(p)",
        "static inline int cudaFree(void* p) { return 0; }",
        "__device__ __forceinline__ int cudaFree(void* p) noexcept\n{ return 0; }",
        "using cudaFree = int;",
        "typedef int cudaFree;",
        "constexpr int cudaFree = 3;",
    ],
)
def test_names_the_file_defines_are_its_own(definition):
    assert names(f"{definition}\nint main() {{ cudaFree(p); }}\n") == []


@pytest.mark.parametrize(
    "text",
    ["return cudaFree;\n", "const auto f = 2 * cudaFree;\n", "f(a, cudaFree);\n", "x = y ? cudaFree : z;\n"],
)
def test_uses_are_no_definitions(text):
    assert names(text) == ["cudaFree"]


def test_namespace_alias_makes_cub_the_trees_own():
    assert names("namespace cub = hipcub;\ncub::DeviceReduce::Sum(a);\n") == []
    assert names("cub::DeviceReduce::Sum(a);\n") == ["cub::DeviceReduce::Sum"]
    assert names("mine::cub::x(a);\n") == []


@pytest.mark.parametrize(
    ("mask", "narrow"),
    [
        ("0xffffffff", True),
        ("0xFFFFFFFFu", True),
        ("~0u", True),
        ("-1", True),
        ("(unsigned)x", True),
        ("UINT_MAX", True),
        ("0xffffffffffffffffULL", False),
        ("~0ull", False),
        ("__activemask()", False),
        ("mask", False),
    ],
)
def test_warp_masks(mask, narrow):
    assert names(f"v += __shfl_down_sync({mask}, v, 8);\n") == (["__shfl_down_sync"] if narrow else [])


def test_warp_mask_by_name():
    assert names("#define FULL 0xffffffff\nv = __shfl_sync(FULL, v, 0);\n") == ["__shfl_sync"]
    assert names("#define FULL 0xffffffffffffffffull\nv = __shfl_sync(FULL, v, 0);\n") == []
    assert names("void f(unsigned mask) { v = __shfl_sync(mask, v, 0); }\n") == ["__shfl_sync"]
    assert names("void f(unsigned long long mask) { v = __shfl_sync(mask, v, 0); }\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (warpSize == 32) f();\n", ["warpSize"]),
        ("int w = threadIdx.x / warpSize;\n", []),
        ("bool small = prop.warpSize == 32;\n", ["warpSize"]),
        ("if (prop.warpSize != 32 && prop.warpSize != 64) f();\n", []),
        ("float s[prop.warpSize];\n", []),
        ("x = s[threadIdx.x / warpSize];\n", []),
        ("return s[lane / warpSize];\n", []),
        ("float s[1024 / warpSize];\n", ["warpSize"]),
        ("static_assert(warpSize == 64);\n", ["warpSize"]),
        ("unsigned m = __ballot(p);\n", []),
        ("cudaFree(q);\nunsigned m = __ballot(p);\n", ["cudaFree", "__ballot"]),
        ("#include <hip/hip_runtime.h>\ncudaFree(q);\nunsigned m = __ballot(p);\n", ["cudaFree"]),
        ("unsigned m = __ballot_sync(~0ULL, p);\n", ["__ballot_sync"]),
        ("uint64_t m = __ballot(p);\n", []),
        ("n = __popc(__ballot(p));\n", ["__popc"]),
        ("n = __popcll(__ballot(p));\n", []),
    ],
)
def test_warp_size(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('asm volatile("mov.u32 %0, %%laneid;" : "=r"(x));\n', [(1, "manual", "mov.u32")]),
        (
            'asm("{\\n"\n    ".reg .pred p;\\n"\n    "setp.ne.b32 p, %0, 0;}" :: "r"(x));\n',
            [(3, "manual", "setp.ne.b32")],
        ),
        (
            'asm volatile(R"(\n  mma.sync.aligned.m16n8k16 x;)" ::);\n',
            [(2, "unsupported", "mma.sync.aligned.m16n8k16")],
        ),
        ('__asm__ __volatile__("trap;");\n', [(1, "manual", "trap")]),
        ('asm volatile("v_add_f32 %0, %1, %2" : "=v"(a) : "v"(b), "v"(c));\n', []),
        ('asm volatile("mov %%eax, %0; lock; cmpxchg %1, %2" : "=r"(x));\n', []),
        ('__asm__("fmla v0.4s, v1.4s, v2.4s");\n', []),
        ('asm("");\n', []),
        ('asm volatile("cpuid" : "=a"(a));\n', []),
        ('// asm("bar.sync 0;")\n', []),
    ],
)
def test_ptx(text, expected):
    assert found(text) == expected


def test_verdict_depends_on_the_release():
    text = "cudaLaunchKernelEx(&c, k);\ncublasGemmEx(h);\n"
    assert [verdict for _, verdict, _ in found(text, version=(6, 3))] == ["unsupported", "convertible"]
    assert [verdict for _, verdict, _ in found(text, version=(7, 0))] == ["convertible", "convertible"]


def test_builtin_that_came_with_a_release():
    assert names("__syncwarp();\n") == ["__syncwarp"]
    assert names("__syncwarp();\n", version=(7, 0), explicit=True) == []
    assert names("__syncwarp();\n", version=(6, 4), explicit=True) == ["__syncwarp"]
    assert names("#include <hip/hip_runtime.h>\n__syncwarp();\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#include <thrust/sort.h>\n", []),
        ("#include <hip/hip_runtime.h>\n", []),
        ('#include "cuda_runtime.h"\n', [(1, "convertible", "cuda_runtime.h")]),
        ("#include /* x */ <cuda.h> // y\n", [(1, "convertible", "cuda.h")]),
        ("// #include <cuda.h>\n", []),
        ("#include <nccl.h>\n", [(1, "convertible", "nccl.h")]),
        ("#include <cudnn.h>\n", [(1, "manual", "cudnn.h")]),
        ("#include <mma.h>\n", [(1, "manual", "mma.h")]),
        ("#include <cudaTypedefs.h>\n", [(1, "unsupported", "cudaTypedefs.h")]),
        ("#include <cudaGLTypedefs.h>\n", [(1, "unsupported", "cudaGLTypedefs.h")]),
        ("#include <cuda_occupancy.h>\n", [(1, "manual", "cuda_occupancy.h")]),
        ("ncclAllReduce(a, b);\n", []),
    ],
)
def test_headers(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize("text", ["cudaMyThing(1);\n", "x = cublasFancy(h);\n", "nvmlInit();\n"])
def test_calls_of_unknown_names(text):
    assert [verdict for _, verdict, _ in found(text)] == ["manual"]


@pytest.mark.parametrize("text", ["int cudaMyThing(int);\n", "cudaMyVar = 3;\n", "#define cudaMy(x) x\ncudaMy(1);\n"])
def test_unknown_names_that_are_the_users(text):
    assert found(text) == []


def test_inline_exceptions():
    assert names("cudaFree(p); // rocm-ci: ignore[HIP101] shared with NVIDIA\n") == []
    assert names("cudaFree(p); // rocm-ci: ignore[api, ptx]\n") == []
    assert names("cudaFree(p); // rocm-ci: ignore[HIP107]\n") == ["cudaFree"]
    assert names("// rocm-ci: ignore\ncudaFree(p);\ncudaFree(q);\n") == ["cudaFree"]


def test_file_of_one_long_line_is_quick_enough_to_finish():
    assert len(names("cudaFree(p);" * 20000)) == 20000


@pytest.mark.parametrize(
    "text", ["/*" * 30000, "'" * 30000, '"\\' * 30000, 'R"(' * 2000, "((((" * 20000, "#if (" * 5000, "\\\n" * 30000]
)
def test_hostile_texts_end(text):
    assert names(text + "\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if __CUDACC_VER_MAJOR__ >= 11\n#endif\n", ["__CUDACC_VER_MAJOR__"]),
        ("#if __CUDA_ARCH__ >= 800 && CUDART_VERSION >= 12000\n#endif\n", []),
        ("#if defined(USE_ROCM) || CUDA_VERSION >= 12000\n#endif\n", []),
        ("#if CUDA_VERSION >= 12000\n#elif defined(USE_ROCM)\n#endif\n", []),
        ("#if CUDA_VERSION >= 12080\n__nv_atomic_load_n(p);\n#elif __HIPCC__\n#endif\n", []),
        ("#if CUDA_VERSION >= 12080\n__nv_atomic_load_n(p);\n#endif\n", ["CUDA_VERSION"]),
        ("#if CUDA_VERSION >= 12080\nf();\n#else\ncudaFree(p);\n#endif\n", ["CUDA_VERSION", "cudaFree"]),
        ("#if CUDA_VERSION < 12080\ncudaFree(p);\n#endif\n", ["CUDA_VERSION", "cudaFree"]),
        ("#if defined(CUDA_VERSION) && CUDA_VERSION >= 11000\ncudaFree(p);\n#endif\n", ["CUDA_VERSION"]),
        ("#if CUDNN_MAJOR > 8 && A\ncudaFree(p);\n#endif\n", ["CUDNN_MAJOR"]),
        ("#if CUDNN_MAJOR > 8 || A\ncudaFree(p);\n#endif\n", ["CUDNN_MAJOR", "cudaFree"]),
        ("#define CUDA_VERSION 12080\n#if CUDA_VERSION >= 12080\ncudaFree(p);\n#endif\n", ["cudaFree"]),
        ("#ifndef CUDA_VERSION\n#error no\n#else\ncudaFree(p);\n#endif\n", ["CUDA_VERSION", "cudaFree"]),
        ("#if CUDA_VERSION < 11000\n# error old\n#endif\ncudaFree(p);\n", ["CUDA_VERSION", "cudaFree"]),
        ("#if defined(__PTX__)\ncudaFree(p);\n#elif defined(__NVPTX__)\ncudaFree(p);\n#endif\n", []),
        ("#ifdef USE_ROCM\n#elif CUDA_VERSION >= 12000\n#endif\n", []),
        ("int v = CUDART_VERSION;\n", ["CUDART_VERSION"]),
        ("#ifdef __CUDACC__\n#define HD __device__\n#endif\n", ["__CUDACC__"]),
        ("#ifdef __CUDACC__\n#pragma nv_diag_suppress 1\n#endif\n", []),
        ("#ifdef __NVCC__\n#else\nhipFree(p);\n#endif\n", []),
    ],
)
def test_macros_of_nvidias_compiler(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__global__ void a() { b<<<1, 1>>>(); }\n", ["b"]),
        ("__device__ void a() {\n#if A\n if (x) {\n#else\n if (y) {\n#endif\n }\n}\nvoid h() { b<<<1, 1>>>(); }\n", []),
        ("__global__ void __launch_bounds__(256) a(int n = (1)) { c<int, 3> <<<1, 1>>>(); }\n", ["c"]),
        ("__global__ void a();\nvoid h() { a<<<1, 1>>>(); }\n", []),
        ("__host__ __device__ void a() { b<<<1, 1>>>(); }\n", []),
        ("__device__ int table[] = {1, 2};\nvoid h() { a<<<1, 1>>>(); }\n", []),
        ("#if A\n#else\n__global__ void a() { if (x) { y(); } }\nvoid h() { b<<<1, 1>>>(); }\n#endif\n", []),
        ("#if A\n#elif B\n#if C\n#else\n__global__ void a() {}\n#endif\n#endif\nvoid h() { b<<<1, 1>>>(); }\n", []),
    ],
)  # fmt: skip
def test_launches_from_device_code(text, expected):
    assert names(text) == expected


def test_a_body_in_an_else_branch_ends_where_it_ends():
    choice = "#if B\n if (x) {\n#else\n if (y) {\n#endif\n"
    host = "void h() { c<<<1, 1>>>(); }\n"
    assert names(f"#if A\n#else\n__global__ void a() {{\n{choice} b<<<1, 1>>>(); }}\n}}\n#endif\n{host}") == ["b"]
    heads = "#if A\n__global__ void a(int x) {\n#else\n__global__ void a() {\n#endif\n"
    assert names(f"{heads} b<<<1, 1>>>(); }}\n{host}") == ["b"]
    both = "#if A\n#else\n__device__ void a() { b<<<1, 1>>>(); }\n#endif\n__device__ void a() { d<<<1, 1>>>(); }\n"
    assert names(both + host) == ["b", "d"]


@pytest.mark.parametrize(
    "declaration",
    [
        "typedef enum nvmlReturn_enum { NVML_SUCCESS = 0, /* ok */ NVML_ERROR } nvmlReturn_t;",
        "typedef struct nvmlDevice_st* NVML_SUCCESS;",
        "enum E {\n  NVML_A = 1,\n  NVML_SUCCESS\n};",
    ],
)
def test_what_a_tree_declares_itself(declaration):
    assert "NVML_SUCCESS" not in names(f"{declaration}\nint x = NVML_SUCCESS;\n")


def test_initialisers_declare_nothing():
    assert names("int a[] = {cudaSuccess, cudaErrorUnknown};\n") == ["cudaSuccess", "cudaErrorUnknown"]


def test_what_a_newer_cuda_has_is_a_note():
    text = "#if CUDA_VERSION >= 12080\ncudaFree(p);\n#endif\n"
    everything = check_text("a.cu", "c", text.encode(), Target((7, 0))).findings
    assert [(one.rule, one.verdict) for one in everything] == [("HIP114", "manual"), ("HIP190", "note")]
    hipified = check_text("a.cu", "c", text.encode(), Target((7, 0), hipify=True)).findings
    assert hipified == everything
