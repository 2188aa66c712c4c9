"""Hypothesis strategies for valid manifests, over every key of the format.

`documents()` gives plain data, `valid_manifests()` the text of a file, `parsed(text)` what the generator makes of it.
Valid means: no error. Warnings may be there.
"""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

from rocm_ci_gen.manifest import Manifest, check, format_diagnostics
from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.semantics.graph import RESERVED
from rocm_ci_gen.manifest.source import refused_in

Document = dict[str, Any]

SHA = "0123456789abcdef0123456789abcdef01234567"
_GPU_STAGES = ("kernel-tests", "sglang-regression")
_RESERVED_ENV = tuple(facts()["reserved_env_prefixes"]["prefixes"])


def parsed(text: str) -> Manifest:
    """The resolved manifest of a valid text; fails the test with the diagnostics where it is not valid."""
    checked = check(text.encode("utf-8"), ".rocm-ci.yml")
    assert checked.manifest is not None, format_diagnostics(checked.diagnostics, color=False)
    return checked.manifest


def _listed(items: st.SearchStrategy[Any], *, least: int = 1, most: int = 3) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, min_size=least, max_size=most, unique=True)


def _optional(required: Document, optional: Document) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(required, optional=optional)


# One line of text that a value may hold: no control characters, no expression, nothing that looks like an option.
_ALPHABET = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
lines = (
    st.text(_ALPHABET, min_size=1, max_size=20)
    .map(lambda text: text.replace("${{", "{{").lstrip("-"))
    .filter(lambda text: bool(text) and refused_in(text) is None)
)
names = st.from_regex(r"\A[a-z][a-z0-9-]{0,8}\Z").filter(lambda name: name not in (*RESERVED, "cpu"))
env_names = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z").filter(
    lambda name: not name.upper().startswith(_RESERVED_ENV)
)
secret_names = st.sampled_from(["HF_TOKEN", "DEPLOY_KEY", "S3_SECRET"])
scalars = (
    lines | st.integers(-(10**17), 10**17) | st.booleans() | st.floats(-1e9, 1e9, allow_nan=False, allow_infinity=False)
)
envs = st.dictionaries(env_names, scalars, max_size=3)
paths = st.from_regex(r"\A[a-z_][a-z0-9_]{0,6}(/[a-z0-9_]{1,6}){0,2}(\.[a-z]{1,3})?\Z")
globs = st.builds(
    lambda wanted, unwanted: [*wanted, *unwanted],
    _listed(st.sampled_from(["src/**", "**", "csrc/*.cu", "setup.py", "**/*.hip", "a[0-9a-f]b+", "tests/?est.py"])),
    _listed(st.sampled_from(["!**/*.md", "!src/docs/**", "!docs/*.txt"]), least=0),
)
refs = st.builds(
    lambda wanted, unwanted: [*wanted, *unwanted],
    _listed(st.sampled_from(["main", "release/**", "v[0-9]+.x", "feature/*"])),
    _listed(st.sampled_from(["!release/**-wip", "!main-old"]), least=0),
)
minutes = st.integers(1, 300).map(lambda number: f"{number}m") | st.sampled_from(["90s", "2h", "500ms"])
percents = st.integers(0, 500).map(lambda number: f"{number}%") | st.just("2.5%")
gfx = st.sampled_from(["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
labels = st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9._/=+:,;@-]{0,12}\Z").filter(
    lambda label: not label.lower().startswith(("ubuntu-", "windows-", "macos-"))
)


def _cron_field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        number.map(str),
        st.integers(1, 30).map(lambda step: f"*/{step}"),
        st.tuples(number, number).map(lambda ends: f"{min(ends)}-{max(ends)}"),
        st.lists(number, min_size=2, max_size=3, unique=True).map(lambda found: ",".join(map(str, found))),
    )


crons = st.tuples(
    _cron_field(0, 59), _cron_field(0, 23), _cron_field(1, 28), _cron_field(1, 12), _cron_field(0, 6)
).map(" ".join)

_steps = st.one_of(
    _optional(
        {"run": st.text("abc $;|\"'\n#&", min_size=1, max_size=30)},
        {
            "name": lines,
            "shell": st.sampled_from(["bash", "sh", "python"]),
            "env": envs,
            "working-directory": paths,
        },
    ),
    _optional(
        {
            "uses": st.sampled_from(
                [f"actions/cache@{SHA}", "./.github/actions/build", "$/actions/x", "org/rocm-ci/actions/x@v1"]
            )
        },
        {"name": lines, "with": st.dictionaries(st.sampled_from(["path", "key", "restore-keys"]), scalars, max_size=3)},
    ),
)


