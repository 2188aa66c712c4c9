"""Where the generator's own files are: templates and data, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def template_root() -> Path:
    """Return the folder with `github/` and `scaffold/`.

    A wheel carries the templates inside this package; a checkout (also an editable install, and the actions
    on a runner) has them at the top of the repository, two levels above.
    """
    installed = _PACKAGE / "templates"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "templates"


def data_text(name: str) -> str:
    """Text of a data file of this package, `/`-separated, such as `manifest/schema.json`."""
    return (_PACKAGE / name).read_text(encoding="utf-8")
