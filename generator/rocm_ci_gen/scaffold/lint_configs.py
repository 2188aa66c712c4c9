"""The configuration of actionlint and zizmor that a rendered workflow needs. Pure: old text in, new text out.

actionlint must be told the labels of self-hosted runners; zizmor must be told that our own actions may be used by
tag. What the user has written wins: labels and policies are only added.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.scaffold import yaml_edit

ACTIONLINT_PATHS = (".github/actionlint.yaml", ".github/actionlint.yml")
"""Where actionlint looks, in its order."""
ZIZMOR_PATHS = (".github/zizmor.yml", ".github/zizmor.yaml", "zizmor.yml", "zizmor.yaml")
"""Where zizmor looks, in its order."""

# Labels that actionlint knows: GitHub's own machines and the labels that every self-hosted runner gets.
_KNOWN = frozenset({"self-hosted", "linux", "macos", "windows", "x64", "x86", "arm", "arm64"})
_HOSTED = re.compile(
    r"(?:ubuntu|windows|macos)-(?:latest|slim|\d+(?:\.\d+)?)(?:-(?:large|xlarge|intel|arm))?", re.IGNORECASE
)

_ACTIONLINT_HEAD = (
    "# Labels of self-hosted runners, which actionlint cannot know. `rocm-ci-gen init` only adds missing ones.\n"
)
_ZIZMOR_HEAD = (
    "# rocm-ci's own actions are used by their tag, so that fixes arrive; every other action by its full commit SHA.\n"
)


@dataclass(frozen=True)
class ConfigFile:
    """A configuration file as it should be.

    Attributes:
        path: In the repository.
        text: New content; None where it stays as it is.
        advice: What to add by hand, where the file could not be understood.
    """

    path: str
    text: str | None
    advice: str = ""


def actionlint_config(manifest: Manifest, read: Callable[[str], str | None]) -> ConfigFile | None:
    """The actionlint configuration with the labels of all runners; None where there is nothing to say.

    Args:
        manifest: The resolved manifest.
        read: Content of a file of the repository, None where there is none.
    """
    path, old = _existing(ACTIONLINT_PATHS, read)
    wanted = sorted({label for runner in manifest.runners.values() for label in runner.labels if not _is_known(label)})
    keys = ("self-hosted-runner", "labels")
    listed = yaml_edit.present(old, keys) if old is not None else None
    patterns = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    missing = [label for label in wanted if not any(fnmatch.fnmatchcase(label, pattern) for pattern in patterns)]
    if not missing:
        return None
    if old is None:
        return ConfigFile(path, _ACTIONLINT_HEAD + yaml_edit.block(keys, missing))
    new = yaml_edit.add(old, keys, missing)
    if new is None:
        return ConfigFile(path, None, f"add to self-hosted-runner.labels: {', '.join(missing)}")
    return ConfigFile(path, new)


def zizmor_config(manifest: Manifest, read: Callable[[str], str | None]) -> ConfigFile | None:
    """The zizmor configuration with a policy for our actions; None where there is nothing to say.

    A pinned manifest (`pin:`) needs no policy.
    """
    if manifest.uses.pin:
        return None
    repository = manifest.uses.repository
    ours = {repository: "ref-pin", f"{repository}/*": "ref-pin"}
    keys = ("rules", "unpinned-uses", "config", "policies")
    path, old = _existing(ZIZMOR_PATHS, read)
    if old is None:
        return ConfigFile(path, _ZIZMOR_HEAD + yaml_edit.block(keys, {**ours, "*": "hash-pin"}))
    if yaml_edit.present(old, ("rules", "unpinned-uses", "disable")) is True:
        return None
    policies = yaml_edit.present(old, keys)
    if not isinstance(policies, dict) or not policies:
        wanted = {**ours, "*": "hash-pin"}
    elif f"{repository.split('/')[0]}/*" in policies:
        return None  # the user has a policy of his own for this owner
    else:
        wanted = ours
    new = yaml_edit.add(old, keys, wanted)
    if new is None:
        listed = ", ".join(f'"{name}": {policy}' for name, policy in wanted.items())
        return ConfigFile(path, None, f"add to {'.'.join(keys)}: {listed}")
    return ConfigFile(path, new) if new != old else None


def _existing(paths: Iterable[str], read: Callable[[str], str | None]) -> tuple[str, str | None]:
    """The first of the files that exists, with its content; else the first path."""
    listed = tuple(paths)
    for path in listed:
        text = read(path)
        if text is not None:
            return path, text
    return listed[0], None


def _is_known(label: str) -> bool:
    return label.lower() in _KNOWN or _HOSTED.fullmatch(label) is not None
