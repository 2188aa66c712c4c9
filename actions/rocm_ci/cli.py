"""The `rocm-ci` command: one subcommand an action, each imported only when it runs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

import click

from rocm_ci.runner.errors import Code, InfraError, RocmCiError, UsageError
from rocm_ci.runner.options import CONTEXT_SETTINGS
from rocm_ci.runner.version import VERSION

SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "setup-rocm-container": (
        "rocm_ci.setup_rocm_container.command",
        "Check that this node and container are fit for ROCm work.",
    ),
    "hipify-check": (
        "rocm_ci.hipify_check.command",
        "Find CUDA calls that HIP cannot serve.",
    ),
    "kernel-tests": (
        "rocm_ci.kernel_tests.command",
        "Run kernel tests and benchmarks on the GPUs of this node.",
    ),
    "sglang-regression": (
        "rocm_ci.sglang_regression.command",
        "Serve a model and compare latency and throughput with a baseline.",
    ),
    "vram-probe": (
        "rocm_ci.vram_probe.command",
        "Watch GPU memory while a command runs; find leaks.",
    ),
    "gate": (
        "rocm_ci.gate.command",
        "Decide the one required check from all jobs and their evidence.",
    ),
    "verdict": (
        "rocm_ci.runner.command",
        "End what a stage left running and exit with its code.",
    ),
}
"""Name → (module that has `command`, short help)."""

NOT_BUILT: dict[str, str] = {
    "triage": "Find the first cause in a log, and whether it is the node's or the code's.",
    "report": "Join the reports of all stages into one.",
    "baseline": "Keep and compare performance baselines.",
}
"""Names that a later version has."""

STAGES = frozenset(SUBCOMMANDS) - {"verdict"}
"""Subcommands that leave a record, also when their options are wrong."""

EPILOG = """\b
Exit codes: 0 passed, 1 the code under test failed, 2 wrong use, 3 the node or its
environment is at fault; 128 + N when signal N stopped it (130 for Ctrl-C).

\b
Example:
  rocm-ci hipify-check src --fail-on unsupported
"""


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they are run; `--help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names in the order of a job."""
        return [*SUBCOMMANDS, *NOT_BUILT]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one subcommand.

        Raises:
            InfraError: its module cannot be imported; the installation is broken.
        """
        if cmd_name in NOT_BUILT:
            return _not_built(cmd_name)
        if cmd_name not in SUBCOMMANDS:
            return None
        module_name, _ = SUBCOMMANDS[cmd_name]
        try:
            command = importlib.import_module(module_name).command
        except ImportError as error:
            raise InfraError(
                f"rocm-ci {cmd_name} cannot be loaded: {error}",
                help="the installation is incomplete; install rocm-ci again",
            ) from error
        if not isinstance(command, click.Command):
            raise TypeError(f"{module_name}.command is no click command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; an unknown name gets the nearest known one as advice."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in SUBCOMMANDS and name not in NOT_BUILT:
            import difflib

            near = difflib.get_close_matches(name, [*SUBCOMMANDS, *NOT_BUILT], n=1)
            advice = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{name}'.{advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the subcommands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in SUBCOMMANDS.items()])
        with formatter.section("Not available in this version"):
            formatter.write_dl(list(NOT_BUILT.items()))


@click.group(
    "rocm-ci",
    cls=LazyGroup,
    context_settings={key: CONTEXT_SETTINGS[key] for key in ("help_option_names", "max_content_width")},
    epilog=EPILOG,
)
@click.version_option(VERSION, prog_name="rocm-ci")
def group() -> None:
    """CI checks on real AMD GPUs: on a laptop, in GitHub Actions, GitLab CI and Jenkins."""


def main(args: Sequence[str] | None = None) -> int:
    """Run `rocm-ci`; the exit code.

    Errors in the options of a stage reach its report and record too, where an action's second step finds them.
    """
    words = list(sys.argv[1:] if args is None else args)
    try:
        result = group.main(words, prog_name="rocm-ci", standalone_mode=False)
        return result if isinstance(result, int) else int(Code.PASSED)
    except click.ClickException as error:
        return _fail(words, _usage_error(error), partial(error.show, sys.stderr))
    except RocmCiError as error:
        return _fail(words, error, partial(_show, error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("rocm-ci: stopped", err=True)
        return 128 + 2
    except Exception as error:
        # Before a stage runs there is no report yet that could hold the traceback; `_fail` writes one in an action.
        broken = InfraError(f"internal error of rocm-ci: {type(error).__name__}: {error}", help="please report it")
        return _fail(words, broken, partial(_show, broken))


def _fail(words: Sequence[str], error: RocmCiError, show: Callable[[], None]) -> int:
    """Say an error that came before the stage ran: to the person, or in an action to the `verdict` step."""
    import os

    from rocm_ci.runner.environ import RunnerEnv

    if words and words[0] in STAGES and RunnerEnv.from_environ(os.environ).deferred:
        from rocm_ci.runner.stage import fail_stage

        return fail_stage(words[0], error)
    show()
    return int(error.code)


def _usage_error(error: click.ClickException) -> RocmCiError:
    context = getattr(error, "ctx", None)
    name = context.command_path if isinstance(context, click.Context) else "rocm-ci"
    return UsageError(error.format_message(), help=f"`{name} --help` lists the options")


def _show(error: RocmCiError) -> None:
    click.echo(f"rocm-ci: {error.message}", err=True)
    if error.help:
        click.echo(f"  {error.help}", err=True)


def _not_built(name: str) -> click.Command:
    @click.command(
        name,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
        add_help_option=False,
        help=NOT_BUILT[name],
    )
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def command(rest: tuple[str, ...]) -> NoReturn:
        del rest
        from rocm_ci.runner.unavailable import not_available

        raise not_available(f"rocm-ci {name}", "`rocm-ci --help` lists what this version has")

    return command
