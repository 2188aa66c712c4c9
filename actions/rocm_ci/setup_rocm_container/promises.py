"""What the runner's label and the manifest promised, held against what is there.

A mislabelled runner is the node's fault, not that of the code under test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocm_ci.gpu.model import Gpu
from rocm_ci.gpu.unknown import Unknown
from rocm_ci.gpu.versions import parse
from rocm_ci.setup_rocm_container.found import Found, mode, targets
from rocm_ci.setup_rocm_container.model import Check, fail, ok, skip, warn
from rocm_ci.setup_rocm_container.place import Place

_LABELS = "give the runner the label of what it has, or change the runner's entry in .rocm-ci.yml"


def check_count(gpus: Sequence[Gpu], hidden: Sequence[str], expected: int | None, place: Place) -> Check:
    """Whether there are as many GPUs as promised; a partition counts as one.

    Args:
        gpus: those that this job may use.
        hidden: why others that the node has may not be used, a reason each.
        expected: the promise.
        place: where this runs.
    """
    have = len(gpus)
    words = f"{have} GPU{'s' if have != 1 else ''}"
    if expected is None:
        return ok("gpu-count", f"{words}; --expect-gpus names no number")
    if have == expected:
        return ok("gpu-count", f"{words}, as promised")
    unseen = f"; {len(hidden)} more are hidden from this container ({hidden[0]})" if hidden else ""
    if have < expected:
        fix = place.advice(
            "lspci -d 1002: -nn; sudo dmesg | grep -i amdgpu | tail -20",
            "container option --device /dev/kfd --device /dev/dri; in .rocm-ci.yml: devices: [/dev/kfd, /dev/dri]",
            f"in the pod's template: resources: {{limits: {{amd.com/gpu: {expected}}}}}",
        )
        fix = (
            fix
            if hidden
            else f"on the node: lspci -d 1002: -nn   # a GPU that is gone needs a reboot. Otherwise {_LABELS}"
        )
        return fail("gpu-count", f"{words}, {expected} were promised{unseen}", fix)
    text = f"{words}, {expected} were promised: other jobs may be using the rest, or the partition mode was changed"
    return warn(
        "gpu-count", text, f"--visible-devices {','.join(map(str, range(expected)))}, or runners.NAME.gpus: {have}"
    )


def check_gfx(gpus: Sequence[Gpu], expected: Sequence[str]) -> Check:
    """Whether every GPU has one of the promised gfx targets."""
    unknown = [gpu for gpu in gpus if not gpu.gfx]
    have = ", ".join(targets(gpus))
    wanted = {target.strip().partition(":")[0].lower() for target in expected if target.strip()}
    if unknown:
        text = f"the gfx target of {unknown[0].key} is unknown: {unknown[0].unknown.get('gfx', 'no source says it')}"
        if wanted:
            return fail(
                "gfx", text, "rocminfo | grep -m1 gfx   # on a kernel without gfx_target_version: a newer amdgpu driver"
            )
        return warn("gfx", text, "rocminfo | grep gfx")
    if not wanted:
        return ok("gfx", f"{have}; --expect-gfx names none")
    wrong = [gpu for gpu in gpus if gpu.gfx not in wanted]
    if not wrong:
        return ok("gfx", f"{have}, as promised")
    names = f"{wrong[0].key} is {wrong[0].gfx}" + (f" ({wrong[0].product})" if wrong[0].product else "")
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    promised = " or ".join(sorted(wanted))
    return fail("gfx", f"{names}{more}; {promised} was promised", _LABELS)


def check_partition(gpus: Sequence[Gpu], wanted: str | None) -> Check:
    """Whether every GPU is in the promised partition mode: `spx`, `SPX/NPS1`, `nps4`."""
    have = ", ".join(dict.fromkeys(shown for gpu in gpus if (shown := mode(gpu))))
    if not wanted:
        if not have:
            return skip("partition", "no mode is promised, and the GPUs say none")
        return ok("partition", f"{have}; --partition names none")
    compute, memory = split_partition(wanted)
    for gpu in gpus:
        pairs = (("compute", compute, gpu.partition.compute), ("memory", memory, gpu.partition.memory))
        for what, asked, found in pairs:
            if asked is None or found == asked:
                continue
            command = f"on the node, with no job on it: sudo amd-smi set --{what}-partition {asked.upper()} --gpu all"
            if found is not None:
                return fail("partition", f"{gpu.key} is in {found.upper()}, {asked.upper()} was promised", command)
            # Without modes the kernel tells only into how many parts the socket is divided: whole is what SPX means.
            if asked in {"spx", "nps1"} and not gpu.partition.is_part and gpu.partition.of == 1:
                continue
            if asked == "spx" and gpu.partition.is_part:
                parts = f"is part {gpu.partition.number} of {gpu.partition.of or 'a divided socket'}"
                return fail("partition", f"{gpu.key} {parts}, SPX was promised", command)
            reason = gpu.unknown.get("partition", "the kernel does not tell it")
            text = f"the {what} partition mode of {gpu.key} is unknown ({reason}), {asked.upper()} was promised"
            return fail("partition", text, f"amd-smi partition --current   # {command}")
    return ok("partition", f"{have or wanted.upper()}, as promised")


def split_partition(text: str) -> tuple[str | None, str | None]:
    """Compute and memory mode of `--partition`, in lower case.

    Raises:
        ValueError: it is no partition mode.
    """
    compute = memory = None
    for word in re.split(r"[/,\s]+", text.strip().lower()):
        if word in {"spx", "dpx", "tpx", "qpx", "cpx"} and compute is None:
            compute = word
        elif re.fullmatch(r"nps[1248]", word) and memory is None:
            memory = word
        else:
            raise ValueError(text)
    return compute, memory


def check_os(found: Found, expected: str | None) -> Check:
    """Whether the container's operating system is the one that was locked in."""
    if isinstance(found.os, Unknown):
        if expected:
            text = f"the operating system is unknown ({found.os.reason}), {expected} was expected"
            return fail("os", text, "cat /etc/os-release")
        return skip("os", found.os.reason)
    name, shown = found.os_id or "", found.os.name
    if not expected:
        ubuntu = found.os.id == "ubuntu"
        return ok("os", shown + (", no LTS release" if ubuntu and not found.os.lts else ""))
    if matches_os(name, expected):
        return ok("os", f"{shown}, as expected")
    return fail(
        "os", f"{shown} ({name}), {expected} was expected", f"use an image of {expected}, or change --expect-os"
    )


