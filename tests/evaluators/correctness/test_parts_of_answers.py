"""A record of answers gives the same bytes with plain answers at once or one by one, and in whichever parts."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from benchbook.ask.work import run_async
from benchbook.evaluators import parts
from benchbook.evaluators.answers.counted import Counted
from benchbook.evaluators.answers.plain import PlainAnswers
from benchbook.evaluators.answers.tables import DERIVED_FILES
from benchbook.evaluators.candidate import CandidateRequests, candidate_plan_of, template_of
from benchbook.evaluators.correctness.evaluator import EVALUATOR, METRIC
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import RunConfig
from benchbook.record.facts import Failure, Reply, RunEnded, SampleFact
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from scored import ITEMS, scored, write_lines
from scripted_server import always_good, running
from support import examples


@pytest.fixture(scope="module", params=["asked", "grouped", "made-elsewhere", "crashed"])
def began(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A run of five items, whose first fact and inputs others begin with."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param in ("made-elsewhere", "crashed"):
        status = {"run_status": "crashed"} if request.param == "crashed" else {}
        return scored(folder, **status).record
    items = [
        item | ({"group": f"g{place % 2}"} if request.param == "grouped" else {}) for place, item in enumerate(ITEMS)
    ]
    with running(always_good) as server:
        config = RunConfig(
            spec="answer_correctness@v1", evalset=str(write_lines(folder / "items.jsonl", items)), run_id="run",
            model="openai/m@2026-01-01", model_base_url=server.base_url, runs=str(folder / "runs"),
        )  # fmt: skip
        return run_async(start_run(config)).record


_texts = st.sampled_from(
    ["2", " PARIS", "Answer: 6", "2.5", "It is 2.", "", "  ", None, "\ud800", "<think>a</think>2", "é"]
)
_answers = st.fixed_dictionaries(
    {"text": _texts},
    optional={
        "latency_e2e_ms": st.sampled_from([None, 0, 12]), "input_tokens": st.sampled_from([None, 3]),
        "finish_reason": st.sampled_from(["stop", "length"]), "model_reported": st.sampled_from([None, "m-1", "m-2"]),
        "own": st.sampled_from([None, '{"step":1}']),
    },
)  # fmt: skip
_failures = st.fixed_dictionaries(
    {
        "error": st.sampled_from(["timeout", "provider_error"]),
        "ends": st.sampled_from(["attempt", "sample", "sitting"]),
        "cause": st.sampled_from(["time_limit", "connection", None]),
        "detail": st.sampled_from(["", "said no"]),
    }
)
_one = st.tuples(st.just("answer"), _answers)
_steps = st.one_of(
    _one.map(lambda one: [one]), st.lists(st.one_of(_one, st.tuples(st.just("failed"), _failures)), max_size=3)
)
_histories = st.lists(_steps, min_size=5, max_size=5)
Steps = list[tuple[str, dict[str, Any]]]


def _facts(sample: int, steps: Steps, sha256: str | None) -> Iterator[SampleFact]:
    for kind, more in steps:
        of = Reply if kind == "answer" else Failure
        yield of(sample=sample, role="candidate", request_sha256=sha256, **more)


def _written(folder: Path, began: Record, histories: list[Steps], ended: RunEnded | None) -> Record:
    made = Record(folder / "run")
    made.journal.mkdir(parents=True)
    shutil.copytree(began.inputs, made.inputs)
    started = began.started()
    plan = candidate_plan_of(started)
    requests = CandidateRequests(plan, template_of(began, started)) if plan.prompt_template_id else None
    with JournalWriter(made.journal, segment_bytes=2_000) as writer, recorded_evalset(began, started) as evalset:
        writer.append(next(line.fact for line in read_journal(began.journal)))
        for sample, steps in enumerate(histories):
            sha256 = None if requests is None else requests.candidate_sha256(evalset[sample])
            for fact in _facts(sample, steps, sha256):
                writer.append(fact)
        if ended is not None:
            writer.append(ended)
    return made


@contextmanager
def _cut(most: int, *, at_once: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "_MOST_SAMPLES", most)
        if not at_once:
            patched.setattr(PlainAnswers, "pick", lambda *_: None)
        yield


def _derived(record: Record, most: int, *, at_once: bool) -> Any:
    with tempfile.TemporaryDirectory() as name, _cut(most, at_once=at_once):
        target = Path(name)
        findings = EVALUATOR.derive_checked(record, target, read_state(record.journal))
        return findings, {file: (target / file).read_bytes() for file in DERIVED_FILES}


_ENDS: dict[str, Callable[[], RunEnded | None]] = {
    "open": lambda: None, "ended": RunEnded, "accepted": lambda: RunEnded(accepts_unanswered=True)
}  # fmt: skip


@pytest.mark.slow
@settings(examples(60), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(histories=_histories, end=st.sampled_from(list(_ENDS)))
def test_the_same_bytes_however_it_is_cut(began: Record, histories: list[Steps], end: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        record = _written(Path(name), began, histories, _ENDS[end]())
        one_by_one = _derived(record, 4_096, at_once=False)
        assert _derived(record, 4_096, at_once=True) == one_by_one
        assert _derived(record, 2, at_once=True) == one_by_one


@settings(examples(40), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(histories=_histories, end=st.sampled_from(list(_ENDS)), cut=st.integers(0, 5))
def test_counts_of_parts_add_up(began: Record, histories: list[Steps], end: str, cut: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        record = _written(Path(name), began, histories, _ENDS[end]())
        state = read_state(record.journal)
        with recorded_evalset(record, state.started) as evalset:
            whole, first, second = (Counted(state, METRIC, is_part=is_part) for is_part in (False, False, True))
            run = whole.run_of_items()
            items = list(evalset)
            samples = [(sample, dict(state.index.by_sample()).get(sample, [])) for sample in range(5)]
            for counted, places in ((whole, range(5)), (first, range(cut)), (second, range(cut, 5))):
                _count(counted, samples, items, places, run, evalset)
        first.merge(second)
        assert first.aggregates() == whole.aggregates()


def _count(counted: Counted, samples: Any, items: Any, places: range, run: Any, evalset: Any) -> None:
    for _ in counted._rows(samples, items, places, evalset, run, clustered=evalset.grouped):
        pass


def test_plain_answers_are_picked(began: Record, tmp_path: Path) -> None:
    """Or else the test above would hold one way against itself."""
    answered: Steps = [("answer", {"text": "2"})]
    failed: Steps = [("failed", {"error": "timeout", "ends": "sample", "cause": "time_limit"})]
    record = _written(tmp_path, began, [answered, failed, answered, [], answered], RunEnded())
    state = read_state(record.journal)
    counted = Counted(state, METRIC)
    picker = PlainAnswers(counted.run_of_items(), counted.row_type)
    with recorded_evalset(record, state.started) as evalset:
        picked = [picker.pick(sample, evalset[sample], facts) for sample, facts in state.index.by_sample()]
    assert [one and one.sample for one in picked] == [0, None, 2, 4]
    with recorded_evalset(record, state.started) as evalset:
        lines = io.BytesIO()
        assert sum(len(part.frame) for part in counted.parts(evalset, None, lines)) == 5
    assert lines.getvalue().count(b"\n") == 5
