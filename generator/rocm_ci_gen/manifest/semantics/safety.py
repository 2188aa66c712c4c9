"""Values that would become something else than a value: an expression, an option, a path out of the repository.

These look at the whole document, also at what the schema has refused: that a value is an expression explains more than
that it does not match a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm_ci_gen.manifest import schema
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.nodes import Mapping, Node, Scalar, walk
from rocm_ci_gen.manifest.words import show

_EXPRESSION = "${{"
_DRIVE = re.compile(r"[A-Za-z]:[\\/]?")

# Keys whose values become words of a command line, where a word with `-` is an option. `pytest-args` and
# `server-args` are options on purpose; paths are recognised by their type in the schema.
_WORDS = ("source", "exclude", "tests", "smoke", "python", "model", "server-command", "against")
_PATHS = ("source", "exclude", "tests")


def expressions(root: Node) -> Iterator[Finding]:
    """Every value or key with `${{`. GitHub would evaluate it, in a place where nobody expects code."""
    for path, node in walk(root):
        if isinstance(node, Scalar) and _EXPRESSION in node.text:
            yield Finding(
                "expression", path, "expressions (`${{ }}`) are not accepted in a manifest", fix=_expression_fix(path)
            )
        if isinstance(node, Mapping):
            for key in node.entries:
                if _EXPRESSION in key:
                    yield Finding(
                        "expression",
                        (*path, key),
                        "expressions (`${{ }}`) are not accepted in a manifest",
                        fix="write the key out",
                        on_key=True,
                    )


def _expression_fix(path: Path) -> str:
    if path[-1:] == ("run",):
        return 'name the secret in `secrets:`, put other values into `env:`, and write "$NAME" in the script'
    if "env" in path or "with" in path:
        return "name a secret in `secrets:`; write other values out"
    return "write the value out"


def words(root: Node) -> Iterator[Finding]:
    """Values that a command would take for an option, and paths that leave the repository."""
    for path, node in walk(root):
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            continue
        key = next((part for part in reversed(path) if isinstance(part, str)), "")
        in_stage = path[:1] == ("stages",) and len(path) - isinstance(path[-1], int) == 3
        is_path = _is_relative_path(path) or (in_stage and key in _PATHS)
        if (is_path or (in_stage and key in _WORDS)) and node.text.startswith("-"):
            yield Finding(
                "option-like",
                path,
                f"{show(node.text)} would be taken for an option",
                fix=f"write {show('./' + node.text)}" if is_path else "it cannot start with `-`",
            )
        elif is_path:
            problem = _outside(node.text, pytest=key == "tests")
            if problem is not None:
                yield Finding("outside-repository", path, f"{show(node.text)} {problem[0]}", fix=problem[1])


def _is_relative_path(path: Path) -> bool:
    return (schema.at(path) or {}).get("x-def") == "relative-path"


def _outside(text: str, *, pytest: bool) -> tuple[str, str] | None:
    """Why a path is not inside the repository, in words that follow the path, and the fix."""
    if pytest:
        if text.startswith("@"):
            return "would make pytest read its options from a file", "name a test file or folder"
        text = text.partition("::")[0]
    parts = text.split("/")
    if text.startswith("/"):
        return "is an absolute path", "write it from the top of the repository"
    if text.startswith("~"):
        return "is in a home folder", "write it from the top of the repository"
    if _DRIVE.match(text):
        return "starts with a drive letter", "write it from the top of the repository"
    if "\\" in text:
        return "has a backslash", "use `/` between folders"
    if ".." in parts:
        return "has a `..`", "write it from the top of the repository"
    if parts[0].lower() == ".git":
        return "is git's own folder", "use another folder"
    return None
