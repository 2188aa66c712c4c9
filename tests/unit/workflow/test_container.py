"""The job container, for each kind of runner."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocm_ci_gen.manifest.model import Container
from rocm_ci_gen.workflow import container as containers
from rocm_ci_gen.workflow.errors import RenderError
from support.models import CONTAINER, IMAGE, MI250, MI300X

KUBERNETES = replace(MI300X, mode="kubernetes")
HOST = replace(MI300X, name="host", mode="none")


def test_every_option_is_one_token() -> None:
    full = Container(
        IMAGE,
        devices=("/dev/kfd", "/dev/dri/renderD128:/dev/dri/renderD128:rw"),
        shm_size="16g",
        env={"A": "b c"},
        volumes=("/data:/cache:ro",),
        user="0:0",
        cap_add=("SYS_PTRACE",),
        security_opt=("seccomp=unconfined",),
        ulimits={"memlock": "-1", "nofile": "1024:2048"},
    )
    view = containers.view(full, (replace(MI250, env_file="/etc/podinfo/gpus"),))
    assert view is not None
    assert view.options == (
        "--init --device=/dev/kfd --device=/dev/dri/renderD128:/dev/dri/renderD128:rw --group-add=video "
        "--group-add=109 --shm-size=16g --user=0:0 --cap-add=SYS_PTRACE --security-opt=seccomp=unconfined "
        "--ulimit=memlock=-1 --ulimit=nofile=1024:2048 --env-file=/etc/podinfo/gpus"
    )
    assert view.volumes == ("/data:/cache:ro",)
    assert view.env == {"A": "b c"}


@pytest.mark.parametrize(
    "change",
    [
        {"devices": ("/dev/kfd --privileged",)},
        {"devices": ("/dev/kfd\t-v/:/host",)},
        {"devices": ("",)},
        {"ipc": "host --privileged"},
        {"shm_size": "1g'"},
        {"user": "0:0\n--privileged"},
        {"cap_add": ("ALL --device=/dev/mem",)},
        {"security_opt": ('a"b',)},
        {"security_opt": ("a\\ b",)},
        {"ulimits": {"memlock": "-1 --pid=host"}},
        {"ulimits": {"mem lock": "-1"}},
    ],
)
def test_a_second_option_cannot_be_smuggled_in(change: dict[str, object]) -> None:
    with pytest.raises(RenderError, match="not one option"):
        containers.view(replace(CONTAINER, **change), (MI250,))  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"groups": ("video --privileged",)}, {"env_file": "/etc/x --privileged"}])
def test_a_runner_cannot_smuggle_one_in_either(change: dict[str, object]) -> None:
    with pytest.raises(RenderError, match="not one option"):
        containers.view(CONTAINER, (replace(MI250, **change),))  # type: ignore[arg-type]


def test_kubernetes_gets_the_image_and_the_environment_only() -> None:
    private = replace(CONTAINER, username_secret="USER_NAME", password_secret="PASSWORD")
    view = containers.view(private, (KUBERNETES,))
    assert view is not None
    assert (view.image, view.options, view.volumes, view.env) == (IMAGE, None, (), {"HF_HOME": "/cache"})
    assert view.credentials == {"username": "${{ secrets.USER_NAME }}", "password": "${{ secrets.PASSWORD }}"}


def test_on_the_host_there_is_no_container() -> None:
    assert containers.view(CONTAINER, (HOST,)) is None


def test_an_empty_variable_would_come_from_the_runner() -> None:
    with pytest.raises(RenderError, match="no value for HF_HOME"):
        containers.view(replace(CONTAINER, env={"HF_HOME": ""}), (MI250,))


def test_runners_that_differ_take_their_options_from_the_matrix() -> None:
    view = containers.view(CONTAINER, (MI250, MI300X))
    assert view is not None
    assert view.options == "${{ matrix.options }}"
    assert view.volumes == ("/data:/cache",)
    modes = ("docker", "docker")
    assert "--group-add=109" in containers.options_of(CONTAINER, MI250, modes)
    assert "--group-add=render" in containers.options_of(CONTAINER, MI300X, modes)


def test_beside_other_kinds_of_runner_volumes_are_options() -> None:
    view = containers.view(CONTAINER, (MI250, KUBERNETES, HOST))
    assert view is not None
    assert view.volumes == ()
    assert view.image == "${{ matrix.image }}"
    modes = ("docker", "kubernetes", "none")
    assert containers.options_of(CONTAINER, MI250, modes).endswith(" --volume=/data:/cache")
    assert containers.options_of(CONTAINER, KUBERNETES, modes) == ""
    assert containers.options_of(CONTAINER, HOST, modes) == ""
