"""The whole check of a manifest: bytes in, a resolved manifest and every diagnostic out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rocm_ci_gen.manifest import nodes, schema_check, semantics, versions, yaml_reader
from rocm_ci_gen.manifest.diagnostics import Diagnostic
from rocm_ci_gen.manifest.findings import Finding, Flaw, Path, Severity, dotted
from rocm_ci_gen.manifest.model import Manifest
from rocm_ci_gen.manifest.nodes import Mapping, Node
from rocm_ci_gen.manifest.phrases import number_fix
from rocm_ci_gen.manifest.resolve import resolve
from rocm_ci_gen.manifest.rules import severity
from rocm_ci_gen.manifest.semantics import safety
from rocm_ci_gen.manifest.semantics.named_files import Exists
from rocm_ci_gen.manifest.semantics.unmatched import Listing
from rocm_ci_gen.manifest.source import SourceText, decode
from rocm_ci_gen.manifest.words import printable

MAX_DIAGNOSTICS = 200
"""Somebody who has more mistakes than this has the wrong file."""

_LONGEST = 1000


@dataclass(frozen=True)
class Checked:
    """Result of `check`. `manifest` is None where there is at least one error; diagnostics are in file order.

    `notes` say what the manifest relies on and cannot see: what a Kubernetes pool has to provide, and which of its
    stages this release does not have yet.
    """

    manifest: Manifest | None
    diagnostics: tuple[Diagnostic, ...]
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that make the manifest unusable."""
        return tuple(item for item in self.diagnostics if item.severity == "error")


def check(data: bytes, name: str, exists: Exists | None = None, listing: Listing | None = None) -> Checked:
    """Check the bytes of a manifest; never raises, whatever the bytes.

    Args:
        data: content of the file.
        name: the file as the diagnostics shall name it.
        exists: tells whether the repository has a path, for warnings about files that are named and not there.
        listing: lists the repository's files, for warnings about patterns that match none of them.
    """
    source, flaws = decode(data, name)
    root: Node | None = None
    if not flaws:
        root, flaws = yaml_reader.read(source)
    diagnostics = [_from_flaw(source, flaw) for flaw in flaws]
    if root is not None:
        flawed = {flaw.path for flaw in flaws if flaw.path}
        diagnostics += [_from_finding(source, root, finding) for finding in _findings(root, flawed, exists, listing)]
    wrong = any(item.severity == "error" for item in diagnostics)
    diagnostics = _shortened(diagnostics)
    if wrong or not isinstance(root, Mapping):
        return Checked(None, tuple(diagnostics))
    return Checked(resolve(root), tuple(diagnostics), semantics.notes(root))


def _shortened(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """In file order; of very many the first errors, and a word about the rest."""
    diagnostics.sort(key=lambda item: (item.line, item.column, item.severity))
    if len(diagnostics) <= MAX_DIAGNOSTICS:
        return diagnostics
    rest = [item for item in diagnostics if item.severity == "error"] or diagnostics
    kept = rest[:MAX_DIAGNOSTICS]
    last, left = kept[-1], len(diagnostics) - len(kept)
    more = f"{left} more messages are not shown"
    note = replace(
        last, severity=severity("too-many"), message=more, fix="correct these first", key="", rule="too-many"
    )
    return [*kept, note]


def _findings(root: Node, flawed: set[Path], exists: Exists | None, listing: Listing | None) -> list[Finding]:
    version = versions.finding(root)
    if version is not None:
        return [version]
    found = list(safety.expressions(root))
    told = flawed | {finding.path for finding in found}
    found += [finding for finding in schema_check.findings(root) if finding.path not in told]
    return [*found, *semantics.findings(root, told | {finding.path for finding in found}, exists, listing)]


def _from_flaw(source: SourceText, flaw: Flaw) -> Diagnostic:
    fix = (number_fix(flaw.path) if flaw.rule == "number" else "") or flaw.fix
    return _diagnostic(source, severity(flaw.rule), flaw.offset, flaw.rule, flaw.message, fix, flaw.path)


def _from_finding(source: SourceText, root: Node, finding: Finding) -> Diagnostic:
    offset = nodes.offset(root, finding.path, on_key=finding.on_key)
    return _diagnostic(source, severity(finding.rule), offset, finding.rule, finding.message, finding.fix, finding.path)


def _diagnostic(
    source: SourceText, level: Severity, offset: int, rule: str, message: str, fix: str, path: Path
) -> Diagnostic:
    line, column = source.position(offset)
    return Diagnostic(
        level, source.name, line, column, _one_line(message), _one_line(fix), dotted(path), source.line(line), rule
    )


def _one_line(text: str) -> str:
    """The text without anything that a terminal would act on, and not longer than a person reads."""
    return printable(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
