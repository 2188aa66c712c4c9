"""Shell scripts, Makefiles, Dockerfiles, YAML and TOML: line by line, comments left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import packages, speech, words
from rocm_ci.hipify_check.model import Hit
from rocm_ci.hipify_check.requirements import moved, requirement
from rocm_ci.python_packages import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm_ci.hipify_check.kinds import Kind
    from rocm_ci.hipify_check.versions import Version

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_QUOTED = re.compile(r"'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"")
# Searched in the lower-case text. Lines that install something are read whatever they install.
_WORTH = re.compile(
    r"cu(?:d|1\d\d|obj|blas|fft|rand|sparse|solver|tensor|pti)|nv(?:idia|_peer|cc|prof|disasm|tx|infer|-nsight|rtc|jpeg)|ncu\b|nsys"
    r"|compute[_-][s\d]|ptxas|fatbinary|sm_\d|gen(?:code|erate-)|gpu-arch|whl/|-l(?:cu|nv|nccl|nppc)|lib(?:cu|nv|nccl|nppc)|--gpus"
    r"|install|\badd\b|create|image|from\s|pytorch/|vllm/|-x(?:compiler|ptxas|cudafe|fatbin)|maxrreg|-lineinfo|-rdc|ccbin"
    r"|fast_math|expt-|extended-lambda|default-stream|-fmad|-ftz|prec-|diag-supp|source-in-ptx|compress-all|arch=(?:sm|compute)|compiler-opt|relocatable-d|code=sm|-cudart"
)
_INSTALL = re.compile(
    r"\b(?:(?:uv\s+)?pip3?\s+install|uv\s+add|poetry\s+add|pdm\s+add|(?:conda|mamba|micromamba)\s+(?:install|create))\b"
)
_INSTALL_ANY = re.compile(r"\b(?:install|add|create)\b")
_NEWLINE = re.compile(r"\n|\Z")
_LONGEST_COMMAND = 200
_SYSTEM = re.compile(r"\b(?:apt(?:-get)?|dnf|yum|zypper|apk|microdnf)\b.*\b(?:install|add)\b")
_WORD = re.compile(r"[^\s'\"\\;&|()]+")
_SYSTEM_PACKAGE = re.compile(
    r"(?:cuda(?:-(?:toolkit|compiler|libraries|minimal|runtime|nvcc|cudart|command-line-tools|drivers|compat|keyring|nvtx|cupti)[\w.-]*|-\d+-\d+)"
    r"|nvidia-(?:cuda|driver|utils|container)[\w.-]*|libcudnn\d*[\w.-]*|libnccl\d*[\w.-]*|libcu(?:blas|fft|rand|sparse|solver)[\w.-]*|libnvinfer[\w.-]*|datacenter-gpu-manager[\w.-]*|tensorrt[\w.-]*)(?:=.*)?"
)
_IMAGE = re.compile(
    r"(?<![\w./-])(?:docker\.io/|nvcr\.io/)?(?P<name>nvidia/cuda|nvidia/pytorch|nvidia/tensorrt|nvidia/tritonserver|nvidia/cudagl|pytorch/pytorch"
    r"|pytorch/manylinux[\w-]*cuda[\w.]*|vllm/vllm-openai|tensorflow/tensorflow)(?::(?P<tag>[\w.${}-]+))?(?![\w/-])"
)
_UBUNTU = re.compile(r"ubuntu(\d\d\.\d\d)")
_DOCKER_GPUS = re.compile(r"--gpus(?:[= ]\S+)?|--runtime[= ]nvidia\b")
_YAML_GPU = re.compile(r"\bnvidia\.com/gpu(?:\.\w+)?\b")
_YAML_DRIVER = re.compile(r"(?:^|[\s{,-])(?:driver|runtime)\s*:\s*[\"']?(nvidia)\b")
# Kernel modules of NVIDIA's driver for GPUDirect RDMA, and the library on one; fetched as sources.
# https://github.com/Mellanox/nv_peer_memory and https://github.com/NVIDIA/gdrcopy
_DRIVER_SOURCE = re.compile(r"github\.com[/:](?:Mellanox|NVIDIA)/(nv_peer_memory|gdrcopy)\b")
_MODULE = re.compile(r"\b(?:module|ml)\s+(?:load|add|swap|switch)\b")
_MODULE_NAME = re.compile(r"(?<![\w./-])((?i:cuda|cudatoolkit|cudnn|nvhpc)(?:/[\w.-]+)?)(?![\w/-])")
_CHANNEL = re.compile(r"(?:\s-c|--channel)[ =](nvidia)\b|^\s*-\s+[\"']?(nvidia)[\"']?\s*$")
_ACTION = re.compile(r"\bJimver/cuda-toolkit\b")
_TOML_STRING = re.compile(r"[\"']([A-Za-z0-9][^\"'\n]*)[\"']")
_TOML_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9][\w.-]*)[\"']?\s*=")
_TOML_SECTION = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_TOML_DEPENDENCIES = re.compile(r"dependenc|^packages$|extra-index|index")
# The version of a package for CUDA, in lock files of uv, Poetry and PDM (TOML) and of Pipenv (JSON).
_PROJECT_NAME = re.compile(r"^\[project\][^\[]*?^name\s*=\s*[\"']([^\"']+)", re.MULTILINE | re.DOTALL)
_LOCKED_CUDA = re.compile(r"^\s*[\"']?version[\"']?\s*[=:]\s*[\"'][^\"']*(\+cu\d{2,3})\b")
_LOCKED = re.compile(r"^name\s*=\s*[\"']([^\"']+)[\"']")
_CONDA = re.compile(r"^\s*-\s*[\"']?(?:[\w.-]+::)?([A-Za-z0-9][\w.-]*)\s*((?:[=<>!~].*)?)$")


def scan(text: str, kind: Kind, name: str, version: Version, *, explicit: bool = False) -> list[Hit]:
    """Find CUDA in a script or build file.

    Args:
        text: The file.
        kind: ``shell``, ``docker``, ``yaml`` or ``toml``.
        name: The file's path; tells an environment file of conda and a lock file.
        version: ROCm release to hold it against.
        explicit: Whether the user named that release.
    """
    release = f"{version[0]}.{version[1]}" if explicit else ""
    if kind == "toml":
        return _scan_toml(text, name, version, release)
    hits: list[Hit] = []
    for start, before, line in _lines(text, every=kind == "yaml" and _is_conda(name)):
        code = speech.unsaid(_strip(line))
        if kind == "docker":
            code = speech.unlabelled(code)
        found = [*_line(code, before + code, kind, name, version, release), *_driver_sources(code)]
        hits += [moved(hit, start) for hit in found]
    return hits


def _lines(text: str, *, every: bool) -> Iterator[tuple[int, str, str]]:
    """The lines worth reading: offset, what comes before in the same command, and the line."""
    last = -1
    for match in _NEWLINE.finditer(text) if every else _WORTH.finditer(text.lower()):
        start = text.rfind("\n", 0, match.start()) + 1
        while start > last:
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            line = text[start:end]
            before = _earlier(text, start)
            yield start, before, line
            last = start
            if not (line.rstrip().endswith("\\") and _INSTALL_ANY.search(before + line)):
                break
            start = end + 1  # the next line goes on with the list of packages


def _earlier(text: str, start: int) -> str:
    """The lines before ``start`` that a backslash joins to it."""
    first = start
    for _ in range(_LONGEST_COMMAND):
        if not first or not text[max(0, first - 3) : first - 1].rstrip("\r").endswith("\\"):
            break
        first = text.rfind("\n", 0, first - 1) + 1
    return "".join(_strip(line) for line in text[first:start].split("\n"))


def _scan_toml(text: str, name: str, version: Version, release: str) -> list[Hit]:
    hits: list[Hit] = []
    at = _Toml()
    own = _PROJECT_NAME.search(text)
    offset = 0
    for line in text.split("\n"):
        code = _strip(line)
        if name.endswith(".lock") or _lists_packages(at, code):
            hits += [moved(hit, offset) for hit in words.indexes(code, release)]
            hits += [
                moved(hit, offset)
                for hit in _toml(code, name, version)
                if own is None or normalise(hit.name.partition("[")[0]) != normalise(own[1])  # an extra of its own
            ]
        elif _SYSTEM.search(code):  # a command in a tool's table: before-all = "yum install cuda-toolkit-12-4"
            hits += [moved(hit, offset) for hit in _system(code)]
        offset += len(line) + 1
    return hits


def _is_conda(name: str) -> bool:
    return "env" in name.rsplit("/", 1)[-1].lower()


@dataclass(slots=True)
class _Toml:
    """Where in a TOML file the reader is."""

    section: str = ""
    key: str = ""
    depth: int = 0


def _lists_packages(at: _Toml, code: str) -> bool:
    """Does this line of a TOML file name packages that get installed? `name = "x"` and globs of files do not."""
    header = _TOML_SECTION.match(code)
    if header and at.depth == 0:
        at.section, at.key = header[1].lower(), ""
        return False
    if at.depth == 0:
        key = _TOML_KEY.match(code)
        at.key = key[1].lower() if key else at.key
    hidden = _QUOTED.sub("", code)
    at.depth = max(0, at.depth + hidden.count("[") - hidden.count("]"))
    deep = _TOML_DEPENDENCIES.search(at.section) is not None
    # `packages` of setuptools and Poetry are the project's own modules; the section of a Pipfile is what it installs.
    listed = at.key if at.key != "packages" else ""
    return (
        deep or _TOML_DEPENDENCIES.search(listed) is not None or (at.section == "build-system" and at.key == "requires")
    )


def _strip(line: str) -> str:
    """The line without its comment; a ``#`` in quotes is none."""
    if "#" not in line:
        return line
    hidden = _QUOTED.sub(lambda match: "x" * len(match[0]), line)
    comment = _COMMENT.search(hidden)
    return line[: comment.start()] if comment else line


