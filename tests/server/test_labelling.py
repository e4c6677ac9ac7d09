"""What two people score differently is settled, and what they say of the judge is the command line's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.labels.judge_card import judge_card
from benchbook.labels.labels import open_labels
from benchbook.record.folder import Record
from benchbook.views.judges import card_lines
from own_rubric import CITED, own_run
from server.making import HOST, Api
from server.test_access import bearer, csrf_of, guarded, logged_in, new_token

__all__ = ["guarded"]

LABELS = "/api/v1/labels/people"
Scores = dict[str, tuple[tuple[int, int], ...]]  # each person's accuracy and faithfulness, in the sheet's order


def runs_of(api: Api) -> Path:
    return api.app.services.settings.runs


def drawn(api: Api, n: int, **headers: str) -> list[int]:
    """A record of labels over `n` samples of the run `rubric`, which its judge gave 2 and 2 throughout."""
    wanted = {"run": "rubric", "book": "people", "n": n, "seed": 3}
    assert api.ask("POST", "/api/v1/labels", json=wanted, headers=headers).status_code == 201
    return open_labels(runs_of(api) / "people").started.samples


def give(api: Api, labeller: str, sample: int, field: str, score: int | None, **more: Any) -> Any:
    given = {"labeller": labeller, "sample": sample, "field": field, "score": score, **more}
    answer = api.ask("POST", f"{LABELS}/labels", json=given)
    assert answer.status_code == 201, answer.text
    return answer.json()


def given_by(api: Api, samples: list[int], scores: Scores) -> None:
    for labeller, rows in scores.items():
        for sample, (accuracy, faithfulness) in zip(samples, rows, strict=False):
            give(api, labeller, sample, "accuracy_score", accuracy)
            give(api, labeller, sample, "faithfulness_score", faithfulness)


# ── settling ─────────────────────────────────────────────────────────────────────────────────────────────────

DISPUTED: Scores = {"ann": ((2, 2), (1, 2), (0, 0)), "bob": ((2, 1), (0, 2), (0, 2))}


def in_dispute(api: Api, **params: int) -> list[tuple[int, str, list[int | None]]]:
    rows = api.json(f"{LABELS}/disputes", params=params)["disputes"]
    return [(row["sample"], row["field"], [one["score"] for one in row["opinions"]]) for row in rows]


def test_disputes_are_listed_in_the_order_of_the_sheet_without_names(writing: Api) -> None:
    samples = drawn(writing, 3)
    given_by(writing, samples, DISPUTED)
    expected = [
        (samples[0], "faithfulness_score", [2, 1]),
        (samples[1], "accuracy_score", [1, 0]),
        (samples[2], "faithfulness_score", [0, 2]),
    ]
    assert in_dispute(writing) == expected
    assert in_dispute(writing, offset=1, limit=1) == expected[1:2]
    page = writing.get(f"{LABELS}/disputes")
    assert (page.json()["n"], page.json()["n_settled"]) == (3, 0)
    for hidden in ("ann", "bob", "scripted", "rationale"):
        assert hidden not in page.text
    known = {"if-none-match": page.headers["etag"]}
    assert writing.get(f"{LABELS}/disputes", headers=known).status_code == 304
    give(writing, "eve", samples[1], "accuracy_score", 0, adjudicate=True)
    assert writing.get(f"{LABELS}/disputes", headers=known).status_code == 200


def test_a_dispute_is_asked_by_name_settled_and_taken_back(writing: Api) -> None:
    samples = drawn(writing, 3)
    given_by(writing, samples, DISPUTED)
    asked = {"labeller": "eve", "adjudicate": True, "sample": samples[2]}
    step = writing.json(f"{LABELS}/next", params=asked)
    assert (step["question"]["field"], step["n_given"], step["n_labels"]) == ("faithfulness_score", 0, 3)
    assert writing.json(f"{LABELS}/next", params={**asked, "field": "accuracy_score"})["question"] is None
    after = give(writing, "eve", samples[2], "faithfulness_score", 1, adjudicate=True)
    assert (after["question"]["sample"], after["n_given"], after["n_labels"]) == (samples[0], 1, 3)
    assert writing.json(f"{LABELS}/next", params=asked)["question"] is None
    assert [row[0] for row in in_dispute(writing)] == samples[:2]
    again = writing.problem(f"{LABELS}/labels", "POST", json={
        "labeller": "ida", "sample": samples[2], "field": "faithfulness_score", "score": 0, "adjudicate": True,
    })  # fmt: skip
    assert again == (422, f"people: sample {samples[2]} faithfulness_score is not in dispute")
    undone = writing.ask("POST", f"{LABELS}/undo", json={"labeller": "eve", "adjudicate": True}).json()
    assert (undone["question"]["sample"], undone["n_given"]) == (samples[2], 0)
    assert writing.problem(f"{LABELS}/undo", "POST", json={"labeller": "eve", "adjudicate": True})[0] == 409
    assert len(in_dispute(writing)) == 3


def test_settling_needs_the_scope_label_and_the_pages_own_cookie(guarded: Api) -> None:
    samples = drawn(guarded, 1, **bearer(new_token(guarded, "write")))
    settled = {"sample": samples[0], "field": "accuracy_score", "score": 1, "adjudicate": True}
    for name, score in (("ann", 2), ("bob", 0)):
        own = {**settled, "score": score, "adjudicate": False}
        by = bearer(new_token(guarded, "label", name=name))
        assert guarded.ask("POST", f"{LABELS}/labels", json=own, headers=by).status_code == 201
    read = bearer(new_token(guarded, "read"))
    assert guarded.problem(f"{LABELS}/disputes", headers=read) == (
        403,
        "this needs the scope label, which the token lacks",
    )
    assert guarded.problem(f"{LABELS}/labels", "POST", json=settled, headers=read)[0] == 403
    session = logged_in(guarded, new_token(guarded, "read", "label", name="eve"))
    assert guarded.problem(f"{LABELS}/labels", "POST", json=settled, headers=session)[1].startswith("x-csrf-token")
    own_page = {**session, "x-csrf-token": csrf_of(session), "origin": f"http://{HOST}"}
    assert guarded.ask("POST", f"{LABELS}/labels", json=settled, headers=own_page).status_code == 201
    audit = (runs_of(guarded) / ".server" / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [one for one in map(json.loads, audit) if one["operation"] == "giveLabel" and one["status"]]
    assert [(one["who"], one["status"], one["target"]) for one in entries[2:]] == [
        ("ann", 403, {"book": "people"}), ("eve", 403, {"book": "people"}), ("eve", 201, {"book": "people"}),
    ]  # fmt: skip


# ── calibration ──────────────────────────────────────────────────────────────────────────────────────────────


def test_calibration_says_what_the_command_says(writing: Api) -> None:
    samples = drawn(writing, 4)
    given_by(writing, samples, {"ann": ((2, 2), (0, 2), (1, 2), (2, 2)), "bob": ((2, 2), (0, 2))})
    found = writing.json(f"{LABELS}/calibration")
    confusion = {one["field"]: one["confusion"] for one in found["card"]["calibration"]["fields"]}
    assert confusion == {  # of people's 0, 1, 2, 2 and 2, 2, 2, 2 the judge made 2 each
        "accuracy_score": {"0": {"0": 0, "1": 0, "2": 1}, "1": {"0": 0, "1": 0, "2": 1}, "2": {"0": 0, "1": 0, "2": 2}},
        "faithfulness_score": {str(people): {"0": 0, "1": 0, "2": 4 * (people == 2)} for people in (0, 1, 2)},
    }
    assert found["between_people"]["n_twice"] == {"accuracy_score": 2, "faithfulness_score": 2}
    card = judge_card(Record(runs_of(writing) / "rubric"), open_labels(runs_of(writing) / "people"))
    assert found["card"] == json.loads(msgspec.json.encode(card))
    lines = "\n".join(card_lines(card))
    assert all(one in lines for one in found["words"]["sentences"])
    assert found["words"]["as_judged"]["headline"] == "Inconclusive"
    (gates,) = next(one["tables"] for one in found["words"]["sections"] if one["title"] == "Gates")
    for row in gates["rows"]:
        for cell in row:
            assert cell[:30] in lines  # a terminal cuts what is longer


def test_calibration_is_kept_until_somebody_labels(writing: Api) -> None:
    samples = drawn(writing, 4)
    given_by(writing, samples, {"ann": ((2, 2), (0, 2))})
    first = writing.get(f"{LABELS}/calibration")
    known = {"if-none-match": first.headers["etag"]}
    assert writing.get(f"{LABELS}/calibration", headers=known).status_code == 304
    assert writing.get(f"{LABELS}/calibration?confidence=0.9", headers=known).status_code == 200
    give(writing, "ann", samples[2], "accuracy_score", 1)
    after = writing.get(f"{LABELS}/calibration", headers=known)
    assert (after.status_code, after.json()["card"]["calibration"]["n_labelled"]) == (200, 3)


def test_labels_without_their_run_say_how_far_people_agree(writing: Api) -> None:
    samples = drawn(writing, 2)
    given_by(writing, samples, {"ann": ((2, 2), (0, 2)), "bob": ((2, 2), (0, 2))})
    shutil.rmtree(runs_of(writing) / "rubric")
    writing.app.services.watcher.look()
    found = writing.json(f"{LABELS}/calibration")
    assert (found["card"], found["words"], found["reason"]) == (None, None, "there is no run 'rubric'")
    assert found["between_people_table"]["rows"][0] == ["The same score", "100.0 %", "100.0 %"]


def test_labels_of_another_run_say_so(writing: Api) -> None:
    drawn(writing, 2)
    shutil.rmtree(runs_of(writing) / "rubric")
    shutil.copytree(runs_of(writing) / "rubric2", runs_of(writing) / "rubric")
    writing.app.services.watcher.look()
    found = writing.json(f"{LABELS}/calibration")
    assert found["card"] is None
    assert found["reason"].startswith("people: labels run rubric with hash"), found["reason"]
    assert str(runs_of(writing)) not in json.dumps(found)


def test_whether_an_answer_passes_is_asked_and_held_against_the_scores(writing: Api) -> None:
    wanted = {"run": "a", "book": "people", "n": 4}
    assert writing.ask("POST", "/api/v1/labels", json=wanted).status_code == 201
    (book,) = writing.json("/api/v1/labels")["books"]
    assert (book["n_labels_a_person"], list(book["by_field"]), book["titles"]) == (4, ["passed"], {"passed": "Passed"})
    step = writing.json(f"{LABELS}/next?labeller=ann")
    asked = step["question"]
    assert (step["n_samples"], asked["field"], asked["title"], asked["asked"]) == (4, "passed", "Passed", "")
    assert asked["choices"] == [
        {"score": 1, "key": "1", "words": "the answer is right: it does what the question asks"},
        {"score": 0, "key": "0", "words": "it is not"},
    ]
    wrong = {"labeller": "ann", "sample": asked["sample"], "field": "passed", "score": 2}
    assert writing.problem(f"{LABELS}/labels", "POST", json=wrong) == (422, "people: passed: found 2; expected 0 or 1")
    none = {**wrong, "score": None}
    said = "people: passed: a label without a score, and it applies to every answer"
    assert writing.problem(f"{LABELS}/labels", "POST", json=none) == (422, said)
    while (question := writing.json(f"{LABELS}/next?labeller=ann")["question"]) is not None:
        give(writing, "ann", question["sample"], "passed", 1)
    found = writing.json(f"{LABELS}/calibration")
    assert (found["card"], found["reason"], found["words"]["as_judged"]) == (None, None, None)
    (trial,) = found["answers"]["criteria"]
    assert (trial["criterion"], trial["n"]) == ("passed", 4)
    assert found["words"]["says"].startswith("Passed: ")
    assert [one["title"] for one in found["words"]["sections"]] == [
        "Corrected values", "Agreement", "Passed: where evaluator and people differ",
    ]  # fmt: skip


def test_a_rubric_of_ones_own_is_asked_by_its_criteria(writing: Api, tmp_path: Path) -> None:
    own_run(tmp_path, [{"sources": None, "clear": 1}, {"sources": 2, "clear": 1}], CITED, "cited")
    assert runs_of(writing) == tmp_path / "runs"
    writing.app.services.watcher.look()
    wanted = {"run": "cited", "book": "people", "n": 2}
    assert writing.ask("POST", "/api/v1/labels", json=wanted).status_code == 201
    asked = writing.json(f"{LABELS}/next?labeller=ann")["question"]
    assert (asked["title"], asked["asked"]) == ("Sources", "Are the sources named?")
    assert [(one["score"], one["key"], one["words"]) for one in asked["choices"]] == [
        (2, "2", ""), (1, "1", ""), (0, "0", ""), (None, "-", "does not apply"),
    ]  # fmt: skip
    step = give(writing, "ann", asked["sample"], "sources_score", None)
    assert (step["question"]["title"], step["n_given"], step["n_labels"]) == ("Clear", 1, 4)
    give(writing, "bob", asked["sample"], "sources_score", 0)
    assert in_dispute(writing) == [(asked["sample"], "sources_score", [None, 0])]
    after = give(writing, "eve", asked["sample"], "sources_score", None, adjudicate=True)
    assert after["question"] is None
    assert writing.json(f"{LABELS}")["by_field"]["sources_score"]["adjudicated"] == 1


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_book_goes_on_when_its_journal_is_sealed(writing: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.record.journal.SEGMENT_BYTES", 600)
    samples = drawn(writing, 3)
    given_by(writing, samples, {"ann": ((2, 2), (1, 2), (0, 0))})
    assert (runs_of(writing) / "people/journal/000001.jsonl.zst").exists()
    (shown,) = writing.json("/api/v1/labels")["books"]
    assert (shown["book"], shown["by_labeller"]) == ("people", {"ann": 6})
    assert writing.json(LABELS)["sha256"] == open_labels(runs_of(writing) / "people").sha256
    writing.app.services.watcher.look()
    assert "people" not in [run["run_id"] for run in writing.json("/api/v1/runs")["runs"]]


def test_a_damaged_book_is_named_and_takes_no_label(writing: Api) -> None:
    samples = drawn(writing, 3)
    given_by(writing, samples, {"ann": ((2, 2),)})
    path = runs_of(writing) / "people/journal/000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score":2,"seq":2', b'"score":0,"seq":2'))
    found = writing.json("/api/v1/labels")
    assert found["books"] == []
    (damaged,) = found["damaged"]
    assert damaged["book"] == "people"
    assert damaged["error"].startswith("people/journal/000001.jsonl:3: has the hash ")
    given = {"labeller": "bob", "sample": samples[0], "field": "accuracy_score", "score": 1}
    for ask in (("GET", LABELS, None), ("GET", f"{LABELS}/calibration", None), ("POST", f"{LABELS}/labels", given)):
        assert writing.problem(ask[1], ask[0], json=ask[2]) == (409, damaged["error"])
    writing.app.services.watcher.look()
    runs = {run["run_id"]: run["state"] for run in writing.json("/api/v1/runs")["runs"]}
    assert runs["people"] == "damaged"
