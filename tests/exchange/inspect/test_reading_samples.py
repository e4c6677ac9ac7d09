"""All that a sample says besides scores: prompt, answer, tokens, times, failures; any log is read as it was written."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.exchange.log import LogSample
from inspect_made import as_archive, as_file, as_json, header, open_log, sample
from support import examples


def one(folder: Path, told: dict[str, Any], *, whole: bool = True) -> LogSample:
    with open_log(as_file(folder, [told])) as log:
        (read,) = log.samples(whole=whole)
        return read


IMAGE = {"type": "image", "image": "attachment://0123456789abcdef0123456789abcdef"}
CALL = {"id": "c1", "function": "add", "arguments": {"b": 2, "a": 1}, "type": "function"}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "What"}, IMAGE, {"type": "text", "text": "is it?"}]},
    {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}], "tool_calls": [CALL]},
    {"role": "tool", "content": "3", "tool_call_id": "c1", "function": "add"},
]


def test_a_conversation_is_a_prompt_that_people_can_read_and_messages_when_whole(tmp_path: Path) -> None:
    read = one(tmp_path, sample(input=TALK))
    assert read.prompt == (
        "[1] system:\nBe brief.\n\n[2] user:\nWhat\n[image]\nis it?\n\n"
        '[3] assistant:\ncalls add({"a":1,"b":2}), as c1\n\n[4] tool, result of c1:\n3'
    )
    assert read.messages is not None
    assert [message["role"] for message in read.messages] == ["system", "user", "assistant", "tool"]
    assert one(tmp_path, sample(input=TALK), whole=False).messages is None


def test_one_users_message_is_the_prompt(tmp_path: Path) -> None:
    read = one(tmp_path, sample(input=[{"role": "user", "content": "What is it?"}]))
    assert (read.prompt, read.messages) == ("What is it?", None)


@pytest.mark.parametrize(
    ("told", "prompt"),
    [
        ([{"role": "wizard", "content": None}], ""),
        ([7, {}], "[1] user:\n7\n\n[2] user:"),
        ({"a": 1}, '{"a":1}'),
        ([{"role": "user", "content": [7, {"type": "video"}, {"type": "text"}]}], "7\n[video]"),
    ],
)
def test_another_input_is_shown_as_it_is(told: Any, prompt: str, tmp_path: Path) -> None:
    assert one(tmp_path, sample(input=told)).prompt == prompt


def test_attached_texts_are_put_where_they_belong(tmp_path: Path) -> None:
    key, absent = "0123456789abcdef0123456789abcdef", "f" * 32
    told = sample(
        input=f"See attachment://{key} or attachment://{absent}", attachments={key: "this"}, said=f"attachment://{key}"
    )
    read = one(tmp_path, told)
    assert (read.prompt, read.answer) == (f"See this or attachment://{absent}", "this")


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        pytest.param(None, None, id="null"),
        pytest.param({}, None, id="nothing"),
        pytest.param({"choices": [], "completion": ""}, None, id="no-choice"),
        pytest.param({"choices": [{"message": {"content": ""}}], "completion": ""}, "", id="empty"),
        pytest.param({"choices": [{"message": {"content": "x"}}]}, "x", id="text"),
        pytest.param({"choices": [{"message": {"content": "x"}}], "completion": "y"}, "y", id="completion"),
        pytest.param(
            {
                "choices": [
                    {"message": {"content": [{"type": "reasoning", "reasoning": "r"}, {"type": "text", "text": "x"}]}}
                ]
            },
            "x",
            id="with-thoughts",
        ),
        pytest.param(
            {"choices": [{"message": {"content": "first"}}, {"message": {"content": "second"}}]}, "first", id="two"
        ),
    ],
)
def test_the_answer_is_what_the_model_said_last(output: Any, answer: str | None, tmp_path: Path) -> None:
    assert one(tmp_path, sample(output=output)).answer == answer


ASSISTANT = {"role": "assistant", "content": "x"}
USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
ALL = {"mockllm/model": {"input_tokens": 40, "output_tokens": 20, "total_tokens": 60}}


@pytest.mark.parametrize(
    ("told", "tokens", "latency"),
    [
        pytest.param({"output": {"usage": USAGE, "time": 0.5}}, (10, 5), 500, id="one-turn"),
        pytest.param(
            {"output": {"usage": USAGE, "time": 0.5}, "model_usage": ALL}, (10, 5), 500, id="judged-by-itself"
        ),
        pytest.param(
            {"output": {"usage": USAGE, "time": 0.5}, "model_usage": ALL, "turn_count": 3, "working_time": 2.25},
            (40, 20),
            2250,
            id="turns",
        ),
        pytest.param(
            {"output": {"usage": USAGE, "time": 0.5}, "messages": [ASSISTANT] * 2, "model_usage": ALL, "total_time": 4},
            (40, 20),
            4000,
            id="turns-of-before",
        ),
        pytest.param(
            {"output": {"usage": USAGE, "time": 0.5}, "messages": [{**ASSISTANT, "source": "input"}, ASSISTANT]},
            (10, 5),
            500,
            id="an-example-is-no-turn",
        ),
        pytest.param(
            {"output": {"usage": USAGE}, "turn_count": 3, "total_time": None}, (None, None), None, id="not-known"
        ),
        pytest.param({"output": {"time": -1}, "total_time": 1e300}, (None, None), None, id="impossible"),
        pytest.param(
            {"output": {"usage": {**USAGE, "input_tokens_cache_read": 100, "total_tokens": 115}, "time": 1}},
            (110, 5),
            1000,
            id="cached",
        ),
        pytest.param(
            {"output": {"usage": {**USAGE, "input_tokens_cache_read": 4}, "time": 1}},
            (10, 5),
            1000,
            id="cached-and-counted",
        ),
    ],
)
def test_tokens_and_times_are_the_models(
    told: dict[str, Any], tokens: tuple[int | None, ...], latency: int | None, tmp_path: Path
) -> None:
    read = one(tmp_path, sample(**told))
    assert ((read.input_tokens, read.output_tokens), read.latency_ms) == (tokens, latency)


@pytest.mark.parametrize(
    ("told", "kind", "limit"),
    [
        pytest.param({"error": {"message": "RuntimeError('no')", "traceback": "…"}}, "error", None, id="error"),
        pytest.param({"error": {"message": "asyncio.TimeoutError()"}}, "timeout", None, id="timeout"),
        pytest.param({"error": {"message": "CancelledError('x')"}}, "cancelled", None, id="cancelled"),
        pytest.param({"limit": {"type": "message", "limit": 50}}, None, "message", id="limit"),
        pytest.param({"limit": "token"}, None, "token", id="limit-as-text"),
        pytest.param({"invalidation": {"author": "ann", "reason": "leaked"}}, "invalidated", None, id="invalid"),
    ],
)
def test_how_a_sample_ended(told: dict[str, Any], kind: str | None, limit: str | None, tmp_path: Path) -> None:
    read = one(tmp_path, sample(**told))
    assert (read.failure.kind if read.failure else None, read.limit) == (kind, limit)
    assert read.scores["match"].value == 1.0  # a score that is there is kept


@pytest.mark.parametrize(
    "told",
    [
        pytest.param({"scores": {"match": None}}, id="score"),
        pytest.param({"scores": None}, id="scores"),
        pytest.param({"messages": None, "model_usage": None, "choices": None, "attachments": None}, id="collections"),
        pytest.param({"output": {"choices": None}}, id="choices"),
        pytest.param({"output": {"choices": [{"message": None}]}}, id="message"),
        pytest.param({"total_time": float("nan"), "output": {"time": float("nan")}}, id="times-that-are-no-number"),
        pytest.param({"scores": {"match": {"value": 1, "history": None, "metadata": None}}}, id="history"),
        pytest.param({"metadata": None, "limit": None, "error": None, "invalidation": None}, id="the-rest"),
    ],
)
def test_what_is_null_is_not_there(told: dict[str, Any], tmp_path: Path) -> None:
    read = one(tmp_path, sample(**told))
    assert (read.failure, read.limit, read.prompt) == (None, None, "What is 1 + 1?")


def test_targets_and_choices(tmp_path: Path) -> None:
    read = one(tmp_path, sample(target=["A", "B"], choices=["x", "y"], epoch=3))
    assert (read.references, read.choices, read.repeat) == (("A", "B"), ("x", "y"), 2)
    assert one(tmp_path, sample(target="")).references == ()


def test_only_the_metadata_that_claims_name_are_read_for_an_audit(tmp_path: Path) -> None:
    clustered = {"name": "stderr", "value": 0.1, "params": {"cluster": "family"}}
    score = {"name": "match", "scorer": "match", "metrics": {"stderr": clustered}}
    told = sample(metadata={"family": 3, "notes": "long"})
    with open_log(as_file(tmp_path, [told], header(results={"scores": [score]}))) as log:
        assert [read.metadata for read in log.samples(whole=False)] == [{"family": 3}]
        assert [read.metadata for read in log.samples()] == [{"family": 3, "notes": "long"}]


def test_the_header_says_what_identifies_the_log(tmp_path: Path) -> None:
    told = header(
        eval={"run_id": "r", "task_args": {"n": 1}, "model_generate_config": {"temperature": 0, "seed": None}},
        plan={
            "steps": [{"solver": "prompt_template", "params": {"template": "Q: {prompt}"}}],
            "config": {"max_tokens": 9},
        },
        status="cancelled",
        error={"message": "stopped"},
    )
    found = open_log(as_file(tmp_path, [], told)).header
    assert found.generation_params == {"temperature": 0, "max_tokens": 9}
    assert (found.prompt_template, found.status, found.error) == ("Q: {prompt}", "cancelled", "stopped")
    assert (found.created_at, found.dataset, found.tool_version) == ("2025-02-11T20:17:00Z", "sums", "0.3.200")
    assert found.metadata == {"run_id": "r", "task_args": {"n": 1}}


TEXTS = st.text(max_size=20)
VALUES = st.one_of(
    st.sampled_from(["C", "I", "P", "N", float("nan"), True]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-9, 9),
)
SAMPLES = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(0, 10**6),
            "input": TEXTS,
            "target": st.one_of(TEXTS, st.lists(TEXTS)),
            "said": TEXTS,
            "value": VALUES,
            "metadata": st.dictionaries(
                TEXTS, st.one_of(TEXTS, st.none(), st.booleans(), st.lists(st.integers(-9, 9)))
            ),
        }
    ),
    max_size=4,
    unique_by=lambda told: told["id"],
)


@examples(80)
@given(SAMPLES)
def test_any_log_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, told: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    written = [sample(each["id"], each.pop("value"), **{k: v for k, v in each.items() if k != "id"}) for each in told]
    for path in (as_archive(folder, written), as_file(folder, written)):
        with open_log(path) as log:
            read = list(log.samples())
        assert [(found.id, found.prompt, found.answer, found.metadata) for found in read] == [
            (str(each["id"]), each["input"], each["scores"]["match"]["answer"], each["metadata"]) for each in written
        ]
        for found, each in zip(read, written, strict=True):
            value = each["scores"]["match"]["value"]
            expected = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}.get(value, value)
            score = found.scores["match"]
            assert score.value == (None if isinstance(expected, float) and math.isnan(expected) else expected)
            assert list(found.references) == (
                each["target"] if isinstance(each["target"], list) else [each["target"]] * bool(each["target"])
            )


@examples(150)
@given(st.data())
def test_a_changed_byte_is_read_or_an_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    from benchbook.errors import InputError

    raw = bytearray(as_json({**header(), "samples": [sample(input=TALK)]}))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from(b'"{}[]:,\\nN0-e\x00\xff'))
    path = tmp_path_factory.getbasetemp() / "log.json"
    path.write_bytes(bytes(raw))
    try:
        with open_log(path) as log:
            list(log.samples())
            log.notes()
    except InputError:
        pass
