"""The course of a run as a chart: Mermaid for the job summary, SVG for a file."""

from __future__ import annotations

import html
from collections.abc import Sequence

from rocm_ci.vram_probe.figures import Measurement

_GIB = 1024**3
_MERMAID_POINTS = 60
_MERMAID_LINES = 4
_WIDTH, _HEIGHT = 860, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 200, 34, 44
# Okabe and Ito's colours, which colour-blind people tell apart (https://jfly.uni-koeln.de/color/).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#666666")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#24292f}.axis{stroke:#8c959f;stroke-width:1}"
    ".grid{stroke:#d0d7de;stroke-width:.5}.line{fill:none;stroke-width:1.6}.paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}.paper{fill:#0d1117}}"
)


def thin(values: Sequence[int | None], points: int) -> list[int | None]:
    """At most `points` values, each the highest of those it stands for; None where none of them is known."""
    if len(values) <= points:
        return list(values)
    found: list[int | None] = []
    for index in range(points):
        part = values[index * len(values) // points : (index + 1) * len(values) // points]
        known = [value for value in part if value is not None]
        found.append(max(known) if known else None)
    return found


def columns(measured: Measurement) -> list[list[int | None]]:
    """The course of each device."""
    rows = measured.course.rows
    return [[row[index] for row in rows] for index in range(len(measured.gpus))]


def highest(measured: Measurement, most: int) -> list[int]:
    """Indices of the devices with the highest peaks, in the order of the devices."""
    known = [index for index, gpu in enumerate(measured.gpus) if gpu.peak is not None]
    return sorted(sorted(known, key=lambda index: -(measured.gpus[index].peak or 0))[:most])


def mermaid(measured: Measurement) -> str:
    """An xychart in a fence, which GitHub draws; empty where there are fewer than two points."""
    times, series = measured.course.times, columns(measured)
    if len(times) < 2:
        return ""
    shown = highest(measured, _MERMAID_LINES)
    lines = []
    for index in shown:
        # Mermaid has no gap in a line: an unknown point is drawn at the height of the last known one.
        filled, last = [], next((value for value in series[index] if value is not None), None)
        if last is None:
            continue
        for value in thin(series[index], _MERMAID_POINTS):
            last = value if value is not None else last
            filled.append(f"{last / _GIB:.3f}")
        lines.append(f"    line [{', '.join(filled)}]")
    if not lines:
        return ""
    top = max(gpu.peak or 0 for gpu in measured.gpus) / _GIB
    # A label with quotes or brackets would end the chart's own.
    names = ", ".join(measured.gpus[index].device.title.replace('"', "'") for index in shown)
    title = f"VRAM in use, {names}" + ("" if len(shown) == len(measured.gpus) else " (the highest)")
    return "\n".join(
        [
            "```mermaid",
            "xychart-beta",
            f'    title "{title}"',
            f'    x-axis "seconds" 0 --> {max(times[-1], 0.001):.3f}',
            f'    y-axis "GiB" 0 --> {_ceiling(top):g}',
            *lines,
            "```",
            "",
        ]
    )


def svg(measured: Measurement, title: str) -> str:
    """A self-contained SVG with a line for each device, a legend and both axes; light or dark as the reader likes."""
    times, series = measured.course.times, columns(measured)
    end = max(times[-1] if times else 0.0, 0.001)
    top = _ceiling(max((gpu.peak or 0 for gpu in measured.gpus), default=0) / _GIB)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{_text(title)}</title><style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text x="{_LEFT}" y="20" font-weight="600">{_text(_short(title, 100))}</text>',
    ]
    for step in range(5):
        y = _TOP + height * (1 - step / 4)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{top * step / 4:.4g}</text>')
        x = _LEFT + width * step / 4
        parts.append(f'<text x="{x:.1f}" y="{_TOP + height + 18}" text-anchor="middle">{end * step / 4:.4g} s</text>')
    parts.append(f'<text x="{_LEFT - 8}" y="{_TOP - 10}" text-anchor="end">GiB</text>')
    bottom = _TOP + height
    parts.append(f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{_LEFT + width}"/>')
    for place, index in enumerate(highest(measured, len(_COLOURS))):
        colour = _COLOURS[place % len(_COLOURS)]
        path = _path(times, series[index], end, top, (width, height))
        gpu = measured.gpus[index]
        parts.append(f'<path class="line" stroke="{colour}" d="{path}"/>')
        y = _TOP + 10 + place * 32
        left = _LEFT + width + 14
        parts.append(f'<rect x="{left}" y="{y - 8}" width="12" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{left + 18}" y="{y}">{_text(_short(gpu.device.title, 24))}</text>')
        parts.append(f'<text x="{left + 18}" y="{y + 14}">peak {(gpu.peak or 0) / _GIB:.2f} GiB</text>')
    more = len(measured.gpus) - len(_COLOURS)
    if more > 0:
        parts.append(f'<text x="{_LEFT + width + 14}" y="{_HEIGHT - 8}">and {more} more, lower</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)


def _path(times: Sequence[float], values: Sequence[int | None], end: float, top: float, size: tuple[int, int]) -> str:
    width, height = size
    words, down = [], False
    for at, value in zip(times, values, strict=True):
        if value is None:  # a gap: what is not known is not drawn
            down = False
            continue
        x = _LEFT + width * at / end
        y = _TOP + height * (1 - value / _GIB / top)
        words.append(f"{'L' if down else 'M'}{x:.1f} {y:.1f}")
        down = True
    return "".join(words)


def _ceiling(value: float) -> float:
    """A round number above `value`."""
    if value <= 0:
        return 1.0
    step = 1.0
    while step > value:
        step /= 10
    while step * 10 <= value:
        step *= 10
    return next(
        step * factor for factor in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12) if step * factor >= value * 1.02
    )


def _text(text: str) -> str:
    return html.escape("".join(char if char.isprintable() else " " for char in text))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
