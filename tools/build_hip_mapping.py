"""Rebuild `hipify_check/data/names.tsv` from the public tables of ROCm/HIPIFY.

    git clone https://github.com/ROCm/HIPIFY hipify
    git -C hipify worktree add ../hipify-6.3 rocm-6.3.0 && git -C hipify worktree add ../hipify-7.0 rocm-7.0.0
    python tools/build_hip_mapping.py --hipify 6.3=hipify-6.3 --hipify 7.0=hipify-7.0 \
        --output actions/rocm_ci/hipify_check/data/names.tsv

Three sources of one checkout a release are joined: the Markdown tables say which HIP name stands for a CUDA name and
since when; the `CONV_*` classes in `src/CUDA2HIP_*.cpp` say what kind of name it is, which the tables mix up; and
`CUDA_INCLUDE_MAP` in `src/CUDA2HIP.cpp` has the headers, which no table has.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from rocm_ci.hipify_check import versions
from rocm_ci.runner.files import write_atomic

_TABLE_FOLDERS = ("docs/reference/tables", "docs/tables")
"""Where HIPIFY has kept its tables: since ROCm 6.3, and before."""

_ROC = frozenset({"ROC", "MIOPEN"})
_MARKS = frozenset({"A", "D", "C", "R", "U", "E"})

_KINDS = {"CONV_NUMERIC_LITERAL": "e", "CONV_DEFINE": "m", "CONV_TYPE": "t", "CONV_DEVICE_TYPE": "t"}
"""Kind of name by HIPIFY's conversion class; every other class is one of functions."""

_LIBRARIES = {
    "API_DRIVER": "driver",
    "API_RUNTIME": "runtime",
    "API_COMPLEX": "cucomplex",
    "API_BLAS": "cublas",
    "API_RAND": "curand",
    "API_DNN": "cudnn",
    "API_FFT": "cufft",
    "API_SPARSE": "cusparse",
    "API_SOLVER": "cusolver",
    "API_CUB": "cub",
    "API_RTC": "nvrtc",
    "API_TENSOR": "cutensor",
}
_NOT_CUDA = frozenset({"API_CAFFE2"})
"""Maps of projects that HIPIFY carries along; they are no part of CUDA."""

_FOLDERS = {
    "hipblas.h": "hipblas/hipblas.h",
    "hipblaslt.h": "hipblaslt/hipblaslt.h",
    "hipsparse.h": "hipsparse/hipsparse.h",
    "hipsolver.h": "hipsolver/hipsolver.h",
    "hiptensor.h": "hiptensor/hiptensor.h",
    "hiprtc.h": "hip/hiprtc.h",
}
"""Where ROCm installs a library's header since 5.2, which `CUDA_INCLUDE_MAP` leaves out.
https://rocm.docs.amd.com/en/docs-5.2.0/ (file system hierarchy)"""

_CODE = re.compile(
    r'^\s*\{\s*"(?P<name>[^"]+)"\s*,\s*\{\s*"(?P<hip>[^"]*)"\s*,\s*"(?P<roc>[^"]*)"\s*,\s*(?P<conv>CONV_\w+)\s*,'
    r"\s*(?P<api>API_\w+)\s*,(?P<rest>[^}]*)\}",
    re.MULTILINE,
)

HEADER = """\
# CUDA name -> HIP name, for ROCm {releases}.
# Made by tools/build_hip_mapping.py; corrections stand in extra_names.tsv and extra_headers.tsv.
# Source: https://github.com/ROCm/HIPIFY (MIT): API tables, CONV_* classes and CUDA_INCLUDE_MAP of
{sources}
# Library headers carry the directory that ROCm installs them in since 5.2 (hipblas/hipblas.h), which HIPIFY's own
# map leaves out.
# Columns: name, kind (f function, t type, e enum value, m macro, h header), library, {columns}, ROCm name.
# A target is NAME@ADDED@REMOVED@x: the HIP release that added and removed NAME, x = experimental; trailing empty parts
# are cut.
# Empty = HIP has no such name; "-" = the table of that release has no row; "=" = as in the release before.
# The ROCm name is the closest name of a ROCm library (MIOpen, rocBLAS ...) where HIP has none of its own.
"""


class MappingError(Exception):
    """The checkout cannot be read; the text says where and what to do."""


@dataclass(frozen=True)
class Row:
    """What one release says about one CUDA name; `target` is a cell of the data file."""

    kind: str
    library: str
    target: str
    roc: str


@dataclass(frozen=True)
class Release:
    """One release: its number, where it was read from, and its rows by CUDA name."""

    version: str
    origin: str
    rows: Mapping[str, Row]


