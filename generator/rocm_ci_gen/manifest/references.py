"""References to actions and workflows of the repository itself."""

from __future__ import annotations

_LOCAL = ("./", "$/")
"""`./` is the checkout in the workspace, `$/` the commit that runs (GitHub's changelog of 2026-07-30). In a manifest
they mean the same: what is rendered is always `$/`."""


def local_path(uses: str) -> str | None:
    """Path in the repository of a `uses` such as `./.github/workflows/docs.yml`; None where it is somebody else's."""
    return uses[2:] if uses.startswith(_LOCAL) else None
