"""Changed files from git: which commits to compare, and the paths that differ.

Git runs with an environment and configuration of its own choosing: a workspace in a container belongs to another
user (`safe.directory`), a step may have set `GIT_DIR` or `diff.relative`, and none of that may change the answer.
Nothing is fetched: the workflow checks out the whole history and keeps no credentials.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocm_ci_gen.plan.changes import Changes, unknown
from rocm_ci_gen.plan.event import Event, is_zero

TIMEOUT = 120.0
"""Seconds for one git command."""
MAX_PATHS = 200_000
"""A change of more files than this is not looked at one by one: everything runs."""
_MAX_MERGE_BASES = 8
_REF = re.compile(r"[^\x00-\x20\x7f-]\S{0,1023}\Z")
_CONFIG = ("safe.directory=*", "core.quotePath=false", "diff.relative=false", "core.fsmonitor=false")
_DIFF = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--name-only", "-z")


class GitError(Exception):
    """Git gave no answer; the text says why, in one line."""


@dataclass(frozen=True)
class Git:
    """Git in one repository.

    Attributes:
        root: a folder of the repository.
        environ: the process's environment, of which git gets what it needs.
        timeout: seconds for one command.
    """

    root: Path
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    timeout: float = TIMEOUT

    def commit(self, ref: str) -> str | None:
        """Full id of the commit that `ref` names here, or None.

        Raises:
            GitError: `ref` is no name of a commit, or git does not work here.
        """
        if not _REF.match(ref):
            raise GitError(f"{ref!r} is no name of a commit")
        done = self._run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if done.returncode == 0:
            return done.stdout.decode("ascii", "replace").strip()
        if done.stderr.strip():
            raise GitError(_cause(done))
        return None

    def is_branch(self, name: str) -> bool | None:
        """Whether `name` is a branch here or on a remote; None if git does not work here."""
        if not _REF.match(name):
            return False
        try:
            done = self._run("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes")
        except GitError:
            return None
        if done.returncode != 0:
            return None
        refs = done.stdout.decode("utf-8", "replace").splitlines()
        local = name.removeprefix("refs/heads/")
        return any(
            ref in (f"refs/heads/{local}", f"refs/remotes/{name}", name)
            or (ref.startswith("refs/remotes/") and ref.split("/", 3)[3:] == [name])
            for ref in refs
            if not (ref.startswith("refs/remotes/") and ref.endswith("/HEAD"))
        )

    def is_shallow(self) -> bool:
        """Whether the history is cut off, so that a merge base may be missing or not the best one."""
        done = self._run("rev-parse", "--is-shallow-repository")
        return done.stdout.strip() != b"false"

    def merge_bases(self, base: str, head: str) -> list[str]:
        """All best common ancestors of two commits.

        Raises:
            GitError: there is none, or git failed.
        """
        done = self._run("merge-base", "--all", base, head)
        bases = done.stdout.decode("ascii", "replace").split()
        if done.returncode == 1 and not done.stderr.strip():
            raise GitError("the two commits have no common ancestor")
        if done.returncode != 0 or not bases:
            raise GitError(_cause(done))
        return bases

    def diff(self, base: str, head: str) -> list[str]:
        """Paths that differ between two commits, both places of a moved file.

        Raises:
            GitError: git failed, or the paths are too many.
        """
        done = self._run("diff", *_DIFF, base, head, "--")
        if done.returncode != 0:
            raise GitError(_cause(done))
        if done.stdout.count(b"\0") > MAX_PATHS:
            raise GitError(f"more than {MAX_PATHS:,} files changed")
        return [path.decode("utf-8", "surrogateescape") for path in done.stdout.split(b"\0") if path]

    def files(self) -> list[str]:
        """Files below `root`: tracked ones, and untracked ones that the repository does not ignore.

        Raises:
            GitError: this is no work tree, or git failed.
        """
        done = self._run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if done.returncode != 0:
            raise GitError(_cause(done))
        # An unmerged path is listed once for each stage; a repository inside this one ends with `/`.
        listed = (path.decode("utf-8", "surrogateescape") for path in done.stdout.split(b"\0") if path)
        return list(dict.fromkeys(path for path in listed if not path.endswith("/")))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        config = [part for setting in _CONFIG for part in ("-c", setting)]
        try:
            with tempfile.TemporaryDirectory(prefix="rocm-ci-git-") as home:
                # Before 2.38 git takes safe.directory from files only, not from -c (git's release notes).
                (Path(home) / ".gitconfig").write_text("[safe]\n\tdirectory = *\n", encoding="ascii")
                return subprocess.run(
                    ["git", "--no-pager", *config, *arguments],
                    cwd=self.root,
                    env=_environment(self.environ, home),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=self.timeout,
                    check=False,
                )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took longer than {self.timeout:g} s") from error
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be run: {error}") from error


def changed_files(git: Git, event: Event, *, mirror: bool = False) -> Changes:
    """The files that an event changes, by git's history; a `doubt` where that cannot be known for certain.

    A pull request is compared with its merge base (what `git diff base...head` does), a push and a merge group with the
    commit before. An empty answer is given only when both commits are here.

    Args:
        git: git in the checkout.
        event: the event, with `base` and `head` as commits or refs.
        mirror: the push is a vetted pull request, so it is compared with the default branch.
    """
    base, head, doubt = _ends(event, mirror)
    if base is None or head is None or doubt:
        return unknown(doubt or "the event names no commits to compare")
    try:
        three_dot = mirror or event.name == "pull_request"
        return _compare(git, base, head, three_dot=three_dot, mirror=mirror, in_ci=event.started)
    except GitError as error:
        return unknown(str(error))


def _ends(event: Event, mirror: bool) -> tuple[str | None, str | None, str | None]:
    if event.tag is not None and event.name == "push":
        return None, event.head, f"{event.tag} is a tag: paths are not compared for tags"
    if is_zero(event.head):
        return None, None, "the pushed branch was deleted"
    if mirror and (event.started or event.base is None):
        # `before` of such a push is the pull request's previous commit; all of the pull request has to be looked at.
        if event.default_branch is None:
            return None, event.head, "the payload does not name the default branch"
        return f"refs/remotes/origin/{event.default_branch}", event.head, None
    if event.base is None:
        return None, event.head, event.doubt or "there is no base to compare with"
    if is_zero(event.base):
        return None, event.head, f"{event.branch or 'the branch'} is new: there is no earlier commit to compare with"
    return event.base, event.head, None


def _compare(git: Git, base: str, head: str, *, three_dot: bool, mirror: bool, in_ci: bool) -> Changes:
    base_commit, head_commit = git.commit(base), git.commit(head)
    shallow = git.is_shallow()
    what, remedy = ("checkout", "fetch-depth: 0 gets all") if in_ci else ("clone", "`git fetch --unshallow` gets all")
    if base_commit is None or head_commit is None:
        absent = _short(base if base_commit is None else head)
        hint = f"the {what} is shallow; {remedy}" if shallow else "a forced push may have removed it"
        doubt = f"commit {absent} is not in this {what} ({hint})"
    elif not three_dot:
        return Changes(tuple(git.diff(base_commit, head_commit)), None, base_commit, head_commit, "git")
    elif shallow:
        # The best common ancestor may be among the commits that are cut off; a wrong one can hide a change.
        doubt = f"the {what} is shallow, so the merge base is not certain ({remedy})"
    else:
        return _three_dot(git, base_commit, head_commit, mirror=mirror)
    return unknown(doubt, base=base_commit, head=head_commit)


def _three_dot(git: Git, base: str, head: str, *, mirror: bool) -> Changes:
    merge_bases = git.merge_bases(base, head)
    if mirror and merge_bases == [head]:
        doubt = f"{_short(head)} is already part of the default branch: there is nothing to compare with"
        return unknown(doubt, base=base, head=head)
    if len(merge_bases) > _MAX_MERGE_BASES:
        return unknown(f"the histories have {len(merge_bases)} merge bases", base=base, head=head)
    # With crossed merges there are several best ancestors and none is the right one: what differs from any counts.
    paths = dict.fromkeys(path for merge_base in merge_bases for path in git.diff(merge_base, head))
    return Changes(tuple(paths), None, merge_bases[0], head, "git")


def _short(name: str) -> str:
    return name[:12] if re.fullmatch(r"[0-9a-f]{40,64}", name) else name


def _cause(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    fatal = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    return f"git: {fatal.removeprefix('fatal: ')[:300]}" if fatal else f"git ended with code {done.returncode}"


def _environment(environ: Mapping[str, str], home: str) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        # In a checkout without file contents (filter: blob:none) a diff by name needs none, and must not fetch any.
        "GIT_NO_LAZY_FETCH": "1",
    }
