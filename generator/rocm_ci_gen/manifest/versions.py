"""Versions of the manifest format: what this release reads, and the converters from older ones.

Version 1 is the first, so there is nothing to convert from yet. The day version 2 comes, its commit raises
`schema.NEWEST_VERSION` and adds `1: v1_to_v2` here; `rocm-ci-gen update` then walks from converter to converter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rocm_ci_gen.manifest import nodes
from rocm_ci_gen.manifest.findings import Finding
from rocm_ci_gen.manifest.nodes import Node
from rocm_ci_gen.manifest.schema import NEWEST_VERSION
from rocm_ci_gen.manifest.words import show

Converter = Callable[[Any], None]
"""Changes a document (ruamel.yaml's round-trip mapping) in place from its version to the next one."""

CONVERTERS: Mapping[int, Converter] = {}
"""Old version -> converter to the version after it."""


def finding(
    root: Node, converters: Mapping[int, Converter] = CONVERTERS, newest: int = NEWEST_VERSION
) -> Finding | None:
    """What is wrong with the version of a document, or None.

    A version that is missing or no number is left to the schema. With a finding, nothing else about the document can
    be judged: other versions have other keys.
    """
    node = nodes.at(root, ("version",))
    value = node.value if isinstance(node, nodes.Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int) or value == newest:
        return None
    if value > newest:
        return Finding(
            "newer-version",
            ("version",),
            f"the manifest has version {show(str(value))}; this release of rocm-ci-gen reads up to {newest}",
            fix="install a newer rocm-ci",
        )
    if value in converters:
        return Finding(
            "older-version",
            ("version",),
            f"the manifest has version {value}; this release of rocm-ci-gen reads version {newest}",
            fix="run `rocm-ci-gen update`, which keeps your comments",
        )
    return Finding(
        "unknown-version", ("version",), f"there is no manifest version {value}", fix=f"write `version: {newest}`"
    )
