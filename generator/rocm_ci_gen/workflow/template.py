"""From the view to text: Jinja2 with delimiters that leave `${{ }}` alone.

A template may print only what the filters of `quoting` return; anything else is an error. So a value can reach the
workflow only as quoted text.
"""

from __future__ import annotations

import jinja2

from rocm_ci_gen import resources
from rocm_ci_gen.workflow import quoting
from rocm_ci_gen.workflow.views import WorkflowView


def text(view: WorkflowView) -> str:
    """The workflow file, with LF line ends and one at the end of the file."""
    rendered = environment().get_template("github/rocm-ci.yml.j2").render(workflow=view)
    return rendered.rstrip("\n") + "\n"


def environment() -> jinja2.Environment:
    """The template engine: `<% %>`, `<< >>`, `<# #>`; an undefined name is an error."""
    engine = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.template_root()),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        optimized=False,  # a template is compiled once and rendered once
        autoescape=False,  # noqa: S701 - YAML, not HTML: `finalize` and the filters escape
        finalize=_only_yaml,
    )
    engine.filters = {
        "comment": quoting.in_comment,
        "field": quoting.field,
        "item": quoting.item,
        "scalar": quoting.scalar,
        "word": quoting.word,
    }
    return engine


def _only_yaml(value: object) -> quoting.Yaml:
    if isinstance(value, quoting.Yaml):
        return value
    raise TypeError(f"a template prints {value!r} without a filter that makes YAML of it")
