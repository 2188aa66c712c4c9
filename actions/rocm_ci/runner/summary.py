"""The job summary: Markdown in the file that `$GITHUB_STEP_SUMMARY` names."""

from __future__ import annotations

import contextlib
from pathlib import Path

from rocm_ci.runner.files import append_whole

LIMIT = 1024 * 1024 - 1
"""A step's summary above 1 MiB is not uploaded at all (GitHub, workflow commands, step isolation and limits)."""

NOTE = "\n> The rest was cut: a job summary holds 1 MiB. The stage's report has everything.\n"


def fit(markdown: str, room: int) -> bytes:
    """`markdown` as UTF-8 within `room` bytes, cut after a whole line with a note; empty if not even the note fits."""
    data = markdown.encode("utf-8", "backslashreplace")
    if not data.endswith(b"\n"):
        data += b"\n"
    if len(data) <= room:
        return data
    note = NOTE.encode()
    while True:
        budget = room - len(note)
        if budget <= 0:
            return b""
        # A line end is one byte in UTF-8, so a cut after it never splits a character.
        kept = data[: data.rfind(b"\n", 0, budget) + 1]
        tail = _closing(kept) + NOTE.encode()
        if len(kept) + len(tail) <= room:
            return kept + tail
        note = tail


def write_summary(path: Path, markdown: str) -> None:
    """Append `markdown`, within what the step's own earlier writes leave of the limit.

    Raises:
        InfraError: the file cannot be written.
    """
    used = 0
    with contextlib.suppress(OSError):
        used = path.stat().st_size
    # One byte for the line end that `append_whole` may have to put in between.
    data = fit(markdown, LIMIT - used - 1)
    if data:
        append_whole(path, data)


def _closing(kept: bytes) -> bytes:
    """What ends the blocks that the cut left open: the note must not end up inside a code block."""
    fence = ""
    details = 0
    for raw in kept.decode("utf-8").splitlines():
        line = raw.strip()
        if line.startswith("```"):
            fence = "" if fence else "```"
        elif not fence:
            details += line.count("<details") - line.count("</details")
    return (f"{fence}\n" if fence else "").encode() + b"</details>\n" * max(0, details)
