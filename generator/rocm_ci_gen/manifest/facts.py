"""Facts about GitHub, Docker and Kubernetes that checks rely on; `facts.json` holds them with their sources."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from rocm_ci_gen import resources


@cache
def facts() -> dict[str, Any]:
    """The facts by topic; do not change them."""
    loaded: dict[str, Any] = json.loads(resources.data_text("manifest/facts.json"))
    return loaded
