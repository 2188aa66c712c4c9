"""Amounts of memory as people write them: `512MiB`, `2GiB`, `10%`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    AnyParamType = click.ParamType[Any]
else:  # click before 8.5 has no type parameter there
    AnyParamType = click.ParamType

_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
# The same forms as `size-or-percent` in the manifest's schema.
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(B|KiB|MiB|GiB)")
_PERCENT = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)%")
_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of bytes, or a share of something; `text` is how the user wrote it."""

    text: str
    bytes: int | None = None
    fraction: float | None = None

    def of(self, whole: int | None) -> int | None:
        """The amount in bytes; a share is one of `whole`, and unknown when that is."""
        if self.fraction is None:
            return self.bytes
        return None if whole is None else round(whole * self.fraction)


def parse_amount(text: str) -> Amount:
    """Read a size or a percentage.

    Raises:
        ValueError: it is neither; the message says what can be written.
    """
    text = text.strip()
    if found := _SIZE.fullmatch(text):
        return Amount(text, bytes=round(float(found[1]) * _UNITS[found[2]]))
    if found := _PERCENT.fullmatch(text):
        return Amount(text, fraction=float(found[1]) / 100)
    raise ValueError(f"{text!r} is no amount of memory; write it as 512MiB, 2GiB or 10%")


class SizeOrPercent(AnyParamType):
    """`Amount` for click; with `percent=False` only a size."""

    name = "size"

    def __init__(self, *, percent: bool = True) -> None:
        self.percent = percent

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Amount:
        """An amount."""
        try:
            amount = parse_amount(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if amount.fraction is not None and not self.percent:
            self.fail(f"{value!r} is a percentage; write a size such as 512MiB", param, ctx)
        return amount


class Seconds(AnyParamType):
    """A time as `50ms`, `10s`, `2m`; a bare number is seconds, as in `0.05`."""

    name = "duration"

    def __init__(self, least: float = 0.0, most: float = 86400.0) -> None:
        self.least = least
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        found = _TIME.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no time; write it as 50ms, 10s or 0.05 (seconds)", param, ctx)
        seconds = float(found[1]) * _SECONDS[found[2] or "s"]
        if not self.least <= seconds <= self.most:
            self.fail(f"{value!r} is not between {self.least:g} s and {self.most:g} s", param, ctx)
        return seconds


def show(value: int | None) -> str:
    """Bytes for people: `1.50 GiB`, `312 MiB`, `unknown`."""
    if value is None:
        return "unknown"
    if abs(value) >= 1024**3:
        return f"{value / 1024**3:,.2f} GiB"
    if abs(value) >= MIB:
        return f"{value / MIB:,.0f} MiB"
    return f"{value / 1024:,.0f} KiB" if abs(value) >= 1024 else f"{value} B"
