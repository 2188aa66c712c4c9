"""Both commands: a fault of ours is one line and exit code 3, never a traceback."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import rocm_ci_gen.cli
from rocm_ci_gen.manifest import schema


def test_an_internal_error_is_one_line_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise ZeroDivisionError("what nobody expected")

    monkeypatch.setattr(schema, "schema_text", broken)
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["schema"])
    assert result.exit_code == 3, result.output
    assert "internal error of rocm-ci " in result.output
    assert "ZeroDivisionError: what nobody expected (test_command_group.py:" in result.output
    assert "Traceback" not in result.output
