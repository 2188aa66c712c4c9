"""Versions, gfx targets and what serves what."""

from __future__ import annotations

import pytest

from rocm_ci.gpu import compat, gfx, products, tables, versions
from rocm_ci.gpu.unknown import Unknown


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (90500, "gfx950"),
        (100303, "gfx1033"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
        (90012, "gfx90c"),
    ],
)
def test_gfx_names(number: int, name: str) -> None:
    assert gfx.name_of(number) == name


@pytest.mark.parametrize("number", [0, 42, 9999, 91600, 90016, 10**9, 2**64 - 1])
def test_numbers_that_are_no_gfx_target(number: int) -> None:
    assert isinstance(gfx.name_of(number), Unknown)


def test_the_table_of_targets_agrees_with_the_rule() -> None:
    for row in tables.rows("gfx.tsv"):
        assert gfx.name_of(int(row["target_version"])) == row["gfx"]
        assert row["kind"] in {"dgpu", "apu", "both"}
        assert row["fp8"] in {"none", "fnuz", "ocp"}
        assert row["source"]
    assert gfx.facts()["gfx942"].fp8 == "fnuz"
    assert gfx.facts()["gfx950"].mxfp4 is True
    assert gfx.facts()["gfx1250"].mxfp4 is None


@pytest.mark.parametrize("name", ["driver_rocm.tsv", "modules.tsv", "products.tsv"])
def test_every_row_has_a_source(name: str) -> None:
    assert all(row["source"] for row in tables.rows(name))


def test_base_names() -> None:
    assert gfx.base_name("gfx90a:sramecc+:xnack-") == "gfx90a"
    assert gfx.base_name("amdgcn-amd-amdhsa--gfx1100") == "gfx1100"
    assert gfx.base_name("gfx000") is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("6.10.5-2095006.22.04", (6, 10, 5)),
        ("30.10", (30, 10)),
        ("10.0", (10, 0)),
        ("v7.2.0", (7, 2, 0)),
        ("", None),
        ("x", None),
        ("6.2.", (6, 2)),
        ("1" * 20, None),
        ("N/A", None),
        ("6.2.41133-dd7f95766", (6, 2, 41133)),
    ],
)
def test_versions_are_tuples(text: str, version: tuple[int, ...] | None) -> None:
    assert versions.parse(text) == version


def test_order_and_previews() -> None:
    order = ["6.2.4", "6.10", "7.0", "7.2.4", "7.9.0", "7.14.0", "10.0", "10.2"]
    parsed = [versions.parse(text) or () for text in order]
    assert parsed == sorted(parsed)
    assert [versions.is_preview(version) for version in parsed] == [False] * 4 + [True] + [False] * 3


@pytest.mark.parametrize(
    ("driver", "rocm", "verdict"),
    [
        ("6.3.0", "6.3.1", "compatible"),
        ("6.2", "6.0.2", "compatible"),
        ("6.3", "5.7.1", "not compatible"),
        ("6.0.2", "6.3", "not compatible"),
        ("6.3", "6.4", "unknown"),
        ("6.3", "7.0", "unknown"),
        ("6.4.1", "6.4.3", "compatible"),
        ("6.4", "6.3", "unknown"),
        ("30.10.1", "7.0.2", "compatible"),
        ("30.10", "6.1", "not compatible"),
        ("30.10.2", "7.2.2", "compatible"),
        ("30.10", "7.9", "unknown"),
        ("30.20", "7.1", "unknown"),
        ("30.30.3", "6.3.4", "compatible"),
        ("30.30.3", "6.2", "not compatible"),
        ("30.30.3", "10.0", "unknown"),
        ("31.10", "7.2", "unknown"),
        ("x", "7.2", "unknown"),
        ("6.2", "", "unknown"),
    ],
)
def test_driver_releases(driver: str, rocm: str, verdict: str) -> None:
    answer = compat.of_release(driver, rocm)
    assert answer.verdict == verdict, answer
    assert answer.reason
    assert bool(answer.source) or verdict != "not compatible"


@pytest.mark.parametrize(
    ("module", "rocm", "verdict", "said"),
    [
        (None, "6.3", "unknown", "no version"),
        ("6.8.5", "6.1.2", "compatible", "ROCm 6.2"),
        ("6.8.5", "5.7", "not compatible", "ROCm 6.2"),
        ("6.12.12", "6.4.1", "compatible", "ROCm 6.4"),
        ("6.10.5", "6.3", "unknown", "after that of ROCm 6.2 and before that of ROCm 6.4"),
        ("6.14.14", "7.0.2", "compatible", "ROCm 7.0.2"),
        ("6.18.3", "7.2", "unknown", "after that of ROCm 7.1.1"),
        ("6.16.6", "6.4", "unknown", "no table"),
        ("junk", "7.2", "unknown", "none"),
    ],
)
def test_module_versions(module: str | None, rocm: str, verdict: str, said: str) -> None:
    answer = compat.of_module(module, rocm)
    assert (answer.verdict, said in answer.reason) == (verdict, True), answer


def test_products() -> None:
    table = products.package_names()
    assert products.product(0x744C, 0xC8, table) == "AMD Radeon RX 7900 XTX"
    assert isinstance(products.product(0x744C, None, table), Unknown)
    assert products.product(0x738C, None, table) == "AMD Instinct MI100"
    assert isinstance(products.product(0xFFFF, 0, {}, table), Unknown)
    assert 0x74A0 in products.apu_devices()
    assert 0x74A1 not in products.apu_devices()
