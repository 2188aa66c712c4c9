"""What the schema says about a document, in plain English: one finding for each root cause."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rocm_ci_gen.manifest import nodes
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.nodes import Node
from rocm_ci_gen.manifest.schema import names_at
from rocm_ci_gen.manifest.validator import validator
from rocm_ci_gen.manifest.words import closest

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_FINDINGS = 400
"""More of them are not even looked for."""

# Of several errors at one place, the one that explains the others.
_ORDER = ("type", "enum", "minLength", "maxLength", "pattern")


def findings(root: Node) -> list[Finding]:
    """Every violation of the schema, at most 200, one for each place."""
    chosen: dict[tuple[Path, bool, str], ValidationError] = {}
    for error in islice(validator().iter_errors(nodes.plain(root)), MAX_FINDINGS):
        path = tuple(error.absolute_path)
        on_key = error.validator in ("additionalProperties", "propertyNames", "dependentRequired")
        # Several missing keys, and several repeated items, are several causes.
        several = error.message if error.validator in ("required", "dependentRequired") else ""
        known = chosen.get((path, on_key, several))
        if known is None or _rank(error) < _rank(known):
            chosen[(path, on_key, several)] = error
    if not chosen:
        return []
    # Most manifests are right, and need none of the words.
    from rocm_ci_gen.manifest.schema_messages import Case, explain

    unknown = {path for path, on_key, _ in chosen if on_key}
    meant = {(*path[:-1], closest(str(path[-1]), names_at(path[:-1]))) for path in unknown}
    return [
        explain(Case(root, path, error))
        for (path, on_key, missing), error in chosen.items()
        # What stands under an unknown key cannot be judged, and a misspelt key is not missing as well.
        if (on_key or not any(path[:length] in unknown for length in range(1, len(path) + 1)))
        and not (missing and (*path, missing) in meant)
    ]


def _rank(error: ValidationError) -> int:
    return _ORDER.index(error.validator) if error.validator in _ORDER else len(_ORDER)
