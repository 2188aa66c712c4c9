"""The job container of a GPU stage, for each kind of runner.

* `docker`: the runner calls `docker create`; devices, groups and the rest are its options.
* `kubernetes`: the runner's container hooks make a pod and read neither options nor volumes of the host (actions/
  runner-container-hooks, packages/k8s/README.md, "Limitations"); what the pod needs is set in the pool.
* `none`: no container. In a job whose instances differ, its image is empty, which the runner takes for no container.

Every option is one token, `--name=value`, of characters that neither the runner nor Docker splits: no value can become
a second option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocm_ci_gen.manifest.model import Container, Runner
from rocm_ci_gen.workflow import expressions
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.views import ContainerView

_TOKEN = re.compile(r"--[a-z]+(-[a-z]+)*(=[A-Za-z0-9._/:=,@+-]+)?")


def view(container: Container, runners: tuple[Runner, ...]) -> ContainerView | None:
    """Container of a stage on `runners`; None if it runs on the host everywhere.

    Raises:
        RenderError: an option is not one token, or an environment variable is empty.
    """
    modes = {runner.mode for runner in runners}
    if modes == {"none"}:
        return None
    empty = [name for name, value in container.env.items() if not value]
    if empty:
        # Docker would take the variable from the environment of the runner's own process.
        raise RenderError(f"`container.env` has no value for {', '.join(empty)}.")
    options = {options_of(container, runner, modes) for runner in runners}
    return ContainerView(
        image=container.image if "none" not in modes else expressions.matrix("image"),
        options=next(iter(options)) or None if len(options) == 1 else expressions.matrix("options"),
        env=dict(container.env),
        volumes=container.volumes if modes == {"docker"} else (),
        credentials=_credentials(container),
    )


def options_of(container: Container, runner: Runner, modes: Iterable[str]) -> str:
    """Options of `docker create` for one runner of a stage whose runners have these `modes`; empty if none apply.

    In a stage with other runners than Docker's, the volumes are options: the list of volumes is one for all
    instances, and the others must not get it.
    """
    if runner.mode != "docker":
        return ""
    tokens = ["--init"]  # the container's first process reaps nobody, and a killed check leaves children
    tokens += [f"--device={device}" for device in container.devices]
    tokens += [f"--group-add={group}" for group in runner.groups]
    if container.ipc is not None:
        tokens.append(f"--ipc={container.ipc}")
    if container.shm_size is not None:
        tokens.append(f"--shm-size={container.shm_size}")
    if container.user is not None:
        tokens.append(f"--user={container.user}")
    tokens += [f"--cap-add={capability}" for capability in container.cap_add]
    tokens += [f"--security-opt={option}" for option in container.security_opt]
    tokens += [f"--ulimit={name}={limit}" for name, limit in container.ulimits.items()]
    if runner.env_file is not None:
        tokens.append(f"--env-file={runner.env_file}")
    if set(modes) != {"docker"}:
        tokens += [f"--volume={volume}" for volume in container.volumes]
    for token in tokens:
        if not _TOKEN.fullmatch(token):
            raise RenderError(f"{token!r} is not one option of a container.")
    return " ".join(tokens)


def _credentials(container: Container) -> dict[str, expressions.Expression]:
    if container.username_secret is None or container.password_secret is None:
        return {}
    return {
        "username": expressions.secret(container.username_secret),
        "password": expressions.secret(container.password_secret),
    }
