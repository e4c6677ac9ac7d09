"""Logs joined with the eval set that was asked: the set's items, by id, and whatever the log says otherwise is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.errors import InputError
from benchbook.evaluators.verify import verify
from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogSample
from benchbook.record.folder import Record
from scored import write_lines
from scored_logs import MadeLog, sample

ITEMS: list[dict[str, Any]] = [
    {"id": "b", "prompt": "What is b?", "expected_answer": "B", "category": "late", "group": "g", "context": {"n": 2}},
    {"id": "a", "prompt": "What is a?", "expected_answer": "42"},
    {"id": "c", "prompt": "What is c?", "expected_answer": "C"},
]


def joined(folder: Path, samples: Sequence[LogSample], name: str = "run") -> Record:
    if not (folder / "items.jsonl").exists():
        write_lines(folder / "items.jsonl", ITEMS)
    wanted = Wanted(runs=str(folder / "runs"), run_id=name, evalset=str(folder / "items.jsonl"))
    return import_log(MadeLog(folder, samples), wanted).record


def notes_of(record: Record) -> list[str]:
    return list(record.started().identity["imported"]["notes"])


def test_the_items_are_the_sets_in_its_order(tmp_path: Path) -> None:
    record = joined(tmp_path, [sample("a", 1.0), sample("b", 0.0, references=("B",)), sample("c", 1.0, references=())])
    rows = pl.read_parquet(record.samples)
    assert rows["item_id"].to_list() == ["b", "a", "c"]
    assert rows["score"].to_list() == [0.0, 1.0, 1.0]
    assert rows["expected"].to_list() == ["B", "42", "C"]
    assert rows["category"].to_list() == ["late", None, None]
    assert record.started().identity["dataset_id"] == "items"
    assert record.input(record.started().inputs["evalset"]).read_bytes() == (tmp_path / "items.jsonl").read_bytes()
    assert notes_of(record) == []
    assert not verify(record).findings


def test_an_item_that_the_log_lacks_is_unanswered_and_said(tmp_path: Path) -> None:
    record = joined(tmp_path, [sample("c", 1.0, references=("C",))])
    assert notes_of(record) == ["2 of the eval set's 3 items are not in the log, and unanswered: 'b', 'a'."]
    aggregates = bb.load(record.path).aggregates
    assert (aggregates.n_items, aggregates.n_unanswered, aggregates.primary_score) == (3, 2, 1.0)
    assert not verify(record).findings


# What a sample says, and the words about it.
OTHERWISE = {
    "another prompt": (
        {"prompt": "??"},
        "1 sample: the log has another prompt than the eval set, which counts; of 'a' '??', and the set 'What is a?'.",
    ),
    "another right answer": (
        {"references": ("7", "8")},
        "1 sample: the log has another right answer than the eval set, which counts; of 'a' '7', and the set '42'.",
    ),
    "a longer prompt": (
        {"prompt": "Be brief.\n\nWhat is a?"},
        "1 sample: the item's prompt was asked within a longer text, which the log has.",
    ),
    "no prompt": ({"prompt": " "}, "1 sample: the log does not say what was asked; the prompt is the eval set's."),
    "one of several right answers": ({"references": ("7", "42")}, None),
    "no right answer": ({"references": ()}, None),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_whatever_the_log_says_otherwise_is_told_and_the_set_counts(tmp_path: Path, what: str) -> None:
    given, words = OTHERWISE[what]
    others = [sample("b", 1.0, references=("B",)), sample("c", 1.0, references=("C",))]
    record = joined(tmp_path, [sample("a", 1.0, **given), *others])
    assert notes_of(record) == ([] if words is None else [words])
    row = pl.read_parquet(record.samples).filter(item_id="a")
    assert (row["prompt"].item(), row["expected"].item()) == ("What is a?", "42")


UNKNOWN = {
    "one": (["d"], "id: found 'd'; expected the id of one of the eval set's 3 items"),
    "one that looks like another": (["a\u200b"], r"id: found 'a\u200b'; an item 'a' is there"),
    "several": (
        ["d", "e", "f", "g", "h"],
        "found 'd'; 4 further samples of no item: 'e', 'f', 'g', …; expected the id",
    ),
    "no id": ([" "], "found '(no id)'"),
    "a repeat of none": (["d#2"], "found 'd#2'"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_ids_that_the_set_has_not_are_refused_and_nothing_is_left(tmp_path: Path, what: str) -> None:
    names, says = UNKNOWN[what]
    with pytest.raises(InputError) as refused:
        joined(tmp_path, [sample("a", 1.0), *(sample(name, 1.0) for name in names)])
    assert says in str(refused.value)
    assert not (tmp_path / "runs").exists()


def test_repeats_are_the_logs_own_or_named_as_a_batch_names_them(tmp_path: Path) -> None:
    own = [sample("a", 1.0), sample("a", 0.0, repeat=1)]
    named = [sample("a", 1.0), sample("a#2", 0.0)]
    values = [pl.read_parquet(joined(tmp_path, one, name).samples) for name, one in (("own", own), ("named", named))]
    for rows in values:
        assert rows.filter(item_id="a").sort("repeat")["score"].to_list() == [1.0, 0.0]


def test_an_id_with_a_number_sign_is_an_item_of_its_own(tmp_path: Path) -> None:
    write_lines(tmp_path / "items.jsonl", [*ITEMS, {"id": "a#2", "prompt": "Again?"}])
    record = joined(tmp_path, [sample("a", 1.0), sample("a#2", 0.0)])
    assert record.started().n_items == 4
    assert pl.read_parquet(record.samples).filter(item_id="a#2")["score"].to_list() == [0.0]


def test_a_csv_and_rows_are_eval_sets_too(tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("id,prompt,expected_answer\na,What is a?,42\n", encoding="utf-8")
    log = MadeLog(tmp_path, [sample("a", 1.0)])
    wanted = Wanted(runs=str(tmp_path / "runs"), evalset=str(tmp_path / "asked.csv"))
    record = import_log(log, wanted).record
    assert record.started().identity["dataset_id"] == "asked"
    assert pl.read_parquet(record.samples)["expected"].to_list() == ["42"]
    assert not verify(record).findings
