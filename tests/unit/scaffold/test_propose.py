"""Each choice, and the reason that is told for it."""

from __future__ import annotations

import pytest

from rocm_ci.availability import AVAILABLE_STAGES
from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.scaffold.detect import detect
from rocm_ci_gen.scaffold.proposal import STAGES, Answers, Proposal
from rocm_ci_gen.scaffold.propose import propose
from rocm_ci_gen.scaffold.repository import Repository
from support.scaffold_trees import CUDA, CUDA_EXTENSION, GPU_TEST, HIP, HIP_PROJECT, TRITON, TRITON_PROJECT, tree

ALL = frozenset(STAGES)


def proposed(files: dict[str, str], answers: Answers | None = None, available: frozenset[str] = ALL) -> Proposal:
    return propose(detect(tree(files)), answers or Answers(), available)


def test_a_cuda_extension_is_hipified() -> None:
    hipify = proposed(CUDA_EXTENSION).hipify
    assert hipify.mode.value == "hipify"
    assert hipify.mode.reason == "setup.py builds with torch's CUDAExtension, which hipifies on ROCm"
    assert hipify.source.value == ("csrc",)
    assert hipify.source.reason == "2 CUDA sources"
    assert hipify.exclude.value == ("csrc/third_party/**",)
    assert hipify.paths == ("csrc/**",)


def test_hand_ported_hip_is_native() -> None:
    hipify = proposed(HIP_PROJECT).hipify
    assert hipify.mode.value == "native"
    assert "CMakeLists.txt" in hipify.mode.reason
    assert hipify.exclude.value == ()


def test_cuda_that_nobody_ported_is_measured_as_hipify_would_see_it() -> None:
    mode = proposed({"src/a.cu": CUDA, "CMakeLists.txt": "project(a LANGUAGES CUDA)\n"}).hipify.mode
    assert mode.value == "hipify"
    assert "nothing is ported yet" in mode.reason


def test_cuda_and_hip_side_by_side_is_native_without_the_cuda_half() -> None:
    files = {"src/a-cuda/m.cu": CUDA, "src/a-cuda/setup.py": "CUDAExtension()\n", "src/a-hip/m.cu": HIP}
    hipify = proposed(files).hipify
    assert (hipify.mode.value, hipify.exclude.value) == ("native", ("src/*-cuda/**",))


def test_python_kernels_are_native() -> None:
    hipify = proposed(TRITON_PROJECT).hipify
    assert (hipify.mode.value, hipify.source.value) == ("native", ("src",))
    assert hipify.source.reason == "1 Triton file"


def test_a_folder_named_after_nvidia_is_looked_at_and_told() -> None:
    files = {"hopper/a.cu": CUDA, "hopper/test_a.py": GPU_TEST, "pkg/k.py": TRITON, "tests/test_k.py": GPU_TEST}
    proposal = proposed(files)
    # The name proves nothing, and what is left out wrongly is never looked at again.
    assert proposal.hipify.source.value == ("hopper", "pkg")
    assert proposal.hipify.exclude.value == ()
    assert proposal.hipify.perhaps.value == ("hopper/**",)
    assert proposal.hipify.perhaps.reason == "hopper/**: its name says NVIDIA"
    assert proposal.hipify.mode.value == "native"
    assert proposal.tests.tests.value == ("tests",)
    assert ("not excluded", "hopper/**", "hopper/**: its name says NVIDIA") in proposal.reasons()


def test_what_a_name_alone_says_is_only_suggested() -> None:
    files = {"pkg/k.py": TRITON, "pkg/cutedsl/a.py": "", "pkg/gemm_sm90.py": "", "pkg/third_party/b.py": TRITON}
    hipify = proposed(files).hipify
    assert hipify.exclude.value == ("pkg/third_party/**",)
    assert hipify.exclude.reason == "code of others"
    assert hipify.perhaps.value == ("pkg/cutedsl/**", "*_sm[0-9]*")


