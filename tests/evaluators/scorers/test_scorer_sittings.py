"""Sittings of runs that a function scores: stopped, killed and gone on with, in an event loop or not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import UsageError
from benchbook.evaluators.scorers import scoring
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.record import journal as journals
from benchbook.record.facts import Outcomes, RunEnded
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal, segment_files
from own_scorers import ITEMS, Asking, changed, cut, outcomes_in, scored
from running import benchbook_here, write_items

# ── a model that is asked, and later sittings ────────────────────────────────────────────────────────────────


def test_it_goes_on_asking_and_scores_what_has_no_outcome(tmp_path: Path) -> None:
    asking = Asking()
    model, exact = asking.model(), asking.scorer()
    asking.broken = {2, 4}
    stopped = bb.score(exact, ITEMS, model=model, runs=tmp_path, run_id="run", max_retries=0)
    assert stopped.stopped is not None
    assert (stopped.decision.verdict, stopped.aggregates.primary_score) == ("incomplete", 1.0)
    assert asking.scored == ["i0", "i1", "i3", "i5"]
    asking.broken = set()
    whole = bb.resume(stopped.path, scorer=exact, model=model)
    assert (whole.stopped, whole.decision.verdict, whole.aggregates.n_scored) == (None, "pass", 6)
    assert asking.scored[4:] == ["i2", "i4"]
    assert outcomes_in(whole.path) == [0, 1, 3, 5, 2, 4]
    assert bb.verify(whole.path).holds


@pytest.mark.parametrize("n_kept", [0, 1, 2, 3])
def test_it_goes_on_scoring_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_kept: int) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 2)
    asking = Asking()
    model, exact = asking.model(), asking.scorer()
    made = bb.score(exact, ITEMS, model=model, runs=tmp_path, run_id="run")
    samples = (made.path / "samples.parquet").read_bytes()
    asking.scored.clear()
    kept = iter(range(n_kept))

    def keeps(_: int, fact: Any) -> bool:
        return not isinstance(fact, RunEnded) and (not isinstance(fact, Outcomes) or next(kept, None) is not None)

    cut(made.path, keeps)
    assert outcomes_in(made.path) == [*range(2 * n_kept)]
    asked_in_vain = bb.resume(made.path, scorer=exact, model=model)
    assert asking.scored == [f"i{n}" for n in range(2 * n_kept, 6)]
    assert outcomes_in(made.path) == [*range(6)]
    assert (asked_in_vain.path / "samples.parquet").read_bytes() == samples
    assert bb.verify(made.path).holds


def test_what_was_not_scored_yet_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 2)
    asking = Asking()
    made = bb.score(asking.scorer(), ITEMS, model=asking.model(), runs=tmp_path, run_id="run")
    n = iter(range(1))
    cut(made.path, lambda _, fact: not isinstance(fact, Outcomes) or next(n, None) is not None)
    assert benchbook_here("rescore", str(made.path), "--reports", "none").returncode == 0
    found = bb.load(made.path)
    assert found.aggregates.warnings[0] == "4 of 6 items are answered and not scored yet, and left out."
    assert (found.aggregates.n_scored, found.aggregates.n_unscored, found.decision.verdict) == (2, 4, "incomplete")
    assert found.decision.reason == "the run is open: 6 of 6 items have a prediction, and 4 of these no score"


def test_a_person_who_interrupts_the_scoring_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 2)
    asking = Asking()
    model, exact = asking.model(), asking.scorer()
    whole = scoring.score_answers_of_sitting

    async def interrupted(scorer: Scorer, record: Record, journal: JournalWriter, stop: Any, tell: Any) -> bool:
        append = journal.append

        def append_and_stop(fact: Any) -> str:
            stop.interrupted = isinstance(fact, Outcomes)
            stop.because("interrupted by Ctrl-C")
            return append(fact)

        monkeypatch.setattr(journal, "append", append_and_stop)
        return await whole(scorer, record, journal, stop, tell)

    monkeypatch.setattr("benchbook.evaluators.scorers.metric.score_answers_of_sitting", interrupted)
    stopped = bb.score(exact, ITEMS, model=model, runs=tmp_path, run_id="run")
    assert (stopped.stopped, stopped.decision.verdict) == ("interrupted by Ctrl-C", "incomplete")
    assert outcomes_in(stopped.path) == [0, 1]
    monkeypatch.setattr("benchbook.evaluators.scorers.metric.score_answers_of_sitting", whole)
    assert bb.resume(stopped.path, scorer=exact, model=model).decision.verdict == "pass"
    assert asking.scored == [f"i{n}" for n in range(6)]


def test_a_changed_source_does_not_go_on(tmp_path: Path) -> None:
    asking = Asking()
    model, exact = asking.model(), asking.scorer()
    asking.broken = {2}
    stopped = bb.score(exact, ITEMS, model=model, runs=tmp_path, run_id="run", max_retries=0)
    other = bb.scorer(name="exact")(changed)
    with pytest.raises(UsageError) as found:
        bb.resume(stopped.path, scorer=other, model=model)
    assert str(found.value) == (
        f"{stopped.path}: its exact@v1 has the source sha256 {exact.spec.source_sha256}, and the one that is given "
        f"{other.spec.source_sha256}: a change is a new version, and a new run"
    )
    with pytest.raises(UsageError, match="is scored by exact@v1, not by exact@v2; resume it with that"):
        bb.resume(stopped.path, scorer=bb.scorer(name="exact", version=2)(changed), model=model)
    with pytest.raises(UsageError, match=r"its exact@v1 has passes_at 1, .*, and the one that is given passes_at 0.5"):
        bb.resume(stopped.path, scorer=bb.scorer(name="exact", passes_at=0.5)(exact.function), model=model)
    with pytest.raises(
        UsageError, match=r"is scored by a function, exact@v1, that is not here .*bb.resume\(path, scorer="
    ):
        bb.resume(stopped.path, model=model)
    checks = bb.score(ITEMS, model=model, spec="contains@v1", runs=tmp_path, run_id="checks", max_retries=0)
    with pytest.raises(UsageError, match="is scored by contains@v1, and by no function; resume it without one"):
        bb.resume(checks.path, scorer=exact, model=model)


def test_scoring_goes_on_while_segments_are_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 1)
    monkeypatch.setattr(journals, "SEGMENT_BYTES", 700)
    made = scored(tmp_path)
    assert len(segment_files(made.path / "journal")) > 3
    assert made.samples["score"].to_list() == [1.0, 0.5, None, None, 0.0, 0.0]
    assert bb.verify(made.path).holds


def test_long_outcomes_come_in_facts_of_a_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK_CHARACTERS", 16)  # of `off by 0` two
    made = scored(tmp_path, predictions=[{"item_id": f"i{n}", "predicted": str(n + 1)} for n in range(5)])
    facts = [line.fact for line in read_journal(made.path / "journal")]
    assert [len(one.outcomes) for one in facts if isinstance(one, Outcomes)] == [2, 2, 1]


def test_a_slow_one_is_recorded_as_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK_SECONDS", 0)
    made = scored(tmp_path)
    facts = [line.fact for line in read_journal(made.path / "journal")]
    assert [len(one.outcomes) for one in facts if isinstance(one, Outcomes)] == [1, 1, 1, 1]


def test_what_ends_the_scoring_loses_no_outcome(tmp_path: Path) -> None:
    """Of a run of a model: what was asked stays, and what was scored before."""
    asking = Asking()
    is_ended = [True]

    @bb.scorer(name="ending")
    async def ending(item: Any, answer: str) -> bool:
        if item["id"] == "i3" and is_ended[0]:
            raise SystemExit(answer)
        await asyncio.sleep(0)
        return True

    model = asking.model()
    with pytest.raises(SystemExit):
        bb.score(ending, ITEMS, model=model, runs=tmp_path, run_id="run")
    is_ended[0] = False
    n_before = len(outcomes_in(tmp_path / "run"))
    whole = bb.resume(tmp_path / "run", scorer=ending, model=model)
    assert n_before <= 3
    assert outcomes_in(whole.path) == [*range(6)]
    assert whole.aggregates.primary_score == 1.0


# ── how far it is ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What `on_progress`, which is `told.append`, was told: step and samples done, at every sample."""
    monkeypatch.setattr(scoring, "TELL_SECONDS", 0)
    return []


