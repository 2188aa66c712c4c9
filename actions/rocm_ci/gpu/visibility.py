"""Which GPUs the environment leaves to a program: ROCR_VISIBLE_DEVICES first, then HIP_ or CUDA_VISIBLE_DEVICES.

ROCR_ (amd_filter_device.cpp): indices or `GPU-` with hex digits of the unique id, also the beginning of one;
everything from the
first entry that is wrong or repeated on is ignored; set but empty means no GPU at all. HIP_ (rocdevice.cpp of clr)
counts what
ROCR_ left over; empty is as if not set, and then CUDA_ counts; a repeated index is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocm_ci.gpu.unknown import shown

ROCR, HIP, CUDA = "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"
_INDEX = re.compile(r"\A(?:0|[1-9][0-9]{0,5})\Z")
# strtol with base 0, as ROCR reads it.
_STRTOL = re.compile(r"\A[+]?(?:0[xX][0-9a-fA-F]{1,6}|[0-9]{1,6})\Z")
_RANGE = re.compile(r"\A[0-9]+ *(?:-|\.\.|:) *[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is left.

    Attributes:
        order: positions of the GPUs in the order in which programs count them.
        hidden: position → which variable hides it.
        variables: the variables that are set, with their values.
        problems: what is wrong with them, each in one sentence.
    """

    order: tuple[int, ...]
    hidden: Mapping[int, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def select(unique_ids: Sequence[int | None], environ: Mapping[str, str]) -> Selection:
    """What the environment leaves of GPUs with these unique ids, given in KFD's order."""
    values = {name: environ[name] for name in (ROCR, HIP, CUDA) if name in environ}
    order = list(range(len(unique_ids)))
    hidden: dict[int, str] = {}
    problems: list[str] = []
    if ROCR in values:
        order = _keep(order, _rocr(values[ROCR], unique_ids, problems), ROCR, hidden)
    name = HIP if values.get(HIP) else CUDA
    if values.get(name):
        picked = _hip(name, values[name], [unique_ids[position] for position in order], problems)
        order = _keep(order, picked, name, hidden)
    _both(values, problems)
    if unique_ids and not order:
        problems.append(f"{' and '.join(values)} leave none of {len(unique_ids)} GPUs")
    return Selection(tuple(order), hidden, values, tuple(problems))


def _keep(order: list[int], picked: list[int], name: str, hidden: dict[int, str]) -> list[int]:
    kept = [order[place] for place in picked]
    for position in order:
        if position not in kept:
            hidden[position] = f"hidden by {name}"
    return kept


def _both(values: Mapping[str, str], problems: list[str]) -> None:
    if ROCR in values and values.get(HIP):
        problems.append(
            f"{ROCR} and {HIP} are both set: {HIP} counts what {ROCR} leaves, not the node's GPUs; set only one"
        )
    if values.get(HIP) and values.get(CUDA) and values[HIP] != values[CUDA]:
        problems.append(f"{HIP} and {CUDA} differ: HIP programs follow {HIP}, others may not")


def _rocr(value: str, unique_ids: Sequence[int | None], problems: list[str]) -> list[int]:
    if not value:
        problems.append(f"{ROCR} is set but empty: it hides every GPU")
        return []
    picked: list[int] = []
    for token in value.split(",")[: len(unique_ids)]:
        place = _place(token.strip().upper(), unique_ids, strtol=True)
        if isinstance(place, int) and place in picked:
            place = "is there twice"
        if isinstance(place, str):
            problems.append(f"{ROCR}: {shown(token)} {place}; it and all that follows is ignored")
            break
        picked.append(place)
    return picked


def _hip(name: str, value: str, unique_ids: Sequence[int | None], problems: list[str]) -> list[int]:
    picked: list[int] = []
    for token in value.split(","):
        place = _place(token.upper(), unique_ids, strtol=False)
        if isinstance(place, str):
            problems.append(f"{name}: {shown(token)} {place}; it and all that follows is ignored")
            break
        if place in picked:
            problems.append(f"{name}: {shown(token)} is there twice; it counts once")
        else:
            picked.append(place)
    return picked


def _place(token: str, unique_ids: Sequence[int | None], *, strtol: bool) -> int | str:
    """The position that one entry means, or what is wrong with it."""
    if token.startswith("GPU-"):
        return _by_uuid(token, unique_ids)
    if _RANGE.match(token):
        return "is a range, which is not understood"
    if not (_STRTOL if strtol else _INDEX).match(token):
        return "is no index" if token else "is empty"
    # A leading 0 is octal to strtol; 08 is then no number.
    try:
        number = int(
            token, 16 if token.lstrip("+")[:2] == "0X" else 8 if strtol and token.lstrip("+").startswith("0") else 10
        )
    except ValueError:
        return "is no index"
    return number if number < len(unique_ids) else f"is beyond the last of {len(unique_ids)} GPUs"


def _by_uuid(token: str, unique_ids: Sequence[int | None]) -> int | str:
    if not 5 <= len(token) <= 20:
        return "is no UUID"
    matching = [place for place, number in enumerate(unique_ids) if number and f"GPU-{number:016X}".startswith(token)]
    if len(matching) == 1:
        return matching[0]
    return "matches more than one GPU (partitions of a card share their UUID)" if matching else "matches no GPU"
