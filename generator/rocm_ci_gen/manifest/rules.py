"""Every check of a manifest by name: how severe it is, and what it is about (docs/manifest.md prints this)."""

from __future__ import annotations

from rocm_ci_gen.manifest.findings import Severity

RULES: dict[str, tuple[Severity, str]] = {
    "too-large": ("error", "The file, a line, the nesting or the number of values is far beyond what a manifest has."),
    "not-utf8": ("error", "The file is not UTF-8."),
    "control-character": ("error", "A control character, NUL, or a character that changes the direction of the text."),
    "yaml-syntax": ("error", "The file is not YAML."),
    "yaml-tag": ("error", "A YAML tag (`!!python/…`, `!custom`)."),
    "yaml-version": ("error", "A `%YAML` line that asks for another version than 1.2."),
    "several-documents": ("error", "A second YAML document (`---`) in the file."),
    "empty": ("error", "The file has no content."),
    "alias": ("error", "An alias that names nothing, itself, or something that cannot be merged."),
    "number": ("error", "A number that is not finite, or has more than 18 digits."),
    "duplicate-key": ("error", "A key given twice in one mapping; YAML readers disagree about which one counts."),
    "not-a-key": ("error", "A list, a mapping or nothing where a key belongs."),
    "newer-version": ("error", "The manifest is newer than this release."),
    "older-version": ("error", "The manifest is older; `rocm-ci-gen update` moves it."),
    "unknown-version": ("error", "A version that never existed."),
    "type": ("error", "Text where a number belongs, a number where a list belongs, and so on."),
    "value": ("error", "A value that the key does not take."),
    "empty-value": ("error", "An empty list, mapping or text."),
    "missing-key": ("error", "A key that must be given."),
    "unknown-key": ("error", "A key that does not exist here."),
    "name": ("error", "A name of your own with characters that it cannot have."),
    "repeated": ("error", "An entry of a list given twice."),
}


def severity(rule: str) -> Severity:
    """Severity of a check."""
    return RULES[rule][0]
