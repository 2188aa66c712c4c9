"""Environment variables: none that Docker would misread, none that belongs to the runner."""

from __future__ import annotations

from collections.abc import Iterator

from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.words import names, show

_OURS = ("INPUT_", "ROCM_CI_")


def check(doc: Document) -> Iterator[Finding]:
    """All findings about `env` and `secrets`."""
    places: list[Path] = [("container",)]
    for stage in doc.stages():
        places += [stage.path, *doc.mappings(*stage.path, "before"), *doc.mappings(*stage.path, "after")]
    for path in places:
        yield from _env(doc, path)


def _env(doc: Document, path: Path) -> Iterator[Finding]:
    secrets = {text for _, text in doc.texts(*path, "secrets")}
    prefixes = facts()["reserved_env_prefixes"]["prefixes"]
    for name in doc.keys(*path, "env"):
        place = (*path, "env", name)
        if doc.text(*place) == "":
            yield Finding(
                "empty-env",
                place,
                f"{show(name)} is empty: Docker would take its value from the runner's own environment",
                fix="give it a value, or remove it",
            )
        prefix = next((prefix for prefix in prefixes if name.upper().startswith(prefix)), None)
        if prefix is not None:
            owner = "rocm-ci" if prefix in _OURS else "the runner"
            yield Finding(
                "reserved-env",
                place,
                f"{show(name)}: variables that begin with {show(prefix)} belong to {owner}",
                fix=f"use a name that does not begin with {names(prefixes, 'or')}",
                on_key=True,
            )
        elif name in secrets:
            yield Finding(
                "env-and-secret", place, f"{show(name)} is in `env` and in `secrets`", fix="keep one", on_key=True
            )
