"""Whatever the bytes: an answer, with places that exist. Whatever valid manifest: one meaning in every style."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rocm_ci_gen.manifest import Checked, check, format_diagnostics
from rocm_ci_gen.manifest.rules import RULES
from support.manifests import Document, documents, dump, parsed, valid_manifests

# No deadline: the machine is shared, and time is not what is tested here.
# The strategy of whole manifests is wide: a few examples of it are worth many of the others.
relaxed = settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def answered(data: bytes) -> Checked:
    checked = check(data, "m.yml")
    assert (checked.manifest is None) == bool(checked.errors)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    count = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for item in checked.diagnostics:
        assert item.rule in RULES
        assert 1 <= item.line <= count
        assert 1 <= item.column <= len(item.source_line) + 1
        assert item.message.isprintable()
        assert item.fix.isprintable()
    shown = format_diagnostics(checked.diagnostics, color=False)
    assert shown.replace("\n", "").isprintable()
    return checked


@given(st.binary(max_size=200))
@settings(relaxed, max_examples=100)
def test_any_bytes(data: bytes) -> None:
    answered(data)


@given(st.text("ab:-[]{}#&*!|>'\"%@`,?\\ \n\t\r0.~<y\u3000\ud7ff\u0301", max_size=80))
@settings(relaxed, max_examples=100)
def test_any_yaml_like_text(text: str) -> None:
    answered(text.encode("utf-8", "surrogatepass"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@given(values)
@relaxed
def test_any_document(value: Any) -> None:
    answered(dump(value, style="json").encode("utf-8", "surrogatepass"))


@given(valid_manifests())
@relaxed
def test_valid_manifests_resolve(text: str) -> None:
    assert answered(text.encode()).manifest == parsed(text)


@given(documents())
@relaxed
def test_both_styles_mean_the_same(document: Document) -> None:
    assert parsed(dump(document, style="block")) == parsed(dump(document, style="json"))


@given(documents(), st.data())
@relaxed
def test_a_document_with_a_part_exchanged(document: Document, data: st.DataObject) -> None:
    spot: Any = document
    while isinstance(spot, (dict, list)) and spot:
        keys = list(spot) if isinstance(spot, dict) else range(len(spot))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(spot[key], (dict, list)) or not spot[key] or data.draw(st.booleans()):
            spot[key] = data.draw(values | st.sampled_from(["${{ x }}", "--x", "../x", "x\n", "", "gate", "cpu"]))
            break
        spot = spot[key]
    answered(dump(document, style="json").encode("utf-8", "surrogatepass"))


@given(valid_manifests(), st.data())
@relaxed
def test_a_text_with_a_part_cut_or_doubled(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    answered((text[:start] + text[start:end] * data.draw(st.sampled_from([0, 2])) + text[end:]).encode())


@given(valid_manifests(), st.binary(min_size=1, max_size=3), st.data())
@example("version: 1", b"\x00", None)
@relaxed
def test_a_text_with_foreign_bytes(text: str, junk: bytes, data: st.DataObject | None) -> None:
    whole = text.encode()
    at = data.draw(st.integers(0, len(whole))) if data is not None else len(whole)
    answered(whole[:at] + junk + whole[at:])