def test_cuda_beside_an_unrelated_hip_folder_is_looked_at() -> None:
    hipify = proposed({"src/cuda/gemm.cu": CUDA, "src/cuda/softmax.cu": CUDA, "src/hip/util.hip": HIP}).hipify
    assert (hipify.source.value, hipify.exclude.value) == (("src",), ())
    assert hipify.perhaps.value == ("src/cuda/**",)
    assert hipify.perhaps.reason == ("src/cuda/**: src/hip is beside it, but without a counterpart there: 2 of 2 files")


def test_never_everything_is_excluded() -> None:
    assert proposed({"csrc/a_sm90.cu": CUDA, "csrc/b_sm90.cu": CUDA}).hipify.exclude.value == ()
    assert proposed({"hopper/cute/a.cu": CUDA}).hipify.exclude.value == ()


def test_vendored_cuda_is_looked_at_where_there_is_no_other() -> None:
    hipify = proposed({"pkg/k.py": TRITON, "pkg/third_party/a.cu": CUDA}).hipify
    assert hipify.exclude.value == ()
    assert hipify.perhaps.reason == "pkg/third_party/**: code of others, but then no CUDA is looked at"


def test_a_half_for_amd_beside_the_cuda_one() -> None:
    files = {"setup.py": "CUDAExtension()\n", "csrc/fa/a.cu": CUDA, "csrc/fa_ck/a.cpp": HIP, "csrc/b.cu": CUDA}
    hipify = proposed(files).hipify
    assert (hipify.mode.value, hipify.exclude.value) == ("hipify", ("csrc/fa/**",))
    del files["csrc/fa_ck/a.cpp"]
    hipify = proposed(files | {"csrc/fa_ck/fwd.cpp": HIP}).hipify
    assert (hipify.exclude.value, hipify.perhaps.value) == ((), ("csrc/fa/**",))


def test_an_empty_repository() -> None:
    proposal = proposed({})
    assert proposal.hipify.source.value == (".",)
    assert proposal.hipify.paths == ()
    assert proposal.on == {"hipify-check"}
    assert proposal.tests.tests.value == ()
    assert proposal.serving is None


def test_sources_at_the_root_are_named() -> None:
    hipify = proposed({"k.cu": CUDA, "lib/a.cu": CUDA}).hipify
    assert hipify.source.value == ("lib", "k.cu")
    assert hipify.paths == ("lib/**", "k.cu")


def test_sources_all_over_the_place() -> None:
    hipify = proposed({f"d{index}/a.cu": CUDA for index in range(12)}).hipify
    assert hipify.source.value == (".",)


def test_names_that_are_patterns_match_only_themselves() -> None:
    hipify = proposed({"c++[1]/a.cu": CUDA}).hipify
    assert hipify.source.value == ("c++[1]",)
    assert hipify.paths == ("c\\+\\+\\[1\\]/**",)


def test_the_machine_of_existing_workflows() -> None:
    runner = proposed(TRITON_PROJECT).runner
    assert runner.name == "mi300"
    assert runner.labels.value == ("linux-mi300-gpu-1",)
    assert runner.labels.reason == ".github/workflows/amd.yml uses them"
    assert runner.gfx.value == ("gfx942",)
    assert runner.gpus.value == 1


def test_the_machine_that_is_used_most_comes_first_and_the_others_are_told() -> None:
    def workflow(*labels: str) -> str:
        jobs = "".join(f"  j{index}:\n    runs-on: {label}\n    steps: []\n" for index, label in enumerate(labels))
        return f"on: push\njobs:\n{jobs}"

    files = {
        ".github/workflows/a.yml": workflow("mi300x-8", "mi355-1", "mi355-1"),
        ".github/workflows/b.yml": workflow("mi355-8"),
    }
    runner = proposed(files).runner
    assert (runner.name, runner.labels.value) == ("mi355", ("mi355-1",))
    assert [(other.name, other.gpus) for other in runner.others] == [("mi300x", 8), ("mi355-8gpu", 8)]


def test_an_unknown_machine_is_called_a_guess() -> None:
    runner = proposed({}).runner
    assert runner.labels.value == ("self-hosted", "rocm")
    assert "a guess" in runner.labels.reason
    assert runner.gfx.value == ()
    assert runner.gpus.value is None


