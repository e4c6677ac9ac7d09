"""People label the outputs of a judged experiment, and each judge's scores are held against what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.ask.work import run_async
from benchbook.errors import UsageError
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import evaluator_of, start_run
from benchbook.labels.answer_card import answer_card
from benchbook.labels.labels import LabelBook, answer_sha256, give_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import Given
from benchbook.record.folder import Record
from judging import DIMENSIONS, make_set, sound_reply
from labelled import judged_run
from running import benchbook_here
from scripted_server import running

SCORES = {"j": 2, "k": 1, "m": 0}  # what a judge gives everything


def judged(folder: Path, run_id: str, judges: str) -> Record:
    """An experiment over the set in the folder; the judge j quotes what is not there of q0."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del role, n
        said = sound_reply(request, SCORES[request["model"]])
        if request["model"] == "j" and '"question_id":"q0"' in request["messages"][0]["content"]:
            said = json.dumps(json.loads(said) | {"evidence": []})
        return {"status": 200, "content": said}

    with running(reply) as server:
        values = {
            "set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "run_id": run_id,
            "runs": str(folder / "runs"), "max_connections": 1,
            "judges": [{"model": f"openai/{name}@2026-01-01", "base_url": server.base_url} for name in judges],
        }  # fmt: skip
        return run_async(start_run(judging_config_from_mapping(values, "test"))).record


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Record]:
    """Four questions under two variants, answered by one model; judged by j, who is invalid of q0, and by k."""
    folder = tmp_path_factory.mktemp("judged")
    make_set(folder, questions=4, targets=("t",))
    return folder, judged(folder, "run", "jk")


def labelled(record: Record, out: Path, score: int) -> LabelBook:
    """All outputs, each given that score for everything by one person."""
    book = sample_labels(record, out, n=8, stratify=[], seed=0)
    given = [Given(sample, "ann", name, score) for sample in book.started.samples for name in DIMENSIONS]
    return give_labels(book, given)


@pytest.mark.slow
def test_outputs_are_drawn_not_evaluations(made: tuple[Path, Record], tmp_path: Path) -> None:
    folder, record = made
    book = sample_labels(record, tmp_path / "labels", n=8, stratify=["prompt_variant"], seed=0)
    assert {name: (one.n_eligible, one.n_drawn) for name, one in book.started.strata.items()} == {
        "base": (4, 4), "long": (4, 4),
    }  # fmt: skip
    rows = list(book.sheet.values())
    assert len({answer_sha256(row) for row in rows}) == 8
    assert {row.item_id for row in rows} == {"q0", "q1", "q2", "q3"}
    assert {row.prompt for row in rows} == {"When does it open?"}
    assert all(row.answer.startswith("# Answer ") for row in rows)
    assert (book.started.criteria[0].name, book.started.criteria[0].scores) == ("FORMAT_COMPLIANCE", (0, 1, 2))
    with pytest.raises(UsageError, match="8, the answers that were scored"):
        sample_labels(record, tmp_path / "more", n=9, stratify=[], seed=0)
    assert (folder / "runs").is_dir()


@pytest.mark.slow
def test_each_judge_is_held_against_people(made: tuple[Path, Record], tmp_path: Path) -> None:
    _, record = made
    book = labelled(record, tmp_path / "labels", 1)
    cards = {judge: answer_card(record, book, judge=judge, n_resamples=100) for judge in ("j", "k")}
    found = {
        judge: (card.n_scored, card.n_labelled, one.n, one.as_scored, one.confusion["1"])
        for judge, card in cards.items()
        for one in card.criteria[:1]
    }
    assert found == {  # j is invalid of the two outputs of q0, and a point too kind; k says what people say
        "j": (6, 6, 6, 2.0, {"0": 0, "1": 0, "2": 6}),
        "k": (8, 8, 8, 1.0, {"0": 0, "1": 8, "2": 0}),
    }
    assert [one.criterion for one in cards["j"].criteria] == list(DIMENSIONS)
    assert cards["j"].as_drawn
    assert cards["j"].carried is None
    assert cards["j"].n_clusters == 3  # by question
    with pytest.raises(UsageError, match="has several judges; name one: j, k"):
        answer_card(record, book)


@pytest.mark.slow
def test_another_experiments_judge_is_held_against_the_same_labels(made: tuple[Path, Record], tmp_path: Path) -> None:
    folder, record = made
    other = judged(folder, "other", "m")
    book = labelled(record, tmp_path / "labels", 1)
    card = answer_card(other, book, judge="m", n_resamples=100)
    assert (card.n_labelled, card.criteria[0].as_scored) == (8, 0.0)
    assert card.carried is not None
    assert (card.carried.run_id, card.carried.n_used) == ("run", 8)


@pytest.mark.slow
def test_by_commands(made: tuple[Path, Record], tmp_path: Path) -> None:
    folder, record = made
    out = str(tmp_path / "labels")
    labelled(record, tmp_path / "labels", 1)
    several = benchbook_here("calibrate", "run", "--labels", out, cwd=folder)
    assert (several.returncode, b"has several judges; name one: j, k" in several.stderr) == (2, True)
    one = benchbook_here("calibrate", "run", "--labels", out, "--judge", "k", cwd=folder)
    assert one.returncode == 0, one.stderr
    assert one.stdout.decode().startswith("k by judge_protocol@v1, held against 8 labelled answers of 8\n")
    none = benchbook_here("calibrate", "run", "--labels", out, "--judge", "z", cwd=folder)
    assert (none.returncode, b"found judge 'z'; expected j, k" in none.stderr) == (2, True)
    page = benchbook_here("calibrate", "run", "--labels", out, "--judge", "k", "--markdown", cwd=folder)
    assert b"Judge" in page.stdout
    sheet = benchbook_here("label", "export", out, cwd=folder).stdout
    assert b"target_model" not in sheet
    assert b"judge" not in sheet


@pytest.mark.slow
def test_no_judge_of_another_evaluators_run_is_on_trial(made: tuple[Path, Record], tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(2, 2), (1, 2)])
    book = labelled(made[1], tmp_path / "labels", 1)
    with pytest.raises(UsageError, match="rubric@v1 is no judge protocol"):
        answer_card(record, book, judge="j")


def test_what_people_are_asked_is_the_protocols(made: tuple[Path, Record]) -> None:
    _, record = made
    criteria = evaluator_of(record).label_criteria(record.started())
    assert [(one.name, one.scores, one.column) for one in criteria] == [(name, (0, 1, 2), name) for name in DIMENSIONS]
    assert criteria[3].meaning == "COMPLETENESS: Is every required part there?"
    assert set(DIMENSIONS) <= set(pl.read_parquet(record.samples).columns)