def _line(code: str, command: str, kind: Kind, name: str, version: Version, release: str) -> Iterator[Hit]:
    yield from words.indexes(code, release)
    if kind == "yaml":
        yield from _yaml(code, name, version)
    if kind in {"yaml", "docker"} or "docker" in command or "podman" in command:
        yield from _images(code)
    installs = _INSTALL.search(command)
    if installs:
        yield from _packages(code, version, installs.end() - (len(command) - len(code)))
        yield from _channels(code)
    elif _SYSTEM.search(command):
        yield from _system(code)
    if kind == "yaml":
        code = speech.untitled(code)
    yield from _modules(code)
    tools = list(words.tools(code))
    yield from tools
    yield from words.roots(code)
    if any(hit.name == "nvcc" for hit in tools):
        return  # its options go with it
    yield from words.variables(code)
    found = list(words.flags(code))
    yield from found
    if not found:
        yield from words.architectures(code)
    yield from words.linked(code)
    yield from words.library_files(code)
    for match in _DOCKER_GPUS.finditer(code):
        if "docker" in command or "podman" in command or "gpus" in command.split("=")[0]:
            yield Hit(
                match.start(),
                "container-option",
                "convertible",
                match[0],
                "--device=/dev/kfd --device=/dev/dri",
                "",
                "containers",
            )


