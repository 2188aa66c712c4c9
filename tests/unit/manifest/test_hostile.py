"""Files that are too large, too deep or too clever: refused with one clear message, and quickly."""

from __future__ import annotations

import pytest

from rocm_ci_gen.manifest import check, format_diagnostics
from rocm_ci_gen.manifest.checking import MAX_DIAGNOSTICS
from rocm_ci_gen.manifest.source import MAX_BYTES, MAX_LINE

HEAD = b"version: 1\n"


def rules(data: bytes) -> list[str]:
    checked = check(data, "m.yml")
    assert checked.manifest is None
    assert len(format_diagnostics(checked.diagnostics, color=True)) < 200_000
    return [item.rule for item in checked.diagnostics]


@pytest.mark.parametrize("data", [b"a" * 10_000_000, b"- \n" * 4_000_000, b"\0" * (MAX_BYTES + 1), b"\n" * (1 << 20)])
def test_large_files(data: bytes) -> None:
    assert rules(data) == ["too-large"]


def test_the_size_is_told() -> None:
    (item,) = check(b"x" * 10_000_000, "m.yml").diagnostics
    assert "10000000 bytes" in item.message
    assert str(MAX_BYTES) in item.message


@pytest.mark.parametrize("opening", ["[", "{", "- ", "? ", "[{a: "])
def test_deep_nesting(opening: str) -> None:
    assert rules(HEAD + b"uses: " + (opening * 20_000).encode()[: MAX_LINE - 100]) in (
        ["too-large"],
        ["yaml-syntax"],
        ["not-a-key"],
    )
    assert rules(b"- " * 5_000) == ["too-large"]


def test_many_values() -> None:
    assert rules(HEAD + b"".join(b"k%d: v\n" % number for number in range(20_000))) == ["too-large"]


def test_an_alias_bomb_is_not_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 30)]
    assert rules("\n".join(lines).encode()) == ["too-large"]


def test_a_merge_bomb_is_not_expanded() -> None:
    lines = ["m0: &m0 {" + ", ".join(f"k{index}: v" for index in range(50)) + "}"]
    lines += [f"m{level}: &m{level} {{<<: [{', '.join([f'*m{level - 1}'] * 9)}], x: 1}}" for level in range(1, 30)]
    assert rules("\n".join(lines).encode()) == ["too-large"]


def test_many_mistakes_are_cut() -> None:
    stages = ", ".join(f"stage-{number}: {{}}" for number in range(2_000))
    found = rules(HEAD + f"runners: {{a: {{labels: x}}}}\nstages: {{{stages}}}".encode())
    assert found == ["unknown-key"] * MAX_DIAGNOSTICS + ["too-many"]


def test_errors_are_shown_before_warnings_are() -> None:
    groups = ", ".join(f"group-{number}" for number in range(300))
    text = f"runners: {{a: {{labels: x, groups: [{groups}]}}}}\nstages: {{kernel-tests: {{runner: b}}}}"
    assert rules(HEAD + text.encode()) == ["unknown-runner", "too-many"]
    checked = check(HEAD + text.replace("b}", "a}").encode(), "m")
    assert checked.manifest is not None
    assert {item.rule for item in checked.diagnostics} == {"group-name", "too-many"}


def test_long_lists_and_many_jobs_are_no_trouble() -> None:
    patterns = "".join(f'      - "p{number}/**"\n      - "!q{number}/**"\n' for number in range(3_000))
    text = f"runners: {{a: {{labels: x}}}}\nstages:\n  kernel-tests:\n    paths:\n{patterns}"
    assert check(HEAD + text.encode(), "m").diagnostics == ()
    jobs = "".join(
        f"  j{number}: {{uses: ./.github/workflows/a.yml, needs: [j{number * 7 % 600}, j{(number * 3 + 1) % 600}]}}\n"
        for number in range(600)
    )
    text = f"runners: {{a: {{labels: x}}}}\nstages: {{kernel-tests: }}\njobs:\n{jobs}"
    assert "needs-cycle" in rules(HEAD + text.encode())


@pytest.mark.parametrize(
    "data",
    [
        b'a: "\\UFFFFFFFF"',
        b"%YAML 9999999999999999999999999.1\n---\na: b",
        b"%TAG ! tag:x,2000:\n---\na: !b c",
        b"a: &" + b"x" * 20_000 + b" 1",
        b"!" * 20_000,
        b"? " * 9_000,
        b"&a " * 9_000,
        b'"' + b"\n" * 50_000,
        b"a: |\n" + b" x\n" * 50_000,
        b"a: >99999999999999999999\n x",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbfversion: 1",
        b"\xff\xfe\x00",
        b"version: 1" + b"9" * 30_000,
        b"version: -" + b"9" * 30_000 + b"." + b"9" * 1_000,
        b"version: 0x" + b"f" * 30_000,
        b"version: 1e99999999999",
        b"runners: {? {a: b} : c}",
        b"a: *b\n",
        b"<<: 1\n",
        b"*a : b",
        b"a: !!binary |\n  R0lGODlh",
        b"a: !!set {b, c}",
        b"a: !!timestamp 2001-01-01",
        b"a: 2001-01-01T00:00:00Z",
        b"--- \n...\n--- \n...",
        b"# only a comment",
        b"null",
        b"[]",
        b"true",
        b"\t",
        b"\r",
        b"\x85",
        "version: 1\u2028runners: {}".encode(),
        b"a: 'b\r\n\r\nc",
    ],
)
def test_odd_texts_get_an_answer(data: bytes) -> None:
    assert rules(data)


def test_a_dictionary_key_of_another_type_is_text() -> None:
    assert (
        rules(HEAD + b"1: a\ntrue: b\n~: c\n2001-01-01: d\nrunners: {a: {labels: x}}\nstages: {kernel-tests: }\n")
        == ["unknown-key"] * 4
    )
