"""What `rocminfo` and `rocm_agent_enumerator` print: the GPUs that ROCm's own runtime can open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_ci.gpu import gfx, pci
from rocm_ci.gpu.tools.jsontext import Reasons, whole_lines, words
from rocm_ci.gpu.unknown import Unknown, count

_AGENT = re.compile(r"^\*{3,}\s*\nAgent [0-9]{1,6}\s*\n\*{3,}\s*\n", re.MULTILINE)
_FIELD = re.compile(r"^  (\w[^:\n]{0,60}):[ \t]*([^\n]{0,200})$", re.MULTILINE)
_FAILURE = re.compile(
    r"^(?:Unable to open /dev/kfd[^\n]{0,200}|ROCk module is NOT loaded[^\n]{0,200}|hsa api call failure[^\n]{0,200})",
    re.MULTILINE,
)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_MOST = 4 << 20


@dataclass(frozen=True, slots=True)
class Agent:
    """A GPU that ROCm's runtime opened. None stands for unknown.

    Attributes:
        gfx: gfx target.
        product: marketing name.
        uuid: as `GPU-0123456789abcdef`; `GPU-XX` of a chip without one is refused.
        node: number of the topology node.
        bdf: PCI address; rocminfo gives no domain, so that it is 0000 unless `domain` says otherwise.
        unknown: why each field that is None is.
    """

    gfx: str | None
    product: str | None
    uuid: str | None
    node: int | None
    bdf: str | None
    unknown: Mapping[str, str] = field(default_factory=dict)


def parse_rocminfo(text: str) -> tuple[Agent, ...] | Unknown:
    """GPU agents in order; empty when there are only CPUs."""
    text = _ANSI.sub("", text[:_MOST])
    sections = _AGENT.split(whole_lines(text))[1:]
    if not sections:
        failed = _FAILURE.search(text)
        said = text.strip().splitlines()
        if failed:
            return Unknown(f"rocminfo says: {failed.group(0).strip()}")
        return Unknown(f"rocminfo lists no agent; it says {said[-1][:80]!a}" if said else "rocminfo printed nothing")
    agents = []
    for section in sections:
        fields: dict[str, str] = {}
        for key, value in _FIELD.findall(section):
            fields.setdefault(key.strip(), value.strip())
        if fields.get("Device Type") == "GPU":
            agents.append(_agent(fields))
    return tuple(agents)


def parse_enumerator(text: str) -> tuple[str, ...] | Unknown:
    """Targets in order, without the `gfx000` that stands for a CPU."""
    lines = [line.strip() for line in whole_lines(text, _MOST).splitlines() if line.strip()]
    if not lines:
        return Unknown("rocm_agent_enumerator printed nothing")
    if "Traceback (most recent call last):" in lines:
        return Unknown(f"rocm_agent_enumerator failed: {lines[-1][:120]!a}")
    names = [line for line in lines if line == "gfx000" or gfx.is_name(line)]
    if not names:
        return Unknown(f"rocm_agent_enumerator lists no agent; it says {lines[0][:80]!a}")
    return tuple(name for name in names if name != "gfx000")


def _agent(fields: Mapping[str, str]) -> Agent:
    why = Reasons()
    uuid = words(fields.get("Uuid"), "Uuid")
    if isinstance(uuid, str) and not re.fullmatch(r"GPU-[0-9a-fA-F]{16}", uuid):
        uuid = Unknown("the chip has no UUID")
    place = count(fields.get("BDFID", ""), "BDFID")
    domain = count(fields.get("Domain", "0"), "Domain")
    bdf: str | Unknown
    if isinstance(place, Unknown) or isinstance(domain, Unknown):
        bdf = place if isinstance(place, Unknown) else Unknown("Domain is no number")
    elif place > 0xFFFF:
        bdf = Unknown("BDFID is no PCI address")
    else:
        address, function = pci.from_location(domain, place)
        bdf = pci.with_function(address, function)
    return Agent(
        gfx=why.text("gfx", gfx.base_name(fields.get("Name", "")) or Unknown("Name is no gfx target")),
        product=why.text("product", words(fields.get("Marketing Name"), "Marketing Name")),
        uuid=why.text("uuid", uuid),
        node=why.number("node", count(fields.get("Node", fields.get("Internal Node ID", "")), "Node")),
        bdf=why.text("bdf", bdf),
        unknown=why,
    )
