"""A valid document -> `model.Manifest`: every default filled in, every name looked up."""

from __future__ import annotations

from collections.abc import Mapping as Map
from typing import Any, cast

from rocm_ci_gen.manifest import model
from rocm_ci_gen.manifest.hosted import hosted_label
from rocm_ci_gen.manifest.nodes import Mapping, Node, Scalar, Sequence, plain
from rocm_ci_gen.manifest.schema import at, child, default

CPU = "cpu"
PROBE = "vram-probe"
CPU_STAGES = ("hipify-check",)

COMMON_KEYS = ("runner", "paths", "needs", "timeout", "env", "secrets", "before", "after", "shards")
"""Keys of a stage that the workflow acts on; all others are inputs of the stage's action."""


def text(node: Node) -> str:
    """A scalar as text: a number as it is written, a boolean as `true` or `false`."""
    assert isinstance(node, Scalar)  # noqa: S101 - the schema allows nothing else here
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    return node.text


def resolve(root: Mapping) -> model.Manifest:
    """Build the manifest of a document that the schema and the semantic checks have accepted."""
    runners = _runners(root)
    container = root.get("container")
    stages = _mapping(root, "stages")
    probe = stages.get(PROBE) if PROBE in stages.entries else None
    ref = _text(root, "uses") or default("uses")
    repository, _, version = ref.partition("@")
    artifacts = _mapping(root, "artifacts")
    concurrency = _mapping(root, "concurrency")
    return model.Manifest(
        version=cast("int", plain(root.entries["version"].node)),
        uses=model.Source(repository, version, _text(root, "pin")),
        runners=runners,
        container=_container(container) if isinstance(container, Mapping) else None,
        requirements=_text(root, "requirements"),
        triggers=_triggers(root),
        cancel_in_progress=_value(concurrency, ("concurrency",), "cancel-in-progress"),
        forks=_forks(_mapping(root, "forks")),
        unowned=_value(root, (), "unowned"),
        ignore=_texts(root, "ignore"),
        stages=tuple(
            _stage(name, entry.node if isinstance(entry.node, Mapping) else Mapping(0, 0), runners)
            for name, entry in stages.entries.items()
            if name != PROBE
        ),
        probe=_options(probe if isinstance(probe, Mapping) else Mapping(0, 0)) if probe is not None else None,
        jobs=tuple(_job(name, cast("Mapping", entry.node)) for name, entry in _mapping(root, "jobs").entries.items()),
        node=_text_map(root, "node"),
        retention_days=plain(node) if (node := artifacts.get("retention-days")) else None,
    )


def _runners(root: Mapping) -> dict[str, model.Runner]:
    given = _mapping(root, "runners").entries
    runners = {name: _runner(name, cast("Mapping", entry.node)) for name, entry in given.items()}
    if CPU not in runners:
        base: dict[str, Any] = default("runners", CPU)
        runners = {CPU: model.Runner(CPU, (base["labels"],), mode=base["mode"], groups=_default_groups()), **runners}
    return runners


def _default_groups() -> tuple[str, ...]:
    return tuple(str(group) for group in default("runners", CPU, "groups"))


def _runner(name: str, node: Mapping) -> model.Runner:
    path = ("runners", name)
    mode = default("runners", CPU)["mode"] if name == CPU and node.get("mode") is None else _value(node, path, "mode")
    gpus, groups = node.get("gpus"), node.get("groups")
    return model.Runner(
        name=name,
        labels=_texts(node, "labels"),
        group=_text(node, "group"),
        gfx=_texts(node, "gfx"),
        gpus=plain(gpus) if gpus else None,
        partition=_text(node, "partition"),
        groups=_default_groups() if groups is None else _texts(node, "groups"),
        mode=mode,
        env_file=_text(node, "env-file"),
    )


def _container(node: Mapping) -> model.Container:
    path = ("container",)
    return model.Container(
        image=text(node.entries["image"].node),
        devices=_texts(node, "devices", path),
        ipc=_text(node, "ipc"),
        shm_size=_text(node, "shm-size"),
        env=_text_map(node, "env"),
        volumes=_texts(node, "volumes", path),
        user=_text(node, "user"),
        cap_add=_texts(node, "cap-add", path),
        security_opt=_texts(node, "security-opt", path),
        ulimits=_text_map(node, "ulimits"),
        username_secret=_text(node, "username-secret"),
        password_secret=_text(node, "password-secret"),
    )


def _forks(node: Mapping) -> model.Forks:
    path = ("forks",)
    return model.Forks(
        policy=_value(node, path, "policy"),
        label=_value(node, path, "label"),
        withheld=_value(node, path, "withheld"),
    )


