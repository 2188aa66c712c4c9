#!/usr/bin/env python3
"""Run a rocm-ci command from a checkout: the first thing that every action starts.

    bootstrap.py COMMAND [ARGS]      a `rocm-ci` command, as `hipify-check` or `verdict kernel-tests`
    bootstrap.py root [verdict]      the root action: plan, gate or run, as the variable INPUT_COMMAND says

Where the interpreter's own packages are new enough nothing is installed. Otherwise the locked, hashed wheels go into
the runner's tool cache, where the next job finds them. Only this process sees them: no variable is exported, so the
commands that we run for the user have the job's own environment and packages.

Standard library only, and written so that any Python from 3.6 on can read it and say what is wrong with its version.
"""

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

HERE = Path(__file__).resolve().parent
ROOTS = (str(HERE), str(HERE.parent / "generator"))
OLDEST_PYTHON = (3, 10)
USAGE = 2
INFRA = 3

# Distribution: oldest version that will do. The same as the dependencies in pyproject.toml.
MINIMUM: Dict[str, Tuple[int, ...]] = {
    "click": (8, 1),
    "jinja2": (3, 1),
    "jsonschema": (4, 18),
    "requests": (2, 28),
    "ruamel.yaml": (0, 17, 32),
}
# Command: what it imports. Every other command needs click alone.
NEEDS: Dict[str, Tuple[str, ...]] = {
    "verdict": (),
    "sglang-regression": ("click", "requests"),
    "plan": tuple(MINIMUM),
    "run": tuple(MINIMUM),
}
# Command of the root action: the inputs that it takes. The others are taken from the environment, so that `run` does
# not hand the token to the user's tests.
ROOT_COMMANDS = {
    "plan": ("INPUT_MANIFEST", "INPUT_GITHUB_TOKEN"),
    "gate": ("INPUT_NEEDS", "INPUT_PLAN"),
    "run": ("INPUT_MANIFEST", "INPUT_STAGES"),
}
DEFERRED = "deferred"


def main(argv: Sequence[str]) -> int:
    """Run the command; its exit code."""
    # The runner deletes the actions' folder before the next job and fails on files that a container's root left there.
    sys.dont_write_bytecode = True
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(str(number) for number in OLDEST_PYTHON)
        say_error(
            f"rocm-ci needs Python {oldest} or newer; {sys.executable} is Python {sys.version.split()[0]}",
            "put a newer python3 first on the PATH of the job or its image",
        )
        return INFRA
    isolate()
    root = list(argv[:1]) == ["root"]
    stage = root_command(argv[1:]) if root else "".join(argv[:1])
    if not stage:
        return say_usage(argv, root)

    from rocm_ci.runner.errors import InfraError, RocmCiError
    from rocm_ci.runner.foreign import forget_record

    if stage != "verdict":
        # Whatever becomes of this run, its second step must not take an older one's record for its.
        forget_record(stage)
    try:
        provide(NEEDS.get(stage, ("click",)))
        return dispatch(stage, argv, root)
    except RocmCiError as error:
        keep_failure(stage, error)
    except ImportError as error:
        keep_failure(stage, InfraError(f"a package of rocm-ci cannot be imported: {error}", help=ways_out()))
    return INFRA


def root_command(rest: Sequence[str]) -> str:
    """What the root action has to run; empty when its input is wrong."""
    if list(rest) == ["verdict"]:
        return "verdict"
    return root_stage() if not rest and root_stage() in ROOT_COMMANDS else ""


def root_stage() -> str:
    """The stage whose record the root action's second step reads."""
    command = os.environ.get("INPUT_COMMAND", "").strip()
    return command if command in ROOT_COMMANDS else "root"


def say_usage(argv: Sequence[str], root: bool) -> int:
    """Say what can be run."""
    if not root or argv[1:]:
        say_error("usage: bootstrap.py COMMAND [ARGS], for example: bootstrap.py hipify-check src")
        return USAGE
    from rocm_ci.runner.errors import UsageError
    from rocm_ci.runner.stage import fail_stage

    given = os.environ.get("INPUT_COMMAND", "").strip()
    what = f"is {given!r}" if given else "is not given"
    message = f"the input `command` of the root action {what}; it must be plan, gate or run"
    return fail_stage(root_stage(), UsageError(message, help="for example: `with: {command: plan}`"))


def dispatch(stage: str, argv: Sequence[str], root: bool) -> int:
    """Hand over to the command, in this process."""
    if stage == "verdict":
        # Without click: this step must also tell why the packages could not be installed.
        from rocm_ci.runner import verdict

        return verdict.main([root_stage()] if root else list(argv[1:]))
    if root:
        drop_other_inputs(stage)
        if stage != "gate":
            return run_generator(stage)
    from rocm_ci import cli

    args = [stage] if root else list(argv)
    return as_code(cli.main.main(args=args, prog_name="rocm-ci", standalone_mode=False))


