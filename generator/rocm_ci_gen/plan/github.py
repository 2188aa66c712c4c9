"""Changed files from GitHub's API, for a checkout whose history does not tell.

Sources: GitHub's REST documentation, "List pull requests files" (at most 3,000 files) and "Compare two commits"
(three-dot comparison; at most 300 files, all on the first page). An answer that may be incomplete or about other
commits than the event's is no answer: the reason becomes the doubt, and everything runs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm_ci_gen.plan.changes import Changes, unknown
from rocm_ci_gen.plan.event import Event, is_zero

if TYPE_CHECKING:
    import requests

PULL_FILES_LIMIT = 3000
COMPARE_FILES_LIMIT = 300
_PAGE = 100
_ATTEMPTS = 3
_TIMEOUT = 20.0
_LONGEST_WAIT = 15.0
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+\Z")


class ApiError(Exception):
    """The API gave no usable answer; the text says why, in one line."""


@dataclass(frozen=True)
class Api:
    """GitHub's REST API for one repository.

    Attributes:
        repository: `owner/name`.
        url: root of the API, `$GITHUB_API_URL`; on GitHub Enterprise Server it is the server's own.
        token: token to authenticate with, or empty.
        sleep: waits between attempts.
    """

    repository: str
    url: str = "https://api.github.com"
    token: str = field(default="", repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], repository: str, token: str = "") -> Api:
        """The API that the runner's environment names."""
        url = environ.get("GITHUB_API_URL") or "https://api.github.com"
        return cls(repository, url.rstrip("/"), token or environ.get("INPUT_GITHUB_TOKEN", ""))

    def get(self, path: str, **params: int) -> object:
        """GET `path` below the repository; decoded JSON.

        A server error, too many requests and a broken connection are tried again, a bounded number of times.

        Raises:
            ApiError: there is no answer, or it is not JSON.
        """
        import requests

        if not _REPOSITORY.match(self.repository):
            raise ApiError(f"{self.repository!r} is no repository name")
        if not self.url.startswith(("https://", "http://")):
            raise ApiError(f"GITHUB_API_URL is no URL: {self.url!r}")
        reason = ""
        for attempt in range(_ATTEMPTS):
            wait = 2.0**attempt
            try:
                response = requests.get(
                    f"{self.url}/repos/{self.repository}{path}",
                    params=params,
                    headers=self._headers(),
                    timeout=_TIMEOUT,
                )
            except (requests.ConnectionError, requests.Timeout) as error:
                reason = f"no answer ({type(error).__name__})"
            except requests.RequestException as error:
                raise ApiError(f"{type(error).__name__}: {path}") from error
            else:
                if response.status_code < 400:
                    return _decoded(response, path)
                reason = f"HTTP {response.status_code} for {path}"
                limited = response.status_code == 429 or "Retry-After" in response.headers
                if response.status_code < 500 and not limited:
                    raise ApiError(reason)
                wait = _retry_after(response.headers.get("Retry-After"), wait)
                if wait > _LONGEST_WAIT:
                    raise ApiError(f"{reason}: asked to wait {wait:g} s")
            if attempt + 1 < _ATTEMPTS:
                self.sleep(wait)
        raise ApiError(f"{reason}, {_ATTEMPTS} times")

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers


def changed_files(api: Api, event: Event, *, mirror: bool = False) -> Changes:
    """The files that an event changes, by the API; a `doubt` where the answer is not complete or not certain."""
    try:
        if event.name == "pull_request":
            paths = _pull_request_files(api, event)
        elif mirror:
            paths = _compared_files(api, event.default_branch, event.head, allowed=("ahead", "diverged"))
        elif event.name in ("push", "merge_group"):
            # The comparison is three-dot; only when the head follows the base is it the two-dot one that is wanted.
            paths = _compared_files(api, event.base, event.head, allowed=("ahead", "identical"))
        else:
            return unknown(f"the API is not asked about {event.name}")
    except ApiError as error:
        return unknown(f"GitHub's API: {error}")
    return Changes(tuple(paths), None, event.base, event.head, "api")


def _pull_request_files(api: Api, event: Event) -> list[str]:
    if event.number is None or event.head is None:
        raise ApiError("the event names no pull request")
    pull = _object(api.get(f"/pulls/{event.number}"), "the pull request")
    head = _object(pull.get("head"), "its head")
    if head.get("sha") != event.head:
        raise ApiError("the pull request has moved on since this event")
    count = pull.get("changed_files")
    if not isinstance(count, int):
        raise ApiError("the pull request does not say how many files changed")
    if count >= PULL_FILES_LIMIT:
        raise ApiError(f"it lists at most {PULL_FILES_LIMIT:,} files, and {count:,} changed")
    files: list[object] = []
    for page in range(1, PULL_FILES_LIMIT // _PAGE + 1):
        found = _list(api.get(f"/pulls/{event.number}/files", per_page=_PAGE, page=page))
        files.extend(found)
        if len(found) < _PAGE:
            break
    if len(files) != count:
        raise ApiError(f"it listed {len(files):,} of {count:,} changed files")
    return _paths(files)


def _compared_files(api: Api, base: str | None, head: str | None, *, allowed: Sequence[str]) -> list[str]:
    if base is None or head is None or is_zero(base) or is_zero(head):
        raise ApiError("the event names no commits to compare")
    if not all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*", name) and ".." not in name for name in (base, head)):
        raise ApiError(f"{base!r} and {head!r} cannot be compared by name")
    comparison = _object(api.get(f"/compare/{base}...{head}", per_page=1), "the comparison")
    status = comparison.get("status")
    if status not in allowed:
        raise ApiError(f"the head is {status} of the base, so the comparison is not the change")
    files = _list(comparison.get("files"))
    if len(files) >= COMPARE_FILES_LIMIT:
        raise ApiError(f"a comparison lists at most {COMPARE_FILES_LIMIT} files")
    return _paths(files)


def _paths(files: Sequence[object]) -> list[str]:
    """Paths of the API's file entries; of a moved file both places, as git without rename detection says."""
    paths: dict[str, None] = {}
    for entry in files:
        file = _object(entry, "a file")
        name, previous = file.get("filename"), file.get("previous_filename")
        if not isinstance(name, str) or not name:
            raise ApiError("a changed file has no name")
        paths[name] = None
        if isinstance(previous, str) and previous:
            paths[previous] = None
    return sorted(paths)


def _decoded(response: requests.Response, path: str) -> object:
    try:
        decoded: object = response.json()
    except (ValueError, RecursionError) as error:
        raise ApiError(f"the answer to {path} is not JSON") from error
    return decoded


def _object(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ApiError(f"{what} has an unknown shape")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ApiError("the list of files has an unknown shape")
    return value


def _retry_after(header: str | None, default: float) -> float:
    try:
        return max(0.0, float(header)) if header else default
    except ValueError:
        return default
