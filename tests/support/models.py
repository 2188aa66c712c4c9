"""Resolved manifests for tests: one that a test changes in the point that it is about, and any at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from rocm_ci_gen.manifest.model import (
    Container,
    Forks,
    Manifest,
    RefFilter,
    Runner,
    Source,
    Stage,
    Step,
    Triggers,
    UserJob,
)
from rocm_ci_gen.workflow.pins import CHECKOUT, UPLOAD, Pin

CPU = Runner("cpu", ("ubuntu-latest",), mode="none")
MI250 = Runner("mi250", ("self-hosted", "roc-gpu-mi200"), gfx=("gfx90a",), gpus=2, groups=("video", "109"))
MI300X = Runner("mi300x", ("mi300x",), gfx=("gfx942",), gpus=8, partition="spx", groups=("render",))
IMAGE = "rocm/pytorch:rocm6.2.3"
CONTAINER = Container(IMAGE, ("/dev/kfd", "/dev/dri"), ipc="host", env={"HF_HOME": "/cache"}, volumes=("/data:/cache",))
HIPIFY = Stage("hipify-check", (CPU,), gpu=False, paths=("**",), timeout="15m", options={"source": "src"})
KERNELS = Stage(
    "kernel-tests", (MI250,), gpu=True, paths=("**",), timeout="60m", options={"tests": "tests/unit\ntests/ops"}
)
SERVING = Stage("sglang-regression", (MI250,), gpu=True, paths=("**",), timeout="90m", options={"model": "me/model"})
TRIGGERS = Triggers(RefFilter(("main",)), RefFilter(("main",)), merge_group=True, schedule=(), manual=True)
SHA = "0123456789abcdef0123456789abcdef01234567"
PINS = {CHECKOUT: Pin(CHECKOUT, "c" * 40, "v7.0.1"), UPLOAD: Pin(UPLOAD, "a" * 40, "v7.0.1")}


def manifest(*stages: Stage, **changes: Any) -> Manifest:
    """A manifest with these stages (default: hipify-check), and `changes` to its other fields."""
    base = Manifest(
        version=1,
        uses=Source("org/rocm-ci", "v1"),
        runners={"cpu": CPU, "mi250": MI250},
        container=CONTAINER,
        requirements=None,
        triggers=TRIGGERS,
        cancel_in_progress=True,
        forks=Forks(),
        unowned="notice",
        ignore=(),
        stages=stages or (HIPIFY,),
        probe=None,
        jobs=(),
    )
    return replace(base, **changes)


# Any text that a manifest may hold: no `${{`, no lone surrogates.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(lambda text: "${{" not in text)
SCRIPT = st.lists(st.text(st.sampled_from("ab \t#:'\"\\-%{}é\u2028"), max_size=12), min_size=1, max_size=6).map(
    "\n".join
)
_LINE = TEXT.map(lambda text: "".join(char for char in text if char >= " " and char != "\x7f") or "x")
_NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_ENV = st.dictionaries(_NAME, TEXT, max_size=3)
_FULL_ENV = st.dictionaries(_NAME, TEXT.filter(bool), max_size=3)
_SECRETS = st.lists(_NAME.map(lambda name: "S_" + name), max_size=2, unique=True).map(tuple)
_PATTERNS = st.none() | st.lists(_LINE, min_size=1, max_size=3).map(tuple)
_JOB_NAME = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True).filter(
    lambda name: name not in {"plan", "gate", "hipify-check", "kernel-tests", "sglang-regression"}
)
_VALUES = TEXT | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)

_RUN_STEPS = st.builds(
    Step,
    name=st.none() | _LINE,
    run=(SCRIPT | TEXT).filter(bool),
    shell=st.sampled_from(["bash", "sh", "python"]),
    env=_ENV,
    secrets=_SECRETS,
    working_directory=st.none() | _LINE,
)
_USES_STEPS = st.builds(
    Step,
    name=st.none() | _LINE,
    uses=st.sampled_from(
        [f"actions/cache@{SHA}", "./.github/actions/x", "$/.github/actions/x", f"actions/checkout@{SHA}"]
    ),
    version=st.none() | st.just("v4.2.0"),
    with_=st.dictionaries(_NAME, TEXT, max_size=2),
    env=_ENV,
)
_STEPS = st.lists(_RUN_STEPS | _USES_STEPS, max_size=2).map(tuple)


def _runners(names: tuple[str, ...]) -> st.SearchStrategy[list[Runner]]:
    return st.tuples(
        *(
            st.builds(
                Runner,
                name=st.just(name),
                labels=st.lists(st.sampled_from(["self-hosted", "a", "b:c", "d,e"]), min_size=1, unique=True).map(
                    tuple
                ),
                group=st.none() | _LINE,
                gfx=st.sampled_from([(), ("gfx90a",), ("gfx942", "gfx950")]),
                gpus=st.none() | st.integers(1, 8),
                partition=st.none() | st.just("cpx"),
                groups=st.sampled_from([("video",), ("video", "109"), ()]),
                mode=st.sampled_from(["docker", "kubernetes", "none"]),
                env_file=st.none() | st.just("/etc/podinfo/x"),
            )
            for name in names
        )
    ).map(list)


@st.composite
def _stages(draw: st.DrawFn, runners: list[Runner]) -> tuple[Stage, ...]:
    names = draw(
        st.lists(st.sampled_from(["hipify-check", "kernel-tests", "sglang-regression"]), min_size=1, unique=True)
    )
    stages = []
    for name in names:
        gpu = name != "hipify-check"
        chosen = draw(st.lists(st.sampled_from(runners), min_size=1, unique_by=lambda runner: runner.name))
        stages.append(
            Stage(
                name=name,
                runners=tuple(chosen) if gpu else (CPU,),
                gpu=gpu,
                paths=("**",),
                needs=tuple(draw(st.lists(st.sampled_from(names), unique=True)) if len(names) > 1 else ()),
                timeout=draw(st.sampled_from(["15m", "90s", "2h", "1ms"])),
                env=draw(_ENV),
                secrets=draw(_SECRETS),
                before=draw(_STEPS),
                after=draw(_STEPS),
                shards=draw(st.integers(1, 3)) if name == "kernel-tests" else 1,
                options=draw(st.dictionaries(st.sampled_from(["against", "source", "tests", "x"]), TEXT, max_size=3)),
            )
        )
    return tuple(stages)


_CONTAINERS = st.builds(
    Container,
    image=st.sampled_from([IMAGE, "registry:5000/a/b@sha256:" + "0" * 64]),
    devices=st.sampled_from([(), ("/dev/kfd", "/dev/dri"), ("/dev/kfd:/dev/kfd:rwm",)]),
    ipc=st.sampled_from([None, "host"]),
    shm_size=st.sampled_from([None, "16g"]),
    env=_FULL_ENV,
    volumes=st.sampled_from([(), ("/data:/cache:ro", "named:/x")]),
    user=st.sampled_from([None, "0:0"]),
    cap_add=st.sampled_from([(), ("SYS_PTRACE",)]),
    security_opt=st.sampled_from([(), ("seccomp=unconfined",)]),
    ulimits=st.sampled_from([{}, {"memlock": "-1", "nofile": "1:2"}]),
    username_secret=st.sampled_from(["USER"]),
    password_secret=st.sampled_from([None, "PASSWORD"]),
)
_FILTERS = st.none() | st.builds(RefFilter, _PATTERNS, st.none(), _PATTERNS, st.none())
_USER_JOBS = st.builds(
    UserJob,
    name=_JOB_NAME,
    uses=st.sampled_from(
        ["./.github/workflows/docs.yml", "$/.github/workflows/docs.yml", f"me/it/.github/workflows/x.yml@{SHA}"]
    ),
    version=st.none() | st.just("v1.0.0"),
    with_=st.dictionaries(_NAME, _VALUES, max_size=3),
    secrets=_SECRETS,
    permissions=st.dictionaries(
        st.sampled_from(["contents", "packages", "id-token"]), st.sampled_from(["read", "write"])
    ),
)


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    """Any model that a valid manifest could resolve to, with values far odder than people write."""
    runners = draw(_runners(("mi250", "mi300x", "w7900")))
    return Manifest(
        version=1,
        uses=draw(st.sampled_from([Source("org/rocm-ci", "v1"), Source("me/ci", "v1.2", SHA)])),
        runners={"cpu": CPU, **{runner.name: runner for runner in runners}},
        container=draw(st.none() | _CONTAINERS),
        requirements=draw(st.none() | _LINE),
        triggers=Triggers(draw(_FILTERS), draw(_FILTERS), draw(st.booleans()), draw(_crons()), manual=True),
        cancel_in_progress=draw(st.booleans()),
        forks=Forks(draw(st.sampled_from(["never", "label", "mirror"])), draw(_labels())),
        unowned="notice",
        ignore=(),
        stages=draw(_stages(runners)),
        probe=draw(st.none() | st.dictionaries(st.sampled_from(["interval", "max-growth"]), TEXT)),
        jobs=tuple(draw(st.lists(_USER_JOBS, max_size=2, unique_by=lambda job: job.name))),
        retention_days=draw(st.none() | st.integers(1, 90)),
    )


def _crons() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(["0 3 * * *", "*/5 1-3 * * MON"]), max_size=2, unique=True).map(tuple)


def _labels() -> st.SearchStrategy[str]:
    return _LINE.map(lambda text: text.replace("\\", "").replace('"', "") or "ok")