def test_answers_win() -> None:
    answers = Answers(labels=("self-hosted", "a"), gfx=("gfx1100",), gpus=2, image="x/rocm:1", uses="me/rocm-ci@v1")
    proposal = proposed(TRITON_PROJECT, answers)
    assert proposal.runner.labels.value == ("self-hosted", "a")
    assert proposal.runner.gfx.value == ("gfx1100",)
    assert proposal.runner.gpus.value == 2
    assert (proposal.image.value, proposal.uses.value) == ("x/rocm:1", "me/rocm-ci@v1")
    assert {proposal.runner.gfx.reason, proposal.image.reason} == {"as you said"}


def test_the_gfx_target_follows_from_the_labels_that_the_user_gave() -> None:
    assert proposed({}, Answers(labels=("linux-mi355-2",))).runner.gfx.value == ("gfx950",)


def test_the_only_target_of_the_build_is_the_proposal() -> None:
    assert proposed(HIP_PROJECT).runner.gfx.value == ("gfx942",)
    two = {"CMakeLists.txt": "set(CMAKE_HIP_ARCHITECTURES gfx90a gfx942)\n"}
    assert proposed(two).runner.gfx.value == ()
    assert "gfx90a, gfx942" in proposed(two).runner.gfx.reason


@pytest.mark.parametrize(
    ("gfx", "expected"),
    [
        (("gfx942",), "rocm/pytorch:rocm6.2.3_ubuntu22.04_py3.10_pytorch_release_2.3.0"),
        (("gfx950",), "rocm/pytorch:rocm7.2_ubuntu22.04_py3.10_pytorch_release_2.9.1"),
    ],
)
def test_the_default_image_has_the_target(gfx: tuple[str, ...], expected: str) -> None:
    proposal = proposed({}, Answers(gfx=gfx))
    assert proposal.image.value == expected
    assert proposal.warnings == ()


def test_an_image_of_the_repository_that_is_too_old_for_the_target_is_not_proposed() -> None:
    files = {"Dockerfile": "FROM rocm/pytorch:rocm6.2_x\n"}
    assert proposed(files).image.value == "rocm/pytorch:rocm6.2_x"
    newer = proposed(files, Answers(gfx=("gfx950",))).image
    assert newer.value.startswith("rocm/pytorch:rocm7.2")
    assert "gfx950" in newer.reason


def test_an_image_that_the_user_insists_on_is_warned_about() -> None:
    warnings = proposed({}, Answers(gfx=("gfx950",), image="rocm/pytorch:rocm6.2_x")).warnings
    assert warnings == ("gfx950 needs ROCm 7.0.0; rocm/pytorch:rocm6.2_x has 6.2",)


def test_a_tag_that_stands_still_beats_a_moving_one_and_the_newest_wins() -> None:
    images = ("pytorch:latest", "pytorch:rocm6.3_a", "pytorch:rocm7.10_b", "vllm-dev:nightly")
    text = "".join(f"FROM rocm/{image}\n" for image in images)
    assert proposed({"Dockerfile": text}).image.value == "rocm/pytorch:rocm7.10_b"


def test_only_what_this_release_has_is_switched_on() -> None:
    proposal = proposed(CUDA_EXTENSION, available=AVAILABLE_STAGES)
    expected = AVAILABLE_STAGES & {"hipify-check", "kernel-tests"}
    if "kernel-tests" in expected:  # vram-probe goes with a GPU stage
        expected |= AVAILABLE_STAGES & {"vram-probe"}
    assert proposal.on == expected
    assert proposed(CUDA_EXTENSION).on == {"hipify-check", "kernel-tests", "vram-probe"}
    assert proposed(HIP_PROJECT).on == {"hipify-check"}  # no test, no kernel-tests


def test_a_stage_that_the_user_asks_for_is_on_with_a_warning() -> None:
    proposal = proposed(HIP_PROJECT, Answers(stages=("kernel-tests",)), frozenset({"hipify-check"}))
    assert proposal.on == {"kernel-tests"}
    assert any("kernel-tests is not available in this version" in warning for warning in proposal.warnings)


