"""Parsers of what AMD's own tools print; text in, values out.

The tools are a fallback and a cross-check: sysfs and KFD come first. A parser never raises and never makes a number up:
it gives values, each None with a reason in `unknown`, or `Unknown` when the text is no answer at all. Exit codes are no
help: the tools exit 0 after most failures.

Give a text as it was printed, with its last line feed: what follows the last one is taken to be cut off.
"""