def drop_other_inputs(stage: str) -> None:
    """Forget the root action's inputs that the command does not take."""
    known = {name for names in ROOT_COMMANDS.values() for name in names} | {"INPUT_COMMAND"}
    for name in known - set(ROOT_COMMANDS[stage]):
        os.environ.pop(name, None)


def run_generator(stage: str) -> int:
    """Run `rocm-ci-gen plan` or `run` and see to it that the second step finds a record."""
    from rocm_ci.runner.foreign import keep_exit_code
    from rocm_ci_gen import cli

    try:
        code = as_code(cli.main.main(args=[stage], prog_name="rocm-ci-gen"))
    except SystemExit as stop:
        code = as_code(stop.code)
    return keep_exit_code(stage, code)


def as_code(value: Any) -> int:
    """An exit code, from what click returned or what a SystemExit bears."""
    if value is None:
        return 0
    return value if isinstance(value, int) else 1


def isolate() -> None:
    """Import our code from this checkout, and nothing from the job's PYTHONPATH or working folder."""
    theirs = {real(entry) for entry in ["", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]}
    # The standard library and site-packages stay, whatever PYTHONPATH says.
    theirs -= {real(entry) for entry in interpreter_paths()}
    kept = [entry for entry in sys.path if entry not in ROOTS and real(entry) not in theirs]
    sys.path[:] = [*ROOTS, *kept]


def real(entry: str) -> str:
    """An entry of a search path, comparable; an empty one is the working folder."""
    return os.path.realpath(entry or os.curdir)


def interpreter_paths() -> List[str]:
    """Where the interpreter itself and its installed packages are."""
    import site
    import sysconfig

    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    with contextlib.suppress(AttributeError):  # an old virtualenv's site has no such function
        paths.extend(site.getsitepackages())
    return [path for path in paths if path]


def provide(needs: Sequence[str]) -> None:
    """Make the needed packages importable.

    Raises:
        rocm_ci.runner.errors.InfraError: they are not there and cannot be installed.
    """
    if not unsatisfied(needs):
        return
    import importlib

    from rocm_ci.runner.errors import InfraError
    from rocm_ci.runner.packages import provide_packages

    # A job needs few of the packages, and its image may be without network.
    lock = "requirements-job.lock" if set(needs) <= {"click", "requests"} else "requirements.lock"
    sys.path.insert(len(ROOTS), str(provide_packages(HERE / lock, os.environ)))
    importlib.invalidate_caches()
    missing = unsatisfied(needs)
    if missing:
        raise InfraError(f"packages that were just installed cannot be found: {', '.join(missing)}", help=ways_out())


def unsatisfied(needs: Sequence[str]) -> List[str]:
    """Which packages are missing or too old."""
    return [name for name in needs if not satisfied(name)]


def satisfied(name: str) -> bool:
    """Whether a package is there and new enough."""
    import importlib.metadata
    import importlib.util

    try:
        found = importlib.util.find_spec(name) is not None
        version: Any = importlib.metadata.version(name)
    except (ImportError, ValueError):
        return False
    # The metadata of a broken installation has no version.
    return found and isinstance(version, str) and release(version) >= MINIMUM[name]


def release(version: str) -> Tuple[int, ...]:
    """The numbers that a version begins with: (8, 1, 3) of `8.1.3+deb12` and of `8.1.3rc1`; () where there are none."""
    match = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return tuple(int(number) for number in match.group(1).split(".")) if match else ()


def ways_out() -> str:
    """What a user can do when packages are missing."""
    from rocm_ci.runner.packages import WAYS_OUT

    return WAYS_OUT


def keep_failure(stage: str, error: Any) -> None:
    """Say an error that came before the command; in an action's first step, write the record for the second too."""
    if stage != "verdict" and os.environ.get("ROCM_CI_VERDICT") == DEFERRED:
        from rocm_ci.runner.stage import fail_stage

        fail_stage(stage, error)
    else:
        from rocm_ci.runner.masking import Redactor

        redact = Redactor(os.environ)
        say_error(redact(error.message), redact(error.help))


def say_error(message: str, advice: str = "") -> None:
    """Print an error, on GitHub as an annotation too."""
    sys.stderr.write(f"error: {message}\n" + (f"help: {advice}\n" if advice else ""))
    sys.stderr.flush()
    if os.environ.get("GITHUB_ACTIONS") == "true":
        data = message + ("\n" + advice if advice else "")
        data = data.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        sys.stdout.write(f"::error title=rocm-ci::{data}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
