"""GitHub's cron lines: five POSIX fields in UTC, read and understood.

Source: https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
(`*`, `,`, `-`, `/`; names JAN-DEC and SUN-SAT; no `@daily`; not more often than every 5 minutes).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from rocm_ci_gen.manifest.words import show

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_MONTH = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 6, _DAYS),
)


class CronError(ValueError):
    """A cron line that GitHub does not take, or that never fires. The text says why, `fix` what to write."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True)
class Cron:
    """The values of each field at which a line fires; `any_day` and `any_weekday` tell `*` from a full list."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    any_day: bool
    any_weekday: bool

    @property
    def ever_fires(self) -> bool:
        """Whether there is a day that the line means; with a day of week given, that alone is enough."""
        if not self.any_weekday:
            return True
        return any(day <= _LONGEST_MONTH.get(month, 31) for month in self.months for day in self.days)

    @property
    def shortest_gap(self) -> int:
        """Fewest minutes between two runs of a day, or over midnight; 1440 with one run a day."""
        times = [60 * hour + minute for hour in self.hours for minute in self.minutes]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        return min([*gaps, 1440 - times[-1] + times[0]])


def parse(line: str) -> Cron:
    """Read a cron line.

    Raises:
        CronError: it is not valid, or it is valid and never fires.
    """
    if line.startswith("@"):
        raise CronError(
            f"GitHub has no {show(line)}", 'write the five fields, such as "0 3 * * *" for every day at 3:00'
        )
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise CronError(
            f"a cron line has 5 fields (minute, hour, day of month, month, day of week), not {len(fields)}",
            'for example "0 3 * * *": every day at 3:00 UTC',
        )
    minutes, hours, days, months, weekdays = (_values(field, text) for field, text in zip(_FIELDS, fields, strict=True))
    cron = Cron(minutes, hours, days, months, weekdays, fields[2].startswith("*"), fields[4].startswith("*"))
    if not cron.ever_fires:
        raise CronError(
            f"this never fires: no month of {show(fields[3])} has a day {show(fields[2])}",
            "give a day that the month has",
        )
    return cron


def _values(field: _Field, text: str) -> tuple[int, ...]:
    values: set[int] = set()
    for part in text.split(","):
        values.update(_part(field, part))
    return tuple(sorted(values))


def _part(field: _Field, part: str) -> range:
    span, slash, step_text = part.partition("/")
    if slash and not re.fullmatch("[1-9][0-9]{0,3}", step_text):
        raise CronError(
            f"the {field.name} {show(part)} has no step after `/`", f"for example `*/{max(2, field.high // 4)}`"
        )
    step = int(step_text) if slash else 1
    first, dash, last = span.partition("-")
    if span == "*":
        return range(field.low, field.high + 1, step)
    low = _number(field, first, part)
    high = _number(field, last, part) if dash else (field.high if slash else low)
    if high < low:
        raise CronError(
            f"the {field.name} {show(part)} ends before it starts", f"write `{high}-{low}`, or two parts with a comma"
        )
    return range(low, high + 1, step)


def _number(field: _Field, text: str, part: str) -> int:
    if text.lower() in field.words:
        return field.low + field.words.index(text.lower())
    if not re.fullmatch("[0-9]{1,4}", text):
        words = f" or {field.words[0].upper()}-{field.words[-1].upper()}" if field.words else ""
        raise CronError(
            f"{show(part)} is not a {field.name}", f"use {field.low}-{field.high}{words}, with `*`, `,`, `-` and `/`"
        )
    number = int(text)
    if not field.low <= number <= field.high:
        fix = "Sunday is 0" if field.name == "day of week" and number == 7 else f"use {field.low}-{field.high}"
        raise CronError(f"there is no {field.name} {number}", fix)
    return number