def test_it_tells_how_far_the_scoring_is(tmp_path: Path, told: list[tuple[str, int]]) -> None:
    scored(tmp_path, on_progress=lambda one: told.append((one.step, one.done)))
    assert told == [*(("scored", n) for n in (1, 2, 3, 4)), ("scored", 6)]  # the last two have no text


def test_it_tells_of_the_scoring_after_the_asking_and_of_what_was_left(
    tmp_path: Path, told: list[tuple[str, int]]
) -> None:
    asking = Asking()
    model, exact = asking.model(), asking.scorer()
    settings: dict[str, Any] = {"on_progress": lambda one: told.append((one.step, one.done)), "max_connections": 1}
    asking.broken = {2}
    stopped = bb.score(exact, ITEMS, model=model, runs=tmp_path, run_id="run", max_retries=0, **settings)
    assert [one for one in told if one[0]] == [*(("scored", n) for n in (1, 2, 4, 5, 6)), ("scored", 6)]
    told.clear()
    asking.broken = set()
    bb.resume(stopped.path, scorer=exact, model=model, **settings)
    assert told == [("", 6), ("scored", 3), ("scored", 6)]


def test_one_that_is_awaited_tells_so_too(tmp_path: Path, told: list[tuple[str, int]]) -> None:
    scored(tmp_path, awaited, on_progress=lambda one: told.append((one.step, one.done)))
    assert told == [*(("scored", n) for n in (1, 2, 3, 4)), ("scored", 6)]


