"""A rubric's record gives the same bytes and findings however it is cut, whether plain samples go at once or not."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from polars.exceptions import ComputeError

from benchbook.evaluators import parts
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.rubric.evaluator import EVALUATOR
from benchbook.evaluators.rubric.plain import PlainPicker
from benchbook.evaluators.rubric.plan import Requests, plan_of
from benchbook.evaluators.rubric.spec import rubric_v1
from benchbook.evaluators.rubric.tables import DERIVED_FILES
from benchbook.record.facts import Failure, Reply, RunEnded, RunStarted, SampleFact
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from running import run
from scripted_server import always_good, running
from support import examples

_SLICED = {"section": "core", "category": "c", "group": "g"}


@pytest.fixture(scope="module", params=["grouped", "repeated", "with-tags"])
def began(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A run of five items, whose first fact and inputs others begin with."""
    folder = tmp_path_factory.mktemp(request.param)
    items = folder / "own.jsonl"
    with items.open("w", encoding="utf-8") as file:
        for number in range(5):
            item: dict[str, Any] = {"id": f"i{number}", "prompt": f'"{number}"?', "expected_answer": "é"}
            if request.param == "grouped":
                item |= {**_SLICED, "group": f"g{number % 2}"} if number else {"context": {"a": [1, "x"]}}
            file.write(json.dumps(item) + "\n")
    settings: dict[str, Any] = {
        "grouped": {},
        "repeated": {"repeats": 3},
        "with-tags": {"model_reasoning_tags": ("think",), "judge_reasoning_tags": ("think",)},
    }[request.param]
    with running(always_good) as server:
        return run(folder, server, evalset=str(items), **settings).record


_ANSWERS = [
    "Seven.",
    "a <think> of it",
    "</think>said",
    "<think>hm</think> 7",
    "[THINK]",
    "  ",
    "",
    None,
    "\ud800 half",
    "é\n",
]
_VERDICTS = [
    '{"accuracy_score": 2, "faithfulness_score": 1, "rationale": "So."}',
    ' {"accuracy_score":0,"faithfulness_score":0,"rationale":"No.","more":[1]}\n',
    '<think>x</think>{"accuracy_score": 1, "faithfulness_score": 2, "rationale": "\\u00e9"}',
    '{"accuracy_score": 1, "faithfulness_score": 2, "rationale": "in a </think> text"}',
    '{"accuracy_score": true, "faithfulness_score": 1, "rationale": "So."}',
    '{"accuracy_score": 3, "faithfulness_score": 1, "rationale": "So."}',
    '{"accuracy_score": 1, "accuracy_score": 1, "faithfulness_score": 1, "rationale": "So."}',
    '{"accuracy_score": 1, "faithfulness_score": 1, "rationale": "%s"}' % ("word " * 81),
    '{"accuracy_score": 1, "faithfulness_score": 1, "rationale": " "}',
    "no JSON",
    "",
    None,
]
_counts = st.sampled_from([None, 0, 1, 2_999, 3_001, 8_001, 60_000, 2**62] * 9 + [2**63])
_measured = st.fixed_dictionaries(
    {},
    optional={
        "latency_e2e_ms": _counts, "latency_model_ms": _counts, "input_tokens": _counts, "output_tokens": _counts,
        "finish_reason": st.sampled_from(["stop", "length", "content_filter", None]),
        "model_reported": st.sampled_from([None, "m-1", "m-2"]), "fingerprint": st.sampled_from([None, "f"]),
        "cached": st.booleans(), "queue_ms": st.integers(0, 9), "time_to_first_token_ms": _counts,
    },
)  # fmt: skip
_failed = st.fixed_dictionaries(
    {
        "error": st.sampled_from(["timeout", "provider_error"]),
        "ends": st.sampled_from(["attempt", "sample", "sitting"]),
        "cause": st.sampled_from(["time_limit", "connection", "server_error", None]),
        "detail": st.sampled_from(["", "said no", "\udfff"]),
    }
)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.sampled_from(_ANSWERS), _measured),
        st.tuples(st.just("verdict"), st.sampled_from(_VERDICTS), _measured),
        st.tuples(st.just("failed"), st.sampled_from(["candidate", "judge"]), _failed),
    ),
    max_size=4,
)
_plain = st.tuples(
    st.tuples(st.just("answer"), st.sampled_from(_ANSWERS[:3]), _measured),
    st.tuples(st.just("verdict"), st.sampled_from(_VERDICTS[:3]), _measured),
).map(list)
_histories = st.lists(st.one_of(_plain, _plain, _plain, _steps), min_size=15, max_size=15)
Steps = list[tuple[str, Any, dict[str, Any]]]


