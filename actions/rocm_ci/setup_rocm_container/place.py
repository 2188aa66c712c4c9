"""Where this process runs, because the same fault has another remedy in each place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["host", "docker", "kubernetes"]


@dataclass(frozen=True)
class Place:
    """Where the job runs.

    Attributes:
        kind: the host itself, a container whose options the workflow sets, or a pod, where they do not apply.
        root: below which sys/, proc/, dev/ and etc/ are read.
        recorded: `root` is a recorded tree: there are no device nodes to open, and this process is not on that machine.
    """

    kind: Kind
    root: Path = Path("/")
    recorded: bool = False

    def advice(self, host: str, docker: str, kubernetes: str) -> str:
        """The remedy for this place."""
        return {"host": host, "docker": docker, "kubernetes": kubernetes}[self.kind]


def find(root: Path, environ: Mapping[str, str], here: Path = Path("/")) -> Place:
    """Tell where this process runs.

    Args:
        root: the value of `--path-root`.
        environ: the job's environment.
        here: the file system of this process.
    """
    recorded = root.resolve() != here.resolve() and not _has_device_nodes(root)
    # Pods have the service's address in every container's environment (Kubernetes, Service, environment variables).
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return Place("kubernetes", root, recorded)
    # Docker and Podman each leave a file (podman-run(1): /run/.containerenv).
    if (here / ".dockerenv").exists() or (here / "run/.containerenv").exists():
        return Place("docker", root, recorded)
    return Place("host", root, recorded)


def _has_device_nodes(root: Path) -> bool:
    """Whether a tree below another root has real devices, as a host's /dev that is mounted there has."""
    try:
        return (root / "dev/kfd").is_char_device() or (root / "dev/null").is_char_device()
    except OSError:
        return True  # it is there and may not be looked at
