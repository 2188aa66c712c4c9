"""Cron lines as GitHub reads them."""

from __future__ import annotations

import pytest

from rocm_ci_gen.manifest.semantics.cron import CronError, parse


@pytest.mark.parametrize(
    ("line", "gap"),
    [
        ("0 3 * * *", 1440),
        ("*/15 * * * *", 15),
        ("20/15 * * * *", 15),
        ("0,59 * * * *", 1),
        ("0 0,23 * * *", 60),
        ("58 23 * * *", 1440),
        ("0-10/5 6 * * *", 5),
        ("*/7 * * * *", 4),
        ("30 5 1,15 JAN-JUN mon", 1440),
        ("0 0 29 2 *", 1440),
        ("0 0 30 2 1", 1440),
        ("0 0 31 1-12/2 *", 1440),
        ("  0   3  *  *  * ", 1440),
        ("5,7 0 * * SUN,SAT", 2),
    ],
)
def test_valid_lines(line: str, gap: int) -> None:
    assert parse(line).shortest_gap == gap


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "5 fields"),
        ("0 3 * *", "5 fields"),
        ("0 3 * * * 2024", "5 fields"),
        ("@daily", "GitHub has no"),
        ("60 * * * *", "no minute 60"),
        ("0 24 * * *", "no hour 24"),
        ("0 0 0 * *", "no day of month 0"),
        ("0 0 1 13 *", "no month 13"),
        ("0 0 * * 7", "no day of week 7"),
        ("a * * * *", "`a` is not a minute"),
        ("0 0 * mon *", "`mon` is not a month"),
        ("-5 * * * *", "is not a minute"),
        ("5- * * * *", "is not a minute"),
        ("1,,2 * * * *", "is not a minute"),
        ("*/0 * * * *", "no step"),
        ("*/ * * * *", "no step"),
        ("5-1 * * * *", "ends before it starts"),
        ("0 0 30 2 *", "never fires"),
        ("0 0 31 2,4,6,9,11 *", "never fires"),
        ("0 0 L * *", "`L` is not a day of month"),
        ("? * * * *", "is not a minute"),
        (f"{'9' * 5000} * * * *", "is not a minute"),
        ("\u0665 * * * *", "is not a minute"),
    ],
)
def test_invalid_lines(line: str, message: str) -> None:
    with pytest.raises(CronError, match=message) as caught:
        parse(line)
    assert caught.value.fix
