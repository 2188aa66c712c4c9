"""What may be answered, at a prompt or by an option."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocm_ci_gen.scaffold import answers
from rocm_ci_gen.scaffold.answers import AnswerError


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (answers.labels, "self-hosted, roc-gpu-mi200", ("self-hosted", "roc-gpu-mi200")),
        (answers.labels, "['self-hosted', \"a\"]", ("self-hosted", "a")),
        (answers.labels, "a,,a,", ("a",)),
        (answers.gfx, "gfx90a", ("gfx90a",)),
        (answers.gfx, "GFX942, gfx90a", ("gfx942", "gfx90a")),
        (answers.gfx, "MI300X", ("gfx942",)),
        (answers.gfx, "mi355x,gfx950", ("gfx950",)),
        (answers.gfx, "", ()),
        (answers.image, "rocm/pytorch:x", "rocm/pytorch:x"),
        (answers.uses, "acme/rocm-ci@v1.2", "acme/rocm-ci@v1.2"),
        (answers.stages, "kernel-tests, hipify-check", ("kernel-tests", "hipify-check")),
        (answers.model, "/models/a b", "/models/a b"),
    ],
)
def test_taken(read: Callable[[str], object], text: str, expected: object) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (answers.labels, "", "at least one label"),
        (answers.labels, "a b", "no blanks"),
        (answers.labels, "${{ x }}", "no runner label"),
        (answers.labels, "a" * 300, "no runner label"),
        (answers.gfx, "h100", "gfx942"),
        (answers.gfx, "gfx", "rocminfo"),
        (answers.image, "rocm/pytorch latest", "no image name"),
        (answers.image, "--privileged", "no image name"),
        (answers.uses, "rocm-ci@v1", "owner/repository@ref"),
        (answers.stages, "kernel-test", "did you mean 'kernel-tests'"),
        (answers.stages, "", "at least one stage"),
        (answers.model, "a\nb", "one line"),
    ],
)
def test_refused_with_what_would_do(read: Callable[[str], object], text: str, said: str) -> None:
    with pytest.raises(AnswerError, match=said):
        read(text)
