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
_TOKENS = (
    r"\bhf_[A-Za-z0-9]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{12,}=*",
)
# User information of a URL (RFC 3986, section 3.2.1). `git@` alone is no secret.
_URL = r"(?<=://)(?!git@)[^\s/?#\"'\\<>]{1,512}(?=@[\w.\[-])"
_PATTERN = re.compile("|".join((*_TOKENS, _URL)))

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
        alternatives = [re.escape(value) for value in self.values]
        self._pattern = re.compile("|".join((*alternatives, _PATTERN.pattern))) if alternatives else _PATTERN

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        return self._pattern.sub(MASK, text)

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
