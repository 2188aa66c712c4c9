from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from rocm_ci.setup_rocm_container import exports
from rocm_ci.setup_rocm_container.exports import Exports
from rocm_ci.setup_rocm_container.torch_build import TorchBuild


def collect(environ: Mapping[str, str], torch: TorchBuild | None = None, rocm: str = "6.3.1") -> Exports:
    build = torch or TorchBuild()
    where = Path("/nonexistent")
    return exports.collect(environ, gfx=["gfx942"], rocm=rocm, visible_devices=None, torch=build, rocm_path=where)


CACHE = {"RUNNER_TOOL_CACHE": "/cache"}


def test_compiled_aiter_modules_belong_to_one_software_stack() -> None:
    old = TorchBuild(packages={"amd-aiter": "0.1.3"}, version="2.6.0")
    new = TorchBuild(packages={"amd-aiter": "0.1.4"}, version="2.6.0")
    folders = [collect(CACHE, build).values["AITER_JIT_DIR"] for build in (old, new)]
    folders += [collect(CACHE, old, "6.4").values["AITER_JIT_DIR"], collect(CACHE).values["AITER_JIT_DIR"]]
    folders.append(collect({**CACHE, "GITHUB_SHA": "1" * 40}).values["AITER_JIT_DIR"])
    assert len(set(folders)) == 5
    assert folders[0] == collect(CACHE, old).values["AITER_JIT_DIR"]
    assert folders[0].startswith("/cache/rocm-ci/caches/aiter/0.1.3-gfx942-")


def test_modules_that_the_image_brings_are_not_hidden() -> None:
    assert "AITER_JIT_DIR" not in collect(CACHE, TorchBuild(prebuilt_aiter=True)).values


def test_without_a_tool_cache_programs_keep_their_own_places() -> None:
    assert dict(collect({}).values) == {"PYTORCH_ROCM_ARCH": "gfx942"}
    assert exports.check_caches(collect({})).status == "skip"


def test_what_the_user_has_set_stays() -> None:
    found = collect({**CACHE, "PYTORCH_ROCM_ARCH": "gfx90a", "HF_HOME": "/mine"})
    assert "HF_HOME" not in found.values
    assert dict(found.kept) == {"PYTORCH_ROCM_ARCH": "gfx90a", "HF_HOME": "/mine"}


def test_lines_for_a_shell_are_quoted() -> None:
    text = exports.shell(Exports({"HF_HOME": "/a b/$(reboot)'"}))
    done = subprocess.run(["bash", "-c", f'{text}printf %s "$HF_HOME"'], capture_output=True, text=True, check=True)
    assert done.stdout == "/a b/$(reboot)'"


def test_rocm_path_is_told_where_there_is_one(tmp_path: Path) -> None:
    found = exports.collect(
        {}, gfx=["gfx90a", "gfx942"], rocm=None, visible_devices="0", torch=TorchBuild(), rocm_path=tmp_path
    )
    assert found.values["ROCM_PATH"] == str(tmp_path)
    assert found.values["PYTORCH_ROCM_ARCH"] == "gfx90a;gfx942"
    assert found.values["HIP_VISIBLE_DEVICES"] == "0"