def _gpu_runners(mode: str) -> st.SearchStrategy[Document]:
    return _optional(
        {"labels": labels | _listed(labels)},
        {
            "group": lines,
            "gfx": gfx | _listed(gfx),
            "gpus": st.integers(1, 16),
            "partition": st.sampled_from(["spx", "cpx"]),
            "groups": _listed(st.sampled_from(["video", "render", 44, 109, 0]), least=0),
            "mode": st.just(mode),
            "env-file": st.just("/etc/podinfo/gha-gpu-isolation-settings"),
        },
    ).map(lambda runner: runner if mode == "docker" else {**runner, "mode": mode})


_images = st.sampled_from(
    ["rocm/pytorch:rocm6.2.3", f"registry.example.com:5000/a/b@sha256:{'0' * 64}", "rocm/vllm", "ghcr.io/a/b:cu-free"]
)
_containers = _optional(
    {"image": _images},
    {
        "devices": st.sampled_from([["/dev/kfd", "/dev/dri"], ["/dev/kfd", "/dev/dri/renderD128"], ["/dev/dri"]]),
        "env": envs,
        "volumes": st.sampled_from([["/data/hf:/cache/hf"], ["cache:/cache:ro", "/a:/b"], []]),
        "user": st.sampled_from(["0:0", "root", "1001"]),
        "cap-add": st.just(["SYS_PTRACE"]),
        "security-opt": st.just(["seccomp=unconfined"]),
        "ulimits": st.sampled_from([{"memlock": -1}, {"nofile": "1024:65536", "core": 0}, {}]),
    },
).flatmap(
    lambda container: st.sampled_from(
        [
            container,
            {**container, "ipc": "host"},
            {**container, "shm-size": "16g"},
            {**container, "ipc": "private", "shm-size": "1024"},
            {**container, "username-secret": "REGISTRY_USER", "password-secret": "REGISTRY_TOKEN"},
        ]
    )
)

_ON: Document = {"manual": True}


@st.composite
def _filters(draw: st.DrawFn, *kinds: str) -> Document | bool:
    found: Document = {}
    for kind in kinds:
        key = draw(st.sampled_from([None, kind, f"{kind}-ignore"]))
        if key is not None:
            found[key] = draw(refs)
    return found or draw(st.booleans())


@st.composite
def _triggers(draw: st.DrawFn) -> Document:
    found = draw(
        _optional(
            {},
            {
                "push": _filters("branches", "tags"),
                "pull_request": _filters("branches"),
                "merge_group": st.booleans(),
                "schedule": _listed(crons, most=2),
                "manual": st.booleans(),
            },
        )
    )
    return found if any(value is not False for value in found.values()) else dict(_ON)


_common: Document = {
    "paths": globs,
    "timeout": minutes,
    "env": envs,
    "before": st.lists(_steps, max_size=2),
    "after": st.lists(_steps, max_size=1),
}
_hipify: Document = {
    "source": _listed(paths),
    "mode": st.sampled_from(["native", "hipify"]),
    "rocm-version": st.sampled_from(["6.10", "6.3.1"]),
    "fail-on": st.sampled_from(["unsupported", "manual", "convertible", "never"]),
    "exclude": _listed(st.sampled_from(["third_party/**", "*.cuh"])),
    "baseline": paths,
    "changed-only": st.booleans(),
    "convert": paths,
    "compile": st.booleans(),
    "offload-arch": _listed(gfx),
    "sarif": paths,
    "jobs": st.integers(1, 64),
}
_kernels: Document = {
    "shards": st.integers(1, 16),
    "tests": _listed(paths | st.just("tests/test_a.py::test_b[x-1]")),
    "device": st.sampled_from(["all", "cpu", "0", 0]),
    "each": st.booleans(),
    "python": st.sampled_from(["python3", "/opt/venv/bin/python"]),
    "pytest-args": st.lists(st.sampled_from(["-m", "not slow", "--deselect", "x"]), min_size=1, max_size=4),
    "test-timeout": minutes,
    "retries": st.integers(0, 5),
    "known-failures": paths,
    "smoke": _listed(st.sampled_from(["torch", "matmul"])),
    "benchmark": paths,
    "max-slowdown": percents,
    "against": st.just("origin/main"),
    "junit": paths,
}
_serving: Document = {
    "requests": st.integers(1, 10_000),
    "concurrency": st.integers(1, 512),
    "max-tokens": st.integers(1, 4096),
    "request-timeout": minutes,
    "baseline": paths,
    "max-slowdown": percents,
}
_server = st.sampled_from(
    [
        {"model": "meta-llama/Llama-3-8B-Instruct"},
        {"engine": "vllm", "model": "/models/a", "server-args": ["--tp", "2", "--dp", "2"], "port": 30000},
        {"engine": "openai", "model": "m", "server-command": "serve {model} --port {port}", "startup-timeout": "15m"},
        {"engine": "openai", "base-url": "http://127.0.0.1:30000"},
    ]
)
_probes = st.none() | _optional(
    {},
    {
        "interval": st.just("50ms"),
        "require-clear": st.sampled_from(["512MiB", "2.5GiB", "3%"]),
        "max-growth": percents,
        "prometheus": paths,
    },
)
_jobs = _optional(
    {
        "uses": st.sampled_from(
            [
                "./.github/workflows/docs.yml",
                "$/.github/workflows/docs.yml",
                f"org/other/.github/workflows/x.yaml@{SHA}",
            ]
        )
    },
    {
        "with": st.dictionaries(st.sampled_from(["strict", "level"]), scalars, max_size=2),
        "secrets": _listed(secret_names, least=0),
        "paths": globs,
        "permissions": st.dictionaries(
            st.sampled_from(["contents", "pages", "id-token"]), st.sampled_from(["read", "write"]), max_size=2
        ),
        "self-hosted": st.booleans(),
    },
)


