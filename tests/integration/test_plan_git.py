"""Changed files in real repositories: what git says, and where nothing certain can be said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_ci_gen.plan import git as git_module
from rocm_ci_gen.plan.changes import Changes
from rocm_ci_gen.plan.collect import collect
from rocm_ci_gen.plan.event import Event
from rocm_ci_gen.plan.git import Git, GitError, changed_files

ZERO = "0" * 40
ENVIRON = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


class Repo:
    """A repository to try things in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def git(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=ENVIRON, check=check, capture_output=True, stdin=subprocess.DEVNULL
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str], *, remove: tuple[str, ...] = ()) -> str:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name in remove:
            (self.path / name).unlink()
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def changes(self, event: Event, *, mirror: bool = False, environ: dict[str, str] | None = None) -> Changes:
        return changed_files(Git(self.path, environ or ENVIRON), event, mirror=mirror)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.git("init", "-q", "-b", "main")
    repo.commit({"src/a.cu": "a\n" * 50, "README.md": "x\n"})
    return repo


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., Repo]:
    def make(source: Repo, *options: str) -> Repo:
        target = Repo(tmp_path / "clone")
        target.git("clone", "-q", *options, f"file://{source.path}", ".")
        return target

    return make


def pull(base: str, head: str) -> Event:
    return Event("pull_request", number=1, base=base, head=head)


def push(before: str, after: str, ref: str = "refs/heads/main", **more: str) -> Event:
    return Event("push", ref=ref, base=before, head=after, started=True, **more)  # type: ignore[arg-type]


def test_a_pull_request_is_compared_with_the_merge_base(repo: Repo) -> None:
    start = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-b", "topic")
    head = repo.commit({"src/b.cu": "b"})
    repo.git("checkout", "-q", "main")
    base = repo.commit({"docs/later.md": "main moved on"})
    assert repo.changes(pull(base, head)) == Changes(("src/b.cu",), None, start, head, "git")


def test_push_and_merge_group_compare_the_two_commits(repo: Repo) -> None:
    before = repo.git("rev-parse", "HEAD")
    repo.commit({"src/b.cu": "b"})
    after = repo.commit({"src/c.cu": "c"})
    group = Event("merge_group", base=before, head=after)
    for event in (push(before, after), group):
        assert repo.changes(event) == Changes(("src/b.cu", "src/c.cu"), None, before, after, "git")
    # A forced push that goes back: what is gone has changed too.
    assert repo.changes(push(after, before)).paths == ("src/b.cu", "src/c.cu")


def test_a_moved_and_a_deleted_file_count_where_they_were(repo: Repo) -> None:
    before = repo.commit({"lib/gone.cu": "gone"})
    repo.git("config", "diff.renames", "copies")
    (repo.path / "lib" / "gone.cu").unlink()
    repo.git("mv", "src/a.cu", "lib.cu")
    after = repo.commit({})
    assert repo.changes(push(before, after)).paths == ("lib.cu", "lib/gone.cu", "src/a.cu")


def test_paths_of_any_bytes(repo: Repo) -> None:
    before = repo.git("rev-parse", "HEAD")
    names = [b"src/\xc3\xa9 \xe6\xb0\xb4.cu", b'src/"quoted"\t.cu', b"src/new\nline.cu", b"src/\xff\xfe.cu", b"src/-x"]
    for name in names:
        path = os.path.join(os.fsencode(repo.path), name)  # noqa: PTH118 - bytes
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(b"x")
    after = repo.commit({})
    found = repo.changes(push(before, after)).paths
    assert found is not None
    assert sorted(path.encode("utf-8", "surrogateescape") for path in found) == sorted(names)


def test_a_submodule_is_one_path(repo: Repo) -> None:
    before = repo.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{before},third_party/ck")
    repo.git("commit", "-q", "-m", "x")
    added = repo.git("rev-parse", "HEAD")
    repo.git("config", "diff.ignoreSubmodules", "all")
    assert repo.changes(push(before, added)).paths == ("third_party/ck",)


def test_no_difference_is_an_answer_only_between_known_commits(repo: Repo) -> None:
    head = repo.git("rev-parse", "HEAD")
    assert repo.changes(push(head, head)).paths == ()
    assert repo.changes(pull(head, head)).paths == ()
    assert repo.changes(push("1" * 40, head)).paths is None
    assert repo.changes(push(head, "1" * 40)).paths is None


