"""What the YAML parser says about broken text, in words for somebody who writes YAML now and then."""

from __future__ import annotations

from rocm_ci_gen.manifest.words import printable

# Beginnings of the messages of ruamel.yaml's scanner and parser -> what to say, and the fix.
_MEANINGS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a second `: ` in one line, or a line that is indented too far",
        "put a value that contains `: ` in quotes, or align the line with the key above",
    ),
    ("could not find expected ':'", "a key without a colon", "write `key: value`; check the line above too"),
    ("did not find expected key", "the indentation does not match the lines above", "align the keys of one mapping"),
    (
        "expected <block end>",
        "the indentation does not match the lines above, or a `[` or `{` is not closed",
        "align the line with its neighbours",
    ),
    ("expected ',' or ']'", "a list in `[ ]` is not closed, or a comma is missing", "close it with `]`"),
    ("expected ',' or '}'", "a mapping in `{ }` is not closed, or a comma is missing", "close it with `}`"),
    ("found unexpected end of stream", "a quote is not closed", "close the text with the same quote"),
    ("found undefined alias", "an alias that names no anchor", "write the value out"),
    (
        "found unknown escape character",
        "a backslash in double quotes starts an escape that YAML does not have",
        "use single quotes, or write `\\\\`",
    ),
    ("expected escape sequence", "an escape in double quotes is not complete", "use single quotes, or write `\\\\`"),
    ("found undefined tag handle", "a `!` starts a YAML tag", "put the value in quotes"),
    ("sequence entries are not allowed", "a list entry `- ` cannot stand here", "start it on a line of its own"),
    ("block sequence entries are not allowed", "a list entry `- ` cannot stand here", "start it on a line of its own"),
    ("mapping keys are not allowed", "`? ` starts a key here", "put the value in quotes"),
    ("while scanning for the next token", "a character that cannot start a value", "put the value in quotes"),
)


def explain(problem: str, text: str, offset: int) -> tuple[str, str]:
    """Message and fix for a problem that the parser found at an offset of the text."""
    found = text[offset : offset + 1]
    if found == "\t" or "'\\t'" in problem:
        return "a tab cannot indent YAML or start a value", "use spaces"
    for beginning, message, fix in _MEANINGS:
        if problem.startswith(beginning):
            return message, fix
    if found in ("@", "`", "%", "&", "*", "!", "|", ">"):
        return f"a value cannot start with {found!r} here", "put the value in quotes"
    said = printable(problem.strip()) or "unexpected text"
    return (
        f"this is not valid YAML: {said[:200]}",
        "check the quotes, brackets and indentation here and in the line above",
    )