def _modules(code: str) -> Iterator[Hit]:
    """Environment modules: ``module load cuda/12.1``."""
    for match in _MODULE.finditer(code):
        for word in _MODULE_NAME.finditer(code, match.end()):
            yield Hit(word.start(1), "tool", "manual", word[1], "rocm", "the site's module of ROCm", "tools")


def _images(code: str) -> Iterator[Hit]:
    for match in _IMAGE.finditer(code):
        name, tag = match["name"], match["tag"] or ""
        if name in {"pytorch/pytorch", "tensorflow/tensorflow"} and not re.search(r"cuda|gpu|rocm", tag):
            continue
        if "rocm" in tag:
            continue
        hip = _replacement(name, tag)
        yield Hit(match.start(), "image", "convertible" if hip else "unsupported", name, hip, "", "containers")


def _replacement(name: str, tag: str) -> str:
    """The image of AMD that does what this one does; empty where there is none."""
    if name == "nvidia/cuda":
        ubuntu = _UBUNTU.search(tag)
        return f"rocm/dev-ubuntu-{ubuntu[1] if ubuntu else '24.04'}"
    if name.startswith("pytorch/manylinux"):
        return "pytorch/manylinux2_28-builder:rocm"
    images = {"pytorch": "rocm/pytorch", "vllm": "rocm/vllm", "tensorflow": "rocm/tensorflow"}
    return next((image for word, image in images.items() if word in name), "")


