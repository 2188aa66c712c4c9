"""The label on the pull request, where the user asked for it and the token permits it.

Source: GitHub's REST documentation, "Add labels to an issue" (a pull request is an issue there; a label that does not
exist yet is made). A token of a pull request from a fork may only read: that is told, and is no failure.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from rocm_ci.runner.annotations import Annotation

_TIMEOUT = 15.0
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+(/[A-Za-z0-9._/-]*)?")


def add(label: str, environ: Mapping[str, str]) -> Annotation | None:
    """Set `label` on the pull request of this job; what a person should know about it, or None when it is set."""
    number = pull_request(environ)
    if number is None:
        return _notice("there is no pull request to put the label on")
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""
    if not token:
        return _notice("the label is not set: GITHUB_TOKEN is not in this step's environment")
    repository = environ.get("GITHUB_REPOSITORY", "")
    url = environ.get("GITHUB_API_URL") or "https://api.github.com"
    if not _REPOSITORY.fullmatch(repository) or not _URL.fullmatch(url):
        return _notice("the label is not set: the repository or the API is not named as it should be")
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked
        f"{url.rstrip('/')}/repos/{repository}/issues/{number}/labels",
        data=json.dumps({"labels": [label]}).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "User-Agent": "rocm-ci",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 - the scheme was checked
            answer.read(65536)
    except urllib.error.HTTPError as error:
        with error:
            why = f"HTTP {error.code}"
        if error.code in {401, 403, 404}:
            why += "; the token may not write: a pull request of a fork, or no `pull-requests: write`"
        return _notice(f"the label is not set: {why}")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return _notice(f"the label is not set: the API cannot be reached ({reason})")
    return None


def pull_request(environ: Mapping[str, str]) -> int | None:
    """Number of the pull request that this job runs for; None where there is none."""
    path = environ.get("GITHUB_EVENT_PATH", "")
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        event = {}
    pull = event.get("pull_request") if isinstance(event, dict) else None
    number = pull.get("number") if isinstance(pull, dict) else None
    if isinstance(number, int) and not isinstance(number, bool) and number > 0:
        return number
    found = re.fullmatch(r"refs/pull/([0-9]{1,9})/(?:merge|head)", environ.get("GITHUB_REF", ""))
    return int(found[1]) if found else None


def _notice(text: str) -> Annotation:
    return Annotation("notice", text, title="vram-probe")
