"""Records that a function scored: its outcomes are facts, held, resumed, told apart, and read where it is not."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchbook as bb
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.answers.tables import DERIVED_FILES
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.scorers import scoring
from benchbook.evaluators.scorers.outcome import EXPECTED
from benchbook.evaluators.scorers.scorer import Scorer
from benchbook.record import journal as journals
from benchbook.record.facts import Outcomes, RunEnded
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal, segment_files
from running import benchbook_here, write_items

ITEMS = [{"id": f"i{n}", "prompt": f"What is {n} + 1?", "expected_answer": str(n + 1), "level": n} for n in range(6)]
# By `near`: 1, 1 / (1 + 1) = 0.5, no number, not in 0 to 1, blank, nothing. Of the four that count: 1.5 / 4 = 0.375.
ANSWERS = {"i0": "1", "i1": "3", "i2": "three", "i3": "nan", "i4": " "}
PREDICTIONS = [{"item_id": name, "predicted": text} for name, text in ANSWERS.items()]


@bb.scorer(name="near", passes_at=0.75)
def near(item: Any, answer: str) -> Any:
    off = abs(float(answer) - float(item.expected_answer))
    score = 1 / (1 + off)
    return score if off != off else {"score": score, "off": off, "why": f"off by {off:g}"}


def scored(folder: Path, by: Any = near, predictions: Any = PREDICTIONS, run_id: str = "run", **more: Any) -> bb.Run:
    return bb.score(by, ITEMS, predictions, runs=folder / "runs", run_id=run_id, **more)


def outcomes_in(path: Path) -> list[int]:
    """The samples of the outcomes in a journal, in its order."""
    facts = (line.fact for line in read_journal(path / "journal"))
    return [one.sample for fact in facts if isinstance(fact, Outcomes) for one in fact.outcomes]


def cut(path: Path, keeps: Callable[[int, Any], bool]) -> None:
    """A record as a kill leaves it: its journal ends before the first fact that it does not keep."""
    (segment,) = segment_files(path / "journal")
    lines = segment.read_bytes().splitlines(keepends=True)
    facts = [line.fact for line in read_journal(path / "journal")]
    n = next(place for place, fact in enumerate(facts) if not keeps(place, fact))
    segment.write_bytes(b"".join(lines[:n]))
    for name in DERIVED_FILES:
        (path / name).unlink()


# ── what a run is ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_by_hand(tmp_path: Path) -> None:
    made = scored(tmp_path)
    assert isinstance(made, bb.ScorerRun)
    samples = made.samples
    assert samples["score"].to_list() == [1.0, 0.5, None, None, 0.0, 0.0]
    assert samples["passed"].to_list() == [True, False, None, None, False, False]
    assert samples["miss_reason"].to_list() == [None, "not_passed", None, None, "no_prediction", "no_prediction"]
    assert samples["unscored"].to_list()[2:4] == [
        "ValueError: could not convert string to float: 'three'",
        f"returned nan; expected {EXPECTED}",
    ]
    assert samples["values"].to_list()[:2] == ['{"off":0.0,"why":"off by 0"}', '{"off":1.0,"why":"off by 1"}']
    file = made.aggregates
    counted = (file.n_items, file.n_scored, file.n_skipped, file.n_unscored, file.n_passed, file.pass_rate)
    assert counted == (6, 2, 2, 2, 1, 0.25)
    assert file.primary_score == 0.375
    assert (file.values["off"].mean, file.values["off"].n, {*file.values}) == (0.5, 2, {"off"})
    assert [(one.n_items, one.why[:10]) for one in file.unscored] == [(1, "ValueError"), (1, "returned n")]
    assert file.n_warnings_first == 1
    assert file.warnings[0].startswith(
        "2 of 6 items are unscored by a fault of the scorer near@v1, not of the model, and left out of the score: "
        "ValueError: could not convert string to float: 'three' (1); returned nan"
    )
    assert made.decision.verdict == "pass"
    assert made.values.rows() == [(0, "i0", 0.0, "off by 0"), (1, "i1", 1.0, "off by 1")]
    assert repr(made) == "<ScorerRun run: 0.375, 1 of 6 passed>"
    assert "6 items: 4 with a prediction (2 unscored), 2 without" in str(made)


def test_truths_are_a_share_and_have_its_interval(tmp_path: Path) -> None:
    equal = bb.scorer(name="equal")(_equal)
    texts = [{"item_id": f"i{n}", "predicted": str(n + n % 2)} for n in range(6)]
    by_function = scored(tmp_path, equal, texts, "ours")
    by_checks = bb.score(ITEMS, texts, spec="contains@v1", runs=tmp_path / "runs", run_id="theirs")
    assert by_function.aggregates.primary_score == by_checks.aggregates.primary_score == 0.5
    assert by_function.aggregates.intervals["primary_score"] == by_checks.aggregates.intervals["primary_score"]


def _equal(item: Any, answer: str) -> bool:
    return bool(item["expected_answer"] == answer)


def test_one_that_always_raises_gives_no_score_at_all(tmp_path: Path) -> None:
    @bb.scorer(name="broken")
    def broken(item: Any, answer: str) -> bool:
        raise KeyError(item["id"] + answer)

    made = scored(tmp_path, broken, PREDICTIONS[:4])
    assert made.samples["score"].to_list()[:4] == [None] * 4
    assert (made.decision.verdict, made.decision.reason) == ("fail", "no item has a score")
    assert bb.verify(made.path).holds


def test_a_run_that_crashed_scores_nothing_but_zero(tmp_path: Path) -> None:
    made = scored(tmp_path, run_status="crashed", reason="out of memory")
    assert made.samples["score"].to_list() == [0.0] * 6
    assert (made.aggregates.primary_score, made.aggregates.n_unscored, made.decision.verdict) == (0.0, 0, "fail")
    assert bb.verify(made.path).holds


def test_slices_leave_out_what_has_no_score(tmp_path: Path) -> None:
    items = [item | {"section": "core" if n < 3 else "edge_case"} for n, item in enumerate(ITEMS)]
    made = bb.score(near, items, PREDICTIONS, runs=tmp_path)
    assert [(one.value, one.n_items, one.n_scored, one.n_unscored, one.mean) for one in made.aggregates.section] == [
        ("core", 3, 2, 1, 0.75),
        ("edge_case", 3, 0, 1, 0.0),
    ]


# ── what is recorded ─────────────────────────────────────────────────────────────────────────────────────────


def test_outcomes_are_facts_with_what_said_them(tmp_path: Path) -> None:
    made = scored(tmp_path)
    facts = [line.fact for line in read_journal(made.path / "journal")]
    (fact,) = [one for one in facts if isinstance(one, Outcomes)]
    source = made.record.input(fact.source_sha256).read_text("utf-8")
    assert source == near.source
    assert "near(item: Any, answer: str)" in source
    assert (fact.scorer, [one.sample for one in fact.outcomes]) == ("near@v1", [0, 1, 2, 3])
    assert isinstance(facts[-1], RunEnded)
    said = made.manifest.scorer
    assert (said.name, said.version, said.function, said.passes_at) == ("near", 1, "near", 0.75)
    assert (said.source_sha256, said.python) == (fact.source_sha256, [fact.python])
    assert fact.python == made.manifest.environment["python"]


def test_verify_says_what_it_can_not_compute_again(tmp_path: Path) -> None:
    made = scored(tmp_path)
    found = made.verify()
    source = made.manifest.scorer.source_sha256
    assert found.holds
    assert found.not_computed == (
        "4 outcomes of near@v1 can't be computed again: a Python function said them, and they are facts, held byte for "
        "byte. All that follows from them was computed again. What scored stands in "
        f"inputs/{source}, to be read; it is never run"
    )
    shown = benchbook_here("verify", str(made.path)).stdout.decode()
    assert f"{found.not_computed}." in shown
    assert json.loads(benchbook_here("verify", str(made.path), "--json").stdout)["not_computed"] == found.not_computed
    assert any("can't compute it again" in one for one in made.aggregates.warnings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"score":0.5', b'"score":0.7'),
        (b'"why":"off by 1"', b'"why":"off by 2"'),
        (b'"fault":"Value', b'"fault":"Valve'),
    ],
)
def test_an_outcome_that_was_changed_is_found(tmp_path: Path, before: bytes, after: bytes) -> None:
    made = scored(tmp_path)
    (segment,) = segment_files(made.path / "journal")
    data = segment.read_bytes()
    assert data.count(before) == 1
    segment.write_bytes(data.replace(before, after))
    (finding, *_) = bb.verify(made.path).findings
    line = data[: data.index(before)].count(b"\n") + 1
    assert finding.what == f"prev is not the hash of 000001.jsonl:{line}: one of the two lines was changed"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scorer": "near@v2"}, "these outcomes are of another scorer"),
        ({"source_sha256": "0" * 64}, "these outcomes are of another scorer"),
        ({}, "a sample has two outcomes"),
    ],
)
def test_outcomes_that_do_not_belong_are_found_with_an_unbroken_chain(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    """By whoever writes a whole journal anew; only --expect tells of another score."""
    made = scored(tmp_path)
    facts = [line.fact for line in read_journal(made.path / "journal")]
    shutil.rmtree(made.path / "journal")
    (made.path / "journal").mkdir()
    with JournalWriter(made.path / "journal") as writer:
        for fact in facts:
            if isinstance(fact, Outcomes):
                writer.append(msgspec.structs.replace(fact, **changes))
                if changes:
                    continue
            writer.append(fact)
    assert benchbook_here("rescore", str(made.path), "--reports", "none").returncode == 0
    assert [one.what for one in bb.verify(made.path).findings if said in one.what]


def test_an_outcome_of_no_sample_is_damage(tmp_path: Path) -> None:
    made = scored(tmp_path)
    with JournalWriter(made.path / "journal") as writer:
        from benchbook.record.facts import Outcome

        writer.append(Outcomes(scorer="near@v1", source_sha256="", python="3", outcomes=[Outcome(sample=6, score=1)]))
    found = [str(one) for one in bb.verify(made.path).findings]
    assert any("sample 6 is none of the 6 that were planned" in one for one in found)


def test_a_source_that_was_changed_is_found(tmp_path: Path) -> None:
    made = scored(tmp_path)
    path = made.record.input(made.manifest.scorer.source_sha256)
    path.write_text(path.read_text("utf-8").replace("1 +", "2 +"), encoding="utf-8")
    assert [one.file for one in bb.verify(made.path).findings] == [f"inputs/{path.name}"]


def test_a_record_is_read_where_the_function_is_not(tmp_path: Path) -> None:
    calls: list[str] = []

    @bb.scorer(name="counting")
    def counting(item: Any, answer: str) -> bool:
        calls.append(answer)
        return bool(item["level"] % 2)

    made = scored(tmp_path, counting)
    path, n_calls = made.path, len(calls)
    assert n_calls == 4
    del counting, made
    loaded = bb.load(path)
    assert type(evaluator_of(loaded.record)).__name__ == "ScorerEvaluator"
    assert (loaded.aggregates.primary_score, loaded.spec) == (0.333333333, "counting@v1")
    assert bb.verify(path).holds
    before = [(path / name).read_bytes() for name in DERIVED_FILES]
    for words in (
        ("rescore", str(path), "--reports", "none"),
        ("show", str(path), "--failed"),
        ("gate", str(path), "--min-score", "0.3"),
    ):
        assert benchbook_here(*words).returncode == 0, words
    assert [(path / name).read_bytes() for name in DERIVED_FILES] == before
    assert len(calls) == n_calls


def test_a_record_that_does_not_say_what_scored_it_is_refused(tmp_path: Path) -> None:
    made = scored(tmp_path)
    started = made.record.started()
    other = msgspec.structs.replace(started, identity=started.identity | {"scorer": {"name": "x"}})
    shutil.rmtree(made.path / "journal")
    (made.path / "journal").mkdir()
    with JournalWriter(made.path / "journal") as writer:
        writer.append(other)
    with pytest.raises(RecordError, match="was not scored by a function of a user's own"):
        evaluator_of(Record(made.path))


# ── a model that is asked, and later sittings ────────────────────────────────────────────────────────────────


class Asking:
    """A model that knows the answers, but for some that it fails on, and a scorer that counts its calls."""

    def __init__(self) -> None:
        self.broken: set[int] = set()
        self.scored: list[str] = []

    def model(self) -> Callable[[str], str]:
        def model(prompt: str) -> str:
            number = int(prompt.split()[2])
            if number in self.broken:
                raise ConnectionError("gone")
            return str(number + 1)

        return model

    def scorer(self) -> Scorer:
        @bb.scorer(name="exact")
        def exact(item: Any, answer: str) -> bool:
            self.scored.append(item["id"])
            return bool(item["expected_answer"] == answer)

        return exact


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


def test_a_person_who_interrupts_the_scoring_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CHUNK", 2)
    asking = Asking()
    model, exact = asking.model(), asking.scorer()
    whole = scoring.score_answers_of_sitting

    async def interrupted(scorer: Scorer, record: Record, journal: JournalWriter, stop: Any) -> bool:
        append = journal.append

        def append_and_stop(fact: Any) -> str:
            stop.interrupted = isinstance(fact, Outcomes)
            stop.because("interrupted by Ctrl-C")
            return append(fact)

        monkeypatch.setattr(journal, "append", append_and_stop)
        return await whole(scorer, record, journal, stop)

    monkeypatch.setattr("benchbook.evaluators.scorers.metric.score_answers_of_sitting", interrupted)
    stopped = bb.score(exact, ITEMS, model=model, runs=tmp_path, run_id="run")
    assert (stopped.stopped, stopped.decision.verdict) == ("interrupted by Ctrl-C", "incomplete")
    assert outcomes_in(stopped.path) == [0, 1]
    monkeypatch.setattr("benchbook.evaluators.scorers.metric.score_answers_of_sitting", whole)
    assert bb.resume(stopped.path, scorer=exact, model=model).decision.verdict == "pass"
    assert asking.scored == [f"i{n}" for n in range(6)]


def changed(item: Any, answer: str) -> bool:
    return bool(item["expected_answer"] != answer)


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
    assert threading.active_count() == 1


# ── beside other runs ────────────────────────────────────────────────────────────────────────────────────────


def test_runs_are_compared_and_a_version_used_twice_is_told(tmp_path: Path) -> None:
    first = scored(tmp_path, bb.scorer(name="own")(_equal), run_id="first")
    second = scored(tmp_path, bb.scorer(name="own")(changed), run_id="second")
    third = scored(tmp_path, bb.scorer(name="own")(_equal), PREDICTIONS[:1], run_id="third")
    same = bb.compare(first, third)
    assert same.pairs[0].measured == ()
    assert same.pairs[0].counts["same_correct"] == 1
    sources = [one.manifest.scorer.source_sha256[:12] for one in (first, second)]
    told = (
        f"Both scorers call themselves own@v1, and are not the same: own@v1 (source {sources[0]}), and own@v1 (source "
        f"{sources[1]}). A changed scorer is a new version."
    )
    assert told in " ".join(str(bb.compare(first, second)).replace("\n", " ").split())
    runs = str(tmp_path / "runs")
    gated = benchbook_here("gate", "second", "--baseline", "first", "--runs", runs)
    assert (gated.returncode, b"what was measured differs: spec" in gated.stdout) == (1, True)
    listed = json.loads(benchbook_here("leaderboard", "--runs", runs, "--json").stdout)
    assert {one["run"] for one in listed["places"]} == {"first", "third"}


def test_what_has_no_score_is_a_pair_that_is_missing(tmp_path: Path) -> None:
    first = scored(tmp_path, run_id="first")
    better = [{"item_id": f"i{n}", "predicted": str(n + 1)} for n in range(6)]
    second = scored(tmp_path, predictions=better, run_id="second")
    pair = bb.compare(first, second).pairs[0]
    assert (pair.n_compared, pair.counts["improved"], pair.counts["only_in_b"]) == (4, 3, 2)
    assert pair.score.difference == pytest.approx(1 - 0.375)


def test_the_answers_of_a_record_are_scored_by_another_version(tmp_path: Path) -> None:
    asking = Asking()
    made = bb.score(asking.scorer(), ITEMS, model=asking.model(), runs=tmp_path, run_id="first")
    again = bb.score(near, ITEMS, made.path / "samples.jsonl", runs=tmp_path, run_id="second")
    assert again.aggregates.primary_score == 1.0


def test_reports_lists_and_labels(tmp_path: Path) -> None:
    made = scored(tmp_path)
    html, markdown = (path.read_text("utf-8") for path in made.write_reports(tmp_path / "reports"))
    assert "near@v1" in html
    for text in ("Answers without a score", "What the scorer named", "off by 1"):
        assert text in html
        assert text in markdown
    runs = str(tmp_path / "runs")
    assert json.loads(benchbook_here("runs", "--runs", runs, "--json").stdout)[0]["run"] == "run"
    drawn = benchbook_here("label", "sample", "run", "--runs", runs, "--n", "2", "--out", str(tmp_path / "book"))
    assert drawn.returncode == 0, drawn.stderr.decode()


def test_what_the_model_said_is_shown_as_what_it_is(tmp_path: Path) -> None:
    @bb.scorer(name="echo")
    def echo(item: Any, answer: str) -> Any:
        if item["id"] == "i0":
            raise ValueError(answer)
        return {"score": 0, "why": answer}

    bad = "<script>alert(1)</script>\x1b[2J=1+1"
    made = scored(tmp_path, echo, [{"item_id": name, "predicted": bad} for name in ("i0", "i1")])
    html = made.write_reports(tmp_path / "reports")[0].read_text("utf-8")
    assert "<script>alert" not in html
    assert "\x1b" not in html + str(made)


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_line_takes_a_function_of_a_file(tmp_path: Path) -> None:
    items = write_items(tmp_path / "items.jsonl", 3)
    predictions = tmp_path / "predictions.jsonl"
    rows = [{"item_id": f"i{n}", "predicted": str(n + 1)} for n in range(2)]
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "own.py").write_text(
        "import benchbook as bb\n\n@bb.scorer(name='own')\ndef right(item, answer):\n"
        "    return item.expected_answer == answer\n", encoding="utf-8",
    )  # fmt: skip
    asked = ("score", f"{tmp_path / 'own.py'}:right", "--evalset", str(items), "--runs", str(tmp_path / "runs"))
    made = benchbook_here(*asked, "--predictions", str(predictions), "--run-id", "run", "--reports", "none")
    assert made.returncode == 0, made.stderr.decode()
    assert b"Score 0.6667 by own@v1" in made.stdout
    refused = benchbook_here("score", f"{tmp_path / 'own.py'}:left", "--evalset", str(items), "--predictions", "p")
    assert refused.returncode == 2
    assert b"left is no scorer; expected" in refused.stderr


def test_settings_that_come_from_elsewhere_run_no_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit('it was run')\n", encoding="utf-8")
    with pytest.raises(UsageError):
        bb.score(ITEMS, PREDICTIONS, spec=str(tmp_path / "own.py:right"), runs=tmp_path / "runs")
