"""The questions of `init`: only what no repository can tell, each with the proposal and the reason for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import click

from rocm_ci_gen.scaffold import answers as parse
from rocm_ci_gen.scaffold.answers import AnswerError
from rocm_ci_gen.scaffold.facts import Facts
from rocm_ci_gen.scaffold.proposal import Answers
from rocm_ci_gen.scaffold.propose import propose

T = TypeVar("T")


def open_questions(answers: Answers) -> list[str]:
    """The options that would answer what `ask` is going to ask."""
    wanted = (("--labels", answers.labels), ("--gfx", answers.gfx), ("--image", answers.image))
    return [option for option, value in wanted if value is None]


def ask(facts: Facts, answers: Answers) -> Answers:
    """Ask what is not answered yet; an answer moves the next proposal (labels tell the gfx target, that the image).

    Raises:
        click.Abort: the user stopped it.
    """
    if answers.labels is None:
        labels = propose(facts, answers).runner.labels
        said = _ask("Labels of the GPU runner, comma-separated", ", ".join(labels.value), labels.reason, parse.labels)
        # A proposal that is taken keeps its reason.
        if said != labels.value:
            answers = replace(answers, labels=said)
    if answers.gfx is None:
        gfx = propose(facts, answers).runner.gfx
        said = _ask(
            "gfx target of its GPUs (gfx90a, MI300X, ...; `-` leaves it open)",
            ", ".join(gfx.value) or "-",
            gfx.reason,
            lambda text: () if text.strip() == "-" else parse.gfx(text),
        )
        if said != gfx.value:
            answers = replace(answers, gfx=said)
    if answers.image is None:
        image = propose(facts, answers).image
        chosen = _ask("Container image of the GPU stages", image.value, image.reason, parse.image)
        if chosen != image.value:
            answers = replace(answers, image=chosen)
    return answers


def _ask(question: str, proposal: str, reason: str, parse_answer: Callable[[str], T]) -> T:
    def check(text: str) -> T:
        try:
            return parse_answer(text)
        except AnswerError as error:
            raise click.UsageError(str(error)) from error

    click.echo(click.style(f"  {reason}", dim=True), err=True)
    answer: T = click.prompt(question, default=proposal, value_proc=check, err=True)
    return answer
