"""What actionlint and zizmor must be told, and how little is changed in what the user wrote."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from ruamel.yaml import YAML

from rocm_ci_gen.manifest import Manifest, check
from rocm_ci_gen.scaffold.lint_configs import actionlint_config, zizmor_config

PIN = "0123456789abcdef0123456789abcdef01234567"


def manifest(labels: str = "[self-hosted, roc-gpu-mi200]", extra: str = "") -> Manifest:
    text = (
        f"version: 1\n{extra}runners:\n  cpu: {{labels: ubuntu-latest}}\n  gpu: {{labels: {labels}, gfx: gfx90a}}\n"
        "stages: {hipify-check: }\n"
    )
    found = check(text.encode(), ".rocm-ci.yml").manifest
    assert found is not None
    return found


def reader(files: Mapping[str, str]) -> object:
    return files.get


def labels_after(files: Mapping[str, str], labels: str = "[self-hosted, roc-gpu-mi200]") -> tuple[str, str | None]:
    config = actionlint_config(manifest(labels), files.get)
    assert config is not None
    return config.path, config.text


def load(text: str | None) -> object:
    assert text is not None
    return YAML(typ="safe", pure=True).load(text)


def test_a_new_actionlint_config_has_the_labels_that_actionlint_cannot_know() -> None:
    path, text = labels_after({}, "[self-hosted, linux, x64, roc-gpu-mi200]")
    assert path == ".github/actionlint.yaml"
    assert load(text) == {"self-hosted-runner": {"labels": ["roc-gpu-mi200"]}}


@pytest.mark.parametrize(
    "labels", ["ubuntu-24.04-arm", "[self-hosted, Linux, ARM64]", "windows-2025", "macos-15-xlarge"]
)
def test_known_labels_need_no_config(labels: str) -> None:
    assert actionlint_config(manifest(labels), {}.get) is None


@pytest.mark.parametrize("path", [".github/actionlint.yaml", ".github/actionlint.yml"])
def test_labels_are_added_to_the_users_own_config(path: str) -> None:
    old = "# ours\nself-hosted-runner:\n  labels:\n    - a  # the old one\npaths: {}\n"
    new = "# ours\nself-hosted-runner:\n  labels:\n    - a  # the old one\n    - roc-gpu-mi200\npaths: {}\n"
    assert labels_after({path: old}) == (path, new)


@pytest.mark.parametrize("listed", ["roc-gpu-mi200", "roc-*", "roc-gpu-mi?00"])
def test_a_label_that_the_user_lists_already_changes_nothing(listed: str) -> None:
    old = f'self-hosted-runner:\n  labels: ["{listed}"]\n'
    assert actionlint_config(manifest(), {".github/actionlint.yaml": old}.get) is None


def test_a_config_that_is_not_understood_is_left_alone_with_advice() -> None:
    config = actionlint_config(manifest(), {".github/actionlint.yaml": "- what is this\n"}.get)
    assert config is not None
    assert config.text is None
    assert "roc-gpu-mi200" in config.advice


def test_a_new_zizmor_config_accepts_a_tag_for_our_own_actions_only() -> None:
    config = zizmor_config(manifest(), {}.get)
    assert config is not None
    assert config.path == ".github/zizmor.yml"
    policies = {"org/rocm-ci": "ref-pin", "org/rocm-ci/*": "ref-pin", "*": "hash-pin"}
    assert load(config.text) == {"rules": {"unpinned-uses": {"config": {"policies": policies}}}}


def test_the_policy_names_the_repository_of_the_manifest() -> None:
    config = zizmor_config(manifest(extra="uses: acme/ci@v2\n"), {}.get)
    assert config is not None
    assert '"acme/ci/*": ref-pin' in (config.text or "")


def test_a_pinned_manifest_needs_no_policy() -> None:
    assert zizmor_config(manifest(extra=f"pin: {PIN}\n"), {}.get) is None


@pytest.mark.parametrize("path", [".github/zizmor.yml", ".github/zizmor.yaml", "zizmor.yml", "zizmor.yaml"])
def test_the_policy_is_added_to_the_users_own_config(path: str) -> None:
    old = "rules:\n  artipacked:  # why\n    ignore: [ci.yml]\n"
    config = zizmor_config(manifest(), {path: old}.get)
    assert config is not None
    assert config.path == path
    assert (config.text or "").startswith(old)
    assert '"*": hash-pin' in (config.text or "")


@pytest.mark.parametrize(
    "policies",
    ['"org/*": any', '"org/rocm-ci": hash-pin\n        "org/rocm-ci/*": hash-pin'],
)
def test_a_policy_of_the_users_own_for_us_is_kept(policies: str) -> None:
    old = f"rules:\n  unpinned-uses:\n    config:\n      policies:\n        {policies}\n"
    assert zizmor_config(manifest(), {".github/zizmor.yml": old}.get) is None


def test_policies_of_the_users_own_get_ours_and_nothing_else() -> None:
    old = "rules:\n  unpinned-uses:\n    config:\n      policies:\n        actions/*: ref-pin\n"
    config = zizmor_config(manifest(), {".github/zizmor.yml": old}.get)
    assert config is not None
    assert config.text == old + '        org/rocm-ci: ref-pin\n        "org/rocm-ci/*": ref-pin\n'


def test_an_audit_that_the_user_has_switched_off_stays_off() -> None:
    old = "rules: {unpinned-uses: {disable: true}}\n"
    assert zizmor_config(manifest(), {"zizmor.yml": old}.get) is None


def test_twice_is_once() -> None:
    files: dict[str, str] = {}
    for make in (actionlint_config, zizmor_config):
        config = make(manifest(), files.get)
        assert config is not None
        files[config.path] = config.text or ""
        assert make(manifest(), files.get) is None
