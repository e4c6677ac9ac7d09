"""Pages that are slices of blocks, held against the rows as the catalog has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import RecordError
from benchbook.evaluators.correctness.rows import CorrectnessRow
from benchbook.record import tables
from benchbook.record.tables import write_table
from benchbook.server import predictions
from benchbook.server.predictions import PredictionTable, joined
from catalog.making import predictions_of
from server.making import Api

PREDICTIONS = "/api/tunix/runs/{}/predictions"


def row(number: int, **known: Any) -> CorrectnessRow:
    values = dict.fromkeys(CorrectnessRow.__struct_fields__) | {
        "sample": number, "item_id": f"item-{number}", "repeat": 0, "prompt": "?", "expected": str(number),
        "predicted": f"It is {number}.", "correctness": float(number % 2), "eval_time_ms": number, **known,
    }  # fmt: skip
    return CorrectnessRow(**values)


def shown(rows: list[CorrectnessRow]) -> list[dict[str, Any]]:
    names = ("item_id", "expected", "predicted", "correctness", "eval_time_ms")
    return [{name: getattr(one, name) for name in names} for one in rows]


def page(table: PredictionTable, first: int, end: int) -> list[dict[str, Any]]:
    parts = [table.block(number).rows(start, stop) for number, start, stop in table.parts(first, end)]
    found: list[dict[str, Any]] = json.loads(joined(parts, "r", None))["predictions"]
    return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of 4 rows, and two of them in a block."""
    monkeypatch.setattr(tables, "BATCH", 4)
    monkeypatch.setattr(tables, "ROW_GROUP", 4)
    monkeypatch.setattr(predictions, "_BLOCK_ROWS", 8)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("first", "end", "parts"),
    [
        pytest.param(0, 3, [(0, 0, 3)], id="within-a-block"),
        pytest.param(6, 8, [(0, 6, 8)], id="up-to-its-end"),
        pytest.param(8, 9, [(1, 0, 1)], id="from-the-start-of-the-next"),
        pytest.param(5, 19, [(0, 5, 8), (1, 0, 8), (2, 0, 3)], id="over-three"),
        pytest.param(0, 19, [(0, 0, 8), (1, 0, 8), (2, 0, 3)], id="all"),
        pytest.param(19, 19, [], id="behind-the-last"),
    ],
)
def test_a_page_is_made_of_the_parts_of_blocks(
    tmp_path: Path, first: int, end: int, parts: list[tuple[int, int, int]]
) -> None:
    rows = [row(number) for number in range(19)]
    write_table(tmp_path / "samples.parquet", CorrectnessRow, rows)
    table = PredictionTable(tmp_path / "samples.parquet")
    assert table.n_rows == 19
    assert table.parts(first, end) == parts
    assert page(table, first, end) == shown(rows[first:end])


def test_a_table_without_rows(tmp_path: Path) -> None:
    write_table(tmp_path / "samples.parquet", CorrectnessRow, [])
    table = PredictionTable(tmp_path / "samples.parquet")
    assert (table.n_rows, table.parts(0, 0)) == (0, [])
    assert json.loads(joined([], "a\ud800", "next")) == {
        "status": "available", "run_id": "a\ud800", "predictions": [], "next_cursor": "next",
    }  # fmt: skip


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(st.tuples(texts.filter(bool), texts, st.none() | texts, st.floats(0, 1)), min_size=1, max_size=9))
def test_json_is_what_msgspec_writes(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[str, str, str | None, float]]
) -> None:
    rows = [
        row(number, item_id=item, expected=expected, predicted=predicted, correctness=correctness)
        for number, (item, expected, predicted, correctness) in enumerate(found)
    ]
    path = tmp_path_factory.mktemp("table") / "samples.parquet"
    write_table(path, CorrectnessRow, rows)
    block = PredictionTable(path).block(0)
    assert msgspec.json.decode(b"[%b]" % block.rows(0, len(rows))) == shown(rows)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param('{"step":300}', {"step": 300}, id="stands-beside-ours"),
        pytest.param('{"a":1,"predicted":"mine","z":[{}]}', {"a": 1, "z": [{}]}, id="never-in-the-place-of-ours"),
        pytest.param('{"predicted":"mine"}', {}, id="nothing-but-ours"),
        pytest.param("{}", {}, id="none"),
        pytest.param('{"k\u00e9y":"\\ud800"}\n', {"k\u00e9y": "\ud800"}, id="a-lone-surrogate"),
        pytest.param('{"a":1,"a":2}', {"a": 2}, id="twice"),
    ],
)
def test_the_run_s_own_keys(tmp_path: Path, own: str, expected: dict[str, Any]) -> None:
    rows = [row(0), row(1, own=own), row(2)]
    write_table(tmp_path / "samples.parquet", CorrectnessRow, rows)
    plain = shown(rows)
    assert page(PredictionTable(tmp_path / "samples.parquet"), 0, 3) == [plain[0], expected | plain[1], plain[2]]


