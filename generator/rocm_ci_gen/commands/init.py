"""`rocm-ci-gen init`: look at a repository, propose a manifest, write it and what belongs to it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from rocm_ci.runner.errors import UsageError

if TYPE_CHECKING:
    from rocm_ci_gen.manifest import Manifest
    from rocm_ci_gen.scaffold.facts import Facts
    from rocm_ci_gen.scaffold.outputs import Read, Result
    from rocm_ci_gen.scaffold.proposal import Answers, Proposal
    from rocm_ci_gen.scaffold.repository import Repository

_STOPPED = 130
_MISSPELT = ".rocm-ci.yaml"
_EPILOG = """\b
Examples:
  rocm-ci-gen init                                       ask what the repository does not tell
  rocm-ci-gen init --yes                                 take the proposals
  rocm-ci-gen init --labels self-hosted,roc-gpu-mi200 --gfx gfx90a --gpus 2 --yes

Run again, it changes nothing that you wrote: an existing .rocm-ci.yml is only checked and rendered.
With --force it is proposed anew; what was there is kept as .rocm-ci.yml.bak."""


def _option(name: str) -> Callable[[click.Context, click.Parameter, str | None], object]:
    """Callback that reads an option as `rocm_ci_gen.scaffold.answers` does."""

    def read(ctx: click.Context, parameter: click.Parameter, value: str | None) -> object:
        if value is None:
            return None
        from rocm_ci_gen.scaffold import answers

        try:
            parsed: object = getattr(answers, name)(value)
        except answers.AnswerError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=parameter) from error
        return parsed

    return read


@click.command("init", epilog=_EPILOG)
@click.argument("directory", metavar="[DIR]", type=click.Path(path_type=Path, readable=False), default=Path())
@click.option("--yes", "-y", is_flag=True, help="Take the proposals; ask nothing.")
@click.option(
    "--force", is_flag=True, help="Replace an existing manifest, and a workflow that is not ours (kept as .bak)."
)
@click.option("--labels", callback=_option("labels"), metavar="L,...", help="Labels of the GPU runner.")
@click.option("--gfx", callback=_option("gfx"), metavar="GFX", help="gfx target of its GPUs, or a name such as MI300X.")
@click.option("--gpus", type=click.IntRange(1, 1024), metavar="N", help="How many GPUs a job sees.")
@click.option("--image", callback=_option("image"), metavar="IMAGE", help="Container image of the GPU stages.")
@click.option("--model", callback=_option("model"), metavar="NAME", help="Model that sglang-regression serves.")
@click.option(
    "--stages", callback=_option("stages"), metavar="S,...", help="Stages to switch on. Default: those of this release."
)
@click.option(
    "--uses", callback=_option("uses"), metavar="REPO@REF", help="Where the actions come from. Default: org/rocm-ci@v1."
)
@click.pass_context
def command(ctx: click.Context, /, *, directory: Path, yes: bool, force: bool, **given: object) -> None:
    """Look at a repository and write its manifest and workflow.

    Finds CUDA, HIP, Triton and TileLang sources, tests, requirements, branches and the runners of existing workflows,
    and proposes `.rocm-ci.yml` with the reason for each choice.
    """
    from rocm_ci_gen.scaffold.proposal import Answers
    from rocm_ci_gen.scaffold.repository import read_repository

    answers = Answers(**given)  # type: ignore[arg-type]
    root = _root(directory)
    repository = read_repository(root)
    _check_place(root, repository)
    if repository.note:
        click.echo(f"note: {repository.note}.", err=True)
    from rocm_ci_gen.manifest import MANIFEST_NAME

    if (root / MANIFEST_NAME).exists() and not force:
        _again(root, directory, repository, ignored=_named(given))
    else:
        try:
            _first(root, directory, repository, answers, yes=yes, force=force)
        except click.Abort:
            click.echo("\nstopped: nothing was written", err=True)
            ctx.exit(_STOPPED)


def _root(directory: Path) -> Path:
    if not directory.exists():
        raise UsageError(
            f"there is no folder {_shown(directory)}", help=f"`mkdir -p {_shown(directory)}`, or name another"
        )
    if not directory.is_dir():
        raise UsageError(f"{_shown(directory)} is a file", help="name the folder of a repository")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"{_shown(directory)} is not writable for you", help="look at the owner of the folder")
    return directory.resolve()


def _check_place(root: Path, repository: Repository) -> None:
    if repository.inside_git_folder:
        raise UsageError(f"{_shown(root)} is git's own folder, not a work tree", help="name the folder with the files")
    if (root / _MISSPELT).exists():
        raise UsageError(
            f"found {_MISSPELT}, but the manifest is named {_MISSPELT.removesuffix('yaml')}yml",
            help=f"rename it: `git mv {_MISSPELT} {_MISSPELT.removesuffix('yaml')}yml`",
        )
    if repository.top is not None and repository.top.resolve() != root:
        raise UsageError(
            f"{_shown(root)} is inside the repository {_shown(repository.top)}: GitHub reads workflows only at its top",
            help=f"`rocm-ci-gen init {_shown(repository.top)}`",
        )


def _shown(path: Path) -> str:
    """A path as text that any terminal takes."""
    return str(click.format_filename(path))


def _named(given: dict[str, object]) -> list[str]:
    return [f"--{name}" for name, value in given.items() if value is not None]


def _again(root: Path, directory: Path, repository: Repository, ignored: list[str]) -> None:
    """The manifest is there: check it and bring what belongs to it up to date."""
    from rocm_ci_gen.manifest import MANIFEST_NAME, check, format_diagnostics, load
    from rocm_ci_gen.manifest.locate import read_bytes
    from rocm_ci_gen.scaffold.outputs import reader
    from rocm_ci_gen.scaffold.propose import REQUIREMENTS

    path = directory / MANIFEST_NAME
    checked = check(read_bytes(path), str(path))
    manifest = checked.manifest or load(path)
    if checked.diagnostics:
        click.echo(format_diagnostics(checked.diagnostics, color=True), err=True)
    if ignored:
        click.echo(
            f"note: {_shown(path)} is there and stays as it is: {', '.join(ignored)} changed nothing. "
            "Edit the manifest, or use --force.",
            err=True,
        )
    result = _write(root, manifest, None, reader(root), stub=manifest.requirements == REQUIREMENTS, force=False)
    if not (result.written or result.removed):
        click.echo(f"{_shown(path)} and everything that belongs to it are up to date: nothing to do.")
        return
    click.echo(f"{_shown(path)} is kept as you wrote it.")
    _tell_files(result)
    _tell_next(result, root, directory, repository)


def _first(root: Path, directory: Path, repository: Repository, answers: Answers, *, yes: bool, force: bool) -> None:
    """Propose a manifest, ask what is open, and write."""
    from rocm_ci_gen.manifest import MANIFEST_NAME, check, format_diagnostics
    from rocm_ci_gen.scaffold.ask import ask, open_questions
    from rocm_ci_gen.scaffold.detect import detect
    from rocm_ci_gen.scaffold.manifest_text import manifest_text
    from rocm_ci_gen.scaffold.outputs import reader
    from rocm_ci_gen.scaffold.propose import REQUIREMENTS, propose
    from rocm_ci_gen.scaffold.tree import read_tree

    facts = detect(read_tree(root, repository))
    _tell_facts(facts)
    if not yes and open_questions(answers):
        if not _at_a_terminal():
            _cannot_ask(open_questions(answers), propose(facts, answers))
        answers = ask(facts, answers)
    proposal = propose(facts, answers)
    text = manifest_text(proposal)
    checked = check(text.encode("utf-8"), str(directory / MANIFEST_NAME))
    if checked.manifest is None:
        raise UsageError(
            "these answers make no valid manifest; nothing was written\n"
            + format_diagnostics(checked.diagnostics, color=False)
        )
    stub = proposal.requirements.value == REQUIREMENTS
    result = _write(root, checked.manifest, text, reader(root), stub=stub, force=force)
    _tell_reasons(proposal)
    _tell_files(result)
    _tell_next(result, root, directory, repository)
    if checked.diagnostics:
        click.echo(format_diagnostics(checked.diagnostics, color=True), err=True)
    for warning in proposal.warnings:
        click.echo(click.style("warning: ", fg="yellow", bold=True) + warning, err=True)


def _write(root: Path, manifest: Manifest, text: str | None, read: Read, *, stub: bool, force: bool) -> Result:
    from rocm_ci_gen.manifest import MANIFEST_NAME
    from rocm_ci_gen.scaffold.outputs import work_out, write
    from rocm_ci_gen.workflow import render_for

    rendered = render_for(manifest, root=root, manifest_name=MANIFEST_NAME)
    plan = work_out(manifest, text, rendered, read, stub)
    result = write(root, plan, force=force)
    for line in plan.advice:
        click.echo(click.style("to do: ", fg="yellow", bold=True) + line, err=True)
    return result


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _cannot_ask(options: list[str], proposal: Proposal) -> NoReturn:
    runner = proposal.runner
    raise UsageError(
        f"{_and(options)} must be known, and there is no terminal to ask at; nothing was written",
        help="give them, or take the proposals with --yes: "
        f"labels {', '.join(runner.labels.value)}; gfx {', '.join(runner.gfx.value) or 'left open'}; "
        f"image {proposal.image.value}",
    )


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _tell_facts(facts: Facts) -> None:
    click.echo(f"Looked at {'1 file' if len(facts.paths) == 1 else f'{len(facts.paths):,} files'}.", err=True)
    for note in facts.notes:
        click.echo(f"note: {note}.", err=True)


def _tell_reasons(proposal: Proposal) -> None:
    rows = proposal.reasons()
    width = max(len(name) for name, _, _ in rows)
    click.echo(click.style("Choices", bold=True))
    for name, value, reason in rows:
        click.echo(f"  {name:<{width}}  {value} " + click.style(f"({reason})", dim=True))
    on = ", ".join(sorted(proposal.on))
    click.echo(f"  {'stages':<{width}}  {on} " + click.style("(the others are comments in the manifest)", dim=True))


def _tell_files(result: Result) -> None:
    click.echo(click.style("Files", bold=True))
    for what, names in (("wrote", result.written), ("removed", result.removed), ("kept as", result.backups)):
        for name in names:
            click.echo(f"  {what:<7}  {name}")
    for sentence in result.kept:
        click.echo(f"  kept     {sentence}")


def _tell_next(result: Result, root: Path, directory: Path, repository: Repository) -> None:
    """The next steps; they work as they are printed, one after another in one shell."""
    branch = repository.default_branch
    commands = [] if root == Path.cwd() else [f"cd {shlex.quote(_shown(directory))}"]
    if repository.top is None and not (root / ".git").exists():
        commands.append(f"git init --initial-branch={shlex.quote(branch)}")
    elif repository.has_default and repository.current_branch in ("", branch):
        commands.append(f"git switch -c {repository.topic}")
    if result.written:
        commands.append(f"git add {shlex.join(result.written)}")
        commands.append("git commit -m 'Add rocm-ci'")
    # Before the first commit there is nothing that a pull request could be compared with.
    event = f"pull_request --base {shlex.quote(branch)}" if repository.has_default else "workflow_dispatch"
    click.echo(click.style("Next", bold=True))
    click.echo(f"  1. {' && '.join(commands) or 'commit what was removed'}")
    click.echo(f"  2. rocm-ci-gen plan --event {event}")
    click.echo(
        f"  3. Require the check `gate` on {branch}; read docs/security.md of rocm-ci before a self-hosted runner joins"
    )