def read_release(version: str, root: Path) -> Release:
    """Read one checkout of HIPIFY.

    Raises:
        MappingError: The path is no checkout of HIPIFY, or a table or map has a form that is not known.
    """
    folder = next((root / name for name in _TABLE_FOLDERS if (root / name).is_dir()), None)
    if folder is None or not (root / "src" / "CUDA2HIP.cpp").is_file():
        wanted = " or ".join(_TABLE_FOLDERS)
        raise MappingError(f"{root} is no checkout of ROCm/HIPIFY: it needs {wanted}, and src/CUDA2HIP.cpp")
    kinds = read_kinds(root / "src")
    rows: dict[str, Row] = {}
    for name, row in read_tables(folder).items():
        if name not in kinds:
            where = root / "src"
            raise MappingError(f"{folder}: {name} is in a table, but in no map of {where}: are both of one release?")
        rows[name] = replace(row, kind=kinds[name])
    rows.update(read_headers(root / "src" / "CUDA2HIP.cpp"))
    return Release(version, _origin(root), rows)


def read_tables(folder: Path) -> dict[str, Row]:
    """All Markdown tables of a folder; `kind` is left empty.

    A name may stand in several tables: in those of one library, of which some have a HIP column, some a ROC or MIOPEN
    column and some both, or in those of two libraries; then CUDA itself gives the library, runtime before driver.
    """
    pages = sorted(folder.glob("*_supported_by_*.md"), key=lambda page: (page.name.startswith("CUDA_"), page.name))
    if not pages:
        raise MappingError(f"{folder} has no table: *_supported_by_*.md")
    rows: dict[str, Row] = {}
    for page in pages:
        library = _library(page)
        for name, target, roc in _read_page(page):
            known = rows.get(name, Row("", library, "", ""))
            rows[name] = Row("", library, known.target or target, known.roc or roc)
    return rows


def _library(page: Path) -> str:
    """`CUDA_Driver_API_functions_supported_by_HIP.md` is about the driver, `CUBLAS_API_…` about cublas."""
    head, found, _ = page.stem.partition("_API_")
    if not found:
        raise MappingError(f"{page}: no library in the name, which should be LIBRARY_API_…_supported_by_….md")
    word = head.removeprefix("CUDA_").lower()
    return "nvrtc" if word == "rtc" else word


