"""What is found in a repository, and where."""

from __future__ import annotations

from rocm_ci_gen.scaffold.detect import detect
from rocm_ci_gen.scaffold.facts import Found
from rocm_ci_gen.scaffold.sources import Mark
from rocm_ci_gen.scaffold.tree import Tree
from support.scaffold_trees import CUDA, CUDA_EXTENSION, HIP_PROJECT, TRITON_PROJECT, tree


def test_a_cuda_extension() -> None:
    facts = detect(tree(CUDA_EXTENSION))
    assert facts.paths == tuple(sorted(CUDA_EXTENSION))
    assert facts.having(Mark.CUDA) == ("csrc/a.cu", "csrc/b.cuh", "csrc/third_party/x/y.cu")
    assert facts.having(Mark.TORCH_EXTENSION) == ("setup.py",)
    assert facts.having(Mark.GPU_TEST) == ("tests/kernels/test_a.py",)
    assert facts.having(Mark.TEST) == ("tests/kernels/test_a.py", "tests/test_docs.py")
    assert facts.packaging == "setup.py"
    assert facts.runners == ()


def test_a_hip_project() -> None:
    facts = detect(tree(HIP_PROJECT))
    assert facts.having(Mark.HIP) == ("src/a.hip", "src/b.cpp")
    assert facts.having(Mark.CUDA) == ()
    assert facts.gfx_targets == (Found("gfx942", "CMakeLists.txt"),)
    assert facts.packaging == ""


def test_workflows_and_images() -> None:
    facts = detect(tree(TRITON_PROJECT))
    workflow = ".github/workflows/amd.yml"
    assert [use.labels for use in facts.runners] == [("linux-mi300-gpu-1",)]
    assert facts.images == (Found("rocm/pytorch:rocm7.1_ubuntu24.04_py3.12_pytorch_release_2.8.0", workflow),)
    assert facts.merge_group == workflow
    assert facts.packaging == "pyproject.toml"


def test_our_own_workflow_proves_nothing() -> None:
    ours = {".github/workflows/rocm-ci.yml": "jobs:\n  gate:\n    runs-on: [self-hosted, mi300]\n    steps: []\n"}
    facts = detect(tree(ours))
    assert facts.runners == ()
    assert facts.gates == ()


def test_dockerfiles_of_others_prove_nothing() -> None:
    docker = "FROM rocm/pytorch:rocm6.4_x\n"
    facts = detect(
        tree({"docker/Dockerfile.rocm": docker, "third_party/a/Dockerfile": docker, "docs/Dockerfile": docker})
    )
    assert facts.images == (Found("rocm/pytorch:rocm6.4_x", "docker/Dockerfile.rocm"),)


def test_only_files_whose_name_promises_something_are_opened() -> None:
    opened = []

    def read(path: str, limit: int) -> str:
        opened.append(path)
        return CUDA[:limit]

    detect(Tree(("a.cu", "b.png", "c.bin", "notes.txt"), read, tree({}).repository))
    assert opened == ["a.cu"]


def test_the_engine_itself() -> None:
    assert detect(tree({"vllm/__init__.py": ""})).engine == "vllm"
    assert detect(tree({"docs/vllm/__init__.py": ""})).engine == ""
