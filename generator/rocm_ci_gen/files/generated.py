"""The list of generated files, `.github/rocm-ci/generated.json`: by it a file that nothing asks for any more is found.

The list is content of the repository, so anybody may have written anything into it. It only proposes: each path is
confined to the repository, and a file is removed only if it carries our header.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

LIST_PATH = ".github/rocm-ci/generated.json"

_GENERATOR = "rocm-ci-gen"
_LARGEST = 1_000_000
_MOST = 1000


def list_text(paths: Iterable[str]) -> str:
    """The list of these files, itself not among them."""
    content = {
        "comment": "Files that rocm-ci-gen has written and may remove. Do not edit: run rocm-ci-gen render.",
        "generator": _GENERATOR,
        "files": sorted(set(paths) - {LIST_PATH}),
    }
    return json.dumps(content, indent=2, ensure_ascii=True) + "\n"


def listed(data: bytes) -> tuple[str, ...] | None:
    """The paths that a list names; None if it is no list of ours. Never raises, whatever the bytes."""
    if len(data) > _LARGEST:
        return None
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("generator") != _GENERATOR:
        return None
    files = content.get("files")
    if not isinstance(files, list) or len(files) > _MOST or not all(isinstance(name, str) for name in files):
        return None
    return tuple(dict.fromkeys(name for name in files if name != LIST_PATH))
