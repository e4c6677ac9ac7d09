"""Which names can mean one model: what was asked for, and what a server calls itself (SPEC R7.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.identity import SELF_JUDGING, is_same_model, other_model, self_judging
from benchbook.ask.model_id import parse_model_id, read_name
from benchbook.record.state import Reported

COMMIT = "7c0bf28e" * 5
WEIGHTS = "sha256:" + "7c0bf28e" * 8


def told(*names: str | None, fingerprint: str | None = None) -> Reported:
    found = Reported()
    for name in names:
        found.add(name, fingerprint)
    return found


SAME = [
    ("gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-4o@2024-08-06", "gpt-4o-2024-08-06"),
    ("gpt-4o@2024-08-06", "gpt-4o"),
    ("gpt-4o-2024-08-06", "gpt-4o"),
    ("gpt-4o@gpt-4o-2024-08-06", "gpt-4o-2024-08-06"),
    ("gpt-4@0613", "gpt-4-0613"),
    ("gpt-4-turbo-preview", "gpt-4-0125-preview"),
    ("gpt-3.5-turbo", "gpt-35-turbo"),
    ("openai/gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-4o", "openai/gpt-4o"),
    ("gpt-4o:free", "openai/gpt-4o"),
    ("mistral-large-latest", "mistral-large-2407"),
    ("gemini-1.5-pro", "models/gemini-1.5-pro-002"),
    ("gemini-flash-latest", "gemini-2.5-flash-preview-09-2025"),
    ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
    ("anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022"),
    ("command-r@2024-08", "command-r-08-2024"),
    ("m@1", "m"),
    ("m@1", "m-2026-01-01"),
    ("m@v2", "m-v2"),
    ("m@v2", "m:v2"),
    ("qwen2.5-7b-instruct", "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf"),
    ("qwen2.5-7b-instruct", "C:\\models\\Qwen2.5-7B-Instruct-q8_0.gguf"),
    ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b-instruct"),
    (
        "qwen2.5-7b-instruct",
        "/cache/models--Qwen--Qwen2.5-7B-Instruct/snapshots/a09a35458c702b33eeacc393d103063234e8bc28",
    ),
    ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct-awq"),
    ("llama-3.1-8b-instruct", "Meta-Llama-3.1-8B-Instruct-bnb-4bit"),
    ("llama3.1:8b", "llama-3.1-8b"),
    ("llama3", "llama3:latest"),
    ("llama3@q4_0", "llama3-q4_0"),
    ("m@sha256:0123456789abcdef", "m@sha256:0123456789ab"),
    ("qwen2.5-7b", "/models/model.gguf"),
    ("qwen2.5-7b", "default"),
    ("default", "qwen2.5-7b"),
    ("モデル", "モデル"),
]

OTHER = [
    ("qwen2.5-7b", "llama-3.1-8b"),
    ("m", "tiny-llama-1.1b-q2"),
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4o", "gpt-4o-mini-2024-07-18"),
    ("gpt-4o-mini", "gpt-4o"),
    ("gpt-4o", "gpt-4"),
    ("llama-3.1-8b", "llama-3.1-70b"),
    ("llama-3.1-8b", "llama-3-8b"),
    ("qwen2.5-7b", "qwen2.5-7b-instruct"),
    ("deepseek-v2", "deepseek-v3"),
    ("m@v1", "m-v2"),
    ("claude-3-5-sonnet-latest", "claude-3-5-haiku-20241022"),
    ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
    ("mistral-large-2407", "mistral-large-2411"),
    ("gemini-1.5-pro-001", "gemini-1.5-pro-002"),
    ("qwen2.5-7b-q8_0", "qwen2.5-7b-q4_k_m"),
    ("モデル", "もでる"),
]

OTHER_SNAPSHOT = [
    ("gpt-4o@2024-08-06", "gpt-4o-2024-11-20"),
    ("gpt-4o@gpt-4o-2024-08-06", "openai/gpt-4o-2024-11-20"),
    ("mistral-large@2407", "mistral-large-2411"),
    ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet-20241022"),
    ("m@2026-01-01", "m-20260202"),
    ("m@sha256:0123456789ab", "m@sha256:ffffffffffff"),
    ("m@q8_0", "m-q4_0"),
]


@pytest.mark.parametrize(("asked", "answered"), SAME)
def test_one_model_under_two_names_is_no_other(asked: str, answered: str) -> None:
    assert other_model(parse_model_id(f"openai/{asked}", "model"), told(answered)) is None


@pytest.mark.parametrize(("asked", "answered"), OTHER)
def test_another_model_is_told_with_both_names(asked: str, answered: str) -> None:
    model_id = parse_model_id(f"openai/{asked}", "model")
    found = str(other_model(model_id, told(answered)))
    assert found == f"server answered as '{answered}'; asked for was '{model_id.name}'"


@pytest.mark.parametrize(("asked", "answered"), OTHER_SNAPSHOT)
def test_another_snapshot_is_told_with_the_declared_one(asked: str, answered: str) -> None:
    model_id = parse_model_id(f"openai/{asked}", "model")
    found = str(other_model(model_id, told(answered)))
    assert found == f"server answered as '{answered}'; the declared snapshot is '{model_id.version}'"


@pytest.mark.parametrize(
    ("name", "answered", "same"),
    [
        ("mistral:mistral-large-latest", "mistral-large-2411", True),
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("deepseek:deepseek-chat", "deepseek-chat", True),
        ("groq:llama-3.1-8b", "llama-3.3-70b", False),
    ],
)
def test_the_vendor_before_a_name_is_no_part_of_it(name: str, answered: str, same: bool) -> None:
    assert (other_model(parse_model_id(f"any-llm/{name}", "model"), told(answered)) is None) is same


def test_of_several_names_the_one_that_differs_is_told() -> None:
    found = other_model(parse_model_id("openai/m@1", "model"), told("m", "m", None, "n"))
    assert found is not None
    assert found.answered_as == "n"


@pytest.mark.parametrize("provider", ["local", "recorded", "scripted"])
def test_where_no_server_was_asked_nothing_is_compared(provider: str) -> None:
    assert other_model(parse_model_id(f"{provider}/m@1", "model"), told("n")) is None


def test_nothing_told_is_no_difference() -> None:
    assert other_model(parse_model_id("openai/m@1", "model"), told(None)) is None


@pytest.mark.parametrize(("told_fingerprint", "differs"), [("fp_1", False), ("fp_2", True), (None, False)])
def test_a_declared_fingerprint_is_held_against_the_one_that_came(told_fingerprint: str | None, differs: bool) -> None:
    reported = told("m", fingerprint=told_fingerprint)
    assert (other_model(parse_model_id("openai/m@fp_1", "model"), reported) is not None) is differs


def test_a_servers_name_is_hostile_text() -> None:
    found = str(other_model(parse_model_id("openai/m@1", "model"), told("evil\n\x1b[31m" + "x" * 500)))
    assert not {"\n", "\x1b"} & set(found)
    assert len(found) < 150


@pytest.mark.parametrize(
    ("model", "model_told", "judge", "judge_told", "same"),
    [
        pytest.param("openai/m@1", None, "openai/m@1", None, True, id="by-id"),
        pytest.param("openai/m@1", None, "openai/j@1", None, False, id="two-ids"),
        pytest.param("openai/m@1", "m", "openai/j@1", "j", False, id="two-names"),
        pytest.param("openai/m@1", "llama-3.1-8b", "openai/j@1", "llama-3.1-8b", True, id="both-answer-alike"),
        pytest.param("openai/m@1", "llama-3.1-8b-q4_0.gguf", "openai/j@1", "/x/Llama-3.1-8B", True, id="as-a-file"),
        pytest.param("openai/m@1", "gpt-4o-2024-08-06", "openai/j@1", "gpt-4o-2024-11-20", False, id="two-snapshots"),
        pytest.param("openai/m@1", "m", "openai/m@2", "m", False, id="two-declared-versions"),
        pytest.param("openai/gpt-4o@1", "gpt-4o-2024-08-06", "openai/gpt-4o@2", "gpt-4o-2024-08-06", True, id="told"),
        pytest.param(
            "recorded/gpt-4o@2024-08-06", None, "openai/gpt-4o@2024-08-06", "gpt-4o-2024-08-06", True, id="rec"
        ),
        pytest.param(
            "recorded/gpt-4o@2024-08-06", None, "openai/gpt-4o@2024-11-20", "gpt-4o-2024-11-20", False, id="r2"
        ),
        pytest.param("recorded/m@1", None, "openai/m@1", None, True, id="elsewhere-and-here"),
        pytest.param("openai/m@1", "default", "openai/j@1", "default", False, id="names-that-name-nothing"),
        pytest.param("local/a@sha256:0123456789", None, "local/b@sha256:0123456789", None, True, id="the-same-weights"),
        pytest.param(f"openai/a@{WEIGHTS}", None, f"local/b@{WEIGHTS}", None, True, id="a-whole-sha256"),
        pytest.param(f"openai/a@{WEIGHTS[7:]}", None, f"openai/b@{WEIGHTS[7:]}", None, True, id="without-its-prefix"),
        pytest.param("scripted/a@7c0bf28e", None, "scripted/b@7c0bf28e", None, False, id="one-commit-of-a-data-set"),
        pytest.param(f"recorded/a@{COMMIT}", None, f"openai/b@{COMMIT}", None, False, id="a-whole-commit"),
        pytest.param("recorded/a@fp_7c0bf28e", None, "openai/b@fp_7c0bf28e", None, False, id="one-fingerprint"),
        pytest.param("local/a@7c0bf28e", None, "openai/b@7c0bf28e", None, False, id="one-of-them-local"),
        pytest.param("recorded/a@7c0bf28e", None, "scripted/a@7c0bf28e", None, True, id="one-name-of-one-commit"),
        pytest.param("openai/a@7c0bf28e", "x", "openai/b@7c0bf28e", "x", True, id="one-commit-and-told-alike"),
    ],
)
def test_the_judge_is_the_model_itself(
    model: str, model_told: str | None, judge: str, judge_told: str | None, same: bool
) -> None:
    one = (parse_model_id(model, "model"), told(model_told))
    other = (parse_model_id(judge, "judge"), told(judge_told))
    assert is_same_model(one, other) is same
    assert is_same_model(other, one) is same


def test_a_record_of_before_keeps_its_rule() -> None:
    """By any hash that both have, as long as the first fact names no edition; by its bytes it is verified."""
    one, other = (("judge", parse_model_id(f"scripted/{name}@7c0bf28e", "judge"), told(None)) for name in "ab")
    assert self_judging({}, one, [other]) == ["The judge is the model itself: models tend to favour their own answers."]
    assert self_judging({"self_judging": SELF_JUDGING}, one, [other]) == []


@given(st.text(max_size=60))
def test_any_name_can_be_read_and_is_itself(name: str) -> None:
    assert read_name(name) == read_name(name)
    if name and not any(mark.isspace() or mark == "@" for mark in name):
        assert other_model(parse_model_id(f"openai/{name}", "model"), told(name)) is None
