"""Answers drawn over HTTP for people to label: by chance, and for the decision, as the command draws them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.labels.decision_sheet import sample_for_decision
from benchbook.labels.labels import open_labels
from benchbook.labels.sheet import sample_labels
from benchbook.record.folder import Record
from benchbook.views.label_plan import plan_words
from labelled import judged_run
from server.making import Api, api_over

N = 60
LABELS = "/api/v1/labels"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose judge finds fault with every tenth answer: its decision is open."""
    scores = [(0, 0) if number % 10 == 0 else (2, 2) for number in range(N)]
    return judged_run(tmp_path_factory.mktemp("drawn"), scores, run_id="open").path


@pytest.fixture
def opened(made: Path, tmp_path: Path) -> Iterator[Api]:
    shutil.copytree(made, tmp_path / "runs" / "open")
    found = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    yield found
    found.app.stop()


def draw(api: Api, book: str, **more: Any) -> Any:
    answer = api.ask("POST", LABELS, json={"run": "open", "book": book, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_for_the_decision_it_is_the_draw_of_the_command(opened: Api, made: Path, tmp_path: Path) -> None:
    found = draw(opened, "few", drawn_for="decision", seed=3)
    book, plan = sample_for_decision(Record(made), tmp_path / "own", seed=3)
    here = open_labels(tmp_path / "runs/few")
    assert here.started.samples == book.started.samples
    assert here.started.allocation == book.started.allocation
    assert found["n_samples"] == len(book.started.samples)
    assert (found["drawn_for"], found.pop("says")) == ("decision", plan_words(plan))
    assert opened.json(LABELS)["books"] == [found]


def test_it_goes_on_from_labels_that_are_there(opened: Api, tmp_path: Path) -> None:
    first = draw(opened, "few", drawn_for="decision", n=10)
    given = {"labeller": "ann", "sample": open_labels(tmp_path / "runs/few").started.samples[0], "score": 2}
    answer = opened.ask("POST", f"{LABELS}/few/labels", json={**given, "field": "accuracy_score"})
    assert answer.status_code == 201
    more = draw(opened, "more", drawn_for="decision", n=10, labels="few")
    assert (first["n_samples"], more["n_samples"]) == (10, 20)
    assert more["by_labeller"] == {"ann": 1}


def test_by_chance_it_is_100_or_as_many_as_are_asked_for(opened: Api, made: Path, tmp_path: Path) -> None:
    found = draw(opened, "some", n=7, seed=1)
    assert open_labels(tmp_path / "runs/some").started.samples == (
        sample_labels(Record(made), tmp_path / "own", n=7, stratify=[], seed=1).started.samples
    )
    assert ("drawn_for" in found, "says" in found) == (False, False)
    assert found == opened.json(f"{LABELS}/some")
    answer = opened.ask("POST", LABELS, json={"run": "open", "book": "many"})
    assert (answer.status_code, "100" in answer.json()["detail"]) == (422, True)  # there are 60


@pytest.mark.parametrize(
    ("wanted", "status", "why"),
    [
        ({"labels": "few"}, 422, "only a draw for the decision goes on from others"),
        ({"drawn_for": "decision", "stratify": ["section"]}, 422, "the judge's verdicts are the strata"),
        ({"drawn_for": "decision", "labels": "none"}, 404, "there are no labels 'none'"),
        ({"drawn_for": "decision", "labels": "../open"}, 404, "there are no labels"),
        ({"drawn_for": "chance"}, 422, "drawn_for"),
        ({"drawn_for": "decision", "run": "nowhere"}, 404, "there is no run 'nowhere'"),
    ],
)
def test_what_can_not_be_drawn(opened: Api, tmp_path: Path, wanted: dict[str, Any], status: int, why: str) -> None:
    answer = opened.ask("POST", LABELS, json={"run": "open", "book": "drawn", **wanted})
    assert (answer.status_code, why in answer.json()["detail"]) == (status, True), answer.text
    assert not (tmp_path / "runs/drawn").exists()
