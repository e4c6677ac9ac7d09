"""Keys: where they come from, and that they stay in nothing that is kept (DESIGN, The record)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.providers.keys import Keys, Secret, redact
from benchbook.errors import ConfigError

KEY = "sk-proj-Zm9vYmFy/+4711=="


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("sk-abcd1234", id="openai"),
        pytest.param("sk-proj-AbCdEf_GhIjKlMnOpQrStUvWx", id="openai-project-without-digits"),
        pytest.param("sk-ant-api03-AbCdEf", id="anthropic"),
        pytest.param("sk-abc1************wxyz", id="half-starred-out"),
        pytest.param("sk_live_4eC39HqLyjW", id="stripe-style"),
        pytest.param("gsk_8s7df6g5h4j3", id="groq"),
        pytest.param("xai-8s7df6g5h4j3", id="xai"),
        pytest.param("pk-lf-1234-abcd", id="public-key"),
        pytest.param("hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", id="hugging-face"),
        pytest.param("AIzaSyA-1234567890_abcdefghijklmnopqrs", id="google"),
        pytest.param("key-3ax6xnjp29jd6fds4gc373sgvjxteol0", id="mailgun-style"),
        pytest.param("Bearer abc123", id="bearer"),
        pytest.param("bearer  eyJhbGciOiJIUzI1NiJ9.e30.x-_", id="bearer-jwt"),
        pytest.param("BEARER abcdefghijklmnop", id="bearer-without-digits"),
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "Incorrect API key provided: {}.", '{{"key":"{}"}}', "x={}&y=1", "({})", "\n{}\n"]
)
def test_what_looks_like_a_key_is_removed(text: str, around: str) -> None:
    redacted = redact(around.format(text))
    assert "[key removed]" in redacted
    assert not any(piece in redacted for piece in (text, text[4:12], text[-4:]))


@pytest.mark.parametrize(
    "text",
    [
        "task-force", "risk-free", "desk-based 2 persons", "ask-me-2", "disk-space-2026", "monkey-patching",
        "turkey_soup", "sk-", "sk- 1234", "sk-learn", "sk-is-short", "hf_transfer", "hf_hub", "pk_column_name",
        "gsk-plc", "xai-research", "key-value", "key-value-store-of-things", "key_name", "api_key", "max_tokens",
        "AIza", "primary key: 4711", "a bearer token is required", "Bearer authentication failed", "bearer of news",
        "the bearer", "https://host/v1", "http://127.0.0.1:8080/a@b", "me@example.org", "10 @ 5 euro", "://",
        "2026-01-01T00:00:00Z",
        "gpt-4.1-2025-04-14", "org-a1b2c3", "req_1234567890abcdef",
    ],
)  # fmt: skip
def test_what_only_begins_like_a_key_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("url", "redacted"),
    [
        ("https://me:pass@host/v1", "https://[key removed]host/v1"),
        ("socks5://token@host:1", "socks5://[key removed]host:1"),
        ("see http://a:b@c and http://d", "see http://[key removed]c and http://d"),
        ("https://me:p%40ss@host", "https://[key removed]host"),
    ],
    ids=["user-and-password", "token", "in-a-sentence", "escaped"],
)
def test_credentials_in_an_address_are_removed(url: str, redacted: str) -> None:
    assert redact(url) == redacted


@given(st.text())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("show", [str, repr, "{}".format, "{!r}".format, lambda secret: json.dumps([str(secret)])])
def test_a_secret_does_not_print(show: object) -> None:
    assert callable(show)
    assert KEY not in show(Secret(KEY))


def test_a_secret_has_no_dict_to_look_into() -> None:
    assert not hasattr(Secret(KEY), "__dict__")


def test_a_secret_goes_into_one_header() -> None:
    assert Secret(KEY).header() == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "echo",
    [KEY, f'{{"message":"bad key {KEY}"}}', json.dumps({"m": KEY}), json.dumps(KEY).replace("/", "\\/"), f"{KEY}{KEY}"],
    ids=["alone", "in-json", "encoded", "with-escaped-slashes", "twice"],
)
def test_a_key_that_a_server_echoes_is_removed(echo: str) -> None:
    cleaned = Keys(KEY).removed_from(echo.encode())
    assert b"Zm9vYmFy" not in cleaned
    assert b"4711" not in cleaned
    assert b"[key removed]" in cleaned


def test_bytes_without_the_key_are_the_same_object() -> None:
    data = b"nothing here"
    assert Keys(KEY).removed_from(data) is data


@pytest.mark.parametrize("placeholder", ["x", "0", "none", "EMPTY", "ollama", "sk-test"])
def test_a_placeholder_for_a_key_is_not_taken_out_of_what_a_model_says(placeholder: str) -> None:
    data = f'{{"content":"{placeholder}","prompt_tokens":100}}'.encode()
    assert Keys(placeholder).removed_from(data) == data


def test_a_key_of_eight_characters_is_a_key() -> None:
    assert Keys("hunter42").removed_from(b"it is hunter42") == b"it is [key removed]"


# ── from the environment ─────────────────────────────────────────────────────────────────────────────────


def test_no_variable_is_no_key() -> None:
    assert Secret.from_environment(None, "model_api_key_env") is None


def test_a_key_comes_without_the_white_space_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    secret = Secret.from_environment("SOME_KEY", "model_api_key_env")
    assert secret is not None
    assert secret.header() == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "SOME_KEY, which is not set"),
        ("", "SOME_KEY, which is not set"),
        (" \n", "SOME_KEY, which is not set"),
        ("schlüssel", "characters that a header can't hold"),
        ("one\r\nX-Evil: 1", "characters that a header can't hold"),
        ("a\x00b".replace("\x00", "\x01"), "characters that a header can't hold"),
    ],
    ids=["missing", "empty", "blank", "not-ascii", "two-lines", "control"],
)
def test_a_key_that_is_none_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None, says: str
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(ConfigError, match=says) as caught:
        Secret.from_environment("SOME_KEY", "model_api_key_env")
    assert caught.value.setting == "model_api_key_env"
    assert not (value and value.strip()) or value not in str(caught.value)
