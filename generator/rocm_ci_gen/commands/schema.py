"""`rocm-ci-gen schema`: the manifest's JSON Schema."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  rocm-ci-gen schema > rocm-ci.schema.json
  # then, in the first line of .rocm-ci.yml, for editors with the YAML language server:
  # yaml-language-server: $schema=rocm-ci.schema.json

Some checks cannot be said in a schema; `rocm-ci-gen validate` makes them all."""


@click.command("schema", epilog=_EPILOG)
def command() -> None:
    """Print the manifest's JSON Schema (2020-12), for editors."""
    from rocm_ci_gen.manifest.schema import schema_text

    click.echo(schema_text(), nl=False)