RIGHT = """
import benchbook as bb

@bb.scorer(name="right")
def right(item, answer):
    return answer == "1"
"""


@pytest.mark.parametrize(
    ("option", "lines"),
    [((), ["1 of 5 samples scored", "5 of 5 samples scored"]), (("--quiet",), []), (("--json",), [])],
)
def test_the_command_line_says_so_on_standard_error(
    tmp_path: Path, option: tuple[str, ...], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "TELL_SECONDS", 3_600)  # after the first, the end
    (tmp_path / "years.py").write_text(RIGHT, encoding="utf-8")
    evalset = write_items(tmp_path / "items.jsonl", 5)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"item_id": "i0", "predicted": "1"}', encoding="utf-8")
    done = benchbook_here(
        "score", f"{tmp_path / 'years.py'}:right", "--evalset", str(evalset), "--predictions", str(answers),
        "--runs", str(tmp_path / "runs"), "--reports", "none", *option,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert [line.rpartition(",")[0] for line in done.stderr.decode().splitlines()] == lines


# ── one that is awaited ──────────────────────────────────────────────────────────────────────────────────────


@bb.scorer(name="awaited")
async def awaited(item: Any, answer: str) -> Any:
    for _ in range(6 - item["level"]):
        await asyncio.sleep(0)  # the last come first
    if answer == "three":
        raise TimeoutError("slow")
    return item["expected_answer"] == answer


def test_one_that_is_awaited_scores_in_the_order_of_the_set(tmp_path: Path) -> None:
    made = scored(tmp_path, awaited)
    assert made.samples["score"].to_list() == [1.0, 0.0, None, 0.0, 0.0, 0.0]
    assert made.samples["unscored"].to_list()[2] == "TimeoutError: slow"
    assert outcomes_in(made.path) == [0, 1, 2, 3]


def test_within_an_event_loop(tmp_path: Path) -> None:
    asking = Asking()

    async def both() -> tuple[Any, Any]:
        asked = await bb.score_async(ITEMS, spec=awaited, model=asking.model(), runs=tmp_path, run_id="asked")
        return asked, scored(tmp_path, awaited, run_id="read")  # as in a notebook, where a loop runs already

    asked, read = asyncio.run(both())
    assert asked.samples["score"].to_list() == [1.0] * 6
    assert read.samples["score"].to_list() == [1.0, 0.0, None, 0.0, 0.0, 0.0]
