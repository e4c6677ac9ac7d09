"""Predictions into a record: every form, every refusal, and nothing left where one was refused (A3, A5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.comparison.records import training_loss
from benchbook.errors import BenchbookError, ConfigError, RecordError
from benchbook.evaluators.answers import predictions as score
from benchbook.evaluators.registry import score_predictions
from benchbook.evaluators.settings import ScoreConfig
from benchbook.evaluators.verify import verify
from benchbook.integrations.checkpoint_evaluation import ScalarLog
from scored import ITEMS, PREDICTIONS, scored, write_lines

GOOD = [{"item_id": "a", "predicted": "2"}, {"item_id": "b", "predicted": "Rome"}]


@pytest.mark.parametrize(
    ("rows", "settings", "says"),
    [
        pytest.param(
            [*GOOD, {"item_id": "z", "predicted": "2"}], {}, "predictions.jsonl:3: item_id: found 'z'", id="unknown-id"
        ),
        pytest.param(
            [*GOOD, GOOD[0], GOOD[1]], {}, "predictions.jsonl:3: item_id: found 'a' again (first on line 1)", id="twice"
        ),
        pytest.param([*GOOD, GOOD[0], GOOD[1]], {}, "And one more fault: line 4", id="and-its-other-lines"),
        pytest.param(
            [row | {"expected": "2"} for row in GOOD], {},
            "predictions.jsonl:2: expected: found '2' for 'b'; expected 'Paris', as the eval set has it",
            id="another-expected-answer",
        ),
        pytest.param([{"item_id": "a", "predicted": 2}], {}, "predictions.jsonl:1: predicted: found 2", id="a-number"),
        pytest.param([{"item_id": "a", "text": "2"}], {}, "predicted: found no such column", id="no-column"),
        pytest.param(
            [{"item_id": "a", "output": "2", "response": "3"}], {}, "found output and response", id="two-columns"
        ),
        pytest.param(GOOD, {"columns": {"predicted": "said"}}, "columns.predicted", id="a-mapping-to-nothing"),
        pytest.param(GOOD, {"columns": {"answer": "predicted"}}, "columns", id="a-mapping-of-nothing"),
        pytest.param(None, {}, "predictions: found nothing", id="none"),
        pytest.param(GOOD, {"reason": "bored"}, "reason: found a reason", id="a-reason-for-nothing"),
        pytest.param(GOOD, {"model": "gemma"}, "model: found 'gemma'", id="no-model-id"),
        pytest.param(GOOD, {"run_id": "../out"}, "run id '../out'", id="no-run-id"),
        pytest.param(GOOD, {"evalset": "x.xlsx"}, "a workbook; save its sheet as CSV", id="workbook"),
        pytest.param(GOOD, {"evalset": "@nothing"}, "ships no such set", id="no-such-set"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_leaves_nothing(
    rows: Sequence[Mapping[str, Any]] | None, settings: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(BenchbookError) as caught:
        scored(tmp_path, rows, **settings)
    assert says in str(caught.value)
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize("columns", [{}, {"predicted": "said"}], ids=["by-name", "as-given"])
def test_of_an_empty_file_all_are_missing(columns: dict[str, str], tmp_path: Path) -> None:
    """The run said nothing, and fails (A3); columns that were named for other files are no reason to refuse it."""
    result = scored(tmp_path, [], columns=columns)
    decision, found = result.derived.decision, result.derived.aggregates
    assert (decision.verdict, found.n_items, found.n_scored, found.n_skipped) == ("fail", 5, 0, 5)
    assert found.misses["no_prediction"] == 5
    assert verify(result.record).holds


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_eval_set_in_a_table_gives_the_rows_that_json_lines_give(ending: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(ITEMS, infer_schema_length=None)
    path = tmp_path / f"items.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
    made = scored(tmp_path, evalset=str(path))
    (tmp_path / "other").mkdir()
    lines = scored(tmp_path / "other")
    for name in ("samples.jsonl", "aggregates.json", "decision.json"):
        assert (made.record.path / name).read_bytes() == (lines.record.path / name).read_bytes()
    assert (made.derived.manifest.dataset_id, verify(made.record).holds) == ("items", True)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    evalset = write_lines(tmp_path / "items.jsonl", ITEMS)
    with pytest.raises(BenchbookError, match=r"gone\.jsonl: can't be read"):
        score_predictions(ScoreConfig(evalset=str(evalset), predictions="gone.jsonl", runs=str(tmp_path / "runs")))


def test_an_eval_set_without_an_expected_answer_is_at_fault_itself(tmp_path: Path) -> None:
    items = [*ITEMS[:1], {"id": "x", "prompt": "?"}]
    with pytest.raises(BenchbookError, match=r"items\.jsonl:2: expected_answer: found nothing"):
        scored(tmp_path, GOOD[:1], items)


@pytest.mark.parametrize("when", ["append", "derive"])
def test_an_import_that_fails_half_way_leaves_nothing(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise RecordError("the disk is full")

    real = score.JournalWriter.append
    if when == "derive":
        monkeypatch.setattr(score, "derive_answers", full)
    else:
        monkeypatch.setattr(
            score.JournalWriter, "append", lambda self, fact: full() if self.seq == 3 else real(self, fact)
        )
    with pytest.raises(RecordError, match="full"):
        scored(tmp_path)
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_record_is_not_written_over(tmp_path: Path) -> None:
    first = scored(tmp_path)
    with pytest.raises(BenchbookError, match="there is a record already"):
        scored(tmp_path, GOOD)
    assert first.record.started().run_id == "run"


def test_the_forms_of_a_file_make_no_difference(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        [(row["item_id"], row["predicted"], row["eval_time_ms"], "r1") for row in PREDICTIONS],
        schema=["key", "said", "eval_time_ms", "run"],
        orient="row",
    )
    write_lines(tmp_path / "p.jsonl", frame.to_dicts())
    frame.write_csv(tmp_path / "p.csv")
    frame.write_parquet(tmp_path / "p.parquet")
    evalset = write_lines(tmp_path / "items.jsonl", ITEMS)
    tables = []
    for form in ("jsonl", "csv", "parquet"):
        made = score_predictions(
            ScoreConfig(
                evalset=str(evalset),
                predictions=str(tmp_path / f"p.{form}"),
                columns={"item_id": "key", "predicted": "said"},
                runs=str(tmp_path / "runs"),
                model="openai/m@2026-01-01",
            )
        )
        assert made.derived.manifest.prediction_form == form
        assert made.derived.manifest.model_version == "2026-01-01"
        tables.append((made.record.path / "samples.jsonl").read_bytes())
    assert tables[0] == tables[1] == tables[2]
    assert b'{\\"run\\":\\"r1\\"}' in tables[0]


def test_a_shipped_set_may_be_named(tmp_path: Path) -> None:
    predictions = tmp_path / "p.csv"
    predictions.write_text("id,output\nnone,1\n", encoding="utf-8")
    with pytest.raises(BenchbookError, match="the id of one of the eval set's 20 items"):
        score_predictions(ScoreConfig(evalset="@golden-v1", predictions=str(predictions), runs=str(tmp_path / "runs")))


LOG = '{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 1.5}\n'


def test_training_metrics_become_a_table_of_the_record(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(LOG, encoding="utf-8")
    made = scored(tmp_path, training_metrics=(str(tmp_path / "train.jsonl"),))
    rows = pl.read_parquet(made.record.path / "training_metrics.parquet").to_dicts()
    assert [(row["source"], row["name"], row["step"], row["value"]) for row in rows] == [
        ("training_metrics_1", "loss", 1, 2.5), ("training_metrics_1", "loss", 2, 1.5)
    ]  # fmt: skip
    assert "training_metrics.parquet" in made.derived.manifest.derived
    assert verify(made.record).holds
    changed = (made.record.path / "training_metrics.parquet").read_bytes()[:-9] + b"x" * 9
    (made.record.path / "training_metrics.parquet").write_bytes(changed)
    assert "training_metrics.parquet" in {finding.file for finding in verify(made.record).findings}


def test_event_files_of_one_folder_are_one_log_with_a_segment_each(tmp_path: Path) -> None:
    """Training that begins anew begins a new file; one in which nothing was logged is passed over."""
    folder = tmp_path / "tensorboard"
    for losses in ({1: 3.0, 2: 2.0, 3: 1.5}, {}, {2: 1.75, 3: 1.25, 4: 1.0}):
        log = ScalarLog(folder)
        log.add(0, {})
        for step, loss in losses.items():
            log.add(step, {"loss": loss})
        log.close()
    made = scored(tmp_path, training_metrics=(str(folder),))
    rows = pl.read_parquet(made.record.path / "training_metrics.parquet")
    assert rows["source"].unique().to_list() == ["training_metrics_1"]
    assert rows["segment"].to_list() == [0, 0, 0, 1, 1, 1]
    assert len([name for name in made.derived.manifest.inputs if name.startswith("training_metrics_")]) == 2
    curve = training_loss(made.record)
    assert curve is not None
    assert [(point.step, point.value) for point in curve.points] == [(1, 3.0), (2, 1.75), (3, 1.25), (4, 1.0)]
    assert verify(made.record).holds


def test_columns_of_a_training_log_under_other_names(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("it,objective\n1,2.5\n", encoding="utf-8")
    given = {"step": "it", "loss": "objective"}
    made = scored(tmp_path, training_metrics=(str(tmp_path / "train.csv"),), training_columns=given)
    rows = pl.read_parquet(made.record.path / "training_metrics.parquet")
    assert rows.select("name", "step", "value").rows() == [("loss", 1, 2.5)]
    assert verify(made.record).holds
    with pytest.raises(ConfigError, match="training_columns: found a mapping without"):
        scored(tmp_path, training_columns=given, run_id="other")


def test_a_training_log_that_is_still_written_is_read_with_a_word_on_it(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(LOG + '{"step": 3, "lo', encoding="utf-8")
    made = scored(tmp_path, training_metrics=(str(tmp_path / "train.jsonl"),))
    assert pl.read_parquet(made.record.path / "training_metrics.parquet")["step"].to_list() == [1, 2]
    assert "Half of line 3 of train.jsonl was there: the log was read up to it." in made.derived.aggregates.warnings
    assert verify(made.record).holds


def test_a_training_log_that_can_not_be_read_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(LOG + "{\n", encoding="utf-8")
    with pytest.raises(BenchbookError, match=r"train\.jsonl:3"):
        scored(tmp_path, training_metrics=(str(tmp_path / "train.jsonl"),))
    assert not (tmp_path / "runs").exists()