def _packages(code: str, version: Version, start: int) -> Iterator[Hit]:
    for match in _WORD.finditer(code, max(0, start)):
        word = match[0]
        if not word.startswith(("-", "$", "/", ".", "http", "git+")):
            yield from (moved(hit, match.start()) for hit in requirement(word, version))


def _channels(code: str) -> Iterator[Hit]:
    """NVIDIA's channel of conda, on a command line and in an environment file."""
    for match in _CHANNEL.finditer(code):
        at = match.start(match.lastindex or 0)
        note = "a channel of CUDA packages; leave it out"
        yield Hit(at, "py-index", "manual", "nvidia", "", note, "python packages")


def _driver_sources(code: str) -> Iterator[Hit]:
    for match in _DRIVER_SOURCE.finditer(code):
        note = "leave it out: the amdgpu driver has RDMA to GPU memory of its own"
        yield Hit(match.start(1), "os-package", "manual", match[1], "", note, "system packages")


def _system(code: str) -> Iterator[Hit]:
    for match in _WORD.finditer(code):
        if _SYSTEM_PACKAGE.fullmatch(match[0]):
            package = match[0].split("=")[0]
            yield Hit(
                match.start(),
                "os-package",
                "manual",
                package,
                "",
                "take the packages of AMD's repository",
                "system packages",
            )


def _yaml(code: str, name: str, version: Version) -> Iterator[Hit]:
    for match in _YAML_GPU.finditer(code):
        yield Hit(match.start(), "container-option", "convertible", match[0], "amd.com/gpu", "", "containers")
    driver = _YAML_DRIVER.search(code)
    if driver:
        note = "AMD containers take /dev/kfd and /dev/dri as devices"
        yield Hit(driver.start(1), "container-option", "manual", "nvidia", "", note, "containers")
    for match in _ACTION.finditer(code):
        yield Hit(match.start(), "tool", "manual", match[0], "", "run the job in a rocm/dev container", "tools")
    if _is_conda(name):
        yield from _channels(code)
        listed = _CONDA.match(code.rstrip())
        if listed:
            yield from (moved(hit, listed.start(1)) for hit in requirement(code.rstrip()[listed.start(1) :], version))


def _toml(code: str, name: str, version: Version) -> Iterator[Hit]:
    if name.endswith(".lock"):
        wheel = _LOCKED_CUDA.match(code)
        if wheel:
            note = "a wheel for CUDA; lock the version of the ROCm index"
            yield Hit(wheel.start(1), "py-package", "manual", wheel[1][1:], "", note, "python packages")
        locked = _LOCKED.match(code)
        package = packages.find(locked[1], version) if locked else None
        if locked and package:
            yield packages.hit(locked[1], package, locked.start(1))
        return
    for match in _TOML_STRING.finditer(code):
        yield from (moved(hit, match.start(1)) for hit in requirement(match[1], version))
    key = _TOML_KEY.match(code)
    package = packages.find(key[1], version) if key else None
    if key and package:
        yield packages.hit(key[1], package, key.start(1))
