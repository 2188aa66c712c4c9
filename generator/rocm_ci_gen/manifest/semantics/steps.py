"""Extra steps and jobs of the user's: complete, and pinned where they run somebody else's code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.references import local_path
from rocm_ci_gen.manifest.schema import default
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.words import show

OWN_WORKFLOW = ".github/workflows/rocm-ci.yml"
_SHA = re.compile("[0-9a-f]{40}")
_HEX = re.compile("[0-9a-f]{7,39}")
_VERSION = re.compile("v?[0-9][0-9A-Za-z.-]*")


def check(doc: Document) -> Iterator[Finding]:
    """All findings about `before`, `after` and `jobs`."""
    for stage in doc.stages():
        for key in ("before", "after"):
            for path in doc.mappings(*stage.path, key):
                yield from _step(doc, path)
    for job in doc.keys("jobs"):
        path = ("jobs", job)
        yield from _uses(doc, path)
        if local_path(doc.text(*path, "uses") or "") == OWN_WORKFLOW:
            yield Finding(
                "calls-itself",
                (*path, "uses"),
                "this is the workflow that rocm-ci-gen writes: it would call itself",
                fix="name a workflow of your own",
            )


def _step(doc: Document, path: Path) -> Iterator[Finding]:
    run, uses = doc.has(*path, "run"), doc.has(*path, "uses")
    if run and uses:
        yield Finding(
            "step", (*path, "uses"), "a step has `run` or `uses`, not both", fix="make it two steps", on_key=True
        )
        return
    if not run and not uses:
        if doc.intact(*path):
            yield Finding(
                "step", path, "a step has `run` or `uses`; this one has neither", fix="for example `run: make -j`"
            )
        return
    wrong = ("with", "version") if run else ("shell", "working-directory")
    for key in wrong:
        if doc.has(*path, key):
            other = "uses" if run else "run"
            yield Finding(
                "step", (*path, key), f"{show(key)} belongs to a step with {show(other)}", fix="remove it", on_key=True
            )
    yield from _uses(doc, path)


def _uses(doc: Document, path: Path) -> Iterator[Finding]:
    at = (*path, "uses")
    uses = doc.text(*at)
    if uses is None:
        return
    if local_path(uses) is not None:
        if ".." in uses.split("/"):
            yield Finding("outside-repository", at, f"{show(uses)} leaves the repository", fix="remove the `..`")
        if doc.has(*path, "version"):
            yield Finding(
                "no-effect",
                (*path, "version"),
                "`version` has no effect beside a `uses` of this repository",
                fix="remove it",
                on_key=True,
            )
        return
    name, _, ref = uses.partition("@")
    repository = "/".join(name.split("/")[:2]).lower()
    own = (doc.text("uses") or str(default("uses"))).partition("@")[0].lower()
    if repository == own or _SHA.fullmatch(ref):
        return
    if _SHA.fullmatch(ref.lower()):
        fix = f"write {show(ref.lower())}"
    elif _HEX.fullmatch(ref):
        fix = "write all 40 digits of the SHA"
    else:
        fix = f"`git ls-remote https://github.com/{repository} {ref}` prints it"
        fix += f"; keep {show(f'version: {ref}')} beside it" if _VERSION.fullmatch(ref) else ""
    yield Finding(
        "unpinned",
        at,
        f"{show(uses)} is somebody else's code, and {show(ref)} can be moved: name the full commit SHA",
        fix=fix,
    )
