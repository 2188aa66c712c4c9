"""`rocm-ci setup-rocm-container`: its options."""

from __future__ import annotations

import re
from pathlib import Path

import click

from rocm_ci.gpu import gfx
from rocm_ci.gpu.versions import parse
from rocm_ci.runner.errors import UsageError
from rocm_ci.runner.options import CONTEXT_SETTINGS, report_option
from rocm_ci.runner.stage import run_stage
from rocm_ci.setup_rocm_container.promises import split_partition
from rocm_ci.setup_rocm_container.run import Request, run

STAGE = "setup-rocm-container"
EPILOG = """\b
Example:
  rocm-ci setup-rocm-container --expect-gfx gfx90a --expect-gpus 2 --min-rocm 6.2
"""


@click.command(STAGE, context_settings=CONTEXT_SETTINGS, epilog=EPILOG)
@click.option("--expect-gfx", metavar="GFX,…", help="gfx targets that every GPU must have one of, as gfx90a,gfx942.")
@click.option("--expect-gpus", type=click.IntRange(min=1), metavar="N", help="Logical GPUs that must be usable.")
@click.option("--min-rocm", metavar="V", help="Oldest ROCm release that will do, as 6.2.")
@click.option("--requirements", metavar="FILE", help="Python requirements to install once the node is fit.")
@click.option("--installer", type=click.Choice(["pip", "uv"]), help="What installs the requirements.")
@click.option("--partition", metavar="MODE", help="Partition mode that the GPUs must be in, as SPX/NPS1.")
@click.option("--expect-os", metavar="ID", help="Operating system of the container, as ubuntu-22.04.")
@click.option("--expect-kernel", metavar="V", help="Kernel release of the node, or its beginning.")
@click.option("--visible-devices", metavar="LIST", help="GPUs that this job may use, as 0,1.")
@click.option("--python", metavar="EXE", help="The Python that the job's code runs with.")
@click.option(
    "--path-root",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where sys/, proc/, dev/ and etc/ are read; / by default.",
)
@report_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    expect_gfx: str | None,
    expect_gpus: int | None,
    min_rocm: str | None,
    requirements: str | None,
    installer: str | None,
    partition: str | None,
    expect_os: str | None,
    expect_kernel: str | None,
    visible_devices: str | None,
    python: str | None,
    path_root: str | None,
    report: Path | None,
) -> None:
    """Check that this node and container are fit for ROCm work, before a test blames the code.

    Devices and permissions, driver, ROCm release, gfx targets, partition, free VRAM, PyTorch, disk and limits. Sets
    variables for the steps that follow, and installs requirements without touching the container's PyTorch.

    \b
    Exit codes: 0 fit, 1 the requirements are at fault, 2 wrong use, 3 the node or the container is at fault.
    """  # noqa: D301 - click's mark for a block that is not wrapped
    request = Request(
        expect_gfx=_targets(expect_gfx),
        expect_gpus=expect_gpus,
        min_rocm=_release(min_rocm),
        requirements=Path(requirements) if requirements else None,
        installer=installer,
        partition=_partition(partition),
        expect_os=expect_os or None,
        expect_kernel=expect_kernel or None,
        visible_devices=_devices(visible_devices),
        python=python or None,
        path_root=_root(path_root),
    )
    ctx.exit(run_stage(STAGE, lambda context: run(request, context), report=report))


def _targets(text: str | None) -> tuple[str, ...]:
    wanted = tuple(word for word in (part.strip().lower() for part in re.split(r"[,\s]+", text or "")) if word)
    for word in wanted:
        if gfx.base_name(word) is None:
            raise UsageError(f"--expect-gfx: {word} is no gfx target", help="write them as gfx90a,gfx942")
    return wanted


def _release(text: str | None) -> str | None:
    if text and (parse(text) is None or not re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}", text.strip())):
        raise UsageError(f"--min-rocm: {text} is no release", help="write it as 6.2 or 6.2.4")
    return text.strip() if text else None


def _devices(text: str | None) -> str | None:
    wanted = (text or "").replace(" ", "")
    if not wanted:
        return None
    numbers = wanted.split(",")
    if not all(re.fullmatch(r"[0-9]{1,3}|GPU-[0-9A-Fa-f]{1,16}", number) for number in numbers):
        raise UsageError(f"--visible-devices: {text} is no list of GPUs", help="write their numbers as 0,1,2")
    if len(set(numbers)) < len(numbers):
        raise UsageError(f"--visible-devices: {text} names a GPU twice", help="write each number once, as 0,1,2")
    return wanted


def _partition(text: str | None) -> str | None:
    if not text:
        return None
    try:
        split_partition(text)
    except ValueError:
        raise UsageError(
            f"--partition: {text} is no partition mode",
            help="write spx, dpx, tpx, qpx or cpx, nps1 … nps8, or both as SPX/NPS1",
        ) from None
    return text


def _root(text: str | None) -> Path:
    root = Path(text or "/")
    if not root.is_dir():
        raise UsageError(
            f"--path-root: {root} is no folder", help="name the folder that holds sys/, proc/, dev/ and etc/"
        )
    return root
