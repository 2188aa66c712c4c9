"""Letting pip, or uv where there is no pip, install locked wheels into a folder."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm_ci.runner.masking import Redactor

TIME_LIMIT = 600.0
"""Seconds that an installation may take."""

# Settings for the user's own installs: together with --target they end in an error or in another folder.
_CONFLICTS = frozenset(
    {
        "PIP_CONSTRAINT",
        "PIP_DRY_RUN",
        "PIP_EDITABLE",
        "PIP_NO_BINARY",
        "PIP_PREFIX",
        "PIP_REPORT",
        "PIP_REQUIREMENT",
        "PIP_REQUIRE_VIRTUALENV",
        "PIP_ROOT",
        "PIP_TARGET",
        "PIP_UPGRADE",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "UV_CONSTRAINT",
        "UV_PREFIX",
        "UV_TARGET",
    }
)
# What pip and uv print, the most telling first.
_TELLING = (
    "No space left",
    "THESE PACKAGES DO NOT MATCH",
    "Hash mismatch",
    "Permission denied",
    "No module named pip",
    "ERROR:",
    "error:",
)


def run_installer(lock: Path, target: Path, environ: Mapping[str, str]) -> str | None:
    """Install the wheels of a lock file into `target`.

    Returns:
        None, or in one sentence why it failed. The installer's output is printed then.
    """
    common = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--target", str(target), "-r", str(lock)]
    uv = shutil.which("uv", path=environ.get("PATH"))
    if importlib.util.find_spec("pip") is not None:
        # -I: neither PYTHONPATH nor the working folder may put another pip in its place.
        name, command = "pip", [sys.executable, "-I", "-m", "pip", "install", "--quiet", *common]
    elif uv:
        name, command = "uv", [uv, "pip", "install", "--quiet", "--python", sys.executable, *common]
    else:
        return f"rocm-ci has to install packages, and {sys.executable} has no pip"
    output, code = _run(command, installer_environ(environ))
    if code == 0:
        return None
    output = Redactor(environ)(output).strip()
    say(output)
    how = f"exit code {code}" if code is not None else f"ended after {TIME_LIMIT:.0f} s"
    return f"cannot install the locked packages with {name} ({how}): {reason(output)}"


def installer_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The job's environment with its PIP_* settings, less those that would lead the installer elsewhere."""
    kept = {key: value for key, value in environ.items() if key not in _CONFLICTS and not key.startswith("INPUT_")}
    # Settings of pip.conf lose against variables.
    fixed = {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {"PIP_DEFAULT_TIMEOUT": "15", "PIP_ROOT_USER_ACTION": "ignore", **kept, **fixed}


def reason(output: str) -> str:
    """The line of an installer's output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for words in _TELLING:
        for line in lines:
            if words in line:
                return line[:300]
    return lines[-1][:300] if lines else "it printed nothing"


def say(text: str) -> None:
    """Print progress; no console yet, for that belongs to a stage."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _run(command: Sequence[str], environ: Mapping[str, str]) -> tuple[str, int | None]:
    """Run a command, with a line from time to time; its output, and its exit code or None when its time was over."""
    with tempfile.TemporaryFile() as sink:
        started = time.monotonic()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, env=dict(environ)
        )
        try:
            code = _wait(process, started)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        sink.seek(0)
        return sink.read().decode("utf-8", "replace"), code


def _wait(process: subprocess.Popen[bytes], started: float) -> int | None:
    while True:
        seconds = time.monotonic() - started
        if seconds > TIME_LIMIT:
            return None
        try:
            return process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            say(f"rocm-ci: still installing its packages after {seconds + 30:.0f} s")
