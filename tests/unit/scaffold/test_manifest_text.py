"""The manifest that `init` writes: valid, without a warning, whatever was found; and readable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rocm_ci_gen.manifest import Manifest, check, format_diagnostics
from rocm_ci_gen.manifest.schema import load_schema
from rocm_ci_gen.scaffold.detect import detect
from rocm_ci_gen.scaffold.manifest_text import comment, manifest_text, sequence
from rocm_ci_gen.scaffold.proposal import STAGES, Answers
from rocm_ci_gen.scaffold.propose import propose
from rocm_ci_gen.scaffold.tree import usable
from support.scaffold_trees import CUDA, CUDA_EXTENSION, GPU_TEST, HIP, HIP_PROJECT, TRITON, TRITON_PROJECT, tree

ONLY_HIPIFY = frozenset({"hipify-check"})
PROJECTS = {
    "empty": {},
    "cuda": CUDA_EXTENSION,
    "hip": HIP_PROJECT,
    "triton": TRITON_PROJECT,
    "serving": {"pkg/serve.py": "import vllm\n", "pkg/k.py": TRITON},
}


def text_for(files: dict[str, str], answers: Answers | None = None, available: frozenset[str] = ONLY_HIPIFY) -> str:
    return manifest_text(propose(detect(tree(files)), answers or Answers(), available))


def valid(text: str) -> Manifest:
    """The manifest; there must be neither an error nor a warning."""
    checked = check(text.encode("utf-8"), ".rocm-ci.yml")
    assert not checked.diagnostics, format_diagnostics(checked.diagnostics, color=False)
    assert checked.manifest is not None
    return checked.manifest


@pytest.mark.parametrize("name", PROJECTS)
def test_without_gpu_stages(name: str) -> None:
    manifest = valid(text_for(PROJECTS[name]))
    assert [stage.name for stage in manifest.stages] == ["hipify-check"]
    assert manifest.probe is None
    assert manifest.requirements is None
    assert manifest.container is not None
    assert len(manifest.runners) == 2


@pytest.mark.parametrize("name", PROJECTS)
def test_with_every_stage(name: str) -> None:
    answers = Answers(stages=STAGES, model="a/b", labels=("self-hosted", "mi300x"), gpus=2)
    manifest = valid(text_for(PROJECTS[name], answers))
    assert [stage.name for stage in manifest.stages] == ["hipify-check", "kernel-tests", "sglang-regression"]
    assert manifest.probe == {"max-growth": "10%"}
    assert manifest.requirements == "requirements-rocm.txt"
    kernel_tests = manifest.stages[1]
    assert [runner.name for runner in kernel_tests.runners] == ["mi300x"]
    assert kernel_tests.runners[0].gfx == ("gfx942",)
    assert kernel_tests.runners[0].gpus == 2


def test_the_choices_arrive() -> None:
    manifest = valid(text_for(CUDA_EXTENSION, Answers(stages=("hipify-check", "kernel-tests"), uses="me/ci@v2")))
    hipify, tests = manifest.stages
    assert (manifest.uses.repository, manifest.uses.ref) == ("me/ci", "v2")
    assert hipify.options["source"] == "csrc"
    assert hipify.options["mode"] == "hipify"
    assert hipify.options["exclude"] == "csrc/third_party/**"
    assert hipify.paths == ("csrc/**",)
    assert tests.options["tests"] == "tests/kernels"
    assert tests.paths == ("csrc/**", "tests/kernels/**", "requirements-rocm.txt")
    assert [step.run for step in tests.before] == ["python3 -m pip install --no-build-isolation --no-deps -e ."]
    assert manifest.triggers.push is not None
    assert manifest.triggers.push.branches == ("main",)
    assert manifest.triggers.merge_group
    assert manifest.forks.policy == "never"


@pytest.mark.parametrize("name", PROJECTS)
def test_the_comments_are_what_would_be_written_live(name: str) -> None:
    """Taking away the `# ` of the GPU stages gives the manifest that has them."""
    off = text_for(PROJECTS[name]).splitlines()
    live = text_for(PROJECTS[name], available=frozenset(STAGES)).splitlines()
    start = live.index("stages:")
    wanted = [line for line in live[start:] if line.strip() and not line.lstrip().startswith("#")]
    uncommented = {line.replace("# ", "", 1) for line in off}
    assert [line for line in wanted if line not in off and line not in uncommented] == []


def test_the_machines_that_are_comments_are_valid_too() -> None:
    jobs = "".join(
        f"  j{index}:\n    runs-on: {label}\n    steps: []\n" for index, label in enumerate(["mi300x-8", "mi355-1"])
    )
    text = text_for({".github/workflows/a.yml": f"on: push\njobs:\n{jobs}"})
    lines = [line.replace("# ", "", 1) if ": {labels:" in line else line for line in text.splitlines()]
    assert set(valid("\n".join(lines) + "\n").runners) == {"cpu", "mi300x", "mi355"}


def test_editors_find_the_schema() -> None:
    first = text_for({}).splitlines()[0]
    assert first == f"# yaml-language-server: $schema={load_schema()['$id']}"


def test_every_reason_stands_in_the_file() -> None:
    proposal = propose(detect(tree(CUDA_EXTENSION)), Answers(), ONLY_HIPIFY)
    flat = " ".join(line.strip().removeprefix("#").strip() for line in manifest_text(proposal).splitlines())
    for choice in (proposal.runner.labels, proposal.runner.gfx, proposal.image, proposal.pushes, proposal.hipify.mode):
        assert choice.reason in flat


def test_it_can_be_read() -> None:
    for files in PROJECTS.values():
        lines = text_for(files).splitlines()
        assert len(lines) < 90
        assert all(len(line) <= 120 for line in lines[1:])
        assert all(line == line.rstrip() for line in lines)


def test_same_proposal_same_bytes() -> None:
    assert text_for(CUDA_EXTENSION) == text_for(dict(reversed(list(CUDA_EXTENSION.items()))))


NAMES = st.text(st.characters(exclude_categories=("C", "Zl", "Zp"), exclude_characters="/"), min_size=1, max_size=12)
FOLDERS = NAMES.filter(lambda name: usable(name) and name.strip(" .") == name and name.lower() != ".git")


@settings(max_examples=40, deadline=None)
@given(FOLDERS, FOLDERS, st.booleans())
@example("c++", "*", True)
@example("- x", "# y", False)
@example("ab: c", "{x}", True)
@example("yes", "1.0", False)
@example("'", '"', True)
def test_any_folder_name_gives_a_valid_manifest(source: str, tests: str, live: bool) -> None:
    files = {f"{source}/a.cu": CUDA, f"{source}/third_party/b.cu": CUDA, f"tests/{tests}/test_a.py": GPU_TEST}
    manifest = valid(text_for(files, available=frozenset(STAGES) if live else ONLY_HIPIFY))
    assert manifest.stages[0].options["source"].removeprefix("./") in {source, "."}


@settings(max_examples=40, deadline=None)
@given(st.text())
@example("a\nb: c")
@example("\r")
@example("\u2028x\x85y")
def test_no_reason_leaves_its_comment(reason: str) -> None:
    proposal = propose(detect(tree({})), Answers(), ONLY_HIPIFY)
    evil = replace(proposal, image=replace(proposal.image, reason=reason))
    assert valid(manifest_text(evil)) == valid(manifest_text(proposal))
    assert all(line.startswith("  # ") for line in comment(reason, 2).splitlines())


def test_long_lists_stand_one_a_line() -> None:
    assert sequence(["a", "b"], 4) == " [a, b]"
    long = sequence([f"a/rather/long/folder/{index}" for index in range(9)], 4)
    assert long.startswith("\n      - a/rather/long/folder/0\n      - ")


def test_no_template_is_left_behind() -> None:
    from rocm_ci_gen.resources import template_root

    assert (Path(str(template_root())) / "scaffold" / "rocm-ci.yml.j2").is_file()
    assert "{{" not in text_for(CUDA_EXTENSION)
    assert "{%" not in text_for(CUDA_EXTENSION)


def test_what_may_be_left_out_is_a_comment_that_can_replace_the_line_above() -> None:
    files = {"src/third_party/x.cu": CUDA, "src/a.cu": CUDA, "src/cuda/k.cu": CUDA, "src/hip/other.hip": HIP}
    text = text_for(files)
    assert valid(text).stages[0].options["exclude"] == "src/third_party/**"
    assert "src/hip is beside it" in " ".join(text.replace("#", " ").split())
    lines = [line for line in text.splitlines() if not line.startswith("    exclude:")]
    switched = [line.replace("    # exclude:", "    exclude:") for line in lines]
    assert valid("\n".join(switched) + "\n").stages[0].options["exclude"] == "src/third_party/**\nsrc/cuda/**"
