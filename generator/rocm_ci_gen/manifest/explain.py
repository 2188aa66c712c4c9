"""What a manifest key, or a check of `validate`, is about."""

from __future__ import annotations

import re

from rocm_ci_gen.manifest.errors import ManifestError
from rocm_ci_gen.manifest.phrases import default_of, example_of, takes
from rocm_ci_gen.manifest.rules import RULES
from rocm_ci_gen.manifest.schema import Key, all_keys
from rocm_ci_gen.manifest.words import closest, show

_NAMED = ("runners", "jobs")
"""Mappings whose keys are names of the user's."""


def explain(wanted: str) -> str:
    """The text for a dotted key, for a bare key (at every place that has it), or for the name of a check.

    Raises:
        ManifestError: there is no such key; names the closest one.
    """
    keys = list(all_keys())
    path = _normal(wanted)
    found = [key for key in keys if key.path == path]
    found = found or [key for key in keys if key.name == path]
    found = found or [key for key in keys if key.path.endswith(f".{path}")]
    # A key that several stages share is explained once.
    places: dict[str, list[str]] = {}
    for key in found:
        places.setdefault(_explain(key, keys), []).append(key.path)
    texts = ["\n".join([*paths, text]) for text, paths in places.items()]
    if wanted in RULES:
        severity, meaning = RULES[wanted]
        texts.append(f"{wanted}\n\n  {meaning}\n\n  A check of `rocm-ci-gen validate`; severity: {severity}")
    if not texts:
        candidates = [key.path for key in keys] + [key.name for key in keys] + list(RULES)
        match = closest(path, candidates)
        hint = f"did you mean {show(match)}? " if match else ""
        raise ManifestError(
            f"there is no manifest key {show(wanted)}", help=f"{hint}`rocm-ci-gen explain` lists all keys"
        )
    return "\n\n".join(texts)


def overview() -> str:
    """Every key with the first sentence of what it does."""
    rows = [(key.path, _first_sentence(str(key.schema["description"]))) for key in all_keys()]
    width = max(len(path) for path, _ in rows)
    return "\n".join(f"{path:<{width}}  {text}" for path, text in rows)


def _normal(wanted: str) -> str:
    """`runners.mi250.labels` and `stages.kernel-tests.before[0].run` as the schema names them."""
    parts = [part for part in re.sub(r"\[[^\]]*\]", "", wanted.strip().strip(".")).split(".") if part]
    if len(parts) > 1 and parts[0] in _NAMED and parts != ["runners", "cpu"]:
        parts[1] = "NAME"
    if len(parts) > 3 and parts[0] == "stages" and parts[2] in ("before", "after"):
        parts[2] += "[]"
    return ".".join(parts)


def _explain(key: Key, keys: list[Key]) -> str:
    lines = ["", f"  {key.schema['description']}", ""]
    facts = [("takes", takes(key.schema))]
    default = default_of(key.schema)
    facts.append(("default", "none: it must be given" if key.required else default or "none"))
    example = example_of("NAME" if key.name == "NAME" else key.name, key.schema)
    if example:
        facts.append(("example", example))
    lines += [f"  {name:<8} {text}" for name, text in facts]
    inner = [other for other in keys if other.path.startswith((f"{key.path}.", f"{key.path}[]."))]
    inner = [other for other in inner if "." not in other.path[len(key.path) :].lstrip("[]").lstrip(".")]
    if inner:
        width = max(len(other.name) for other in inner)
        lines += ["", "  keys"]
        lines += [f"    {other.name:<{width}}  {_first_sentence(str(other.schema['description']))}" for other in inner]
    return "\n".join(lines)


def _first_sentence(text: str) -> str:
    return re.split(r"\.(?=\s|$)", text, maxsplit=1)[0]
