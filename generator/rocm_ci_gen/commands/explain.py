"""`rocm-ci-gen explain`: what a manifest key does."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  rocm-ci-gen explain                              all keys
  rocm-ci-gen explain stages.kernel-tests.shards   one key
  rocm-ci-gen explain timeout                      a key wherever it occurs
  rocm-ci-gen explain image-latest                 a check that `validate` names in brackets"""


@click.command("explain", epilog=_EPILOG)
@click.argument("key", required=False)
def command(*, key: str | None) -> None:
    """Say what a manifest key does, with its default and an example; without KEY, list the keys."""
    from rocm_ci_gen.manifest.explain import explain, overview

    click.echo(overview() if key is None else explain(key))