def _read_page(page: Path) -> Iterator[tuple[str, str, str]]:
    """Name, target and ROC name of each row."""
    columns: dict[str, int] = {}
    width = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("|"):
            continue
        cells = [_plain(cell) for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if cells[0] == "CUDA":
            columns, width = _columns(cells, f"{page}:{number}"), len(cells)
        elif not columns:
            raise MappingError(f"{page}:{number}: a table without the head |**CUDA**|…: its form is not known")
        elif len(cells) != width:
            raise MappingError(f"{page}:{number}: {len(cells)} cells in a table of {width} columns")
        elif not set(cells[0]) <= set(":-"):
            yield cells[0], _target(cells, columns), next((cells[columns[key]] for key in _ROC if key in columns), "")


def _plain(cell: str) -> str:
    """A cell without its marks: `**HIP**` or a name in backquotes, which may itself end in a star (`void*`)."""
    return re.sub(r"^(\*\*|`)(.*)\1$", r"\2", cell.strip())


def _columns(cells: Sequence[str], place: str) -> dict[str, int]:
    """Where each column is: `CUDA`, `HIP`, `HIP.A`, `HIP.R`, `ROC` …; the marks belong to the name before them."""
    found: dict[str, int] = {}
    group = ""
    for index, cell in enumerate(cells):
        if cell in _MARKS:
            key = f"{group}.{cell}"
        elif cell in {"CUDA", "HIP"} or cell in _ROC:
            key = group = cell
        else:
            raise MappingError(f"{place}: the column {cell or '(empty)'} is not known: teach it to this tool first")
        if key in found:
            raise MappingError(f"{place}: the column {key} stands there twice")
        found[key] = index
    wanted = {"HIP.A", "HIP.R", "HIP.E"} if "HIP" in found else set()
    if wanted - found.keys() or not found.keys() & {"HIP", *_ROC}:
        raise MappingError(
            f"{place}: the head lacks {', '.join(sorted(wanted - found.keys())) or 'HIP, ROC or MIOPEN'}"
        )
    return found


def _target(cells: Sequence[str], columns: Mapping[str, int]) -> str:
    if "HIP" not in columns or not cells[columns["HIP"]]:
        return ""
    hip, added, removed, experimental = (cells[columns[key]] for key in ("HIP", "HIP.A", "HIP.R", "HIP.E"))
    return "@".join([hip, added, removed, "x" if experimental else ""]).rstrip("@")


def read_kinds(source: Path) -> dict[str, str]:
    """The kind of each name, from its conversion class."""
    found: dict[str, str] = {}
    for file in sorted(source.glob("CUDA2HIP_*.cpp")):
        for match in _CODE.finditer(file.read_text(encoding="utf-8")):
            if match["api"] not in _NOT_CUDA:
                found.setdefault(match["name"], _KINDS.get(match["conv"], "f"))
    if not found:
        raise MappingError(f"{source}: no map of names in CUDA2HIP_*.cpp: their form is not known")
    return found


def read_headers(file: Path) -> dict[str, Row]:
    """The headers of `CUDA_INCLUDE_MAP`."""
    _, found, rest = file.read_text(encoding="utf-8").partition("CUDA_INCLUDE_MAP")
    rows: dict[str, Row] = {}
    for match in _CODE.finditer(rest.partition("\n};")[0]):
        if match["api"] in _NOT_CUDA:
            continue
        if match["api"] not in _LIBRARIES:
            raise MappingError(f"{file}: {match['api']} of {match['name']} is not known: teach it to this tool first")
        lacking = re.search(r"\b(?:HIP_)?UNSUPPORTED\b", match["rest"])
        target = "" if lacking else _FOLDERS.get(match["hip"], match["hip"])
        rows[match["name"]] = Row("h", _LIBRARIES[match["api"]], target, match["roc"])
    if not found or not rows:
        raise MappingError(f"{file}: no header in CUDA_INCLUDE_MAP: its form is not known")
    return rows


def _origin(root: Path) -> str:
    """Commit and branch or tag of a checkout; of a folder without git only that."""
    top = _git(root, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != root.resolve():
        return "a copy without git history"
    commit = _git(root, "rev-parse", "HEAD")
    tag = _git(root, "describe", "--tags", "--exact-match") or _git(root, "branch", "--show-current")
    return f"{tag} ({commit})" if tag else f"commit {commit}"


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def data(releases: Sequence[Release]) -> str:
    """The data file for some releases, the oldest first."""
    labels = [f"ROCm {release.version}" for release in releases]
    columns = ", ".join(f"target in {release.version}" for release in releases)
    sources = "\n".join(f"#   {label}: {release.origin}" for label, release in zip(labels, releases, strict=True))
    lines = [HEADER.format(releases=" ".join(r.version for r in releases), sources=sources, columns=columns).rstrip()]
    names = sorted({name for release in releases for name in release.rows})
    lines += ["\t".join([name, *_cells(name, releases)]) for name in names]
    return "\n".join(lines) + "\n"


def _cells(name: str, releases: Sequence[Release]) -> list[str]:
    newest = next(release.rows[name] for release in reversed(releases) if name in release.rows)
    full: list[str] = []
    for index, release in enumerate(releases):
        row = release.rows.get(name)
        target = "-" if row is None else row.target
        if row and row.kind == "h" and index and target and name not in releases[index - 1].rows:
            # The map of headers has no "added": the first release whose map has one is the nearest that is known.
            target = f"{target}@{release.version}.0"
        elif row and row.kind == "h" and full and full[-1].partition("@")[0] == target:
            target = full[-1]
        full.append(target)
    short = [full[0], *("=" if now == before else now for before, now in pairwise(full))]
    return [newest.kind, newest.library, *short, newest.roc if {"", "-"} & set(full) else ""]


def changes(before: str, after: str) -> str:
    """What a new data file changes, in one line."""
    old, new = _table(before), _table(after)
    changed = sum(old[name] != new[name] for name in old.keys() & new.keys())
    return (
        f"{len(new):,} names: {len(new.keys() - old.keys()):,} new, {len(old.keys() - new.keys()):,} gone, "
        f"{changed:,} changed"
    )


def _table(text: str) -> dict[str, str]:
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return {name: rest for name, _, rest in (line.partition("\t") for line in lines)}


def _argument(text: str) -> tuple[versions.Version, Path]:
    version, found, path = text.partition("=")
    if not found or not path:
        raise argparse.ArgumentTypeError(f"{text} should be RELEASE=PATH, for example 7.0=hipify-7.0")
    try:
        return versions.parse(version), Path(path)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data file; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hipify", action="append", required=True, type=_argument, metavar="RELEASE=PATH")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE")
    chosen = parser.parse_args(arguments)
    roots = dict(chosen.hipify)
    if len(roots) != len(chosen.hipify):
        parser.error("--hipify: a release was given twice")
    try:
        releases = [read_release(versions.show(version), roots[version]) for version in sorted(roots)]
    except (MappingError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = data(releases)
    before = chosen.output.read_text(encoding="utf-8") if chosen.output.exists() else ""
    write_atomic(chosen.output, text)
    print(f"{chosen.output}: {changes(before, text)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
