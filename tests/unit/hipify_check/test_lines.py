"""Every labelled line of `lines.jsonl`, through the command: a finding where one is due, and none where not.

The labels were written from the tables, the documentation and what AMD's compiler sees, by someone who did not know the
code, before the tool was run on them. `finding` is any verdict that fails; `note` and `clean` are none.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocm_ci.hipify_check.command import command

CASES = [json.loads(line) for line in (Path(__file__).parent / "lines.jsonl").read_text("utf-8").splitlines()]
FAILING = {"convertible", "manual", "unsupported"}


def _write(case, top: Path) -> None:
    text = case["snippet"].replace("\n", case.get("newline", "\n"))
    data = {case["file"]: text.encode(case.get("encoding", "utf-8"))}
    if case.get("bom"):
        data[case["file"]] = b"\xef\xbb\xbf" + data[case["file"]]
    data |= {name: text.encode() for name, text in case.get("files", {}).items()}
    for name, raw in data.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case, tmp_path, monkeypatch):
    (tmp_path / "tree").mkdir()
    _write(case, tmp_path / "tree")
    monkeypatch.chdir(tmp_path / "tree")
    report = tmp_path / "report.json"
    done = CliRunner().invoke(command, [".", "--report", str(report), "--jobs", "1", *case.get("args", [])])
    if "exit" in case:
        assert done.exit_code == case["exit"]
    verdicts: dict[tuple[str, int], set[str]] = {}
    for one in json.loads(report.read_text())["findings"]:
        verdicts.setdefault((one["path"], one["line"]), set()).add(one["verdict"])
    labels = {(case["file"], one["line"]): one["verdict"] for one in case["expect"]}
    for name, expected in case.get("expect_files", {}).items():
        labels |= {(name, one["line"]): one["verdict"] for one in expected}
    wrong = []
    for place, label in labels.items():
        found = verdicts.get(place, set()) & FAILING
        right = label in found if label in FAILING else bool(found) == (label == "finding")
        if not right:
            wrong.append((place, label, sorted(found)))
    assert wrong == []
