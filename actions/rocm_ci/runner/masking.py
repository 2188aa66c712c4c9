"""Secrets never leave through us: every text that is printed, written or output is redacted first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

MASK = "***"
_SHORTEST_SECRET = 8

# Forms of tokens, each from its issuer's documentation:
#   GitHub  https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
#   Hugging Face  https://huggingface.co/docs/hub/security-tokens
#   AWS     https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html (unique ids: AKIA, ASIA)
# Each begins with plain characters and looks back from there, which lets the engine skip quickly: every report passes
# through here, and some have megabytes.
_TOKENS = (
    r"hf_(?<=\bhf_)[A-Za-z0-9]{16,}",
    r"gh[pousr]_(?<=\bgh[pousr]_)[A-Za-z0-9]{20,}",
    r"github_pat_(?<=\bgithub_pat_)[A-Za-z0-9_]{20,}",
    r"AKIA(?<=\bAKIA)[A-Z0-9]{16}\b",
    r"ASIA(?<=\bASIA)[A-Z0-9]{16}\b",
)
_BEARER = r"earer (?<=[Bb]earer )[A-Za-z0-9._~+/-]{12,}=*"
# User information of a URL (RFC 3986, section 3.2.1). `git@` alone is no secret.
_URL = r"://(?!git@)[^\s/?#\"'\\<>]{1,512}(?=@[\w.\[-])"
_BY_MARK = (
    (
        ("hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "ASIA"),
        re.compile("|".join(_TOKENS)),
        MASK,
    ),
    (("earer ",), re.compile(_BEARER), f"earer {MASK}"),
    (("://",), re.compile(_URL), f"://{MASK}"),
)
"""Patterns, each with the strings of which a text must hold one to be searched at all, and what takes its place."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|API_?KEY|ACCESS_KEY(?:_ID)?|SECRET_KEY|PRIVATE_KEY"
    r"|CREDENTIALS?|PAT)(?:_\d+)?$",
    re.IGNORECASE,
)

T = TypeVar("T")


class Redactor:
    """Replaces secrets by `***`: tokens by their form, and the values of variables that look secret.

    Args:
        environ: the environment whose secret-looking variables (`…_TOKEN`, `…_PASSWORD`, `…_API_KEY`, …) are hidden.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.values = secret_values(environ or {})

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        for value in self.values:  # the longest first, so that one inside another leaves no end of it
            text = text.replace(value, MASK)
        for marks, pattern, shown in _BY_MARK:
            if any(mark in text for mark in marks):
                text = pattern.sub(shown, text)
        return text

    def walk(self, value: T) -> T:
        """A JSON-like value (mappings, lists, strings, numbers) with every string in it redacted, keys too."""
        return self._walk(value)  # type: ignore[return-value]

    def _walk(self, value: object) -> object:
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {self(key) if isinstance(key, str) else key: self._walk(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._walk(item) for item in value]
        return value


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of the variables whose name says that they are secret, longest first, line by line.

    Values of fewer than 8 characters are left alone: hiding every `true` or `1` would make a log unreadable.
    """
    found: set[str] = set()
    for name, value in environ.items():
        if _SECRET_NAME.search(name):
            lines = {value.strip(), *(line.strip() for line in value.splitlines())}
            found.update(line for line in lines if len(line) >= _SHORTEST_SECRET)
    return tuple(sorted(found, key=lambda value: (-len(value), value)))