def _triggers(root: Mapping) -> model.Triggers:
    node = root.get("triggers")
    given: dict[str, Any] = plain(node) if node is not None else default("triggers")
    return model.Triggers(
        push=_filter(given.get("push", False)),
        pull_request=_filter(given.get("pull_request", False)),
        merge_group=given.get("merge_group", default("triggers", "merge_group")),
        schedule=tuple(given.get("schedule", default("triggers", "schedule"))),
        manual=given.get("manual", default("triggers", "manual")),
    )


def _filter(given: bool | dict[str, list[str]]) -> model.RefFilter | None:
    if given is False:
        return None
    lists = {} if given is True else given
    return model.RefFilter(**{key.replace("-", "_"): tuple(patterns) for key, patterns in lists.items()})


def _stage(name: str, node: Mapping, runners: Map[str, model.Runner]) -> model.Stage:
    path = ("stages", name)
    gpu = name not in CPU_STAGES
    shards = node.get("shards")
    return model.Stage(
        name=name,
        runners=tuple(runners[runner] for runner in stage_runners(name, node, list(runners.values()))),
        gpu=gpu,
        paths=_texts(node, "paths", path),
        needs=_texts(node, "needs", path),
        timeout=_value(node, path, "timeout"),
        env=_text_map(node, "env"),
        secrets=_texts(node, "secrets", path),
        before=_steps(node, "before"),
        after=_steps(node, "after"),
        shards=plain(shards) if shards else 1,
        options=_options(node),
    )


def stage_runners(name: str, node: Mapping, runners: list[model.Runner]) -> tuple[str, ...]:
    """Names of the runners of a stage; empty where none is named and there is not exactly one GPU runner."""
    named = _texts(node, "runner")
    if named:
        return named
    if name in CPU_STAGES:
        return (str(default("stages", name, "runner")),)
    candidates = [runner.name for runner in runners if is_gpu_runner(runner.name, runner.labels)]
    return tuple(candidates) if len(candidates) == 1 else ()


def is_gpu_runner(name: str, labels: tuple[str, ...]) -> bool:
    """Every entry of `runners` but `cpu` is a GPU machine, unless its labels ask for a hosted one without GPU."""
    return name != CPU and not hosted_label(labels)


def _options(node: Mapping) -> dict[str, str]:
    options = {}
    for key, entry in node.entries.items():
        if key not in COMMON_KEYS:
            value = entry.node
            options[key] = "\n".join(map(text, value.items)) if isinstance(value, Sequence) else text(value)
    return options


def _steps(node: Mapping, key: str) -> tuple[model.Step, ...]:
    steps = node.get(key)
    items = steps.items if isinstance(steps, Sequence) else []
    return tuple(_step(cast("Mapping", item)) for item in items)


def _step(node: Mapping) -> model.Step:
    path = ("stages", CPU_STAGES[0], "before", 0)
    return model.Step(
        name=_text(node, "name"),
        run=_text(node, "run"),
        shell=_value(node, path, "shell"),
        uses=_text(node, "uses"),
        version=_text(node, "version"),
        with_=_text_map(node, "with"),
        env=_text_map(node, "env"),
        secrets=_texts(node, "secrets", path),
        working_directory=_text(node, "working-directory"),
    )


def _job(name: str, node: Mapping) -> model.UserJob:
    path = ("jobs", name)
    given = node.get("with")
    permissions = node.get("permissions")
    return model.UserJob(
        name=name,
        uses=text(node.entries["uses"].node),
        version=_text(node, "version"),
        with_=plain(given) if given else {},
        secrets=_texts(node, "secrets", path),
        needs=_texts(node, "needs", path),
        paths=_texts(node, "paths", path),
        permissions=plain(permissions) if permissions else dict(_default(path, "permissions")),
        self_hosted=_value(node, path, "self-hosted"),
    )


def _mapping(node: Mapping, key: str) -> Mapping:
    value = node.get(key)
    return value if isinstance(value, Mapping) else Mapping(0, 0)


def _default(path: tuple[str | int, ...], key: str) -> Any:
    schema = at(path)
    found = child(schema, key) if schema else None
    if found is None or "default" not in found:
        raise KeyError(f"{path} {key}")
    return found["default"]


def _value(node: Mapping, path: tuple[str | int, ...], key: str) -> Any:
    """Value of a key, or its default from the schema."""
    given = node.get(key)
    return plain(given) if given is not None else _default(path, key)


def _text(node: Mapping, key: str) -> str | None:
    given = node.get(key)
    return text(given) if given is not None else None


def _texts(node: Mapping, key: str, path: tuple[str | int, ...] | None = None) -> tuple[str, ...]:
    """A list of scalars, or one scalar, as texts; where it is not given the default at `path`, or nothing."""
    given = node.get(key)
    if given is None:
        return tuple(_default(path, key)) if path is not None else ()
    return tuple(map(text, given.items)) if isinstance(given, Sequence) else (text(given),)


def _text_map(node: Mapping, key: str) -> dict[str, str]:
    return {name: text(entry.node) for name, entry in _mapping(node, key).entries.items()}
