"""Whether the workflow in the repository is what its manifest asks for: CI fails where it is not, a laptop says so."""

from __future__ import annotations

import shlex

from rocm_ci.runner.errors import RocmCiError
from rocm_ci_gen.files import FileDiff, drift
from rocm_ci_gen.manifest import MANIFEST_NAME
from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.plan.place import Place
from rocm_ci_gen.workflow import WORKFLOW_PATH, render_for


def drift_of(place: Place, manifest: Manifest) -> list[FileDiff]:
    """Generated files that are not what the manifest asks for. Pins that were raised in the workflow are no drift."""
    wanted = render_for(manifest, root=place.root, manifest_name=place.manifest_name)
    return drift(place.root, wanted)


def notice(place: Place, manifest: Manifest) -> str | None:
    """What a person who plans on a laptop should know about the workflow; None where it is up to date."""
    command = "rocm-ci-gen render"
    if place.manifest_name != MANIFEST_NAME:
        command += f" --manifest {shlex.quote(place.manifest_name)}"
    if not (place.root / WORKFLOW_PATH).exists():
        return f"no workflow is rendered yet, so nothing runs in CI; run `{command}`"
    try:
        drifted = drift_of(place, manifest)
    except RocmCiError as error:
        return f"the committed workflow cannot be compared with the manifest: {error}"
    if not drifted:
        return None
    force = " --force" if any(found.kind == "foreign" for found in drifted) else ""
    return f"the committed workflow differs from the manifest: CI's plan will fail; run `{command}{force}`"
