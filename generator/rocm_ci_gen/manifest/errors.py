"""The error of a manifest that cannot be used."""

from __future__ import annotations

from rocm_ci.runner.errors import UsageError
from rocm_ci_gen.manifest.diagnostics import Diagnostic


class ManifestError(UsageError):
    """The manifest is missing, unreadable or wrong. `diagnostics` has every error and warning of it."""

    def __init__(
        self,
        message: str,
        *,
        help: str = "",  # noqa: A002 - as its base class
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        super().__init__(message, help=help)
        self.diagnostics = diagnostics