def _facts(sample: int, steps: Steps, began: Record, wrong: int | None) -> Iterator[SampleFact]:
    """The facts of these steps, each with the request that the plan leads to; `wrong` is a sample whose are others."""
    started = began.started()
    plan = plan_of(started)
    requests = Requests(plan, rubric_v1(), template_of(began, started))
    with recorded_evalset(began, started) as evalset:
        item = evalset[sample % plan.n_items]
    said, attempt = "", 1
    for kind, what, more in steps:
        if kind == "answer":
            said = what or ""
            sha256 = "0" * 64 if sample == wrong else requests.candidate_sha256(item)
            yield Reply(sample=sample, role="candidate", text=what, request_sha256=sha256, **more)
        elif kind == "verdict":
            answer = said.rpartition("</think>")[2] if plan.candidate.reasoning_tags else said
            sha256 = requests.judge_sha256(item, answer)
            yield Reply(sample=sample, role="judge", text=what, attempt=attempt, request_sha256=sha256, **more)
            attempt += 1
        else:
            sha256 = requests.candidate_sha256(item) if what == "candidate" else requests.judge_sha256(item, said)
            yield Failure(sample=sample, role=what, request_sha256=sha256, **more)


def _written(folder: Path, began: Record, histories: list[Steps], wrong: int | None, ended: RunEnded | None) -> Record:
    made = Record(folder / "run")
    made.journal.mkdir(parents=True)
    shutil.copytree(began.inputs, made.inputs)
    (first, *_) = (line.fact for line in read_journal(began.journal))
    assert isinstance(first, RunStarted)
    plan = plan_of(first)
    with JournalWriter(made.journal, segment_bytes=4_000) as writer:
        writer.append(first)
        for sample, steps in enumerate(histories[: plan.n_samples]):
            for fact in _facts(sample, steps, began, wrong):
                writer.append(fact)
        if ended is not None:
            writer.append(ended)
    return made


@contextmanager
def _cut(most: int, *, at_once: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "_MOST_SAMPLES", most)
        if not at_once:
            patched.setattr(PlainPicker, "may_be", staticmethod(lambda plan, spec: False))
        yield


def _derived(record: Record, most: int, *, at_once: bool) -> Any:
    """All derived files and findings; or that its numbers are refused: in which words depends on which comes first."""
    with tempfile.TemporaryDirectory() as name, _cut(most, at_once=at_once):
        target = Path(name)
        try:
            findings = EVALUATOR.derive_checked(record, target, read_state(record.journal))
        except (OverflowError, ComputeError):
            return "numbers that no column holds"
        return findings, {file: (target / file).read_bytes() for file in DERIVED_FILES}


_ENDS: dict[str, Callable[[], RunEnded | None]] = {
    "open": lambda: None, "ended": RunEnded, "accepted": lambda: RunEnded(accepts_unanswered=True)
}  # fmt: skip


@pytest.mark.slow
@settings(examples(60), phases=[Phase.explicit, Phase.reuse, Phase.generate])  # to shrink one takes minutes
@given(histories=_histories, wrong=st.none() | st.integers(0, 14), end=st.sampled_from(list(_ENDS)))
def test_the_same_bytes_however_it_is_cut(began: Record, histories: list[Steps], wrong: int | None, end: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        record = _written(Path(name), began, histories, wrong, _ENDS[end]())
        one_by_one = _derived(record, 4_096, at_once=False)
        assert _derived(record, 4_096, at_once=True) == one_by_one
        assert _derived(record, 2, at_once=True) == one_by_one
        assert _derived(record, 1, at_once=False) == one_by_one


def test_plain_samples_are_picked(began: Record, tmp_path: Path) -> None:
    """Or else the test above would hold one way against itself."""
    steps: Steps = [("answer", "Seven.", {}), ("verdict", _VERDICTS[0], {})]
    record = _written(tmp_path, began, [steps] * 15, 3, None)
    started = record.started()
    plan = plan_of(started)
    requests = Requests(plan, rubric_v1(), template_of(record, started))
    samples = list(read_state(record.journal).index.by_sample())
    with recorded_evalset(record, started) as evalset:
        items = [evalset[sample % plan.n_items] for sample, _ in samples]
        plain, others = PlainPicker(plan, rubric_v1(), 4, requests).pick(samples, items)
    assert plain is not None
    assert plain.calls.samples == [sample for sample in range(plan.n_samples) if sample != 3]
    assert others == [3]
