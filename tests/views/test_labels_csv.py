"""The sheet for a spreadsheet, and what comes back: nothing runs as a formula, and every wrong line is named."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from benchbook.labels.labels import LabelBook, SheetRow, create_labels, give_labels
from benchbook.labels.state import Given
from benchbook.record.facts import LabelsStarted
from benchbook.views.csv_files import labels_csv, read_labels_csv

HOSTILE = [
    '=HYPERLINK("http://x")', "@SUM(1)", "+1", "-1", "'=1", "\x1b[31mred", 'a,b\n"c"', "\u202eabc",
]  # fmt: skip


@pytest.fixture
def book(tmp_path: Path) -> LabelBook:
    rows = [
        SheetRow(sample=n, item_id=f"i{n}", prompt=words, context={"c": words}, expected_answer=words, answer=words)
        for n, words in enumerate(HOSTILE)
    ]

    def first(inputs: dict[str, str]) -> LabelsStarted:
        return LabelsStarted(
            run_id="run", run_sha256="a" * 64, spec="rubric@v1", seed=1, stratify=[], strata={},
            samples=list(range(len(HOSTILE))), hidden=[], inputs=inputs, drawn_by="benchbook",
        )  # fmt: skip

    return create_labels(tmp_path / "labels", rows, first)


def rows_of(lines: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines), newline="")))


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def filled(book: LabelBook, path: Path, changes: dict[int, dict[str, str]]) -> Path:
    rows = rows_of(labels_csv(book))
    for number, change in changes.items():
        rows[number] |= change
    return write(path, rows)


def test_no_cell_runs(book: LabelBook) -> None:
    text = "".join(labels_csv(book))
    assert not set(text) & {"\x1b", "\u202e"}
    for row in rows_of([text]):
        for cell in row.values():
            assert cell[:1] not in "=+-@" or not cell


def test_the_judge_is_not_in_the_sheet(book: LabelBook) -> None:
    assert list(rows_of(labels_csv(book))[0]) == [
        "sample", "item_id", "prompt", "context", "expected_answer", "answer", "accuracy_score", "faithfulness_score",
        "note", "labeller",
    ]  # fmt: skip


@pytest.mark.parametrize("note", ["plain", *HOSTILE])
def test_labels_and_notes_survive_the_way_there_and_back(book: LabelBook, tmp_path: Path, note: str) -> None:
    book = give_labels(book, [Given(2, "ann", "accuracy_score", 1, note)])
    path = tmp_path / "sheet.csv"
    path.write_text("".join(labels_csv(book, labeller="ann")), encoding="utf-8", newline="")
    found = read_labels_csv(path, book, labeller="ann")
    assert (found.given, found.n_there_already, found.problems) == ([], 1, [])
    undone = LabelBook(book.path, type(book.state)(book.started), book.sheet, "")
    (given,) = read_labels_csv(path, undone, labeller="ann").given
    shown = note.replace("\x1b", "\\u001b").replace("\u202e", "\\u202e")
    assert (given.sample, given.score, given.note) == (2, 1, shown)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sample": "99", "accuracy_score": "1"}, ":2: sample: found '99'; expected the number of a sample"),
        ({"sample": "", "accuracy_score": "1"}, ":2: sample: found ''"),
        ({"sample": "1e0", "accuracy_score": "1"}, ":2: sample: found '1e0'"),
        ({"item_id": "i5", "accuracy_score": "1"}, ":2: item_id: found 'i5'; expected 'i0', the item of sample 0"),
        ({"accuracy_score": "3"}, ":2: accuracy_score: found '3'; expected 0, 1 or 2"),
        ({"accuracy_score": "1.5"}, ":2: accuracy_score: found '1.5'; expected 0, 1 or 2"),
        ({"accuracy_score": "1,0"}, ":2: accuracy_score: found '1,0'; expected a decimal point: 1.0"),
        ({"accuracy_score": "-1"}, ":2: accuracy_score: found '-1'"),
        ({"faithfulness_score": "good"}, ":2: faithfulness_score: found 'good'"),
        ({"faithfulness_score": "٢"}, ":2: faithfulness_score: found"),
        ({"accuracy_score": "1", "labeller": "bob"}, ":2: labeller: found 'bob'; expected 'ann', or nothing"),
    ],
)
def test_what_is_wrong_is_named_by_line(book: LabelBook, tmp_path: Path, change: dict[str, str], named: str) -> None:
    found = read_labels_csv(filled(book, tmp_path / "s.csv", {0: change}), book, labeller="ann")
    assert len(found.problems) == 1
    assert named in str(found.problems[0])


def test_two_labels_by_one_person_are_named_by_both_lines(book: LabelBook, tmp_path: Path) -> None:
    rows = rows_of(labels_csv(book))[:2]
    rows = [rows[0] | {"accuracy_score": "2"}, rows[1], rows[0] | {"accuracy_score": "2"}]
    found = read_labels_csv(write(tmp_path / "s.csv", rows), book, labeller="ann")
    (problem,) = found.problems
    # The second row's prompt is one line, the hostile ones lie further down: the third row stands on line 4.
    assert ":4: accuracy_score: found a second label of sample 0 by ann; expected one; the first is on line 2" in str(
        problem
    )


def test_a_changed_mind_is_no_import(book: LabelBook, tmp_path: Path) -> None:
    book = give_labels(book, [Given(0, "ann", "accuracy_score", 1)])
    found = read_labels_csv(filled(book, tmp_path / "s.csv", {0: {"accuracy_score": "2"}}), book, labeller="ann")
    assert "ann has labelled sample 0 accuracy_score 1 already; undo it first" in str(found.problems[0])


def test_a_third_person_in_one_file_is_named(book: LabelBook, tmp_path: Path) -> None:
    row = rows_of(labels_csv(book))[0]
    rows = [row | {"accuracy_score": "1", "labeller": who} for who in ("ann", "bob", "eve")]
    found = read_labels_csv(write(tmp_path / "s.csv", rows), book)
    assert len(found.given) == 2
    assert ":4: accuracy_score: sample 0 accuracy_score has two labels already, by ann and bob" in str(
        found.problems[0]
    )


def test_nobody_is_named(book: LabelBook, tmp_path: Path) -> None:
    found = read_labels_csv(filled(book, tmp_path / "s.csv", {0: {"accuracy_score": "1"}}), book)
    assert "labeller: found nothing; expected who labelled this" in str(found.problems[0])


def test_disputes_go_out_with_both_scores_and_come_back_settled(book: LabelBook, tmp_path: Path) -> None:
    book = give_labels(
        book,
        [
            Given(0, "ann", "accuracy_score", 1),
            Given(0, "bob", "accuracy_score", 2),
            Given(1, "ann", "accuracy_score", 1),
            Given(1, "bob", "accuracy_score", 1),
        ],
    )
    (row,) = rows_of(labels_csv(book, disputed=True))
    assert (row["accuracy_score_first"], row["accuracy_score_second"], row["accuracy_score"]) == ("1", "2", "")
    path = write(tmp_path / "s.csv", [row | {"accuracy_score": "2"}])
    found = read_labels_csv(path, book, labeller="eve", adjudicates=True)
    assert found.problems == []
    assert give_labels(book, found.given).state.gold(0, "accuracy_score").origin == "adjudicated"
