"""From view to text: the text is read back as exactly the view, whatever the values."""

from __future__ import annotations

import jinja2
import pytest
from hypothesis import HealthCheck, given, settings

from rocm_ci_gen import resources, workflow
from rocm_ci_gen.files.header import MARK, is_ours
from rocm_ci_gen.manifest.model import Manifest, Step
from rocm_ci_gen.workflow import WORKFLOW_PATH, jobs, template
from rocm_ci_gen.workflow.errors import RenderError
from rocm_ci_gen.workflow.pins import with_raised
from support.manifests import parsed, valid_manifests
from support.models import CPU, HIPIFY, KERNELS, PINS, manifest, manifests
from support.workflow_data import document, load


def render(model: Manifest, name: str = ".rocm-ci.yml") -> str:
    return workflow.render(model, manifest_name=name, pins=PINS)[WORKFLOW_PATH]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(manifests())
def test_any_manifest_is_read_back_as_intended(model: Manifest) -> None:
    text = render(model)
    assert load(text) == document(jobs.workflow_view(model, ".rocm-ci.yml", PINS))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\r" not in text
    assert is_ours(text.encode())
    assert with_raised(PINS, text) == PINS


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(valid_manifests())
def test_any_valid_manifest_renders_to_what_it_says(source: str) -> None:
    model = parsed(source)
    assert load(render(model)) == document(jobs.workflow_view(model, ".rocm-ci.yml", PINS))


def test_no_line_has_blanks_at_its_end() -> None:
    text = render(manifest(HIPIFY, KERNELS, probe={"interval": "1s"}))
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_the_same_manifest_gives_the_same_bytes() -> None:
    assert render(manifest(HIPIFY, KERNELS)) == render(manifest(HIPIFY, KERNELS))


def test_the_header_names_the_manifest_and_the_command() -> None:
    lines = render(manifest(), "ci/rocm.yml").splitlines()
    assert lines[0] == f"# {MARK}ci/rocm.yml. Do not edit: change the manifest, then run"
    assert lines[2] == "#   rocm-ci-gen render --manifest ci/rocm.yml"


@pytest.mark.parametrize("name", ["a\nb: c", "a\r", "a\u2028b"])
def test_a_manifests_name_cannot_end_the_header(name: str) -> None:
    with pytest.raises(RenderError):
        render(manifest(), name)


def test_an_expression_from_the_manifest_is_refused() -> None:
    stage = HIPIFY.__class__(
        "hipify-check",
        (CPU,),
        gpu=False,
        paths=("**",),
        timeout="15m",
        before=(Step(run="echo ${{ github.event.issue.title }}"),),
    )
    with pytest.raises(RenderError, match="contains"):
        render(manifest(stage))


def test_a_template_can_print_only_quoted_values() -> None:
    engine = template.environment()
    with pytest.raises(TypeError, match="without a filter"):
        engine.from_string("<< value >>").render(value="a")
    with pytest.raises(jinja2.UndefinedError):
        engine.from_string("<< missing|scalar >>").render()
    assert engine.from_string("${{ x }} << value|scalar >>").render(value="a: b") == '${{ x }} "a: b"'


def test_the_templates_have_no_logic_beyond_loops_and_conditions() -> None:
    for path in sorted((resources.template_root() / "github").glob("*.j2")):
        text = path.read_text(encoding="utf-8")
        for statement in text.split("<%")[1:]:
            assert statement.split()[0] in {"for", "endfor", "if", "endif", "include", "filter", "endfilter"}, path.name
