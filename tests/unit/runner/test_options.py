"""How options read text: durations."""

from __future__ import annotations

import click
import pytest

from rocm_ci.runner.options import Duration


@pytest.mark.parametrize(("text", "seconds"), [("500ms", 0.5), ("90s", 90.0), ("15m", 900.0), ("2h", 7200.0)])
def test_a_duration_is_seconds(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "15", "0s", "-1m", "1.5h", "15 m", "15m\n5", "1d"])
def test_what_is_no_duration_is_told(text: str) -> None:
    with pytest.raises(click.BadParameter, match="15m"):
        Duration().convert(text, None, None)
