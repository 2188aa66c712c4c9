"""What git says of a folder: its files, its default branch, the other long-lived branches."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_INTEGRATION_BRANCHES = ("develop", "dev", "devel", "development")
_TOPIC = "rocm-ci"
_STALE_SECONDS = 180 * 24 * 3600
_TIMEOUT_SECONDS = 60
# `git rev-parse --local-env-vars`, without its GIT_CONFIG_*: those are the user's own settings.
_LOCAL_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


@dataclass(frozen=True)
class Repository:
    """What git says.

    Attributes:
        top: The work tree's top folder; None: not in a git work tree.
        files: Tracked files and untracked ones that git does not ignore, relative to the folder that was asked
            about; None: git could not list them.
        default_branch: The branch that pull requests go to.
        default_branch_reason: What tells so.
        other_branches: Further branches that work is integrated on, as young as the default branch.
        current_branch: The branch that is checked out; empty where none is.
        has_default: The default branch has a commit here, so that a plan can compare with it.
        topic: A name that is free for a new branch.
        inside_git_folder: The folder is a bare repository, or in a `.git` folder.
        note: Why git could not be asked, where it could not.
    """

    top: Path | None = None
    files: tuple[str, ...] | None = None
    default_branch: str = "main"
    default_branch_reason: str = "not a git repository: GitHub's usual default"
    other_branches: tuple[str, ...] = ()
    current_branch: str = ""
    has_default: bool = False
    topic: str = _TOPIC
    inside_git_folder: bool = False
    note: str = ""


class _GitError(Exception):
    """git is missing, too slow, or said no."""


def read_repository(root: Path, environ: Mapping[str, str] | None = None) -> Repository:
    """Ask git about `root`. Reads only: no fetch, no lock, no hook."""
    git = _Git(root, os.environ if environ is None else environ)
    try:
        inside = git("rev-parse", "--is-inside-work-tree").strip()
    except _GitError as error:
        return Repository(note=_why_not(str(error)))
    if inside != "true":
        return Repository(inside_git_folder=True)
    try:
        top = Path(git("rev-parse", "--show-toplevel").rstrip("\n"))
        listing = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        # An unmerged path is listed once for each stage.
        files = tuple(dict.fromkeys(path for path in listing.split("\0") if path and not path.endswith("/")))
        current = git.maybe("symbolic-ref", "--quiet", "--short", "HEAD")
        branch, reason = _default_branch(git, current)
        refs = (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
        born = any(git.maybe("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}") for ref in refs)
        return Repository(top, files, branch, reason, _others(git, branch), current, born, _free_branch(git))
    except _GitError as error:
        return Repository(note=f"git could not be asked: {error}")


def _default_branch(git: _Git, current: str) -> tuple[str, str]:
    """The first of: origin/HEAD, origin's main or master, init.defaultBranch, the current branch."""
    head = git.maybe("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    if head.startswith("origin/"):
        return head.removeprefix("origin/"), "origin/HEAD"
    for name in ("main", "master"):
        if git.maybe("rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{name}"):
            return name, f"the branch {name} of origin"
    configured = git.maybe("config", "--get", "init.defaultBranch")
    if configured and (
        configured == current or git.maybe("rev-parse", "--verify", "--quiet", f"refs/heads/{configured}")
    ):
        return configured, "init.defaultBranch of git's configuration"
    for name in ("main", "master"):
        if git.maybe("rev-parse", "--verify", "--quiet", f"refs/heads/{name}"):
            return name, f"the branch {name}"
    if current:
        return current, "the current branch"
    return "main", "no branch is checked out: GitHub's usual default"


def _free_branch(git: _Git) -> str:
    """`rocm-ci`, or with the first number that makes it free: a branch also takes the name from those above it."""
    for name in (_TOPIC, *(f"{_TOPIC}-{number}" for number in range(2, 100))):
        if not git.maybe("for-each-ref", "--count=1", f"refs/heads/{name}"):
            return name
    return _TOPIC


def _others(git: _Git, default: str) -> tuple[str, ...]:
    """Branches such as `develop`; one whose last commit is half a year older than the default branch's is dead."""
    listing = git.maybe(
        "for-each-ref", "--format=%(refname)%00%(committerdate:unix)", "refs/heads", "refs/remotes/origin"
    )
    dates: dict[str, int] = {}
    for line in listing.splitlines():
        name, _, date = line.partition("\0")
        short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")
        if date.isdigit():
            dates[short] = max(int(date), dates.get(short, 0))
    newest = dates.get(default, 0)
    return tuple(
        name
        for name in _INTEGRATION_BRANCHES
        if name in dates and name != default and dates[name] >= newest - _STALE_SECONDS
    )


def _why_not(error: str) -> str:
    if "not a git repository" in error:
        return "this is not a git repository"
    if "dubious ownership" in error:
        return "git refuses this repository: it belongs to another user (see `git help config`, safe.directory)"
    return f"git could not be asked: {error}"


class _Git:
    """Runs git in a folder and returns its standard output."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        # Inside a git hook GIT_DIR and friends name another repository than the folder does.
        kept = {name: value for name, value in environ.items() if name not in _LOCAL_VARIABLES}
        self._environ = {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
        self._root = root

    def __call__(self, *arguments: str) -> str:
        command: Sequence[str] = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments)
        try:
            done = subprocess.run(
                command,
                cwd=self._root,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except FileNotFoundError as error:
            raise _GitError("git is not installed") from error
        except subprocess.TimeoutExpired as error:
            raise _GitError(f"`git {arguments[0]}` took more than {_TIMEOUT_SECONDS} s") from error
        except OSError as error:
            raise _GitError(str(error)) from error
        if done.returncode != 0:
            lines = os.fsdecode(done.stderr).strip().splitlines()
            raise _GitError(lines[0] if lines else f"`git {arguments[0]}` exited {done.returncode}")
        return os.fsdecode(done.stdout)

    def maybe(self, *arguments: str) -> str:
        """Output without its line end; empty where git says no, or where it is no text a file could hold."""
        try:
            output = self(*arguments).rstrip("\n")
            output.encode("utf-8")
        except (_GitError, UnicodeEncodeError):
            return ""
        return output
