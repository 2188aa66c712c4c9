"""The API fallback against a server on this machine: complete and certain answers only."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rocm_ci_gen.plan.changes import Changes
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.github import Api, changed_files

BASE, HEAD = "a" * 40, "b" * 40
PULL = Event("pull_request", number=7, base=BASE, head=HEAD)
PUSH = Event("push", ref="refs/heads/main", base=BASE, head=HEAD)
GROUP = Event("merge_group", base=BASE, head=HEAD)

Answer = tuple[int, object] | tuple[int, object, dict[str, str]]


class Server:
    """Answers by path; a list of answers is used up one by one."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.seen: list[tuple[str, dict[str, list[str]], dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = parse_qs(parts.query)
                outer.seen.append((parts.path, query, {key.lower(): value for key, value in self.headers.items()}))
                status, body, *headers = outer.answer(parts.path, query)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (headers[0] if headers else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, path: str, query: dict[str, list[str]]) -> Any:
        found = self.answers.get(path, (404, {"message": "Not Found"}))
        if callable(found):
            return found(query)
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def ask(server: Server, waits: list[float]) -> Callable[..., Changes]:
    def run(event: Event, **options: Any) -> Changes:
        return changed_files(Api("org/project", server.url, "t0ken", waits.append), event, **options)

    return run


def files(*names: str) -> list[dict[str, str]]:
    return [{"filename": name} for name in names]


def pull(count: int, head: str = HEAD) -> dict[str, Any]:
    return {"changed_files": count, "head": {"sha": head}}


def test_pull_request_files_by_page(server: Server, ask: Callable[..., Changes]) -> None:
    names = [f"src/{number:03}.cu" for number in range(250)]

    def page(query: dict[str, list[str]]) -> Answer:
        start = (int(query["page"][0]) - 1) * int(query["per_page"][0])
        return 200, files(*names[start : start + int(query["per_page"][0])])

    server.answers = {"/repos/org/project/pulls/7": (200, pull(250)), "/repos/org/project/pulls/7/files": page}
    found = ask(PULL)
    assert found == Changes(tuple(names), None, BASE, HEAD, "api")
    assert [query.get("page") for _, query, _ in server.seen] == [None, ["1"], ["2"], ["3"]]
    assert {headers["authorization"] for _, _, headers in server.seen} == {"Bearer t0ken"}


def test_a_moved_file_counts_in_both_places(server: Server, ask: Callable[..., Changes]) -> None:
    moved = [{"filename": "lib/a.cu", "previous_filename": "src/a.cu", "status": "renamed"}]
    server.answers = {
        "/repos/org/project/pulls/7": (200, pull(1)),
        "/repos/org/project/pulls/7/files": (200, moved),
    }
    assert ask(PULL).paths == ("lib/a.cu", "src/a.cu")


@pytest.mark.parametrize(
    ("answer", "listed", "doubt"),
    [
        (pull(1, head="c" * 40), files("a"), "GitHub's API: the pull request has moved on since this event"),
        (pull(3), files("a", "b"), "GitHub's API: it listed 2 of 3 changed files"),
        (pull(3000), [], "GitHub's API: it lists at most 3,000 files, and 3,000 changed"),
        ({"head": {"sha": HEAD}}, [], "GitHub's API: the pull request does not say how many files changed"),
        ([], [], "GitHub's API: the pull request has an unknown shape"),
        (pull(1), {"message": "x"}, "GitHub's API: the list of files has an unknown shape"),
        (pull(1), [{"sha": "x"}], "GitHub's API: a changed file has no name"),
        (pull(1), ["x"], "GitHub's API: a file has an unknown shape"),
        (pull(1), b"<html>", "GitHub's API: the answer to /pulls/7/files is not JSON"),
    ],
)
def test_an_answer_that_is_not_certain_is_a_doubt(
    server: Server, ask: Callable[..., Changes], answer: object, listed: object, doubt: str
) -> None:
    server.answers = {
        "/repos/org/project/pulls/7": (200, answer),
        "/repos/org/project/pulls/7/files": (200, listed),
    }
    found = ask(PULL)
    assert found.paths is None
    assert found.doubt == doubt


