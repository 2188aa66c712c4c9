"""The workflow of a manifest.

In: a resolved `manifest.model.Manifest`, its name, and the pins of third-party actions. Out: the text of each file to
be written, by its path in the repository. Pure, and byte-stable: the same input gives the same text.

`jobs` resolves the manifest into the typed `views`; `template` lays those out with `templates/github/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.workflow import pins as _pins
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.pins import Pin

__all__ = ["WORKFLOW_PATH", "RenderError", "render", "render_for"]

WORKFLOW_PATH = ".github/workflows/rocm-ci.yml"


def render(manifest: Manifest, *, manifest_name: str, pins: Mapping[str, Pin]) -> dict[str, str]:
    """Render the workflow.

    Args:
        manifest: the resolved manifest.
        manifest_name: path of the manifest in the repository, with `/`, such as `.rocm-ci.yml`.
        pins: the commits of third-party actions, see `pins.load_pins`.

    Returns:
        Path in the repository → text, with LF line ends.

    Raises:
        RenderError: the model holds a value that validation of the manifest should have refused.
    """
    # Imported here: `render --help`, `plan` and others import this package and need no template engine.
    from rocm_ci_gen.workflow import jobs, template

    view = jobs.workflow_view(manifest, manifest_name, pins)
    return {WORKFLOW_PATH: template.text(view)}


def render_for(manifest: Manifest, *, root: Path, manifest_name: str) -> dict[str, str]:
    """Render for the repository at `root`: with our pins, and those that its committed workflow has raised."""
    path = root / WORKFLOW_PATH
    try:
        committed = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
    except OSError:  # writing it will say why
        committed = None
    pins = _pins.with_raised(_pins.load_pins(), committed)
    return render(manifest, manifest_name=manifest_name, pins=pins)
