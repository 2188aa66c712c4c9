"""Calls that CUDA has with several lists of arguments, and HIP with one."""

from __future__ import annotations

import pytest

from rocm_ci.hipify_check import mapping
from rocm_ci.hipify_check.cfamily import signatures
from rocm_ci.hipify_check.check_file import Target, check_text


def found(text, *, version=(7, 0)):
    return [
        (one.name, one.rule, one.verdict) for one in check_text("a.cu", "c", text.encode(), Target(version)).findings
    ]


def verdict(text, name):
    return next((rule, verdict) for one, rule, verdict in found(text) if one == name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cudaGraphInstantiate(&e, g, NULL, NULL, 0)", "cudaGraphInstantiate(&e, g, 0)"),
        ("cudaGraphInstantiate(&e, g, &n, log, 9)", "cudaGraphInstantiate(&e, g)"),
        ("cudaGraphExecUpdate(e, g, &n, &r)", "cudaGraphExecUpdate(e, g, &info)"),
        ("cudaMemPrefetchAsync(p, n, device)", "cudaMemPrefetchAsync(p, n, {kind, 0}, 0, s)"),
        ("cudaMemPrefetchAsync(p, f(n, 2), device, s)", "cudaMemPrefetchAsync(p, f(n, 2), where, 0, s)"),
        ("cudaMemPrefetchAsync(p, n, device, s)", "cudaMemPrefetchAsync(p, n, cudaMemLocation{kind, 0}, 0)"),
        ("cudaMemAdvise(p, n, kind, device)", "cudaMemAdvise(p, n, kind, {cudaMemLocationTypeDevice, 0})"),
        ("cuCtxCreate(&c, 0, device)", "cuCtxCreate(&c, NULL, 0, device)"),
        ("cudaStreamGetCaptureInfo(s, &status, &id)", "cudaStreamGetCaptureInfo(s, &status, &id, &g, &d, &n)"),
        ("cuGetProcAddress(a, &f, 12000, 0, &status)", "cuGetProcAddress(a, &f, 11030, 0)"),
        ("cudaGraphAddNode(&n, g, d, 1, &p)", "cudaGraphAddNode(&n, g, d, edges, 1, &p)"),
        ("cudaGraphGetEdges(g, a, b, &n)", "cudaGraphGetEdges(\n    g,\n    a,\n    b,\n    nullptr, // none\n    &n)"),
    ],
)
def test_the_form_that_hip_has_and_the_other(old, new):
    name = old[: old.index("(")]
    assert verdict(f"int f() {{ return {old}; }}\n", name) == ("HIP101", "convertible")
    assert verdict(f"int f() {{ return {new}; }}\n", name) == ("HIP127", "manual")


@pytest.mark.parametrize(
    "unclear",
    [
        "auto f = &cudaGraphInstantiate;",
        "cudaError_t cudaGraphInstantiate(A a, B b);",
        "cudaGraphInstantiate();",
        "cudaGraphInstantiate(a, args...);",
        "#define CALL(...) cudaGraphInstantiate(e, __VA_ARGS__)",
        "cudaGraphInstantiate(a < b, c > d, g, h, i, j);",
        "cudaGraphInstantiate(a,\n#if X\n  b,\n#else\n  c,\n#endif\n  d);",
        "cudaGraphInstantiate(a, b",
        "cudaMemAdvise(p, n, kind, where);",
    ],
)
def test_where_it_cannot_be_told_the_name_is_converted(unclear):
    assert {(rule, one) for name, rule, one in found(unclear + "\n") if "Graph" in name or "Advise" in name} == {
        ("HIP101", "convertible")
    }


def test_a_variable_of_the_new_type():
    assert (
        verdict("cudaMemLocation at = {a, 0};\nint x = cudaMemAdvise(p, n, k, at);\n", "cudaMemAdvise")[0] == "HIP127"
    )
    assert (
        verdict("cudaMemLocation at = {a, 0};\nint x = cudaMemAdvise(p, n, k, to);\n", "cudaMemAdvise")[0] == "HIP101"
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("(a, b)", 2),
        (" \n (a)", 1),
        ("()", 0),
        ("( (a, b), {c, d}, e[f, g])", 3),
        ("(static_cast<T>(a), f<int, 4>(b), std::pair<int, long>{c, d}, A<B, C>::value)", 4),
        ("(a->b, c < d, e)", 3),
        ("(a < b, c->d)", 2),
        ("(a < b, c > d)", None),
        ("(p<a, b>, c)", None),
        ("(p<a, b, c>, d)", None),
        ("(f<A<int>, 4>(a), d)", None),
        (";", None),
        ("(" * 5000, None),
    ],
)
def test_arguments(text, count):
    given = signatures.arguments(f"f{text}".encode(), 1)
    assert (None if given is None else len(given)) == count


def test_the_message_names_the_call_that_takes_them():
    finding = check_text("a.cu", "c", b"cudaGraphInstantiate(&e, g, 0);\n", Target((7, 0))).findings[0]
    assert finding.hip == "hipGraphInstantiateWithFlags"
    assert "arguments that HIP does not take; nearest: hipGraphInstantiateWithFlags" in finding.message


def test_the_table():
    names = mapping.names((7, 0))
    for name, row in signatures.table().items():
        assert names[name].verdict == "convertible", name
        assert 0 < row.least <= row.most
        assert row.telling < row.most
    assert all(len(row) == 8 and row[7] for row in mapping.rows("signatures.tsv"))
