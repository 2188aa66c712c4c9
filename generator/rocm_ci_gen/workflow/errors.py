"""What can be wrong with a model that is to become a workflow."""

from __future__ import annotations

from rocm_ci.runner.errors import UsageError


class RenderError(UsageError):
    """The model holds a value that must not become part of a workflow.

    Validation of the manifest refuses such values first, with their place in the file; this is the second lock, for
    models that were made in another way.
    """