@st.composite
def _stages(draw: st.DrawFn, gpu_runners: list[str]) -> Document:
    names_of = draw(_listed(st.sampled_from(["hipify-check", *_GPU_STAGES] if gpu_runners else ["hipify-check"])))
    stages: Document = {}
    for name in names_of:
        if name == "hipify-check":
            stages[name] = draw(_optional({}, {**_common, **_hipify}))
            continue
        own = _kernels if name == "kernel-tests" else _serving
        stage = draw(_optional({}, {**_common, **own}))
        if name == "sglang-regression":
            stage |= draw(_server)
        chosen = draw(_listed(st.sampled_from(gpu_runners)))
        if len(gpu_runners) > 1 or draw(st.booleans()):
            stage["runner"] = chosen[0] if len(chosen) == 1 and draw(st.booleans()) else chosen
        stages[name] = stage
    for stage in stages.values():
        free = [name for name in ("HF_TOKEN", "DEPLOY_KEY") if name not in stage.get("env", {})]
        if free and draw(st.booleans()):
            stage["secrets"] = free
    if any(name in stages for name in _GPU_STAGES) and draw(st.booleans()):
        stages["vram-probe"] = draw(_probes)
    return stages


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A valid manifest as plain data."""
    mode = draw(st.sampled_from(["docker", "docker", "kubernetes", "none"]))
    runners: Document = draw(st.dictionaries(names, _gpu_runners(mode), max_size=3))
    gpu_runners = list(runners)
    if not runners or draw(st.booleans()):
        runners["cpu"] = {"labels": draw(st.sampled_from(["ubuntu-latest", ["self-hosted", "linux"]]))}
    stages = draw(_stages(gpu_runners))
    jobs: Document = draw(st.dictionaries(names, _jobs, max_size=2))
    # Needs along a random order cannot be cyclic.
    order = draw(st.permutations([*[name for name in stages if name != "vram-probe"], *jobs]))
    for index, name in enumerate(order):
        needs = draw(st.lists(st.sampled_from(order[:index]), max_size=2, unique=True)) if index else []
        target = stages.get(name) if name in stages else jobs[name]
        if needs and target is not None:
            target["needs"] = needs
    document: Document = {"version": 1, "runners": runners, "stages": stages}
    if jobs:
        document["jobs"] = jobs
    return document | draw(
        _optional(
            {},
            {
                "uses": st.sampled_from(["org/rocm-ci@v1", "Org/rocm-ci@release/2"]),
                "pin": st.just(SHA),
                "container": _containers,
                "requirements": paths,
                "triggers": _triggers(),
                "concurrency": st.fixed_dictionaries({"cancel-in-progress": st.booleans()}),
                "forks": st.sampled_from(
                    [{}, {"policy": "never"}, {"policy": "label", "label": "run gpu"}, {"policy": "mirror"}]
                ),
                "unowned": st.sampled_from(["notice", "run"]),
                "ignore": globs,
                "artifacts": st.just({"retention-days": 7}),
            },
        )
    )


def dump(document: Document, *, style: str = "block") -> str:
    """A document as the text of a file, in YAML's block style or as JSON (which YAML 1.2 contains)."""
    if style == "json":
        return json.dumps(document, ensure_ascii=False, indent=2)
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.allow_unicode = True
    yaml.width = 4096
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue()


@st.composite
def valid_manifests(draw: st.DrawFn) -> str:
    """The text of a valid `.rocm-ci.yml`."""
    return dump(draw(documents()), style=draw(st.sampled_from(["block", "json"])))