def test_a_machine_that_nobody_knows_is_warned_about_once_jobs_need_it() -> None:
    unknown = proposed({}, Answers(stages=("kernel-tests",))).warnings
    assert any("no machine is known" in warning for warning in unknown)
    known = proposed({}, Answers(stages=("kernel-tests",), labels=("a", "b"))).warnings
    assert not any("no machine is known" in warning for warning in known)


def test_a_server_without_a_model_cannot_be_switched_on() -> None:
    with pytest.raises(UsageError, match="needs a model"):
        proposed({}, Answers(stages=("sglang-regression",)))
    assert "sglang-regression" in proposed({}, Answers(stages=("sglang-regression",), model="a/b")).on


def test_vram_probe_is_no_job() -> None:
    with pytest.raises(UsageError, match="wraps the GPU stages"):
        proposed({}, Answers(stages=("hipify-check", "vram-probe")))


def test_a_server_is_a_hint_until_a_model_is_known() -> None:
    files = {"pkg/serve.py": "import vllm\n"}
    serving = proposed(files).serving
    assert serving is not None
    assert (serving.engine.value, serving.model.value) == ("vllm", "")
    assert "sglang-regression" not in proposed(files).on
    files[".github/workflows/serve.yml"] = "run: vllm serve --model Qwen/Qwen2.5-7B\n"
    proposal = proposed(files)
    assert proposal.serving is not None
    assert proposal.serving.model.value == "Qwen/Qwen2.5-7B"
    assert "sglang-regression" in proposal.on


def test_an_example_that_imports_a_server_proposes_none() -> None:
    assert proposed({"examples/serve.py": "import vllm\n"}).serving is None


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], "requirements-rocm.txt"),
        (["requirements.txt", "requirements-cuda.txt"], "requirements-rocm.txt"),
        (["requirements-test-rocm.txt", "requirements-lint-rocm.txt"], "requirements-test-rocm.txt"),
        (["requirements/rocm.txt"], "requirements/rocm.txt"),
        (["requirements-rocm.txt", "requirements/rocm.txt"], "requirements-rocm.txt"),
        (["third_party/x/requirements-rocm.txt"], "requirements-rocm.txt"),
    ],
)
def test_requirements(paths: list[str], expected: str) -> None:
    choice = proposed(dict.fromkeys(paths, "")).requirements
    assert choice.value == expected
    assert (choice.reason == "it is there") is (expected in paths)


def test_branches() -> None:
    repository = Repository(default_branch="trunk", default_branch_reason="origin/HEAD", other_branches=("develop",))
    pushes = propose(detect(tree({}, repository)), Answers()).pushes
    assert pushes.value == ("trunk", "develop")
    assert pushes.reason == "origin/HEAD; develop is alive too"


def test_clashes_of_names_are_told() -> None:
    gate = "on: push\njobs:\n  gate:\n    runs-on: ubuntu-latest\n    steps: []\n"
    warnings = proposed({".github/workflows/ci.yml": gate, ".github/workflows/rocm-ci.yaml": "on: push\n"}).warnings
    assert any("ci.yml has a job called `gate`" in warning for warning in warnings)
    assert any("rocm-ci.yaml is there beside" in warning for warning in warnings)


def test_every_choice_has_a_reason() -> None:
    for files in ({}, CUDA_EXTENSION, HIP_PROJECT, TRITON_PROJECT):
        for name, value, reason in proposed(files).reasons():
            assert name
            assert value
            assert reason


def test_what_is_one_is_not_counted_as_many() -> None:
    one = {"pkg/k.py": TRITON, "tests/test_k.py": GPU_TEST}
    assert proposed(one).tests.tests.reason == "the only pytest file that touches the GPU"
    two = one | {"tests/test_l.py": GPU_TEST}
    assert proposed(two).tests.tests.reason == "2 of the 2 pytest files that touch the GPU"
    plain = {"tests/test_k.py": "def test_k(): ...\n"}
    assert proposed(plain).tests.tests.reason == "the only pytest file of the repository; none names a GPU"


def test_the_whole_repository_is_what_is_looked_at_where_nothing_was_found() -> None:
    reason = proposed({"README.md": ""}).hipify.source.reason
    assert reason == "the whole repository, for no CUDA, HIP, Triton or TileLang source was found"
