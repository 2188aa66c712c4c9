"""What is written for people and machines, the label, and the plugin in the user's pytest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from rocm_ci.vram_probe import label, tests_file
from rocm_ci.vram_probe.output import chart, page, prometheus, tables
from rocm_ci.vram_probe.output.body import Story, body
from support.vram_figures import GIB, measurement

NASTY = '<script>alert("x")</script> `rm` | "quoted"\n::error::'
CLEAN = (GIB, 5 * GIB, GIB)


def story(**changes: Any) -> Story:
    fields: dict[str, Any] = {"title": NASTY, "measured": measurement(CLEAN, CLEAN), "verdict": "ok", "message": NASTY}
    return Story(**{**fields, **changes})


def test_prometheus_text() -> None:
    text = prometheus.finished(measurement(CLEAN, (None, None, None)), "leak")
    lines = text.splitlines()
    assert text.endswith("\n")
    assert f'rocm_ci_vram_peak_bytes{{bdf="0000:05:00.0",gfx="gfx942"}} {5 * GIB}' in lines
    assert not [line for line in lines if "0000:06" in line and "capacity" not in line], "unknown is no zero"
    assert 'rocm_ci_vram_verdict{verdict="leak"} 1' in lines
    for line in lines:
        assert re.fullmatch(r"# (HELP|TYPE) rocm_ci_vram_[a-z_]+ .+|rocm_ci_vram_[a-z_]+(\{.*\})? [0-9.]+", line), line
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names))


def test_labels_are_escaped() -> None:
    assert prometheus.metric("m", "h", [({"a": 'x"\\\ny'}, 1)]).splitlines()[-1] == r'm{a="x\"\\\ny"} 1'


def test_the_picture_is_xml_and_has_gaps_where_nothing_is_known() -> None:
    measured = measurement(CLEAN, (None, None, None))
    root = ET.fromstring(chart.svg(measured, NASTY))  # noqa: S314 - our own
    assert root.tag.endswith("svg")
    assert len([each for each in root.iter() if each.get("class") == "line"]) == 1


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing() -> None:
    text = page.page(story())
    assert "<script" not in text
    assert not re.search(r"""(src|href)=|url\(|@import""", text)
    assert "&lt;script&gt;" in text


def test_the_summary_stays_a_summary_whatever_the_command_is_called() -> None:
    text = tables.markdown(story())
    assert "<script" not in text.replace("`<script>", "")
    assert "\n::error::" not in text
    assert text.count("```") == 2
    assert tables.text(story()).splitlines()[0].split() == list(tables.HEAD)


def test_the_report_is_json_with_reasons() -> None:
    report = json.loads(json.dumps(body(story(measured=measurement((GIB, None, None))))))
    gpu = report["gpus"][0]
    assert (gpu["peak_bytes"], gpu["leaked_bytes"]) == (None, None)
    assert gpu["unknown"]["leaked_bytes"]


@pytest.mark.parametrize("top", [0, 1, 999, 1 << 20, 3 * GIB, 288 * GIB])
def test_charts_have_room_for_every_peak(top: int) -> None:
    measured = measurement((0, top, 0))
    found = re.search(r'"GiB" 0 --> ([0-9.e-]+)', chart.mermaid(measured))
    assert found is not None
    assert float(found[1]) >= top / GIB


# --- label ----------------------------------------------------------------------------------------------------------


class Api(BaseHTTPRequestHandler):
    status = 200
    seen: ClassVar[list[tuple[str, str, Any]]] = []

    def do_POST(self) -> None:
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, self.headers["Authorization"], data))
        self.send_response(self.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def api(tmp_path: Path) -> Iterator[dict[str, str]]:
    Api.seen.clear()
    Api.status = 200
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 17}}')
    with HTTPServer(("127.0.0.1", 0), Api) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield {
            "GITHUB_API_URL": f"http://127.0.0.1:{server.server_address[1]}",
            "GITHUB_REPOSITORY": "org/project",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_TOKEN": "token-of-the-job",
        }
        server.shutdown()
        thread.join()


def test_the_label_is_set(api: dict[str, str]) -> None:
    assert label.add("rocm-ci: performance warning", api) is None
    path, authorization, data = Api.seen[0]
    assert path == "/repos/org/project/issues/17/labels"
    assert authorization == "Bearer token-of-the-job"
    assert data == {"labels": ["rocm-ci: performance warning"]}


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_label_that_is_not_permitted_is_a_notice(api: dict[str, str], status: int) -> None:
    Api.status = status
    note = label.add("x", api)
    assert note is not None
    assert note.level == "notice"
    assert f"HTTP {status}" in note.message
    assert "token-of-the-job" not in note.message


@pytest.mark.parametrize(
    "changes",
    [
        {"GITHUB_TOKEN": ""},
        {"GITHUB_EVENT_PATH": "/no/event"},
        {"GITHUB_API_URL": "file:///etc/passwd"},
        {"GITHUB_REPOSITORY": "../../x"},
        {"GITHUB_API_URL": "http://127.0.0.1:1"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_label_that_cannot_be_set_is_a_notice(api: dict[str, str], changes: dict[str, str]) -> None:
    note = label.add("x", {**api, **changes})
    assert note is not None
    assert note.level == "notice"
    assert not Api.seen


def test_the_pull_request_by_its_ref() -> None:
    assert label.pull_request({"GITHUB_REF": "refs/pull/5/merge"}) == 5
    assert label.pull_request({"GITHUB_REF": "refs/heads/main"}) is None


# --- the plugin -----------------------------------------------------------------------------------------------------

TORCH = """
class _Cuda:
    peak = 0
    def is_initialized(self): return True
    def device_count(self): return 2
    def reset_peak_memory_stats(self, index): self.peak = 0
    def max_memory_allocated(self, index): return self.peak if index else 0
    def max_memory_reserved(self, index): return 2 * self.peak
cuda = _Cuda()
"""
TESTS = """
import pytest, torch
def test_small(): torch.cuda.peak = 5
@pytest.mark.vram_limit("1GiB")
def test_within(): torch.cuda.peak = 2**30
@pytest.mark.vram_limit("1GiB")
def test_over(): torch.cuda.peak = 2**30 + 1
@pytest.mark.vram_limit("1GiB", of="reserved")
def test_reserved(): torch.cuda.peak = 2**30
"""


def run_tests(tmp_path: Path, text: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    (tmp_path / "site" / "torch").mkdir(parents=True)
    (tmp_path / "site" / "torch" / "__init__.py").write_text(TORCH)
    (tmp_path / "test_user.py").write_text(text)
    path = tmp_path / "tests.jsonl"
    environ = tests_file.environ({**os.environ, "PYTHONPATH": str(tmp_path / "site")}, path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", "test_user.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    return done, path


def test_peaks_and_limits_in_the_users_pytest(tmp_path: Path) -> None:
    done, path = run_tests(tmp_path, TESTS)
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert "VRAM limit: 1024.0 MiB were allocated on GPU 1, the limit is 1024.0 MiB" in done.stdout
    found = {str(each["test"]).split("::")[1]: each["allocated_bytes"] for each in tests_file.read(path)}
    assert found == {"test_small": 5, "test_within": GIB, "test_over": GIB + 1, "test_reserved": GIB}
    assert tests_file.read(path)[0]["test"] == "test_user.py::test_over"


@pytest.mark.parametrize("mark", ["'2GB'", "", "'1GiB', of='peak'"])
def test_a_wrong_mark_is_told_before_anything_runs(tmp_path: Path, mark: str) -> None:
    done, _ = run_tests(tmp_path, f"import pytest\n@pytest.mark.vram_limit({mark})\ndef test_x(): pass\n")
    assert done.returncode == 4
    assert "vram_limit" in done.stdout + done.stderr


def test_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(
        b'\xff\n[]\n{"test": 5}\n{"test": "a", "allocated": {"0": "x"}}\n{"test": "b", "allocated": {"0": 3}}'
    )
    assert [(each["test"], each["allocated_bytes"]) for each in tests_file.read(path)] == [("b", 3), ("a", None)]
    assert tests_file.read(tmp_path / "none") == []
