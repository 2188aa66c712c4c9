"""A self-contained HTML page: one file without scripts and without anything from elsewhere."""

from __future__ import annotations

import html

from rocm_ci.vram_probe.output import chart, tables
from rocm_ci.vram_probe.output.body import Story
from rocm_ci.vram_probe.sizes import show

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #8c959f66;padding:.3rem .6rem;text-align:right}
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}
code{overflow-wrap:anywhere}svg{max-width:100%;height:auto}.ok{color:#1a7f37}.bad{color:#cf222e}
"""


def page(story: Story) -> str:
    """The run on one page."""
    word = story.verdict or "unknown"
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in tables.HEAD)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in tables.rows(story)
    )
    measured = story.measured
    tests = "".join(
        f"<tr><td>{html.escape(str(test['test']))}</td><td></td><td>{_bytes(test['allocated_bytes'])}</td>"
        f"<td>{_bytes(test['reserved_bytes'])}</td></tr>"
        for test in story.tests
    )
    more = (
        f"<h2>Tests</h2><table><tr><th>test</th><th></th><th>allocated</th><th>reserved</th></tr>{tests}</table>"
        if tests
        else ""
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>vram-probe: {html.escape(word)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>vram-probe: <span class="{"ok" if word == "ok" else "bad"}">{html.escape(word)}</span></h1>
<p>{html.escape(story.message)}</p>
<p><code>{html.escape(story.title)}</code></p>
{chart.svg(measured, f"VRAM in use: {story.title}")}
<table>
<tr>{head}</tr>
{body}
</table>
<p>{measured.samples:,} samples in {measured.seconds:.1f} s, every {measured.interval * 1000:g} ms,
from {html.escape(measured.source)}. {html.escape(measured.note)}</p>
{more}
</body>
</html>
"""


def _bytes(value: object) -> str:
    return show(value) if isinstance(value, int) else "unknown"
