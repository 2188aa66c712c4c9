"""Secrets: which forms and variables are hidden, and that everything that leaves is redacted."""

from __future__ import annotations

import pytest

from rocm_ci.runner.console import Console
from rocm_ci.runner.masking import Redactor, secret_values

# Forms only; none of them is a real token.
HF = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
GH = [prefix + "A1b2C3d4E5" * 4 for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")]
AWS = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.mark.parametrize("token", [HF, *GH, AWS])
def test_tokens_are_hidden_wherever_they_stand(token: str) -> None:
    assert Redactor()(f"a {token} b") == "a *** b"
    assert Redactor()(f"url=https://host/?t={token}&x") == "url=https://host/?t=***&x"


def test_a_bearer_token_is_hidden() -> None:
    assert Redactor()("Authorization: Bearer abc.DEF-123_456~789==") == "Authorization: Bearer ***"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:pass@host/x", "https://***@host/x"),
        ("https://x-access-token:abc@github.com/a/b", "https://***@github.com/a/b"),
        ("https://token@host", "https://***@host"),
        ("postgres://u:p@ss@db:5432/x", "postgres://***@db:5432/x"),
        ("http://a:b@[::1]:80/", "http://***@[::1]:80/"),
        ("ssh://git@github.com/a/b", "ssh://git@github.com/a/b"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host?mail=a@b.c", "https://host?mail=a@b.c"),
        ("mail a@b.c, hf_short, ghp_short", "mail a@b.c, hf_short, ghp_short"),
    ],
)
def test_credentials_of_a_url_are_hidden_and_no_more(text: str, shown: str) -> None:
    assert Redactor()(text) == shown


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "my_password", "API_KEY", "OPENAI_APIKEY", "AWS_SECRET_ACCESS_KEY", "DB_PASS", "X_SECRET_2", "TOKEN"],
)
def test_values_of_secret_looking_variables_are_hidden(name: str) -> None:
    assert Redactor({name: "correct horse"})("say correct horse!") == "say ***!"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKENIZERS_PARALLELISM", "something"),
        ("PATH", "/usr/local/bin"),
        ("MAX_TOKENS", "40960000"),
        ("X_TOKEN", "short"),
        ("SSH_AUTH_SOCK", "/run/agent.1"),
    ],
)
def test_other_values_are_not(name: str, value: str) -> None:
    assert Redactor({name: value})(f"say {value}") == f"say {value}"


def test_a_key_of_several_lines_is_hidden_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----\n"
    shown = Redactor({"DEPLOY_PRIVATE_KEY": key})("log: abcdefghijkl and\nmnopqrstuvwx\n")
    assert shown == "log: *** and\n***\n"


def test_the_longer_of_two_secrets_is_hidden_whole() -> None:
    environ = {"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefghijkl"}
    assert secret_values(environ) == ("abcdefghijkl", "abcdefgh")
    assert Redactor(environ)("abcdefghijkl") == "***"


def test_walking_redacts_every_string_and_no_number() -> None:
    redact = Redactor({"PIN_TOKEN": "12345678"})
    value = {"12345678": ["x 12345678", {"n": 12345678, "b": True, "z": None}]}
    assert redact.walk(value) == {"***": ["x ***", {"n": 12345678, "b": True, "z": None}]}


def test_everything_that_is_printed_is_redacted(capfd: pytest.CaptureFixture[str]) -> None:
    console = Console(Redactor({"A_TOKEN": "s3cr3t-value"}))
    console.out("a s3cr3t-value")
    console.progress("b s3cr3t-value")
    console.relay("c s3cr3t-value")
    with console.group("d s3cr3t-value"):
        pass
    out, err = capfd.readouterr()
    assert "s3cr3t" not in out + err
    assert out == "a ***\nc ***\n"
    assert err == "b ***\nd ***\n"


def test_masks_are_told_only_to_a_github_runner(capfd: pytest.CaptureFixture[str]) -> None:
    environ = {"A_TOKEN": "100%-secret"}
    Console(Redactor(environ)).mask()
    assert capfd.readouterr().out == ""
    Console(Redactor(environ), on_github=True).mask()
    assert capfd.readouterr().out == "::add-mask::100%25-secret\n"
