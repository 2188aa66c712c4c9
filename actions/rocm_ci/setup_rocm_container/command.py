"""`rocm-ci setup-rocm-container`: its options; the check is not in this version."""

from __future__ import annotations

from pathlib import Path

import click

from rocm_ci.runner.options import CONTEXT_SETTINGS, report_option
from rocm_ci.runner.unavailable import run_unavailable

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
def command(ctx: click.Context, /, report: Path | None, **_: object) -> None:
    """Check that this node and container are fit for ROCm work, before a test blames the code.

    Devices and permissions, driver, ROCm release, gfx targets, partition, free VRAM.
    """
    ctx.exit(run_unavailable(STAGE, report))
