"""Comparisons and leaderboards over HTTP where people's labels lie among the records: as the command has them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchbook as bb
from benchbook.catalog.database import open_catalog
from benchbook.labels.answer_card import answer_card
from benchbook.labels.decision_sheet import sample_for_decision
from benchbook.labels.judge_card import judge_card
from benchbook.labels.labels import give_labels, open_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.record.folder import Record
from benchbook.server import by_people, label_folders, run_for_people
from benchbook.views.answer_card import as_people_sentences
from benchbook.views.comparison import comparison_markdown
from benchbook.views.comparison_corrected import corrected_notes, people_notes
from benchbook.views.judges import card_sentences
from labelled import judged_run
from scored import scored
from server.making import Api, api_over

N = 12
PAIR, SET = "/api/v1/comparisons", "/api/v1/comparisons/set"
FIELD = "as_people_would_judge"


def label(record: Record, out: Path, scores: tuple[int, int]) -> None:
    book = sample_labels(record, out, n=N, stratify=[], seed=0)
    give_labels(
        book,
        [Given(one, "ann", name, s) for one in book.started.samples for name, s in zip(FIELDS, scores, strict=True)],
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """runs/: a, b and c over one set. The judge is kindest to b, whose answers people find wrong; c's answers are a's.
    labels/ has labels of a and of b, to be put among the records.
    """
    folder = tmp_path_factory.mktemp("labelled")
    other = [{"answer": f"Other {number:03d}."} for number in range(N)]
    for name, scores, items in (("a", (1, 2), ()), ("b", (2, 2), other), ("c", (2, 2), ())):
        record = judged_run(folder / name, [scores] * N, items=items, run_id=name)
        shutil.copytree(record.path, folder / "runs" / name)
        if name != "c":
            label(record, folder / "labels" / f"people-of-{name}", (2, 2) if name == "a" else (0, 0))
    return folder


@pytest.fixture
def opened(made: Path, tmp_path: Path) -> Iterator[Api]:
    """A server over the runs, without labels."""
    shutil.copytree(made / "runs", tmp_path / "runs")
    found = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    yield found
    found.app.stop()


@pytest.fixture
def lay(made: Path, tmp_path: Path) -> Callable[..., None]:
    """Put labels of these runs among the records."""

    def laid(*runs: str) -> None:
        for run in runs:
            shutil.copytree(made / "labels" / f"people-of-{run}", tmp_path / "runs" / f"people-of-{run}")

    return laid


def dataset(api: Api) -> str:
    return str(api.json("/api/v1/runs/a")["dataset_sha256"])


def board(api: Api, **more: str) -> Any:
    return api.json("/api/v1/leaderboards", params={"dataset": dataset(api), "spec": "rubric@v1", **more})


def test_without_labels_nothing_is_said_and_nothing_computed(opened: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_people, "worths_here", None)
    assert FIELD not in opened.json(f"{PAIR}?run=a&run=b")
    assert all(FIELD not in pair for pair in opened.json(f"{SET}?run=a&run=b&run=c")["pairs"])
    assert FIELD not in board(opened)
    assert "people" not in opened.get("/api/v1/comparisons/report.html?run=a&run=b").text


def test_a_pair_is_that_of_the_command(opened: Api, lay: Callable[..., None], made: Path, tmp_path: Path) -> None:
    before = opened.get(f"{PAIR}?run=a&run=b")
    lay("a", "b")
    answer = opened.get(f"{PAIR}?run=a&run=b", headers={"if-none-match": before.headers["etag"]})
    found = answer.json()[FIELD]
    library = bb.compare("a", "b", labels=sorted((made / "labels").iterdir()), runs=tmp_path / "runs")
    assert found["labels"] == ["people-of-a", "people-of-b"]
    assert found["differences"] == json.loads(msgspec.json.encode(library.as_people_would_judge))
    assert found["turned"][0] == (
        "By score, people would judge the other way: as judged {b} is better than {a}, as people would judge it is "
        "worse."
    )
    assert found["says"].startswith("As people would judge: −")
    assert found["says"].endswith("by labels of 12 items of {a} and 12 of {b}. {b} is worse.")
    assert [row[0] for row in found["table"]["rows"]][:2] == ["Score, as judged", "Score, as people would judge"]
    assert [column["name"] for column in found["table"]["columns"]][1] == "{b} − {a}"
    assert found["notes"] == list(corrected_notes(library.as_people_would_judge, "{a}", "{b}"))
    assert {**answer.json(), FIELD: None} == {**before.json(), FIELD: None}


def test_a_set_has_each_pair_and_adjusts_for_all_of_them(
    opened: Api, lay: Callable[..., None], made: Path, tmp_path: Path
) -> None:
    lay("a", "b")
    found = opened.json(f"{SET}?run=a&run=b&run=c")
    library = bb.compare("a", "b", "c", labels=sorted((made / "labels").iterdir()), runs=tmp_path / "runs")
    by_run = {pair["b"]: pair[FIELD] for pair in found["pairs"]}
    assert {run: one["differences"] for run, one in by_run.items()} == {
        pair.b.name: json.loads(msgspec.json.encode(pair.corrected)) for pair in library.pairs
    }
    assert by_run["b"]["differences"][0]["n_tests"] == 2
    assert by_run["c"]["turned"][0].endswith("both gave the same answers, so to people they are the same.")


def test_a_pair_that_nobody_labelled_has_nothing(opened: Api, lay: Callable[..., None]) -> None:
    lay("a")
    found = {pair["b"]: pair.get(FIELD) for pair in opened.json(f"{SET}?run=b&run=a&run=c")["pairs"]}
    assert found["a"]["says"].endswith("since no answer of {a} is labelled where the two runs' answers differ.")
    assert found["c"]["differences"][0]["n_labelled_b"] == N  # c gave a's answers
    assert FIELD not in opened.json(f"{PAIR}?run=b&run=c")


def test_the_report_is_that_of_the_command(opened: Api, lay: Callable[..., None], made: Path, tmp_path: Path) -> None:
    lay("a", "b")
    library = bb.compare("a", "b", labels=sorted((made / "labels").iterdir()), runs=tmp_path / "runs")
    assert opened.get("/api/v1/comparisons/report.html?run=a&run=b").text == library.to_html()
    assert "As people would judge" in "".join(comparison_markdown(library.report))


def test_a_leaderboard_has_people_beside_the_judge(
    opened: Api, lay: Callable[..., None], made: Path, tmp_path: Path
) -> None:
    plain = board(opened)
    lay("b")
    found = board(opened)
    library = bb.leaderboard("a", "b", "c", labels=made / "labels/people-of-b", runs=tmp_path / "runs")
    assert found[FIELD] == {
        "labels": ["people-of-b"],
        "scores": json.loads(msgspec.json.encode(library.people)),
        "notes": list(people_notes(library.people)),
    }
    assert {**found, FIELD: None} == {**plain, FIELD: None}
    assert FIELD not in board(opened, metric="accuracy_score")  # which labels do not correct


def test_a_label_changes_the_answer_and_nothing_else_does(
    opened: Api, lay: Callable[..., None], tmp_path: Path
) -> None:
    lay("a", "b")
    first = opened.get(f"{PAIR}?run=a&run=b")
    known = {"if-none-match": first.headers["etag"]}
    assert opened.get(f"{PAIR}?run=a&run=b", headers=known).status_code == 304
    book = open_labels(tmp_path / "runs/people-of-b")
    give_labels(book, [Given(book.started.samples[0], "eve", FIELDS[0], 2)])  # in dispute: not labelled any more
    again = opened.get(f"{PAIR}?run=a&run=b", headers=known)
    assert again.json()[FIELD]["differences"][0]["n_labelled_b"] == N - 1
    shutil.rmtree(tmp_path / "runs/people-of-a")
    shutil.rmtree(tmp_path / "runs/people-of-b")
    assert FIELD not in opened.json(f"{PAIR}?run=a&run=b")


def test_labels_that_nobody_gave_yet_change_nothing(opened: Api, tmp_path: Path) -> None:
    sample_labels(Record(tmp_path / "runs/a"), tmp_path / "runs/drawn", n=N, stratify=[], seed=0)
    assert FIELD not in opened.json(f"{PAIR}?run=a&run=b")
    assert FIELD not in board(opened)


def test_labels_drawn_for_a_decision_are_refused_with_the_reason(opened: Api, tmp_path: Path) -> None:
    book, _ = sample_for_decision(Record(tmp_path / "runs/b"), tmp_path / "runs/for-b", n=6)
    give_labels(book, [Given(one, "ann", name, 2) for one in book.started.samples for name in FIELDS])
    found = opened.json(f"{PAIR}?run=a&run=b")[FIELD]
    assert (found["labels"], found["differences"], found["table"]["rows"]) == (["for-b"], [], [])
    assert found["says"].startswith("As people would judge: nothing can be said, since for-b: was drawn for a decision")
    assert str(tmp_path) not in found["says"]
    assert "for-b: was drawn for a decision" in board(opened)[FIELD]["notes"][0]


def test_damaged_labels_take_nothing_from_the_comparison(opened: Api, lay: Callable[..., None], tmp_path: Path) -> None:
    lay("a")
    (journal,) = (tmp_path / "runs/people-of-a/journal").iterdir()
    journal.write_bytes(journal.read_bytes().replace(b'"score":2', b'"score":0'))
    found = opened.json(f"{PAIR}?run=a&run=b")
    assert found["score"]["difference"] is not None
    assert found[FIELD]["differences"] == []
    assert FIELD not in board(opened)


def test_runs_that_take_too_long_are_left_to_the_command(
    opened: Api, lay: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay("a", "b")
    monkeypatch.setattr(by_people, "MOST_SAMPLES", 2 * N - 1)
    found = opened.json(f"{PAIR}?run=a&run=b")[FIELD]
    assert "the runs have more than 23 samples" in found["says"]
    assert "the runs have more than 23 samples" in board(opened)[FIELD]["notes"][0]


# ── one run ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_has_its_decision_both_ways(opened: Api, lay: Callable[..., None], made: Path) -> None:
    before = opened.get("/api/v1/runs/b/people")
    assert before.json() == {"run_id": "b", "sets": []}
    known = {"if-none-match": before.headers["etag"]}
    assert opened.get("/api/v1/runs/b/people", headers=known).status_code == 304
    lay("a", "b")
    (found,) = opened.get("/api/v1/runs/b/people", headers=known).json()["sets"]
    card = judge_card(Record(made / "runs/b"), open_labels(made / "labels/people-of-b"))
    assert found["says"] == card_sentences(card)[0]
    assert found["says"].startswith("The decision is “Inconclusive” as judged, and “Not ready” as people would judge")
    assert (found["labels"], found["turned"]) == ("people-of-b", True)
    assert (found["as_judged"]["headline"], found["as_people_judge"]["headline"]) == ("Inconclusive", "Not ready")
    (of_a,) = opened.json("/api/v1/runs/a/people")["sets"]
    assert (of_a["labels"], of_a["turned"]) == ("people-of-a", False)


def test_a_run_says_of_labels_why_they_say_nothing(
    opened: Api, lay: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay("b")
    monkeypatch.setattr(run_for_people, "MOST_SAMPLES", N - 1)
    (found,) = opened.json("/api/v1/runs/b/people")["sets"]
    assert found["says"].startswith("A run of more than 11 samples is held against labels where they are shown")
    (journal,) = (tmp_path / "runs/people-of-b/journal").iterdir()
    journal.write_bytes(journal.read_bytes().replace(b'"score":0', b'"score":2'))
    (found,) = opened.json("/api/v1/runs/b/people")["sets"]
    assert "people-of-b/journal" in found["says"]
    assert (found["as_judged"], found["turned"]) == (None, False)


def test_where_nothing_is_decided_the_scores_are_said(tmp_path: Path) -> None:
    record = scored(tmp_path, run_id="a").record
    book = sample_labels(record, tmp_path / "runs/people", n=2, stratify=[], seed=0)
    (name,) = book.state.criteria
    give_labels(book, [Given(one, "ann", name, 1) for one in book.started.samples])
    opened = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    try:
        (found,) = opened.json("/api/v1/runs/a/people")["sets"]
    finally:
        opened.app.stop()
    assert found["says"] == " ".join(as_people_sentences(answer_card(record, book.reload())))
    assert "as people would score" in found["says"]
    assert (found["as_judged"], found["as_people_judge"]) == (None, None)


# ── which folders are labels ─────────────────────────────────────────────────────────────────────────────────


def test_no_record_of_a_run_is_opened_to_find_labels(
    opened: Api, lay: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay("b")
    (tmp_path / "runs" / "notes").mkdir()
    asked: list[str] = []
    own = label_folders.is_of_labels
    monkeypatch.setattr(label_folders, "is_of_labels", lambda record: bool(asked.append(record.run_id)) or own(record))
    services = opened.app.services
    found = services.label_folders()
    assert [(one.path.name, one.run_id) for one in found] == [("people-of-b", "b")]
    assert set(asked) == {"notes", "people-of-b"}
    assert services.labels_of(["a", "c"]) == ()
    assert services.labels_of(["b"]) == found


def test_labels_that_are_copied_in_bit_by_bit_are_found(opened: Api, made: Path, tmp_path: Path) -> None:
    services, source, target = opened.app.services, made / "labels/people-of-b", tmp_path / "runs/people-of-b"
    target.mkdir()
    assert services.label_folders() == ()
    services.labels._listed_at = services.settings.runs.stat().st_mtime_ns  # as if all this were long ago
    shutil.copytree(source, target, dirs_exist_ok=True)
    assert [one.path.name for one in services.label_folders()] == ["people-of-b"]


def test_while_the_folder_is_indexed_only_anchored_folders_are_opened(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(made / "runs", tmp_path / "runs")
    shutil.copytree(made / "labels/people-of-b", tmp_path / "runs/people-of-b")
    asked: list[str] = []
    own = label_folders.is_of_labels
    monkeypatch.setattr(label_folders, "is_of_labels", lambda record: bool(asked.append(record.run_id)) or own(record))
    catalog = open_catalog(str(tmp_path / "empty.sqlite"))
    try:
        found = label_folders.LabelFolders(tmp_path / "runs", catalog).all(is_indexing=True)
    finally:
        catalog.close()
    assert [one.path.name for one in found] == asked == ["people-of-b"]