@pytest.mark.parametrize(
    ("event", "doubt"),
    [
        (push(ZERO, "HEAD"), "main is new: there is no earlier commit to compare with"),
        (push("HEAD", ZERO), "the pushed branch was deleted"),
        (push(ZERO, "HEAD", "refs/tags/v1"), "v1 is a tag: paths are not compared for tags"),
        (push("1" * 40, "HEAD"), "commit 111111111111 is not in this checkout (a forced push may have removed it)"),
        (Event("push", head="HEAD"), "there is no base to compare with"),
        (Event("push", head="HEAD", doubt="the payload is not valid JSON"), "the payload is not valid JSON"),
        (push("main", "HEAD", "refs/heads/pull-request/1"), None),
    ],
)
def test_doubts(repo: Repo, event: Event, doubt: str | None) -> None:
    assert repo.changes(event).doubt == doubt


@pytest.mark.parametrize("name", ["-x", "--output=/tmp/x", "", "a b", "a\nb", "\x00", "x" * 2000])
def test_a_name_is_never_an_option(repo: Repo, name: str) -> None:
    head = repo.git("rev-parse", "HEAD")
    found = repo.changes(pull(name, head))
    assert found.paths is None
    with pytest.raises(GitError, match="no name of a commit"):
        Git(repo.path, ENVIRON).commit(name)


def test_unrelated_histories(repo: Repo) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "--orphan", "other")
    head = repo.commit({"x": "x"})
    assert repo.changes(pull(base, head)).doubt == "the two commits have no common ancestor"


def test_crossed_merges_count_what_differs_from_any_merge_base(repo: Repo) -> None:
    """Both sides merged each other: two merge bases, and the change is only visible from one of them."""
    start = repo.git("rev-parse", "HEAD")
    left = repo.commit({"left.cu": "1"})
    repo.git("checkout", "-q", "-b", "topic", start)
    right = repo.commit({"right.cu": "1"})
    repo.git("merge", "-q", "--no-edit", left)
    head = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", right)
    base = repo.git("rev-parse", "HEAD")
    assert len(Git(repo.path, ENVIRON).merge_bases(base, head)) == 2
    found = repo.changes(pull(base, head)).paths
    assert found is not None
    assert set(found) == {"left.cu", "right.cu"}


def test_shallow_checkouts(repo: Repo, clone: Callable[..., Repo]) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-b", "topic")
    middle = repo.commit({"src/b.cu": "b"})
    head = repo.commit({"src/c.cu": "c"})
    one = clone(repo, "--depth", "2", "--branch", "topic")
    expected = f"commit {base[:12]} is not in this checkout (the checkout is shallow; fetch-depth: 0 gets all)"
    assert one.changes(replace(pull(base, head), started=True)).doubt == expected
    uncertain = "the checkout is shallow, so the merge base is not certain (fetch-depth: 0 gets all)"
    assert one.changes(replace(pull(middle, head), started=True)).doubt == uncertain
    # On a laptop nobody sets fetch-depth.
    offline = "the clone is shallow, so the merge base is not certain (`git fetch --unshallow` gets all)"
    assert one.changes(pull(middle, head)).doubt == offline
    # Two commits that are both here can be compared with each other whatever is cut off behind them.
    assert one.changes(push(middle, head)).paths == ("src/c.cu",)


def test_a_checkout_without_file_contents_is_enough(repo: Repo, clone: Callable[..., Repo]) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    base = repo.git("rev-parse", "HEAD")
    head = repo.commit({"src/b.cu": "b"})
    partial = clone(repo, "--filter=blob:none", "--no-checkout")
    repo.path.rename(repo.path.with_name("gone"))  # nothing can be fetched any more
    assert partial.changes(pull(base, head)).paths == ("src/b.cu",)


