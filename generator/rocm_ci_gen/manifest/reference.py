"""The manual page of the manifest, made from the schema (docs/manifest.md; a test holds the two together)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rocm_ci_gen import resources
from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.phrases import default_of, example_of, takes
from rocm_ci_gen.manifest.rules import RULES
from rocm_ci_gen.manifest.schema import Key, Schema, all_keys, load_schema

_INTRO = """\
# The manifest

`.rocm-ci.yml` in the top folder of a repository says which checks run, on which AMD machines, and when.
`rocm-ci-gen render` makes the workflow from it; nobody edits the workflow.

This page is generated from the [JSON Schema](../generator/rocm_ci_gen/manifest/schema.json), which editors read too:
with `rocm-ci-gen schema > rocm-ci.schema.json` and `# yaml-language-server: $schema=rocm-ci.schema.json` in the
manifest's first line they complete keys and mark mistakes. `rocm-ci-gen explain KEY` shows one key in the terminal.

The manifest is read as YAML 1.2: `true` and `false` are the only booleans (`yes` and `on` are text), a version such as
`"6.10"` needs quotes, and a key must not be given twice. Anchors and `<<` work. Expressions (`${{ }}`) are accepted
nowhere: secrets go into `secrets:`, other values into `env:`. In `env`, numbers keep the digits that you write, and a
boolean becomes `true` or `false`.

## An example with most keys
"""

_KUBERNETES = """\
## Runners in Kubernetes mode

With `mode: kubernetes` the runner's container hooks make a pod. They read `image`, `env` and the registry's secrets of
`container`, and ignore what would be an option of Docker. The pool has to provide that in its pod template, the file
that `ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE` names; there is one for a whole runner scale set.
"""

_RULES = """\
## What `validate` checks

`rocm-ci-gen validate` names the check behind each message in brackets, and tells everything in one run. Errors end with
exit code 2; warnings do so with `--strict` only. All commands that read the manifest make the same checks, except for
`missing-file`.
"""

_COMMON = """\
### Keys of every stage

`hipify-check`, `kernel-tests` and `sglang-regression` are jobs and have these keys. A stage without any key of its own
is written as `kernel-tests:`.
"""

_STEP = """\
### Steps in `before` and `after`

A step has `run` or `uses`, as in a workflow. Code of others must be named by its full commit SHA.
"""


def markdown() -> str:
    """The whole page."""
    page = "\n".join([_INTRO, "```yaml", _example(), "```", *_sections(), *_kubernetes(), *_rules()]).rstrip() + "\n"
    return page.replace("See docs/security.md", "See [docs/security.md](security.md)")


def _example() -> str:
    return resources.data_text("manifest/example.yml").rstrip("\n")


def _sections() -> Iterator[str]:
    keys = list(all_keys())
    for name in load_schema()["properties"]:
        own = [key for key in keys if key.path == name or key.path.startswith(f"{name}.")]
        yield from ("", f"## `{name}`", "", own[0].schema["description"], "")
        if name == "stages":
            yield from _stages(own)
            continue
        yield from _facts(own[0])
        inner = own[1:]
        if inner:
            yield from ("", *_table(_relative(inner, name)))


def _facts(key: Key) -> Iterator[str]:
    yield f"* takes: {takes(key.schema)}"
    default = default_of(key.schema)
    yield "* must be given" if key.required else f"* default: {_code(default)}"
    example = example_of(key.name, key.schema)
    if example:
        yield f"* example: {_code(example)}"


def _stages(keys: Sequence[Key]) -> Iterator[str]:
    stages = [key for key in keys if key.path.count(".") == 1]
    by_stage = {stage.name: [key for key in keys if key.path.startswith(f"{stage.path}.")] for stage in stages}
    shared = _shared({name: inner for name, inner in by_stage.items() if name != "vram-probe"})
    first = stages[0].name
    common = _relative([key for key in by_stage[first] if key.name in shared], f"stages.{first}")
    defaults = {name: _defaults(name, by_stage) for name in shared}
    yield from (_COMMON, *_table(common, defaults))
    steps = [key for key in by_stage[first] if key.path.startswith(f"stages.{first}.before[].")]
    yield from ("", _STEP, *_table([(key.name, key) for key in steps]))
    for stage in stages:
        yield from ("", f"### `stages.{stage.name}`", "", stage.schema["description"], "")
        example = example_of(stage.name, stage.schema)
        if example:
            yield from (f"Example: {_code(example)}", "")
        inner = [key for key in by_stage[stage.name] if key.name not in shared or "[]" in key.path]
        yield from _table(_relative([key for key in inner if "[]" not in key.path], stage.path))


def _shared(by_stage: dict[str, list[Key]]) -> set[str]:
    """Keys that all stages have with the same description."""
    described = [
        {(key.name, key.schema["description"]) for key in keys if "[]" not in key.path} for keys in by_stage.values()
    ]
    return {name for name, _ in set.intersection(*described)}


def _relative(keys: Iterable[Key], prefix: str) -> list[tuple[str, Key]]:
    return [(key.path.removeprefix(f"{prefix}."), key) for key in keys if "[]." not in key.path]


def _defaults(name: str, by_stage: dict[str, list[Key]]) -> str:
    """The default of a key that several stages have; with the stages' names where it differs."""
    found: dict[str, list[str]] = {}
    for stage, keys in by_stage.items():
        for key in keys:
            if key.path == f"stages.{stage}.{name}":
                found.setdefault(_code(default_of(key.schema)), []).append(stage)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{default} ({', '.join(stages)})" for default, stages in found.items())


def _table(rows: Sequence[tuple[str, Key]], defaults: Mapping[str, str] | None = None) -> Iterator[str]:
    yield "| key | what it does | takes | default | example |"
    yield "|---|---|---|---|---|"
    for name, key in rows:
        default = "**must be given**" if key.required else _code(default_of(key.schema))
        default = (defaults or {}).get(name, default)
        cells = (f"`{name}`", key.schema["description"], takes(key.schema), default, _code(_short_example(key.schema)))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _short_example(schema: Schema) -> str | None:
    example = example_of("", schema)
    return example.removeprefix(": ") if example else None


def _code(text: str | None) -> str:
    return f"`{text}`" if text else "none"


def _kubernetes() -> Iterator[str]:
    table: dict[str, str] = facts()["kubernetes"]["instead"]
    yield from ("", _KUBERNETES, "| key without effect there | what the pod template has instead |", "|---|---|")
    for key, instead in table.items():
        yield f"| `{key}` | {instead.format(gpus='N')} |"


def _rules() -> Iterator[str]:
    yield from ("", _RULES, "| check | severity | what it finds |", "|---|---|---|")
    for name, (severity, meaning) in RULES.items():
        yield f"| `{name}` | {severity} | {meaning} |"
