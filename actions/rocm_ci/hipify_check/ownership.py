"""Names that the tree itself defines are not CUDA's: a compatibility header, a function of the same name."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING

from rocm_ci.hipify_check import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocm_ci.hipify_check.check_file import FileResult
    from rocm_ci.hipify_check.model import Finding


class Tree:
    """The include graph of the checked files, by name only: no search path is known."""

    def __init__(self, results: Sequence[FileResult]) -> None:
        self._by_base: dict[str, list[str]] = defaultdict(list)
        for result in results:
            self._by_base[_base(result.name)].append(result.name)
        self._top = _common_depth(result.name for result in results)
        self._includes: dict[str, list[str]] = {}
        self._included_by: dict[str, list[str]] = defaultdict(list)
        for result in results:
            ours = [name for name in result.includes if _base(name) in self._by_base]  # almost none of them
            includes = ((name, mapping.header(name) is not None) for name in ours)
            targets = [found for name, strict in includes if (found := self.resolve(result.name, name, strict=strict))]
            self._includes[result.name] = targets
            for target in targets:
                self._included_by[target].append(result.name)

    def resolve(self, includer: str, header: str, *, strict: bool = False) -> str | None:
        """The file of the tree that ``#include`` in ``includer`` means, if it is one of the tree's.

        Beside the includer first; else the one whose path ends so and that is nearest to the includer.

        Args:
            includer: The file with the ``#include``.
            header: As written there.
            strict: The toolkit has a header of that name as well, so a file far away in the tree is not meant.
        """
        wanted = posixpath.normpath(header)
        candidates = self._by_base.get(_base(wanted))
        if not candidates:
            return None
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(includer), header))
        for form in (beside, beside + ".in"):
            if form in candidates:
                return form
        tail = "/" + wanted.lstrip("./")
        fitting = [name for name in candidates if ("/" + name.removesuffix(".in")).endswith(tail)]
        if not fitting:
            return None
        nearest = max(fitting, key=lambda name: (_shared(name, includer), -len(name), name))
        # In a tree of many programs a file of another program is not meant.
        return nearest if (len(fitting) == 1 and not strict) or _shared(nearest, includer) > self._top else None

    def sees(self, definer: str, *, early: bool) -> set[str]:
        """All files that may know what ``definer`` defines: those that include it, and what they include as well.

        Args:
            definer: The file with the definition.
            early: The definition stands before an ``#include`` of the file; if not, its own headers know nothing of it.
        """
        including = self._reach({definer}, self._included_by)
        if early:
            return self._reach(including, self._includes)
        edges = {path: targets for path, targets in self._includes.items() if path != definer}
        return self._reach(including, edges)

    @staticmethod
    def _reach(start: Iterable[str], edges: Mapping[str, Sequence[str]]) -> set[str]:
        reached = set(start)
        stack = list(reached)
        while stack:
            for target in edges.get(stack.pop(), ()):
                if target not in reached:
                    reached.add(target)
                    stack.append(target)
        return reached


def drop_owned(results: Sequence[FileResult]) -> list[tuple[FileResult, tuple[Finding, ...]]]:
    """Each result with the findings that remain once the tree's own names are taken out."""
    tree = Tree(results)
    own: dict[str, set[str]] = defaultdict(set)
    wanted = {
        owner
        for result in results
        for owner in result.owners
        if owner and not owner.startswith(("include:", "include<"))
    }
    for result in results:
        for group, early in ((result.defines - result.early, False), (result.early, True)):
            defined = group & wanted
            if defined:
                for seer in tree.sees(result.name, early=early):
                    own[seer] |= defined
    kept = []
    for result in results:
        names = own.get(result.name, set())
        findings = tuple(
            finding
            for finding, owner in zip(result.findings, result.owners, strict=True)
            if not _owned(tree, result.name, owner, names)
        )
        kept.append((result, findings))
    return kept


def _owned(tree: Tree, path: str, owner: str, names: Iterable[str]) -> bool:
    if not owner:
        return False
    if owner.startswith(("include:", "include<")):
        target = tree.resolve(path, owner[len("include:") :], strict=owner.startswith("include<"))
        return target is not None and target != path
    return owner in names


def _common_depth(paths: Iterable[str]) -> int:
    """How many leading directories all paths share."""
    common: list[str] | None = None
    for path in paths:
        folders = path.split("/")[:-1]
        common = folders if common is None else common[: _shared("/".join([*common, ""]), path)]
    return len(common or ())


def _base(path: str) -> str:
    """The name a header is included by; `nccl.h.in` becomes `nccl.h` when it is configured."""
    return path.rpartition("/")[2].removesuffix(".in")


def _shared(one: str, other: str) -> int:
    """How many leading directories two paths share."""
    count = 0
    for left, right in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
