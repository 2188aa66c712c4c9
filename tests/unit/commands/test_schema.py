"""`rocm-ci-gen schema` prints the file, byte for byte."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

import rocm_ci_gen
import rocm_ci_gen.cli


def test_the_schema_is_printed_as_it_is() -> None:
    result = CliRunner().invoke(rocm_ci_gen.cli.main, ["schema"])
    file = Path(rocm_ci_gen.__file__).parent / "manifest" / "schema.json"
    assert result.exit_code == 0
    assert result.stdout_bytes == file.read_bytes()
