"""The `rocm-ci` command: one subcommand an action, each imported only when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from rocm_ci import __version__
from rocm_ci.availability import AVAILABLE_COMMANDS
from rocm_ci.command_group import CommandGroup, LazyCommand, print_error
from rocm_ci.runner.errors import Code, InfraError, RocmCiError, UsageError

COMMANDS = {
    "setup-rocm-container": LazyCommand(
        "rocm_ci.setup_rocm_container.command", "Check that this node and container are fit for ROCm work."
    ),
    "hipify-check": LazyCommand("rocm_ci.hipify_check.command", "Find CUDA calls that HIP cannot serve."),
    "kernel-tests": LazyCommand(
        "rocm_ci.kernel_tests.command", "Run kernel tests and benchmarks on the GPUs of this node."
    ),
    "sglang-regression": LazyCommand(
        "rocm_ci.sglang_regression.command", "Serve a model and compare its speed with a baseline."
    ),
    "vram-probe": LazyCommand("rocm_ci.vram_probe.command", "Watch GPU memory while a command runs; find leaks."),
    "gate": LazyCommand("rocm_ci.gate.command", "Decide the one required check from all jobs and their evidence."),
    "verdict": LazyCommand("rocm_ci.runner.command", "End what a stage left running and exit with its code."),
}
STAGES = frozenset(COMMANDS) - {"verdict"}
"""Subcommands that leave a record, also when their options are wrong."""

NOT_BUILT = {
    "triage": "Find the first cause in a log: the node's fault or the code's.",
    "report": "Join the reports of all stages into one.",
    "baseline": "Keep performance baselines and compare with them.",
}
"""Names that are kept for a later version."""

_EPILOG = """\b
Examples:
  rocm-ci hipify-check src                       which CUDA calls can HIP not serve?
  rocm-ci hipify-check --explain HIP101          what a rule means

\b
Exit codes: 0 passed, 1 the code under test failed, 2 wrong use, 3 the node or its environment
is at fault; 128 + N when signal N stopped it (130 for Ctrl-C)."""


class StageGroup(CommandGroup):
    """The subcommands; in an action their errors also reach the record, where the second step finds them."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand, or stand in for one that a later version has.

        Raises:
            InfraError: its module cannot be imported.
        """
        if cmd_name in NOT_BUILT:
            return _not_built(cmd_name)
        try:
            return super().get_command(ctx, cmd_name)
        except ImportError as error:
            raise InfraError(
                f"rocm-ci {cmd_name} cannot be loaded: {error}",
                help="the installation is incomplete; install rocm-ci again",
            ) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; an unknown name gets the nearest known one as advice."""
        names = [*COMMANDS, *NOT_BUILT]
        if args and not args[0].startswith("-") and args[0] not in names:
            from difflib import get_close_matches

            near = get_close_matches(args[0], names, n=1)
            advice = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands, then those that this version does not have."""
        del ctx
        absent = {name: entry.short_help for name, entry in COMMANDS.items() if name not in AVAILABLE_COMMANDS}
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.short_help) for name, entry in COMMANDS.items() if name not in absent])
        with formatter.section("Not available in this version (exit code 2)"):
            formatter.write_dl([*absent.items(), *NOT_BUILT.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; `main` handles its errors, for it knows the command line."""
        return click.Group.invoke(self, ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; the exit code, or in standalone mode the process's end."""
        words = list(sys.argv[1:] if args is None else args)
        code = self._run(words, prog_name or "rocm-ci", complete_var, extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def _run(self, words: list[str], prog_name: str, complete_var: str | None, extra: dict[str, Any]) -> int:
        if words and words[0] in STAGES:
            # Whatever becomes of this run, `verdict` must not take an older one's record for its.
            from rocm_ci.runner.foreign import forget_record

            forget_record(words[0])
        try:
            result = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            if _deferred(words):
                return _fail(words, _usage_error(error))
            error.show()
            return int(Code.USAGE)
        except RocmCiError as error:
            if _deferred(words):
                return _fail(words, error)
            print_error(error)
            return int(error.code)
        except BrokenPipeError:
            # The reader (`| head`) went away: what it wanted to see it has seen. Not a result of the check.
            return int(Code.INFRA)
        except click.Abort:
            click.echo("stopped", err=True)
            return 128 + 2
        except OSError as error:
            unwritten = InfraError(f"cannot write the output: {(error.strerror or str(error)).lower()}")
            print_error(unwritten)
            return int(Code.INFRA)
        except Exception as error:  # ours, before a stage could run and report it
            broken = InfraError(
                f"internal error of rocm-ci: {type(error).__name__}: {error}", help="please report this"
            )
            if _deferred(words):
                return _fail(words, broken)
            print_error(broken)
            return int(Code.INFRA)
        return result if isinstance(result, int) else int(Code.PASSED)


@click.group(
    "rocm-ci",
    cls=StageGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="rocm-ci")
def main() -> None:
    """CI checks on real AMD GPUs: on a laptop, in GitHub Actions, GitLab CI and Jenkins."""


def _deferred(words: Sequence[str]) -> bool:
    from rocm_ci.runner.environ import RunnerEnv

    return bool(words) and words[0] in STAGES and RunnerEnv.from_environ(os.environ).deferred


def _fail(words: Sequence[str], error: RocmCiError) -> int:
    from rocm_ci.runner.stage import fail_stage

    return fail_stage(words[0], error)


def _usage_error(error: click.ClickException) -> RocmCiError:
    context = getattr(error, "ctx", None)
    name = context.command_path if isinstance(context, click.Context) else "rocm-ci"
    return UsageError(error.format_message(), help=f"`{name} --help` lists the options")


def _not_built(name: str) -> click.Command:
    @click.command(
        name,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        add_help_option=False,
        help=NOT_BUILT[name],
    )
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def command(rest: tuple[str, ...]) -> NoReturn:
        del rest
        from rocm_ci.runner.unavailable import not_available

        raise not_available(f"rocm-ci {name}", "`rocm-ci --help` lists what this version has")

    return command
