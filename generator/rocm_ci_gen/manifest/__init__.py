"""The manifest `.rocm-ci.yml`: bytes in, a frozen `model.Manifest` and diagnostics with places out.

`check` never raises, `load` raises a `ManifestError` that carries every diagnostic. The way through the package:
`source` (text) -> `nodes` (YAML with positions) -> `schema_check` and `semantics` (findings) -> `resolve` (defaults).
"""

from __future__ import annotations

from rocm_ci_gen.manifest.checking import Checked, check
from rocm_ci_gen.manifest.diagnostics import Diagnostic, format_diagnostics
from rocm_ci_gen.manifest.errors import ManifestError
from rocm_ci_gen.manifest.locate import MANIFEST_NAME, find_manifest, load
from rocm_ci_gen.manifest.model import Manifest

__all__ = [
    "MANIFEST_NAME",
    "Checked",
    "Diagnostic",
    "Manifest",
    "ManifestError",
    "check",
    "find_manifest",
    "format_diagnostics",
    "load",
]
