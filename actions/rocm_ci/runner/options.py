"""How every command takes its options: from the command line, or from the `INPUT_…` variables that an action sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    AnyParamType = click.ParamType[Any]
else:  # click before 8.5 has no type parameter there
    AnyParamType = click.ParamType

PREFIX = "INPUT"

CONTEXT_SETTINGS: dict[str, Any] = {
    "auto_envvar_prefix": PREFIX,
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
}
"""For `@click.command(…, context_settings=CONTEXT_SETTINGS)`: option `--fail-on` is also the variable INPUT_FAIL_ON.

An empty variable is an input that was not given. An argument needs `envvar="INPUT_…"` of its own.
"""


class Lines(AnyParamType):
    """A value of an option or argument that may be given several times; in a variable, one value a line.

    Args:
        inner: the type of one value.
    """

    name = "text"

    def __init__(self, inner: AnyParamType | None = None) -> None:
        self.inner = inner or click.STRING
        self.name = self.inner.name

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The lines that are not blank, without the white space around them."""
        return [line.strip() for line in (rv or "").splitlines() if line.strip()]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """One value, as the inner type has it."""
        return self.inner.convert(value, param, ctx)


LINES = Lines()

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(AnyParamType):
    """A time such as `90s`, `15m` or `500ms`, in seconds; the manifest has the same form."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds as a float."""
        match = re.fullmatch(r"([1-9][0-9]{0,5})(ms|s|m|h)", str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no time; write a number with ms, s, m or h, such as 15m", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


timeout_option = click.option(
    "--timeout", type=Duration(), metavar="T", help="Time limit of the check, as 15m; a longer one has failed."
)
"""The option behind `run_stage(timeout=…)`."""

report_option = click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the JSON report here instead of the runner's temporary folder.",
)
"""The option that every stage has."""


def own_inputs() -> frozenset[str]:
    """Names of the variables that the running command takes as options; see `RunnerEnv.from_environ`."""
    context = click.get_current_context(silent=True)
    if context is None:
        return frozenset()
    names = {f"{PREFIX}_{param.name.upper()}" for param in context.command.params if param.name}
    for param in context.command.params:
        names.update([param.envvar] if isinstance(param.envvar, str) else param.envvar or ())
    return frozenset(names)
