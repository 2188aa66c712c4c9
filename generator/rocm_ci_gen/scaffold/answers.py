"""What a user may answer: each text is held against the manifest's own schema and made into a value.

Used by the options and by the prompts of `init` alike, so that both take the same and say the same.
"""

from __future__ import annotations

import difflib

from rocm_ci_gen.scaffold import gpus
from rocm_ci_gen.scaffold.forms import accepts
from rocm_ci_gen.scaffold.proposal import STAGES


class AnswerError(ValueError):
    """The text cannot be taken; the message says what would be."""


def labels(text: str) -> tuple[str, ...]:
    """Runner labels, comma-separated; brackets around them do not hurt."""
    parts = _parts(text)
    if not parts:
        raise AnswerError("at least one label is needed, such as `self-hosted, roc-gpu-mi200`")
    for part in parts:
        if not accepts("runner-label", part):
            raise AnswerError(f"{part!r} is no runner label: letters, digits and `-._/=+:,;@`, no blanks")
    return parts


def gfx(text: str) -> tuple[str, ...]:
    """Targets such as gfx90a, comma-separated; a product name such as `MI300X` is understood; empty: not known."""
    found = []
    for part in _parts(text):
        named = gpus.gpu_word(part)
        target = part.lower() if accepts("gfx", part.lower()) else named[1] if named else None
        if target is None:
            raise AnswerError(
                f"{part!r} is no gfx target: write it as rocminfo does, such as gfx90a, gfx942 or gfx1100"
            )
        found.append(target)
    return tuple(dict.fromkeys(found))


def image(text: str) -> str:
    """A container image."""
    if not accepts("image", text):
        raise AnswerError(
            f"{text!r} is no image name, such as rocm/pytorch:rocm6.2.3_ubuntu22.04_py3.10_pytorch_release_2.3.0"
        )
    return text


def uses(text: str) -> str:
    """Where the actions come from."""
    if not accepts("own-uses", text):
        raise AnswerError(f"{text!r} must be owner/repository@ref, such as org/rocm-ci@v1")
    return text


def model(text: str) -> str:
    """A model: a path on the runner, or a name on the hub."""
    if not accepts("line", text):
        raise AnswerError("a model is one line of text")
    return text


def stages(text: str) -> tuple[str, ...]:
    """Stages, comma-separated."""
    parts = _parts(text)
    for part in parts:
        if part not in STAGES:
            near = difflib.get_close_matches(part, STAGES, n=1)
            raise AnswerError(
                f"there is no stage {part!r}" + (f"; did you mean {near[0]!r}?" if near else f": {', '.join(STAGES)}")
            )
    if not parts:
        raise AnswerError(f"at least one stage is needed: {', '.join(STAGES)}")
    return parts


def _parts(text: str) -> tuple[str, ...]:
    inner = text.strip().removeprefix("[").removesuffix("]")
    return tuple(dict.fromkeys(part.strip().strip("'\"") for part in inner.split(",") if part.strip()))
