"""The runner's workflow commands: lines of the form `::name key=value::data`.

Escaping is that of the runner's own toolkit (actions/toolkit, packages/core/src/command.ts).
"""

from __future__ import annotations

import re

_ZERO_WIDTH_SPACE = "\u200b"
# The runner takes a line as a command when it starts with "::" after white space, and, in the old form, wherever
# "##[" stands in it (actions/runner, src/Runner.Common/ActionCommand.cs).
_NEW_FORM = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_OLD_FORM = re.compile(r"##(?=\[)")
_STOP = re.compile(r"^(\s*):(?=:stop-commands\b)", re.MULTILINE | re.IGNORECASE)


def escape_data(value: str) -> str:
    """`value` as the data of a command: one line."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(value: str) -> str:
    """`value` as a property of a command: one line, no separators."""
    return escape_data(value).replace(":", "%3A").replace(",", "%2C")


def workflow_command(name: str, data: str = "", **properties: str | int | None) -> str:
    """A command as the runner reads it, without the line end; properties that are None are left out."""
    given = [f"{key}={escape_property(str(value))}" for key, value in properties.items() if value is not None]
    return f"::{name}{' ' if given else ''}{','.join(given)}::{escape_data(data)}"


def neutralize(text: str) -> str:
    """`text` so that no line of it is a command to the runner.

    What a check prints may quote a file of the pull request: a source line `::add-mask::a` must stay text.
    """
    if "::" in text:
        text = _NEW_FORM.sub(rf"\1:{_ZERO_WIDTH_SPACE}", text)
    if "##[" in text:
        text = _OLD_FORM.sub(f"#{_ZERO_WIDTH_SPACE}#", text)
    return text


def keep_commands_running(line: str) -> str:
    """A line of the user's own command: its commands pass (annotations, masks), only `stop-commands` does not.

    A command that stops the processing of commands and never resumes it would hide our annotations.
    """
    return _STOP.sub(rf"\1:{_ZERO_WIDTH_SPACE}", line) if "::" in line else line
