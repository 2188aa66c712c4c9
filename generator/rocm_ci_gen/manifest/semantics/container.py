"""The container of the GPU stages: what Docker would refuse, ignore, or take for something else."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from rocm_ci_gen.manifest.facts import facts
from rocm_ci_gen.manifest.findings import Finding, Path
from rocm_ci_gen.manifest.semantics.document import Document
from rocm_ci_gen.manifest.words import closest, did_you_mean, show

_AT: Path = ("container",)
# Docker's reference grammar: github.com/distribution/reference, regexp.go.
_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DOMAIN = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[0-9]+)?"
_REFERENCE = re.compile(
    rf"(?P<name>(?:{_DOMAIN}/)?{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_CUDA = re.compile(r"cuda|(?:^|[^a-z0-9])cu1[0-9]{2}(?:[^0-9]|$)")
_HIGHEST_UID = 2**32 - 2  # (uid_t) -1 means "no user" to the kernel
_UID_DIGITS = 10
_RENDER_NODE = re.compile(r"/dev/dri/renderD[0-9]+")


def check(doc: Document) -> Iterator[Finding]:
    """All findings about the container."""
    if not doc.has(*_AT):
        return
    yield from _image(doc)
    yield from _ipc(doc)
    yield from _devices(doc)
    yield from _volumes(doc)
    yield from _ulimits(doc)
    yield from _user(doc)


def _image(doc: Document) -> Iterator[Finding]:
    path = (*_AT, "image")
    image = doc.text(*path)
    if image is None:
        return
    match = _REFERENCE.fullmatch(image)
    if match is None:
        hint = "its name must be lower case" if image != image.lower() else "it is `name:tag` or `name@sha256:…`"
        yield Finding(
            "image-reference",
            path,
            f"{show(image)} does not name an image: {hint}",
            fix="for example `rocm/pytorch:rocm6.2.3_ubuntu22.04_py3.10_pytorch_release_2.3.0`",
        )
        return
    foreign = list(_nvidia(path, image, match["name"]))
    yield from foreign
    if not foreign and match["digest"] is None and match["tag"] in (None, "latest"):
        what = "has no tag, which means `latest`" if match["tag"] is None else "has the tag `latest`"
        yield Finding(
            "image-latest",
            path,
            f"the image {show(image)} {what}: a new image changes the results of old commits",
            fix="name a release, or `name@sha256:…`",
        )


def _nvidia(path: Path, image: str, name: str) -> Iterator[Finding]:
    known = facts()["nvidia_images"]
    parts = name.removeprefix("index.").removeprefix("docker.io/").split("/")
    if parts[0] in known["registries"] or (len(parts) > 1 and parts[0] in known["namespaces"]):
        yield Finding(
            "nvidia-image",
            path,
            f"the image {show(image)} is NVIDIA's; it has no ROCm and sees no AMD GPU",
            fix="use an image with ROCm, such as one of `rocm/pytorch`",
        )
    elif "rocm" not in image.lower() and (_CUDA.search(image.lower()) or parts == ["pytorch", "pytorch"]):
        yield Finding(
            "cuda-image",
            path,
            f"the image {show(image)} looks like a CUDA image, which sees no AMD GPU",
            fix="use an image with ROCm, such as one of `rocm/pytorch`",
        )


def _ipc(doc: Document) -> Iterator[Finding]:
    if doc.text(*_AT, "ipc") == "host" and doc.has(*_AT, "shm-size"):
        yield Finding(
            "ipc-with-shm-size",
            (*_AT, "shm-size"),
            "`shm-size` and `ipc: host` exclude each other: Docker ignores one, Podman refuses",
            fix="keep `ipc: host` (the host's /dev/shm) or `shm-size`",
            on_key=True,
        )


def _devices(doc: Document) -> Iterator[Finding]:
    path = (*_AT, "devices")
    devices = doc.texts(*path)
    for place, device in devices:
        if ".." in device.split(":")[0].split("/"):
            yield Finding("outside-dev", place, f"the device {show(device)} leaves /dev", fix="remove the `..`")
    if not devices or not doc.intact(*path):
        return
    sources = [device.split(":")[0].rstrip("/") for _, device in devices]
    if "/dev/kfd" not in sources:
        yield Finding(
            "devices",
            path,
            "without /dev/kfd no program in the container can use a GPU",
            fix="add /dev/kfd",
            on_key=True,
        )
    nodes = {source for source in sources if _RENDER_NODE.fullmatch(source)}
    if "/dev/dri" in sources:
        return
    if not nodes:
        yield Finding(
            "devices",
            path,
            "without /dev/dri, or render nodes of it, no program can use a GPU",
            fix="add /dev/dri",
            on_key=True,
        )
        return
    for stage in doc.stages():
        for runner in doc.runners_of(stage) if stage.gpu else ():
            gpus = doc.value("runners", runner, "gpus")
            if isinstance(gpus, int) and gpus > len(nodes) and doc.runner_mode(runner) == "docker":
                shown = f"{len(nodes)} render node{'' if len(nodes) == 1 else 's'}"
                yield Finding(
                    "devices",
                    path,
                    f"the container gets {shown}, and {show(runner)} promises {gpus} GPUs",
                    fix="give it /dev/dri, or one render node for each GPU",
                    on_key=True,
                )
                return


def _volumes(doc: Document) -> Iterator[Finding]:
    targets: dict[str, str] = {}
    for place, volume in doc.texts(*_AT, "volumes"):
        source, target = volume.split(":")[:2]
        yield from _volume_source(place, source)
        target = posixpath.normpath(target).replace("//", "/")
        if target == "/":
            yield Finding(
                "volume-target",
                place,
                "a volume cannot be mounted over the container's own `/`",
                fix="give it a folder, such as `/data`",
            )
        elif target in facts()["runner_mounts"]["targets"]:
            yield Finding(
                "volume-target",
                place,
                f"{show(target)} is where the runner mounts its own folders",
                fix="mount it somewhere else, such as `/data`",
            )
        elif target in targets:
            yield Finding(
                "volume-target",
                place,
                f"{show(targets[target])} is mounted at {show(target)} too",
                fix="give each volume a place of its own",
            )
        targets.setdefault(target, source)


def _volume_source(place: Path, source: str) -> Iterator[Finding]:
    if not source.startswith("/"):
        return
    sockets = facts()["container_sockets"]
    source = posixpath.normpath(source).replace("//", "/")
    if posixpath.basename(source) in sockets["names"]:
        yield Finding(
            "volume-socket",
            place,
            f"{show(source)} gives every test full control of the runner's host",
            fix="remove it; a job that needs containers belongs on a machine of its own",
        )
    elif source in sockets["folders"]:
        yield Finding(
            "volume-host",
            place,
            f"mounting {show(source)} gives every test the runner's host, sockets included",
            fix="mount the folder that the tests need",
        )


def _ulimits(doc: Document) -> Iterator[Finding]:
    known = facts()["ulimits"]["names"]
    for name in doc.keys(*_AT, "ulimits"):
        path = (*_AT, "ulimits", name)
        if name not in known:
            match = closest(name, known)
            yield Finding(
                "ulimit",
                path,
                f"there is no limit {show(name)}{did_you_mean(name, known)}",
                fix=f"write {show(match)}" if match else f"one of {', '.join(known)}",
                on_key=True,
            )
            continue
        soft, _, hard = (doc.text(*path) or "").partition(":")
        soft_limit, hard_limit = _limit(soft), _limit(hard or soft)
        if min(int(soft), int(hard or soft)) < -1:
            yield Finding(
                "ulimit",
                path,
                f"{show(f'{name}: {doc.text(*path)}')} is below -1, which is unlimited",
                fix="write -1 for no limit",
            )
        elif soft_limit > hard_limit:
            yield Finding(
                "ulimit",
                path,
                f"the soft limit of {show(name)}, {soft}, is above the hard limit {hard}",
                fix=f'write "{hard}:{hard}"',
            )


def _limit(text: str) -> float:
    return float("inf") if int(text) == -1 else int(text)


def _user(doc: Document) -> Iterator[Finding]:
    path = (*_AT, "user")
    for name in (doc.text(*path) or "").split(":"):
        if name.isdigit() and (len(name) > _UID_DIGITS or int(name) > _HIGHEST_UID):
            yield Finding("value", path, f"there is no user or group {show(name)}", fix=f"at most {_HIGHEST_UID}")
