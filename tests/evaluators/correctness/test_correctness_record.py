"""The derived files of an `answer_correctness@v1` record, and that `verify` sees every change (C6, A3 to A7)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evalsets.predictions import Predictions, read_predictions
from benchbook.evaluators.answers.tables import DERIVED_FILES, derive_answers
from benchbook.evaluators.correctness.evaluator import METRIC
from benchbook.evaluators.correctness.scoring import correctness, reason
from benchbook.evaluators.correctness.tables import score_table
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.registry import evaluator_of, score_predictions
from benchbook.evaluators.settings import ScoreConfig
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from scored import ITEMS, PREDICTIONS, scored
from support import examples, shared_data


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return scored(tmp_path_factory.mktemp("scored")).record


@pytest.fixture
def copy(record: Record, tmp_path: Path) -> Record:
    shutil.copytree(record.path, tmp_path / "run")
    return Record(tmp_path / "run")


def rows_of(record: Record) -> list[dict[str, Any]]:
    lines = (record.path / "samples.jsonl").read_bytes().split(b"\n")  # a text may hold what splitlines splits at
    return [json.loads(line) for line in lines[:-1]]


def test_every_item_has_its_row_in_the_order_of_the_eval_set(record: Record) -> None:
    found = [
        (row["item_id"], row["predicted"], row["correctness"], row["miss_reason"], row["eval_time_ms"], row["fact_seq"])
        for row in rows_of(record)
    ]
    assert found == [
        ("a", "It is 2.", 0.0, "expected_inside_longer_text", 7, 1),
        ("b", " PARIS \n", 1.0, None, 12, 2),
        ("c", "Thinking...\nAnswer: 6", 1.0, None, None, 3),
        ("d", "2.5", 0.0, "numerically_equal", 0, 4),
        ("e", None, 0.0, "no_prediction", None, None),
    ]
    assert [row["own"] for row in rows_of(record)] == ['{"step":300}'] * 4 + [None]
    assert [row["sample"] for row in rows_of(record)] == [0, 1, 2, 3, 4]


def test_both_tables_hold_the_same_rows(record: Record) -> None:
    assert pl.read_parquet(record.samples).to_dicts() == [
        {name: row[name] for name in pl.read_parquet_schema(record.samples)} for row in rows_of(record)
    ]


def test_the_scorecard_counts_items_without_a_prediction(record: Record) -> None:
    file = json.loads(record.aggregates.read_bytes())
    assert (file["primary_score"], file["n_items"], file["n_scored"], file["n_skipped"]) == (0.4, 5, 4, 1)
    assert (file["n_correct"], file["metrics"]) == (2, {"answer_correctness": 0.4})
    assert file["stddev"] == 0.547722558  # sqrt((2 * 0.6^2 + 3 * 0.4^2) / 4), by bc
    assert file["misses"] == {
        "no_prediction": 1, "expected_inside_longer_text": 1, "numerically_equal": 1, "different": 0
    }  # fmt: skip
    assert [(one["value"], one["n_items"], one["n_scored"], one["mean"]) for one in file["section"]] == [
        ("core", 2, 2, 0.5), ("edge_case", 1, 1, 1.0), (None, 2, 1, 0.0)
    ]  # fmt: skip
    # Wilson 1927 for 2 of 5, by R's prop.test(2, 5, correct = FALSE)
    assert (file["interval"]["method"], round(file["interval"]["low"], 7), round(file["interval"]["high"], 7)) == (
        "wilson", 0.1176208, 0.7692757
    )  # fmt: skip
    assert file["warnings"] == ["1 of 5 items have no prediction; each counts 0.0."]
    assert json.loads(record.decision.read_bytes()) == {"reason": None, "verdict": "pass"}


def test_an_untouched_record_holds(record: Record) -> None:
    found = verify(record)
    assert (found.findings, found.state, found.n_facts) == ((), "complete", 6)
    manifest = json.loads(record.manifest.read_bytes())
    assert manifest["prediction_columns"] == {
        "item_id": "item_id", "predicted": "predicted", "eval_time_ms": "eval_time_ms"
    }  # fmt: skip
    started = record.started()
    assert started.identity["prediction_columns"] == manifest["prediction_columns"]
    assert (manifest["model_id"], manifest["prompt_template_id"]) == ("recorded/predictions", None)
    for name in DERIVED_FILES[:-1]:
        assert manifest["derived"][name] == hashlib.sha256((record.path / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", DERIVED_FILES)
def test_a_changed_byte_of_a_derived_file_is_named(name: str, copy: Record) -> None:
    path = copy.path / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert name in {finding.file for finding in verify(copy).findings}


def test_a_changed_row_is_named_by_its_fields(copy: Record) -> None:
    frame = pl.read_parquet(copy.samples)
    frame.with_columns(correctness=pl.lit(1.0)).write_parquet(copy.samples)
    (found, *_) = [finding for finding in verify(copy).findings if finding.file == "samples.parquet"]
    assert (found.line, found.what) == (1, "row of sample 0: correctness differ")


def test_a_file_that_does_not_belong_there_is_named(copy: Record) -> None:
    (copy.path / "samples.csv").write_text("item_id\n", encoding="utf-8")
    assert [finding.file for finding in verify(copy).findings] == ["samples.csv"]


def test_a_prediction_that_the_kept_file_does_not_say_is_named(tmp_path: Path) -> None:
    """Whoever writes a whole new journal around the file that was read is seen."""
    honest = scored(tmp_path, run_id="honest").record
    forged = scored(tmp_path, [*PREDICTIONS, {"item_id": "e", "predicted": "nothing"}], run_id="forged").record
    other = honest.started().inputs["predictions"]
    mine = forged.started().inputs["predictions"]
    shutil.copy(honest.input(other), forged.input(mine))
    assert [finding.file for finding in verify(forged).findings] == [f"inputs/{mine}"]


def test_rescoring_gives_the_same_bytes(record: Record, tmp_path: Path) -> None:
    kind = evaluator_of(record)
    assert kind.files == DERIVED_FILES
    kind.derive(record, tmp_path)
    for name in DERIVED_FILES:
        assert (tmp_path / name).read_bytes() == (record.path / name).read_bytes()


TEXTS = (
    st.none()
    | st.text(max_size=12)
    | st.sampled_from(["2", " 2\n", "two", "2.0", "Answer: 2", "ＡＮＳＷＥＲ: 2", "\ud800"])
)


@examples(25)
@given(st.lists(TEXTS, min_size=1, max_size=8), st.booleans(), st.randoms())
def test_a_record_says_what_the_reference_says_and_says_it_again(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], prefix: bool, random: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    items = [
        {"id": str(number), "prompt": "?", "expected_answer": "2"}
        | ({"answer_format": "answer_prefix"} if prefix else {})
        for number in range(len(texts))
    ]
    predictions = [{"id": str(number), "output": text} for number, text in enumerate(texts)]
    random.shuffle(predictions)
    made = scored(folder, predictions, items)
    rows = rows_of(made.record)
    assert len(rows) == len(texts)
    for row in rows:
        answer_format = row["answer_format"]
        assert row["correctness"] == correctness("2", row["predicted"], answer_format)
        assert row["miss_reason"] == reason("2", row["predicted"], answer_format)
    assert made.derived.aggregates.n_correct == sum(row["correctness"] for row in rows)
    again = folder / "again"
    again.mkdir()
    derive_answers(made.record, again, METRIC)
    for name in DERIVED_FILES:
        assert (again / name).read_bytes() == (made.record.path / name).read_bytes()
    assert verify(made.record).holds


@pytest.mark.parametrize(
    ("name", "n_inside"),
    [
        pytest.param("m45_m44_baseline", 40, id="m45-base"),
        pytest.param("m45_post_stage_a", 35, id="m45-stage-a"),
        pytest.param("m45_post_stage_b", 61, id="m45-stage-b"),
        pytest.param("m45_post_stage_c", 67, id="m45-stage-c"),
        pytest.param("m46_m45_stage_c", 72, id="m46-stage-c"),
        pytest.param("m46_m46_control", 69, id="m46-control"),
        pytest.param("m46_m46_self_correct", 64, id="m46-self-correct"),
    ],
)
def test_a_real_checkpoint_becomes_a_record(name: str, n_inside: int, tmp_path: Path) -> None:
    folder = shared_data("tunix-rt")
    config = ScoreConfig(
        evalset=str(folder / "eval_v2_original.jsonl"),
        predictions=str(folder / f"{name}_predictions.jsonl"),
        runs=str(tmp_path),
    )
    made = score_predictions(config)
    file = made.derived.aggregates
    assert (file.n_items, file.n_scored, file.n_correct, file.primary_score) == (100, 100, 0, 0.0)
    assert file.misses["expected_inside_longer_text"] == n_inside
    assert file.floor_warning is not None
    assert f"in {n_inside} items the expected answer stands inside" in file.floor_warning
    assert verify(made.record).holds


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("crashed", "the run crashed: out of memory at step 300"),
        ("timed_out", "the run timed out: out of memory at step 300"),
    ],
)
def test_a_run_that_failed_scores_0_and_fails(status: str, words: str, tmp_path: Path) -> None:
    made = scored(tmp_path, run_status=status, reason="out of memory\nat step 300")
    file, decision = made.derived.aggregates, made.derived.decision
    assert (decision.verdict, decision.reason) == ("fail", words)
    assert (file.primary_score, file.n_correct, file.metrics) == (0.0, 0, {"answer_correctness": 0.0})
    assert (file.n_items, file.n_scored, file.stddev) == (5, 4, 0.0)
    assert {one.mean for one in (*file.section, *file.category, *file.difficulty)} == {0.0}
    assert file.errors == {status: 5}
    rows = rows_of(made.record)
    assert {(row["correctness"], row["error"], row["candidate_error"]) for row in rows} == {(0.0, status, None)}
    assert rows[1]["predicted"] == " PARIS \n"  # what was said is kept
    assert verify(made.record).holds


def test_a_run_that_failed_needs_no_predictions(tmp_path: Path) -> None:
    made = scored(tmp_path, None, run_status="crashed")
    assert (made.derived.aggregates.n_skipped, made.derived.aggregates.primary_score) == (5, 0.0)
    assert (made.derived.decision.verdict, made.derived.decision.reason) == ("fail", "the run crashed")
    assert verify(made.record).holds


@pytest.mark.parametrize("text", [None, "", " \n\u00a0"], ids=["null", "empty", "blank"])
def test_a_run_that_said_nothing_fails(text: str | None, tmp_path: Path) -> None:
    made = scored(tmp_path, [{"item_id": "a", "predicted": text}])
    assert made.derived.decision.reason == "no item has a prediction"
    assert (made.derived.aggregates.n_scored, made.derived.aggregates.n_skipped) == (0, 5)


def test_a_file_without_a_row_is_one_in_which_all_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_rows(path: str | Path, **more: Any) -> Predictions:
        read = read_predictions(path, **more)
        return dataclasses.replace(read, columns={}, frame=read.frame.clear())

    monkeypatch.setattr("benchbook.evalsets.predictions.read_predictions", without_rows)
    monkeypatch.setattr("benchbook.evaluators.correctness.tables.read_predictions", without_rows)
    made = scored(tmp_path)
    file, decision = made.derived.aggregates, made.derived.decision
    assert (file.n_items, file.n_scored, file.n_skipped, file.primary_score) == (5, 0, 5, 0.0)
    assert (file.misses["no_prediction"], file.errors) == (5, {})
    assert (decision.verdict, decision.reason) == ("fail", "no item has a prediction")
    assert {(row["predicted"], row["correctness"], row["miss_reason"]) for row in rows_of(made.record)} == {
        (None, 0.0, "no_prediction")
    }
    assert verify(made.record).holds
    card = score_table(tmp_path / "items.jsonl", tmp_path / "predictions.jsonl", tmp_path / "out.parquet")
    assert (card.n_scored, card.n_skipped, card.misses) == (0, 5, file.misses)


def test_missing_is_counted_once_and_by_one_rule(tmp_path: Path) -> None:
    """A blank text, one of white space, an empty `Answer:` and no row at all: none is a prediction (A4, A7)."""
    items = [{"id": n, "prompt": "?", "expected_answer": "2", "section": "core"} for n in "abcde"]
    items[2] |= {"answer_format": "answer_prefix"}
    given = [("a", ""), ("b", "\t"), ("c", "2\nAnswer: "), ("d", "2")]
    made = scored(tmp_path, [{"item_id": n, "predicted": text} for n, text in given], items)
    file = made.derived.aggregates
    assert (file.n_scored, file.n_skipped, file.n_unanswered, file.misses["no_prediction"]) == (1, 4, 0, 4)
    assert [(one.n_items, one.n_scored) for one in file.section] == [(5, 1)]
    assert file.warnings == ["4 of 5 items have no prediction; each counts 0.0."]
    assert [row["predicted"] for row in rows_of(made.record)] == ["", "\t", "2\nAnswer: ", "2", None]
    assert verify(made.record).holds


def test_items_of_one_group_are_one_cluster(tmp_path: Path) -> None:
    items = [item | {"group": "one"} for item in ITEMS[:2]] + [dict(item) for item in ITEMS[2:]]
    made = scored(tmp_path, items=items)
    assert made.derived.aggregates.interval.method == "jeffreys_by_correlation"
    assert made.record.started().identity["derivation"] == DERIVATION


def test_a_dry_run_has_no_rows_and_says_why(tmp_path: Path) -> None:
    made = scored(tmp_path, dry_run=True)
    assert (made.derived.decision.verdict, made.derived.aggregates.primary_score) == ("unavailable", None)
    assert rows_of(made.record) == []
    assert len(list(read_journal(made.record.journal))) == 2
    assert evaluator_of(made.record).unavailable(made.record.started()) == (
        "this was a dry run (MockJudge in the place of answer_correctness@v1): it makes no predictions"
    )
    assert verify(made.record).holds
    assert made.derived.manifest.config["dry_run"] is True
