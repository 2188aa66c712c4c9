"""Evidence: one line of JSON, the output `evidence`, by which `gate` knows that a green job checked something."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rocm_ci.runner.errors import Code, result_name
from rocm_ci.runner.text import one_line

SCHEMA = 1
_GPU_KEYS = ("bdf", "gfx", "product")
_MESSAGE_LIMIT = 500


def evidence_line(
    stage: str,
    code: Code,
    message: str,
    *,
    executed: int,
    unit: str,
    gpus: Sequence[Mapping[str, object]] = (),
) -> str:
    """The evidence of a stage.

    Args:
        stage: its name.
        code: its verdict.
        message: the first cause or the success line.
        executed: how many things were checked.
        unit: plural noun of `executed`.
        gpus: the GPUs that were seen; only `bdf`, `gfx` and `product` are kept.
    """
    return json.dumps(
        {
            "schema": SCHEMA,
            "stage": stage,
            "result": result_name(code),
            "code": int(code),
            "executed": executed,
            "unit": unit,
            "gpus": [{key: gpu.get(key) for key in _GPU_KEYS} for gpu in gpus],
            "message": one_line(message, _MESSAGE_LIMIT),
        },
        separators=(",", ":"),
    )
