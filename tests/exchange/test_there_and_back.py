"""Runs in each form that is written and read: its audit contradicts nothing, and imported again it says the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.exchange.log import LogSample
from benchbook.exchange.of_record import log_of_record
from benchbook.exchange.tools import TOOLS
from benchbook.record.folder import Record
from labelled import judged_run
from outages import number_of
from own_scorers import scored as scored_by_function
from running import write_items
from scored import scored
from scripted_server import Reply, running


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
# Forms that hold answers with their scores, and what their files are called.
ENDINGS = {"inspect": ".eval", "promptfoo": ".json"}
FORMS = [one.name for one in TOOLS if one.reads and one.writes and one.name != "openai_batch"]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Record]:
    made: dict[str, Record] = {}

    def record(name: str) -> Record:
        if name not in made:
            made[name] = RUNS[name](tmp_path_factory.mktemp("run"))
        return made[name]

    return record


def _values(samples: list[LogSample], scorer: str) -> list[float | None]:
    """The values of a scorer, in order; where it has another name there, of the one that has it in its own."""
    return [next((score.value for name, score in one.scores.items() if scorer in name), None) for one in samples]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_goes_there_and_back(form: str, name: str, records: Callable[[str], Record], tmp_path: Path) -> None:
    record = records(name)
    path = tmp_path / f"log{ENDINGS.get(form, '')}"
    bb.export(record.path, to=form, out=path)
    audits = bb.audit(path)
    assert audits.holds, str(audits)
    (run,) = bb.import_logs(path, runs=tmp_path / "runs")
    assert run.verify().holds
    before, after = list(log_of_record(record).samples()), list(log_of_record(run.record).samples())
    assert [one.answer or "" for one in after] == [one.answer or "" for one in before]
    assert [one.prompt for one in after] == [one.prompt for one in before]
    scorer = log_of_record(record).header.scorers[0].name
    assert _values(after, scorer) == _values(before, scorer)
