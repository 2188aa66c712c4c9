"""What the stages are given: enough to do something, and nothing that does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.findings import Finding
from rocm_ci_gen.manifest.hosted import hosted_label
from rocm_ci_gen.manifest.semantics.document import CPU, PROBE, Document, StageView
from rocm_ci_gen.manifest.words import show

_SERVING = "sglang-regression"
# Key -> the key without which it does nothing, and the value that this key must not have.
_DEPENDENT = {
    ("hipify-check", "offload-arch"): "compile",
    ("kernel-tests", "max-slowdown"): "benchmark",
    ("kernel-tests", "against"): "benchmark",
}
_DURATION = re.compile("([0-9]+)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MARGIN_MINUTES = 15


def check(doc: Document) -> Iterator[Finding]:
    """All findings about the options of stages."""
    yield from _probe(doc)
    for stage in doc.stages():
        if stage.name == _SERVING:
            yield from _serving(doc, stage)
        for (name, key), needed in _DEPENDENT.items():
            path = (*stage.path, key)
            given = doc.has(*stage.path, needed) and doc.value(*stage.path, needed) is not False
            if name == stage.name and doc.has(*path) and not given and doc.intact(*stage.path):
                yield Finding(
                    "no-effect",
                    path,
                    f"{show(key)} has no effect without {show(needed)}",
                    fix=f"add {show(needed)}, or remove it",
                    on_key=True,
                )
        yield from _timeout(doc, stage)


def _probe(doc: Document) -> Iterator[Finding]:
    if PROBE not in doc.keys("stages") or not doc.intact("stages"):
        return
    if not any(stage.gpu for stage in doc.stages()):
        yield Finding(
            "probe-alone",
            ("stages", PROBE),
            f"{show(PROBE)} measures around GPU stages, and there is none",
            fix="add `kernel-tests` or `sglang-regression`",
            on_key=True,
        )


def _serving(doc: Document, stage: StageView) -> Iterator[Finding]:
    def has(key: str) -> bool:
        return doc.has(*stage.path, key)

    if has("base-url"):
        for key in ("server-command", "server-args", "port", "startup-timeout"):
            if has(key):
                yield Finding(
                    "serving",
                    (*stage.path, key),
                    f"{show(key)} launches a server, and `base-url` says that one runs already",
                    fix=f"remove {show(key)} or `base-url`",
                    on_key=True,
                )
    elif not has("model"):
        if doc.intact(*stage.path):
            yield Finding(
                "serving",
                stage.path,
                f"{show(stage.name)} needs `model`, to launch a server, or `base-url` of one that runs",
                fix="for example `model: meta-llama/Llama-3-8B-Instruct`",
                on_key=True,
            )
    elif doc.text(*stage.path, "engine") == "openai" and not has("server-command") and doc.intact(*stage.path):
        yield Finding(
            "serving",
            (*stage.path, "engine"),
            "rocm-ci does not know how to launch the engine `openai`, which is any server with that API",
            fix="add `server-command` or `base-url`",
        )
    if has("server-args") and has("server-command") and not has("base-url"):
        yield Finding(
            "serving",
            (*stage.path, "server-args"),
            "`server-command` is the whole command; `server-args` has no place in it",
            fix="write the options into `server-command`",
            on_key=True,
        )


def _timeout(doc: Document, stage: StageView) -> Iterator[Finding]:
    path = (*stage.path, "timeout")
    match = _DURATION.fullmatch(doc.text(*path) or "")
    if match is None:
        return
    minutes = int(match[1]) * _SECONDS[match[2]] / 60 + _MARGIN_MINUTES
    limits = facts()["limits"]
    runners = doc.runners_of(stage) or (() if stage.gpu else (CPU,))
    labels = [doc.runner_labels(name) or ("ubuntu-latest",) for name in runners]
    hosted = any(hosted_label(names) for names in labels)
    most = limits["hosted_job_minutes"] if hosted else limits["self_hosted_job_minutes"]
    if minutes > most:
        where = "one of its own machines" if hosted else "a self-hosted runner"
        yield Finding(
            "timeout-too-long",
            path,
            f"GitHub ends a job on {where} after {most // 60} hours, and the log of the check with it",
            fix=f"at most `{most - _MARGIN_MINUTES}m`",
        )
