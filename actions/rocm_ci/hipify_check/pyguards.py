"""Python conditions in three-valued logic: is this branch taken on ROCm?"""

from __future__ import annotations

import ast
import re

_AMD = re.compile(
    r"_*(?:is|use|using|on|has|have|with)_(?:hip|rocm|amd|amdgpu)(?:_\w+)?|_*(?:hip|rocm)_(?:available|enabled)|is_hip_extension|use_hip|rocm"
)
_CUDA = re.compile(
    r"_*(?:is|on|use|using|has|have|with)_(?:cuda|nvidia|nv)(?:_platform|_build|_backend)?|_*is_nvidia_\w+"
)


def evaluate(test: ast.expr) -> bool | None:
    """Value of a condition on ROCm; ``None`` = it says nothing about the platform, or not enough."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = evaluate(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [evaluate(value) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compare(test)
    if isinstance(test, ast.Constant):
        return bool(test.value) if isinstance(test.value, bool | int) else None
    if isinstance(test, ast.Call) and dotted(test.func) in {"bool", "getattr"}:
        return evaluate(test.args[0]) if dotted(test.func) == "bool" and test.args else None
    return _known(dotted(test.func if isinstance(test, ast.Call) else test))


def _compare(test: ast.Compare) -> bool | None:
    right = test.comparators[0]
    left = _known(dotted(test.left))
    if isinstance(right, ast.Constant) and right.value is None and left is not None:
        # torch.version.hip is a string on ROCm, torch.version.cuda is None there.
        if isinstance(test.ops[0], ast.Is | ast.Eq):
            return not left
        if isinstance(test.ops[0], ast.IsNot | ast.NotEq):
            return left
    return None


def _known(name: str) -> bool | None:
    if name.endswith("version.hip"):
        return True
    if name.endswith("version.cuda"):
        return False
    last = name.rpartition(".")[2].lower()
    if not last:
        return None
    if _AMD.fullmatch(last):
        return True
    # torch.cuda.is_available() and a tensor's .is_cuda are true on ROCm as well.
    if _CUDA.fullmatch(last) and last != "is_cuda":
        return False
    return False if last == "is_cuda" and "platform" in name else None


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of a name or attribute; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
