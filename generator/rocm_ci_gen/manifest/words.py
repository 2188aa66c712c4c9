"""Words for messages: values shortened and made printable, lists of names, and did-you-mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_SHOWN = 60


def printable(text: str) -> str:
    """The text with what a terminal would act on, or could not show, written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii") for char in text
    )


def show(text: str) -> str:
    """A value of the user in a message: in backticks, one line, at most 60 characters."""
    short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return f"`{printable(short)}`"


def names(values: Iterable[str], conjunction: str = "and") -> str:
    """`a`, `b` and `c`."""
    shown = [show(value) for value in values]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}"


def closest(word: str, candidates: Collection[str]) -> str | None:
    """The candidate that `word` was probably meant to be, or None."""
    if len(word) > _SHOWN:
        return None
    import difflib  # most manifests are right, and then nobody asks

    folded = {candidate.lower().replace("_", "-"): candidate for candidate in candidates}
    matches = difflib.get_close_matches(word.lower().replace("_", "-"), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, candidates: Collection[str]) -> str:
    """`; did you mean `x`?`, or nothing."""
    match = closest(word, candidates)
    return f"; did you mean {show(match)}?" if match else ""