def test_a_vetted_pull_request_is_compared_with_the_default_branch(repo: Repo, clone: Callable[..., Repo]) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-b", "pull-request/7")
    before = repo.commit({"src/b.cu": "b"})
    after = repo.commit({"docs/x.md": "c"})
    repo.git("checkout", "-q", "main")
    repo.commit({"later": "x"})
    checkout = clone(repo)
    event = push(before, after, "refs/heads/pull-request/7", default_branch="main")
    assert checkout.changes(event, mirror=True) == Changes(("docs/x.md", "src/b.cu"), None, base, after, "git")
    nameless = push(before, after, "refs/heads/pull-request/7")
    assert checkout.changes(nameless, mirror=True).doubt == "the payload does not name the default branch"


def test_a_vetted_pull_request_that_is_merged_already_has_nothing_to_compare_with(
    repo: Repo, clone: Callable[..., Repo]
) -> None:
    head = repo.commit({"src/b.cu": "b"})
    event = push(ZERO, head, "refs/heads/pull-request/7", default_branch="main")
    doubt = clone(repo).changes(event, mirror=True).doubt
    assert doubt == f"{head[:12]} is already part of the default branch: there is nothing to compare with"


def test_the_environment_and_configuration_of_others_change_nothing(repo: Repo, tmp_path: Path) -> None:
    before = repo.git("rev-parse", "HEAD")
    after = repo.commit({"src/b.cu": "b", "top": "x"})
    other = Repo(tmp_path / "other")
    other.git("init", "-q")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[diff]\n\torderFile = /absent\n", encoding="utf-8")
    for setting in ("diff.relative=true", "diff.external=false", "core.quotePath=true", "diff.noprefix=true"):
        repo.git("config", *setting.split("="))
    environ = ENVIRON | {
        "HOME": str(home),
        "GIT_DIR": str(other.path / ".git"),
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_DIFF_OPTS": "-u0",
        "GIT_TRACE": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "LC_ALL": "de_DE.UTF-8",
    }
    (repo.path / "src").mkdir(exist_ok=True)
    below = Git(repo.path / "src", environ)
    assert changed_files(below, push(before, after)).paths == ("src/b.cu", "top")


def test_no_repository_and_no_git(tmp_path: Path, repo: Repo) -> None:
    head = repo.git("rev-parse", "HEAD")
    outside = Repo(tmp_path / "outside")
    assert "not a git repository" in str(outside.changes(pull(head, head)).doubt)
    assert str(repo.changes(pull(head, head), environ={"PATH": str(tmp_path)}).doubt).startswith("git cannot be run")


def test_a_git_that_hangs_is_a_doubt(repo: Repo, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    fake.chmod(0o755)
    head = repo.git("rev-parse", "HEAD")
    slow = Git(repo.path, {"PATH": f"{fake.parent}:{os.environ['PATH']}"}, timeout=0.2)
    assert changed_files(slow, pull(head, head)).doubt == "git rev-parse took longer than 0.2 s"


def test_a_workspace_of_another_user(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the workspace belongs to the host's user; git refuses it unless told otherwise."""
    head = repo.git("rev-parse", "HEAD")
    environ = ENVIRON | {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    refused = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo.path, env=environ, capture_output=True, check=False)
    if refused.returncode == 0:
        pytest.skip("this git does not check who owns a repository")

    kept = git_module._environment
    other = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    monkeypatch.setattr(git_module, "_environment", lambda given, home: kept(given, home) | other)
    assert repo.changes(pull(head, head)).paths == ()


def test_events_that_change_nothing_are_not_compared(repo: Repo) -> None:
    git = Git(repo.path, ENVIRON)
    assert collect(Event("schedule"), git).doubt == "schedule changes no files"
    assert collect(Event(""), git).doubt == "the event changes no files"


def test_branches_by_any_of_their_names(repo: Repo, clone: Callable[..., Repo]) -> None:
    repo.git("branch", "release/1")
    repo.git("tag", "v1")
    checkout = Git(clone(repo).path, ENVIRON)
    known = ("main", "release/1", "refs/heads/main", "origin/main", "refs/remotes/origin/main")
    assert [name for name in known if not checkout.is_branch(name)] == []
    assert [name for name in ("v1", "HEAD", "nope", "-x", "1") if checkout.is_branch(name)] == []


def test_too_many_files(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    before = repo.git("rev-parse", "HEAD")
    after = repo.commit({f"x{number}": "x" for number in range(6)})
    monkeypatch.setattr(git_module, "MAX_PATHS", 5)
    assert repo.changes(push(before, after)).doubt == "more than 5 files changed"
