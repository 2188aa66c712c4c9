"""The runner's environment as one value; `RunnerEnv.from_environ` is the only door to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

VERDICT_VARIABLE = "ROCM_CI_VERDICT"
"""`deferred` in the first step of an action: the exit code is then the business of the second step, `verdict`."""


@dataclass(frozen=True)
class RunnerEnv:
    """What a stage knows about where it runs.

    Attributes:
        on_github: a GitHub Actions runner, or one that speaks its protocol, reads our output.
        deferred: the step `verdict` decides, so the check step exits 0 once its record is written.
        directory: where reports and records are kept: `$RUNNER_TEMP/rocm-ci`, else a private folder of this user
            for the working folder.
        private: `directory` lies in a shared temporary folder, so its owner and mode have to be checked.
        output_file: `$GITHUB_OUTPUT`.
        summary_file: `$GITHUB_STEP_SUMMARY`.
        workspace: `$GITHUB_WORKSPACE`, the root that annotations are relative to.
        variables: the whole environment, as it was given.
        child_variables: the environment of the commands that we run for the user: the job's, less our own inputs.
    """

    on_github: bool
    deferred: bool
    directory: Path
    private: bool = False
    output_file: Path | None = None
    summary_file: Path | None = None
    workspace: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    child_variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], *, own_inputs: Collection[str] = ()) -> RunnerEnv:
        """Read the environment.

        Args:
            environ: the process's environment, or a stand-in.
            own_inputs: names of the `INPUT_…` variables that the running command takes as its options. They are
                not the job's, so a command that we run (it may call `rocm-ci` itself) does not see them.
        """
        runner_temp = environ.get("RUNNER_TEMP", "")
        if runner_temp:
            directory = Path(runner_temp) / "rocm-ci"
        else:
            # One for each working folder: two checkouts of one user must not share records and reports.
            directory = Path(environ.get("TMPDIR") or "/tmp") / f"rocm-ci-{os.getuid()}-{_here()}"  # noqa: S108 - files.py
        hidden = {*own_inputs, VERDICT_VARIABLE}
        return cls(
            on_github=environ.get("GITHUB_ACTIONS") == "true",
            deferred=environ.get(VERDICT_VARIABLE) == "deferred",
            directory=directory,
            private=not runner_temp,
            output_file=_path(environ.get("GITHUB_OUTPUT")),
            summary_file=_path(environ.get("GITHUB_STEP_SUMMARY")),
            workspace=_path(environ.get("GITHUB_WORKSPACE")),
            variables=MappingProxyType(dict(environ)),
            child_variables=MappingProxyType({k: v for k, v in environ.items() if k not in hidden}),
        )

    def record_path(self, stage: str) -> Path:
        """The stage's record, see `record`."""
        return self.directory / f"{stage}.record.json"

    def report_path(self, stage: str) -> Path:
        """The stage's report where the user names no other place."""
        return self.directory / f"{stage}.json"


def _here() -> str:
    try:
        folder = str(Path.cwd())
    except OSError:  # it was removed
        folder = ""
    return hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _path(value: str | None) -> Path | None:
    return Path(value) if value else None