def matches_os(found: str, expected: str) -> bool:
    """Whether `ubuntu-22.04` is what `ubuntu-22.04`, `ubuntu 22.04`, `22.04` or `ubuntu` asks for."""
    wanted = re.sub(r"[\s:_]+", "-", expected.strip().lower()).removesuffix("-lts")
    name, _, version = found.partition("-")
    if wanted in {found, name, version}:
        return True
    # ROCm's notes name point releases (22.04.5); os-release has the series only.
    return wanted.startswith(f"{found}.")


def check_kernel(found: Found, expected: str | None) -> Check:
    """Whether the node's kernel is the one that was locked in, or begins so."""
    kernel = found.node.driver.kernel_release
    if kernel is None:
        reason = found.node.driver.unknown.get("kernel_release", "not known")
        return (
            fail("kernel", f"the kernel release is unknown: {reason}", "uname -r")
            if expected
            else skip("kernel", reason)
        )
    if not expected:
        return ok("kernel", f"{kernel}; --expect-kernel names none")
    wanted = expected.strip()
    rest = kernel[len(wanted) :]
    # 5.15 takes 5.15.0-91, and not 5.150.
    if kernel.startswith(wanted) and not (rest[:1].isdigit() and wanted[-1:].isdigit()):
        return ok("kernel", f"{kernel}, as expected")
    fix = f"on the node: apt list --installed 'linux-image-*'; boot {wanted}, or change --expect-kernel"
    return fail("kernel", f"{kernel}, {wanted} was expected", fix)


def check_driver(found: Found) -> Check:
    """Whether the amdgpu driver is loaded, and which it is."""
    driver = found.node.driver
    if driver.loaded is False:
        state = f" (it is {driver.initstate})" if driver.initstate else ""
        fix = "on the node: sudo modprobe amdgpu; sudo dmesg | grep -i amdgpu | tail -20"
        return fail("driver", f"the amdgpu driver is not loaded{state}", fix)
    if driver.loaded is None:
        return skip("driver", f"not known: {driver.unknown.get('loaded', 'the kernel does not tell')}")
    return ok("driver", str(driver))


def check_driver_rocm(found: Found) -> Check:
    """Whether the node's driver and the container's ROCm were released to work together."""
    if found.driver_version is None:
        return skip("driver-rocm", "nothing to compare: the driver's version is not known")
    if isinstance(found.rocm, Unknown):
        return skip("driver-rocm", f"nothing to compare: {found.rocm.reason}")
    answer = found.compatibility
    if answer.verdict == "unknown":
        return skip("driver-rocm", f"driver {found.driver_version}, ROCm {found.rocm.version}: {answer.reason}")
    if answer.verdict == "compatible":
        return ok("driver-rocm", answer.reason)
    fix = (
        "use an image with a ROCm that this driver serves, or on the node: install the driver of a newer release "
        "(sudo amdgpu-install --usecase=dkms)"
    )
    return fail("driver-rocm", answer.reason, fix)


def check_rocm(found: Found, minimum: str | None) -> Check:
    """Whether the container has a ROCm, and one that is new enough."""
    wanted = parse(minimum) if minimum else None
    if isinstance(found.rocm, Unknown):
        reason = found.rocm.reason
        if wanted:
            text = f"the ROCm release is unknown ({reason}), {minimum} or newer is needed"
            return fail(
                "rocm", text, f"use an image with ROCm {minimum}, such as rocm/dev-ubuntu-22.04 or rocm/pytorch"
            )
        return skip("rocm", reason)
    version = found.rocm.version
    have = parse(version)
    if wanted is None:
        return ok("rocm", f"ROCm {version}; --min-rocm names none")
    if have is None:
        return fail(
            "rocm", f"{version!r} is no release that could be compared with {minimum}", "cat /opt/rocm/.info/version"
        )
    width = max(len(have), len(wanted))
    if have + (0,) * (width - len(have)) >= wanted + (0,) * (width - len(wanted)):
        return ok("rocm", f"ROCm {version}; {minimum} or newer was asked for")
    return fail("rocm", f"ROCm {version} is older than {minimum}", f"use an image with ROCm {minimum} or newer")