@pytest.mark.parametrize("event", [PUSH, GROUP])
@pytest.mark.parametrize(
    ("status", "names", "expected"),
    [
        ("ahead", ["b", "a"], ("a", "b")),
        ("identical", [], ()),
        ("diverged", ["a"], "the head is diverged of the base, so the comparison is not the change"),
        ("behind", [], "the head is behind of the base, so the comparison is not the change"),
        ("ahead", [str(number) for number in range(300)], "a comparison lists at most 300 files"),
    ],
)
def test_compare(
    server: Server, ask: Callable[..., Changes], event: Event, status: str, names: list[str], expected: object
) -> None:
    server.answers = {f"/repos/org/project/compare/{BASE}...{HEAD}": (200, {"status": status, "files": files(*names)})}
    found = ask(event)
    assert (found.paths or found.doubt or ()) == (
        expected if isinstance(expected, tuple) else f"GitHub's API: {expected}"
    )


def test_a_vetted_pull_request_is_compared_with_the_default_branch(server: Server, ask: Callable[..., Changes]) -> None:
    event = Event("push", ref="refs/heads/pull-request/7", base=BASE, head=HEAD, default_branch="main")
    path = f"/repos/org/project/compare/main...{HEAD}"
    server.answers = {path: (200, {"status": "diverged", "files": files("a")})}
    assert ask(event, mirror=True).paths == ("a",)
    server.answers = {path: (200, {"status": "identical", "files": []})}
    assert ask(event, mirror=True).paths is None


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_a_passing_trouble_is_tried_again(
    server: Server, ask: Callable[..., Changes], waits: list[float], status: int
) -> None:
    path = f"/repos/org/project/compare/{BASE}...{HEAD}"
    good = (200, {"status": "ahead", "files": files("a")})
    server.answers = {path: [(status, {}), (status, {}, {"Retry-After": "3"}), good]}
    assert ask(PUSH).paths == ("a",)
    assert waits == [1.0, 3.0]


def test_the_number_of_attempts_is_bounded(server: Server, ask: Callable[..., Changes], waits: list[float]) -> None:
    server.answers = {"/repos/org/project/pulls/7": (503, {})}
    assert ask(PULL).doubt == "GitHub's API: HTTP 503 for /pulls/7, 3 times"
    assert len(server.seen) == 3
    assert waits == [1.0, 2.0]


def test_a_long_wait_is_not_waited_for(server: Server, ask: Callable[..., Changes], waits: list[float]) -> None:
    server.answers = {"/repos/org/project/pulls/7": (403, {}, {"Retry-After": "3600"})}
    assert ask(PULL).doubt == "GitHub's API: HTTP 403 for /pulls/7: asked to wait 3600 s"
    assert waits == []


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_not_tried_again(server: Server, ask: Callable[..., Changes], status: int) -> None:
    server.answers = {"/repos/org/project/pulls/7": (status, {})}
    assert ask(PULL).doubt == f"GitHub's API: HTTP {status} for /pulls/7"
    assert len(server.seen) == 1


def test_nobody_answers(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    closed = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = closed.server_port
    closed.server_close()
    found = changed_files(Api("org/project", f"http://127.0.0.1:{port}", "", waits.append), PULL)
    assert found.doubt == "GitHub's API: no answer (ConnectionError), 3 times"


@pytest.mark.parametrize(
    ("event", "doubt"),
    [
        (Event("pull_request", head=HEAD), "GitHub's API: the event names no pull request"),
        (Event("push", base="0" * 40, head=HEAD), "GitHub's API: the event names no commits to compare"),
        (Event("push", base=BASE), "GitHub's API: the event names no commits to compare"),
        (Event("schedule"), "the API is not asked about schedule"),
    ],
)
def test_nothing_to_ask_about(server: Server, ask: Callable[..., Changes], event: Event, doubt: str) -> None:
    assert ask(event).doubt == doubt
    assert server.seen == []


@pytest.mark.parametrize("name", ["../../user", "a b", "main?x=1", "a..b", "-main"])
def test_a_name_never_becomes_another_url(server: Server, ask: Callable[..., Changes], name: str) -> None:
    event = Event("push", base=BASE, head=HEAD, default_branch=name)
    assert ask(event, mirror=True).paths is None
    assert server.seen == []


@pytest.mark.parametrize(
    ("repository", "url"),
    [("org", "http://127.0.0.1:1"), ("a/b/c", "http://127.0.0.1:1"), ("org/project", "file:///x")],
)
def test_only_a_repository_and_a_web_address(repository: str, url: str) -> None:
    assert changed_files(Api(repository, url), PULL).paths is None


def test_from_environ() -> None:
    api = Api.from_environ({"GITHUB_API_URL": "https://ghe.example/api/v3/", "INPUT_GITHUB_TOKEN": "x"}, "org/project")
    assert (api.url, api.token) == ("https://ghe.example/api/v3", "x")
    assert Api.from_environ({}, "org/project", "y").url == "https://api.github.com"
    assert "s3cret" not in repr(Api("org/project", token="s3cret"))
