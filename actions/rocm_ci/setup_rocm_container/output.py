"""The outcome: one table on the screen and in the job summary, the report, and the outputs of the action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rocm_ci.gpu import Gpu, Unknown
from rocm_ci.runner.annotations import Annotation, Level
from rocm_ci.runner.errors import Code
from rocm_ci.runner.outcome import Outcome
from rocm_ci.runner.text import markdown_text
from rocm_ci.setup_rocm_container import exports as variables
from rocm_ci.setup_rocm_container.exports import Exports
from rocm_ci.setup_rocm_container.found import Found, mode, targets
from rocm_ci.setup_rocm_container.model import Check, Status, verdict
from rocm_ci.setup_rocm_container.torch_build import TorchBuild

_MARKS = {"ok": "✅", "warn": "⚠️", "fail": "❌", "skip": "-"}
_LEVELS: dict[str, Level] = {"fail": "error", "warn": "warning"}
_ORDER = ("fail", "warn", "ok", "skip")


def outcome(
    found: Found, gpus: Sequence[Gpu], checks: Sequence[Check], torch: TorchBuild, exported: Exports, *, printed: bool
) -> Outcome:
    """Everything that the runner delivers.

    Args:
        found: the node and the container.
        gpus: those that this job may use.
        checks: the rows.
        torch: the job's PyTorch.
        exported: variables for the following steps.
        printed: no runner takes the variables, so they are printed for a shell.
    """
    code, first = verdict(checks)
    usable = [gpu for gpu in gpus if gpu.visible is not False]
    counts: Counter[Status] = Counter(check.status for check in checks)
    executed = len(checks) - counts["skip"]
    # Without a GPU there is one sentence to say, which is the verdict.
    text = table(checks) if gpus else ""
    if printed and exported.values and code is Code.PASSED:
        text += "\n\n" + variables.shell(exported).rstrip("\n")
    return Outcome(
        code=code,
        message=(f"{first.id}: {first.message}" if gpus else first.message) if first else _good(found, gpus, counts),
        executed=executed,
        unit="checks",
        report=report(found, gpus, checks, torch, exported),
        text=text,
        outputs=outputs(found, usable, torch),
        annotations=[
            Annotation(_LEVELS[status], _remark(check), title=f"setup-rocm-container: {check.id}")
            for status in _LEVELS
            for check in checks
            # The first failure is the verdict, which the runner annotates itself.
            if check.status == status and check is not first
        ],
        summary=summary(found, gpus, checks, code),
        gpus=[{"bdf": gpu.bdf, "gfx": gpu.gfx, "product": gpu.product} for gpu in usable],
        help=first.fix if first else "",
    )


def _remark(check: Check) -> str:
    return f"{check.message}\n{check.fix}" if check.fix else check.message


def _good(found: Found, gpus: Sequence[Gpu], counts: Mapping[Status, int]) -> str:
    parts = [f"{len(gpus)} x {', '.join(targets(gpus)) or 'AMD GPU'}"]
    parts += [f"ROCm {found.rocm_version}"] if found.rocm_version else []
    warned = f", {counts['warn']} warnings" if counts["warn"] > 1 else ", 1 warning" if counts["warn"] else ""
    return f"{', '.join(parts)}: {counts['ok']} checks ok{warned}, {counts['skip']} skipped"


def table(checks: Sequence[Check]) -> str:
    """The rows as aligned text; what is to be done stands below its row."""
    width = max(len(check.id) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{check.status:4}  {check.id:{width}}  {check.message}")
        if check.status in {"warn", "fail"}:
            lines += [f"      {'':{width}}  → {line}" for line in check.fix.splitlines()]
    return "\n".join(lines)


def summary(found: Found, gpus: Sequence[Gpu], checks: Sequence[Check], code: Code) -> str:
    """The same for the job summary, what is wrong first."""
    facts = {
        "GPUs": f"{len(gpus)} x {', '.join(targets(gpus)) or 'unknown gfx'}",
        "ROCm": found.rocm_version,
        "Driver": str(found.node.driver),
        "OS": None if isinstance(found.os, Unknown) else found.os.name,
    }
    line = " · ".join(f"**{name}** {markdown_text(value)}" for name, value in facts.items() if value)
    lines = [f"### {'✅' if code is Code.PASSED else '❌'} setup-rocm-container", "", line, ""]
    lines += ["| | Check | Found | Fix |", "|---|---|---|---|"]
    told = [check for check in checks if check.status != "skip"]
    for check in sorted(told, key=lambda check: _ORDER.index(check.status)):
        fix = "<br>".join(_code(part) for part in check.fix.splitlines()) if check.status in {"warn", "fail"} else ""
        lines.append(f"| {_MARKS[check.status]} | {check.id} | {markdown_text(check.message)} | {fix} |")
    skipped = [check for check in checks if check.status == "skip"]
    if skipped:
        lines += ["", f"<details><summary>{len(skipped)} not checked</summary>", ""]
        lines += [f"- {check.id}: {markdown_text(check.message)}" for check in skipped]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    """A command as code in a cell of a table."""
    return "<code>" + markdown_text(text) + "</code>"


def report(
    found: Found, gpus: Sequence[Gpu], checks: Sequence[Check], torch: TorchBuild, exported: Exports
) -> dict[str, object]:
    """The body of the JSON report: what is not known is null, with the reason in `unknown`."""
    unknown = {}
    if isinstance(found.rocm, Unknown):
        unknown["rocm"] = found.rocm.reason
    if isinstance(found.os, Unknown):
        unknown["os"] = found.os.reason
    if found.driver_version is None:
        unknown["driver"] = next(iter(found.node.driver.unknown.values()), str(found.node.driver))
    return {
        "gpus": [gpu_entry(gpu) for gpu in gpus],
        "driver": found.driver_version,
        "rocm": found.rocm_version,
        "os": found.os_id,
        "checks": [check.as_report() for check in checks],
        "kernel": found.node.driver.kernel_release,
        "driver_kind": found.node.driver.kind,
        "torch": {"version": torch.version, "hip": torch.hip} if torch.present else None,
        "exports": dict(exported.values),
        "notes": list(found.node.notes),
        "unknown": unknown,
    }


def gpu_entry(gpu: Gpu) -> dict[str, object]:
    """One GPU of the report."""
    fields = ("bdf", "gfx", "product", "vram_total_bytes", "vram_used_bytes", "render_node", "partition")
    names = {"partition.compute": "partition", "partition.memory": "partition"}
    known: dict[str, object] = {name: getattr(gpu, name) for name in fields[:-1]}
    reasons = {names.get(name, name): why for name, why in gpu.unknown.items()}
    entry: dict[str, object] = {"index": gpu.index, **known, "partition": mode(gpu)}
    entry["unknown"] = {name: reasons.get(name, "not known") for name in fields if entry[name] is None}
    if gpu.partition.is_part:
        entry["partition_number"], entry["partition_count"] = gpu.partition.number, gpu.partition.of
    return entry


def outputs(found: Found, gpus: Sequence[Gpu], torch: TorchBuild) -> dict[str, str]:
    """The outputs of the action; what is not known is empty."""
    return {
        "gfx": ",".join(targets(gpus)),
        "gpu-count": str(len(gpus)),
        "gpu-name": next((gpu.product for gpu in gpus if gpu.product), ""),
        "rocm-version": found.rocm_version or "",
        "driver-version": found.driver_version or "",
        "os": found.os_id or "",
        "torch-version": torch.version or "",
    }