@pytest.mark.parametrize("own", ["[1]", '{"a":1', '{"a":1},{"b":2}', "nonsense"])
def test_own_keys_that_are_no_object_are_told(tmp_path: Path, own: str) -> None:
    write_table(tmp_path / "samples.parquet", CorrectnessRow, [row(0, own=own)])
    with pytest.raises(RecordError, match="not a readable table"):
        PredictionTable(tmp_path / "samples.parquet").block(0)


def test_a_table_that_is_written_anew_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    write_table(path, CorrectnessRow, [row(0)])
    table = PredictionTable(path)
    write_table(path, CorrectnessRow, [row(0, predicted="another")])
    with pytest.raises(RecordError, match="was written anew while it was read; ask again"):
        table.block(0)


def test_no_table(tmp_path: Path) -> None:
    (tmp_path / "samples.parquet").write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(RecordError, match="not a readable table"):
        PredictionTable(tmp_path / "samples.parquet")


def rows_of_catalog(api: Api, run_id: str) -> list[dict[str, Any]]:
    names = ("item_id", "expected", "predicted", "correctness", "eval_time_ms")
    rows = predictions_of(api.app.services.catalog, run_id)
    return [(json.loads(one.own) if one.own else {}) | {name: getattr(one, name) for name in names} for one in rows]


@pytest.mark.parametrize("run_id", ["a", "b", "c", "other"])
def test_blocks_hold_what_the_catalog_holds(api: Api, run_id: str) -> None:
    known = rows_of_catalog(api, run_id)
    assert known
    for limit in (1, 2, 100):
        assert api.pages(PREDICTIONS.format(run_id), "predictions", limit) == known
    services = api.app.services
    assert services.kept.peek(("block", run_id, services.run(run_id).state_id, 0)) is not None


def test_a_table_that_the_catalog_has_not_seen_yet_is_not_read(writing: Api) -> None:
    services = writing.app.services
    found = services.run("a")
    write_table(found.record.samples, CorrectnessRow, [row(0)])
    assert writing.json(PREDICTIONS.format("a"))["predictions"] == rows_of_catalog(writing, "a")
    assert services.kept.peek(("table", "a", found.state_id)) is None


def test_a_table_that_is_written_again_with_the_same_rows(writing: Api) -> None:
    services = writing.app.services
    found = services.run("a")
    before = writing.json(PREDICTIONS.format("a"))
    again = found.record.samples.with_name("again")
    again.write_bytes(found.record.samples.read_bytes())
    again.replace(found.record.samples)
    services.kept.drop(("block", "a", found.state_id, 0))
    assert writing.json(PREDICTIONS.format("a")) == before  # from the catalog, until the folder is looked through
    services.watcher.look()
    assert writing.json(PREDICTIONS.format("a")) == before
    assert services.kept.peek(("block", "a", found.state_id, 0)) is not None
