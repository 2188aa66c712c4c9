"""`make demo`: scaffold a repository, render its workflow, run it for real, and explain each green and red.

Everything happens in demo/, which is made anew. Exits 1 when a run ended other than the demo says it must.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import local_act

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

from support.fake_node import FakeGpu, FakeNode  # noqa: E402 - the tests' made-up nodes

DEMO = PROJECT / "demo"
REPOSITORY = DEMO / "saxpy"
SOURCE = "src/saxpy.hip"
ACT_MARKS = "⚙❗❓✅❌⭐🏁"  # lines of act's own

GPU_MANIFEST = """\
version: 1
runners:
  mi250: {labels: [self-hosted, roc-gpu-mi200], gfx: gfx90a, gpus: 2, mode: none}
stages:
  hipify-check: {source: [src], paths: ["src/**"]}
  kernel-tests: {runner: mi250, tests: [tests], paths: ["src/**", "tests/**"]}
"""


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n=== {text}", flush=True)


def generate(*arguments: str) -> None:
    """Run rocm-ci-gen in the demo's repository, showing the command as a user would type it."""
    print(f"$ rocm-ci-gen {' '.join(arguments)}", flush=True)
    subprocess.run(["rocm-ci-gen", *arguments], cwd=REPOSITORY, check=True)


def run_workflow(name: str, project: Path, expected: dict[str, str], tell: tuple[str, ...]) -> bool:
    """Run the workflow with act, print each job's result and the lines that explain it; True when as expected."""
    work = DEMO / "act" / name
    work.mkdir(parents=True)
    result = local_act.run(REPOSITORY, project, work)
    log = DEMO / f"{name}.log"
    log.write_text(result.log, encoding="utf-8")
    for job, outcome in result.jobs.items():
        print(f"  {job:<16} {outcome}")
    shown: set[str] = set()
    for line in result.log.splitlines():
        text = line.partition("] ")[2].strip()
        if text and text not in shown and text[0] not in ACT_MARKS and any(word in text for word in tell):
            shown.add(text)
            print(f"    {line.strip()}")
    print(f"  full log: {log.relative_to(PROJECT)}")
    if dict(result.jobs) != expected:
        print(f"  NOT AS EXPECTED: {expected}", file=sys.stderr)
        return False
    return True


def made_node(folder: Path) -> Path:
    """The files of a node with eight MI300X, in the shape and with the figures of a recorded one."""
    folder.mkdir()
    gpus = [FakeGpu(f"0000:{bus:02x}:00.0") for bus in (0x05, 0x26, 0x46, 0x65, 0x85, 0xA6, 0xC6, 0xE5)]
    return FakeNode(folder, gpus).root


def check_node(node: Path, gfx: str, expected: int) -> bool:
    """Run setup-rocm-container on the files of a node; True when it exits as expected."""
    command = ["rocm-ci", "setup-rocm-container", "--path-root", str(node), "--expect-gfx", gfx, "--expect-gpus", "8"]
    print(f"$ {' '.join(command[:3])} {node.relative_to(PROJECT)} {' '.join(command[4:])}", flush=True)
    done = subprocess.run([*command, "--report", str(DEMO / "node.json")], check=False, capture_output=True, text=True)
    for line in (done.stdout + done.stderr).splitlines():
        if line.startswith(("ok ", "fail ", "setup-rocm-container: ")):
            print(f"    {line}")
    if done.returncode != expected:
        print(f"  NOT AS EXPECTED: exit code {done.returncode}, not {expected}", file=sys.stderr)
    return done.returncode == expected


def main() -> int:
    """Run the five parts; returns the exit code."""
    shutil.rmtree(DEMO, ignore_errors=True)
    DEMO.mkdir()
    project = local_act.snapshot(PROJECT, DEMO / "rocm-ci")
    ok = True

    title("1. A HIP project gets its CI")
    shutil.copytree(PROJECT / "examples" / "hip-saxpy", REPOSITORY)
    local_act.commit_all(REPOSITORY, "saxpy in HIP")
    generate("init", "--yes", "--labels", "self-hosted,roc-gpu-mi200", "--gfx", "gfx90a")
    base = local_act.commit_all(REPOSITORY, "CI by rocm-ci-gen")
    generate("plan", "--event", "push", "--base", f"{base}~1", "--head", base)

    title("2. Clean code: the workflow runs on this machine and is green")
    ok &= run_workflow(
        "green",
        project,
        {"plan": "success", "hipify-check": "success", "gate": "success"},
        ("hipify-check: passed", "gate: passed"),
    )

    title("3. A live CUDA call: red, with the line and its HIP name")
    source = REPOSITORY / SOURCE
    source.write_text(source.read_text().replace("hipDeviceSynchronize", "cudaDeviceSynchronize"))
    local_act.commit_all(REPOSITORY, "a CUDA call slips in")
    ok &= run_workflow(
        "red",
        project,
        {"plan": "success", "hipify-check": "failure", "gate": "failure"},
        (f"{SOURCE}:", "gate: failed"),
    )

    title("4. A GPU stage on a machine without a GPU: the node is at fault, and the gate says so")
    source.write_text(source.read_text().replace("cudaDeviceSynchronize", "hipDeviceSynchronize"))
    (REPOSITORY / ".rocm-ci.yml").write_text(GPU_MANIFEST)
    generate("render")
    local_act.commit_all(REPOSITORY, "a GPU stage")
    ok &= run_workflow(
        "no-gpu",
        project,
        {"plan": "success", "hipify-check": "success", "kernel-tests": "failure", "gate": "failure"},
        ("setup-rocm-container: infra", "gate: failed", "gate: infra"),
    )

    title("5. The same check on a made-up node: eight MI300X with the figures of a recorded one")
    node = made_node(DEMO / "node")
    ok &= check_node(node, "gfx942", 0)
    ok &= check_node(node, "gfx90a", 3)
    print(f"\nThe repository, its manifest and its workflow are in {REPOSITORY.relative_to(PROJECT)}/.")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
