"""Runs in each form that is written and read: its audit contradicts nothing, and imported again it says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import benchbook as bb
from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogScore
from benchbook.exchange.of_record import log_of_record
from benchbook.record.folder import Record
from labelled import judged_run
from made_logs import Made
from made_logs import sample as made_sample
from outages import number_of
from own_scorers import scored as scored_by_function
from random_logs import SCORERS, logs
from round_trips import FORMS, derived_copy, trip
from running import write_items
from scored import scored
from scripted_server import Reply, running
from support import examples


def _failing_second(role: str, n: int, request: dict[str, Any]) -> Reply:
    del role, n
    if number_of(request) == 1:
        return {"status": 503}
    return {"status": 200, "content": "1", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def _with_a_gap(folder: Path) -> Record:
    write_items(folder / "items.jsonl", 3)
    with running(_failing_second) as server:
        return bb.score(
            folder / "items.jsonl", model="openai/m@2026-01-01", model_base_url=server.base_url, max_retries=0,
            runs=folder / "runs", accept_unanswered=True,
        ).record  # fmt: skip


RUNS: dict[str, Callable[[Path], Record]] = {
    "a judge, and a reply that nobody can read": lambda folder: judged_run(folder, [(2, 2), (1, 2), None]),
    "a judge and repeats": lambda folder: judged_run(folder, [(2, 2), (1, 2), (0, 1)], repeats=2),
    "repeats, none of one item scored": lambda folder: judged_run(folder, [(2, 2), (1, 2), None], repeats=2),
    "expected answers, one of which is missing": lambda folder: scored(folder).record,
    "a function that could not score": lambda folder: scored_by_function(folder).record,
    "an item that was not answered": _with_a_gap,
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Record]:
    made: dict[str, Record] = {}

    def record(name: str) -> Record:
        if name not in made:
            made[name] = RUNS[name](tmp_path_factory.mktemp("run"))
        return made[name]

    return record


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_goes_there_and_back(form: str, name: str, records: Callable[[str], Record], tmp_path: Path) -> None:
    assert trip(records(name), form, tmp_path) == []


# A panel; repeats; a run that ended once it was decided, one that was interrupted, one that a server refused; one that
# nobody measured; answers of a model, one of which never came; a run that crashed.
KEPT = (
    "rubric_panel", "rubric_repeats", "rubric_until_decided", "rubric_interrupted", "rubric_refused",
    "rubric_unmeasured", "score_model", "score_crashed",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_a_kept_record_goes_there_and_back(name: str, tmp_path: Path) -> None:
    record = derived_copy(name, tmp_path)
    for form in FORMS:
        assert trip(record, form, tmp_path) == [], form


def test_a_number_that_scores_do_not_give_is_told(tmp_path: Path) -> None:
    """A rubric's answer that nobody could score did not pass: 1 of 2, where 1 of the 1 that was scored did."""
    record = judged_run(tmp_path, [(2, 2), None])
    lost = bb.export(record.path, to="inspect", out=tmp_path / "log.eval").lost
    assert lost[-1].what == (
        "`pass_rate` can't be had from the scores there: 1 sample without a score did not pass, by it"
    )


# Logs that chance found.
FOUND = {
    "scorers that have no sample in common": [
        made_sample(id="a", scores={"match": LogScore(value=1.0)}),
        made_sample(id="b", scores={"grade": LogScore(value=6.0)}),
    ],
    "a mean that a record rounds twice": [
        made_sample(id="a", scores={"match": LogScore(value=1 / 3)}),
        made_sample(id="b", scores={"match": LogScore(value=0.0)}),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_a_log_that_chance_found_goes_there_and_back(name: str, tmp_path: Path) -> None:
    log = Made(FOUND[name], scorers=SCORERS, tool="other")
    record = import_log(log, Wanted(runs=str(tmp_path / "runs"))).record
    for form in FORMS:
        assert trip(record, form, tmp_path) == [], form


@pytest.mark.slow
@examples(10)
@given(logs())
def test_a_log_goes_there_and_back(tmp_path_factory: pytest.TempPathFactory, log: Made) -> None:
    folder = tmp_path_factory.mktemp("log")
    record = import_log(log, Wanted(runs=str(folder / "runs"))).record
    for form in FORMS:
        assert trip(record, form, folder) == [], form


@examples(20)
@given(logs())
def test_requests_ask_what_was_asked(tmp_path_factory: pytest.TempPathFactory, log: Made) -> None:
    """Prompts alone, as requests of an OpenAI batch: each once, and under an id of its own."""
    folder = tmp_path_factory.mktemp("log")
    record = import_log(log, Wanted(runs=str(folder / "runs"))).record
    bb.export(record.path, to="openai_batch", out=folder / "requests.jsonl")
    lines = [json.loads(line) for line in (folder / "requests.jsonl").read_bytes().splitlines()]
    asked = {one["custom_id"]: one["body"]["messages"] for one in lines}
    assert len(asked) == len(lines)
    assert asked == {
        f"{one.id}#{one.repeat + 1}" if one.repeat else one.id: one.messages
        or [{"role": "user", "content": one.prompt}]
        for one in log_of_record(record).samples()
    }
