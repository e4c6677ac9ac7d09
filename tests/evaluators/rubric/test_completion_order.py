"""Derived files do not depend on who answered first (SPEC C2, C6)."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.evaluators.rubric.tables import derive
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from rubric_v1 import ROW
from running import run
from scripted_server import OK_JUDGE, always_good, running


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Nine items, three repeats; scores, a parse retry, a refusal to answer: something of everything."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate":
            return {"status": 400} if n == 4 else always_good(role, n, request) | {"content": f"Answer {n % 5}."}
        if n in (7, 11):
            return OK_JUDGE | {"content": "no JSON"}
        scores = f'"accuracy_score": {n % 3}, "faithfulness_score": {(n + 1) % 3}'
        return OK_JUDGE | {"content": f'{{{scores}, "rationale": "Number {n}."}}'}

    with running(reply) as server:
        return run(tmp_path_factory.mktemp("order"), server, 9, repeats=3, max_connections=1).record


def rewritten(record: Record, folder: Path, order: Callable[[list[Any]], list[Any]]) -> Record:
    """A record of the same facts, the samples' facts among them in another order; each sample's own stay in theirs."""
    lines = [line.fact for line in read_journal(record.journal)]
    first, *facts, last = lines
    made = Record(folder / "run")
    made.journal.mkdir(parents=True)
    (folder / "run" / "inputs").symlink_to(record.inputs)
    with JournalWriter(made.journal) as writer:
        for fact in (first, *order(facts), last):
            writer.append(fact)
    derive(made, made.path)
    return made


def _by_role(facts: list[Any]) -> list[Any]:
    return sorted(facts, key=lambda fact: fact.role)


def _last_first(facts: list[Any]) -> list[Any]:
    return sorted(facts, key=lambda fact: -fact.sample)


def _shuffled(facts: list[Any]) -> list[Any]:
    rng = random.Random(5)
    places = [fact.sample for fact in facts]
    rng.shuffle(places)
    left = {sample: [fact for fact in facts if fact.sample == sample] for sample in set(places)}
    return [left[sample].pop(0) for sample in places]


@pytest.mark.parametrize("order", [_by_role, _last_first, _shuffled], ids=["by-role", "last-first", "shuffled"])
def test_aggregates_and_decision_are_the_same_bytes(
    record: Record, tmp_path: Path, order: Callable[[list[Any]], list[Any]]
) -> None:
    made = rewritten(record, tmp_path, order)
    assert [fact.fact.seq for fact in read_journal(made.journal)] == list(
        range(len(list(read_journal(record.journal))))
    )
    assert made.aggregates.read_bytes() == record.aggregates.read_bytes()
    assert made.decision.read_bytes() == record.decision.read_bytes()
    assert verify(made).holds


@pytest.mark.parametrize("order", [_by_role, _last_first, _shuffled], ids=["by-role", "last-first", "shuffled"])
def test_rows_are_the_same_but_for_their_places_in_the_journal(
    record: Record, tmp_path: Path, order: Callable[[list[Any]], list[Any]]
) -> None:
    def without_places(made: Record) -> list[RubricRow]:
        """`seq` is the way back to a fact, and no part of what was measured."""
        return [
            msgspec.structs.replace(
                row,
                answer_seq=None,
                judge_replies=[msgspec.structs.replace(reply, seq=0) for reply in row.judge_replies],
            )
            for row in read_rows(made.samples, ROW)
        ]

    made = rewritten(record, tmp_path, order)
    assert without_places(made) == without_places(record)


def test_samples_are_asked_and_listed_repeat_by_repeat(tmp_path: Path) -> None:
    with running(always_good) as server:
        record = run(tmp_path, server, 3, repeats=2, max_connections=1).record
        asked = [request["messages"][0]["content"] for request in server.asked["candidate"]]
    assert asked == [f"What is {item} + 1?" for item in (0, 1, 2, 0, 1, 2)]
    assert [(row.sample, row.repeat, row.item_id) for row in read_rows(record.samples, ROW)] == [
        (0, 0, "i0"), (1, 0, "i1"), (2, 0, "i2"), (3, 1, "i0"), (4, 1, "i1"), (5, 1, "i2")
    ]  # fmt: skip


@pytest.mark.parametrize("connections", [1, 3, 32])
def test_concurrency_changes_no_score(tmp_path: Path, connections: int) -> None:
    """What each answer is worth follows from the item alone here, so only the order of completion differs."""

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate":
            return always_good(role, n, request) | {"content": request["messages"][0]["content"][8:]}
        digit = int(request["messages"][0]["content"].split("What is ")[1].split(" ")[0])
        scores = f'"accuracy_score": {digit % 3}, "faithfulness_score": {digit % 2 + 1}'
        return OK_JUDGE | {"content": f'{{{scores}, "rationale": "So."}}'}

    with running(reply) as server:
        result = run(tmp_path, server, 12, max_connections=connections)
    found = result.derived.aggregates.aggregates
    assert (found.accuracy_mean, found.faithfulness_mean) == (1.0, 1.5)
    assert found.aggregate_score == 0.7  # 0.45 * 1 / 2 + 0.30 * 1.5 / 2 + 0.25: latency and tokens below their targets
