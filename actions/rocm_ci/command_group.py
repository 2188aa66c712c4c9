"""A click group that imports a subcommand only when it is called, and prints this project's errors.

Both commands, `rocm-ci` and `rocm-ci-gen`, are such groups: `--help` must not pay for Jinja2, jsonschema
or requests.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rocm_ci import __version__
from rocm_ci.runner.errors import Code, InfraError, RocmCiError


@dataclass(frozen=True)
class LazyCommand:
    """Where a subcommand lives: the module with the attribute `command`, and its line in `--help`."""

    module: str
    short_help: str


class CommandGroup(click.Group):
    """Subcommands by name, from a table of `LazyCommand`; an error is a message and an exit code."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table, which is the order of use."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand's module now."""
        entry = self.lazy.get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        command = importlib.import_module(entry.module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.module}.command is no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands from the table, without importing one."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.short_help) for name, entry in self.lazy.items()])

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Honour NO_COLOR (https://no-color.org) for everything below; otherwise a terminal gets colours."""
        if os.environ.get("NO_COLOR"):
            extra.setdefault("color", False)
        return super().make_context(info_name, args, parent, **extra)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; output that nobody can have is an error, also where only the last flush tells.

        Raises:
            InfraError: stdout takes nothing more, or another file failed where nobody expected it; in standalone mode
                it is printed and ends the process.
        """
        try:
            try:
                return super().main(args, prog_name, complete_var, standalone_mode, **extra)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except OSError as error:
            _silence_stdout()
            if error.errno == errno.EPIPE:
                # The reader (`| head`) went away: what it wanted to see it has seen. Not a result of the check.
                if standalone_mode:
                    sys.exit(int(Code.INFRA))
                raise
            failure = _failure(error)
            if not standalone_mode:
                raise failure from error
            with contextlib.suppress(OSError):  # stderr may be as full
                print_error(failure)
            sys.exit(int(Code.INFRA))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; an error of ours becomes a message on stderr and its exit code."""
        try:
            return super().invoke(ctx)
        except RocmCiError as error:
            print_error(error)
            ctx.exit(int(error.code))
        except BrokenPipeError:
            # The reader (`| head`) went away: what it wanted to see it has seen. Not a result of the check.
            ctx.exit(int(Code.INFRA))
        except (click.ClickException, click.Abort, click.exceptions.Exit, OSError):
            raise  # click's own, and what `main` knows better
        except Exception as error:  # a fault of ours: said in one line, with where it is
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            what = f"internal error of rocm-ci {__version__}: {type(error).__name__}: {error} ({where})"
            print_error(InfraError(what, help="please report this line and the command"))
            ctx.exit(int(Code.INFRA))


def _failure(error: OSError) -> InfraError:
    reason = (error.strerror or str(error)).lower()
    if error.filename is None:  # opening a file names it; writing to a stream does not
        return InfraError(f"cannot write the output: {reason}", help="look at where stdout goes, and at its disk")
    return InfraError(f"{os.fsdecode(error.filename)}: {reason}", help="look at the file's permissions and its disk")


def _silence_stdout() -> None:
    """Let what is left in the buffer vanish: it would fail once more when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_error(error: RocmCiError) -> None:
    """Print an error and its help line to stderr; coloured on a terminal (click strips it elsewhere)."""
    click.echo(click.style("error: ", fg="red", bold=True) + str(error), err=True)
    if error.help:
        click.echo(click.style("help: ", fg="cyan") + error.help, err=True)
