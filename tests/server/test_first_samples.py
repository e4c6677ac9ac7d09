"""The first page of samples, and one sample, read what they show and no more; what they show is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import InputError, RecordError
from benchbook.evalsets.opening import open_evalset, recorded_lines
from benchbook.evaluators.kept import recorded_evalset, recorded_items
from benchbook.record.folder import Record
from server.making import Api, api_over, copied

RUNS = ("a", "c", "rubric", "experiment")


@pytest.fixture
def fresh(records: Path, tmp_path: Path) -> Any:
    """A server that has not been asked for anything."""
    opened = api_over(copied(records, tmp_path), str(tmp_path / "c.sqlite"))
    yield opened
    opened.app.stop()


def lists(api: Api) -> list[Any]:
    """The names of whole lists of samples that a server has in memory."""
    return [key for key in api.app.services.kept._values if key[0] in ("samples", "prompts")]


@pytest.mark.parametrize("run", RUNS)
def test_unfiltered_pages_are_those_of_the_whole_list(fresh: Api, run: str) -> None:
    url = f"/api/v1/runs/{run}/samples"
    before = [fresh.json(f"{url}?limit={limit}&offset={offset}") for limit in (1, 3, 100) for offset in (0, 2, 99)]
    paged = fresh.pages(url, "samples", 2)
    assert lists(fresh) == []
    fresh.json(f"{url}?sort=score")
    assert len(lists(fresh)) == 1
    after = [fresh.json(f"{url}?limit={limit}&offset={offset}") for limit in (1, 3, 100) for offset in (0, 2, 99)]
    assert before == after
    assert paged == fresh.pages(url, "samples", 2)


def test_a_cursor_of_a_page_goes_on_in_the_whole_list(fresh: Api) -> None:
    url = "/api/v1/runs/a/samples"
    cursor = fresh.json(f"{url}?limit=2")["next_cursor"]
    expected = fresh.json(f"{url}?limit=2&cursor={cursor}")
    fresh.json(f"{url}?sort=score")
    assert fresh.json(f"{url}?limit=2&cursor={cursor}") == expected


@pytest.mark.parametrize("run", RUNS)
def test_one_sample_needs_no_list(fresh: Api, run: str) -> None:
    listed = fresh.json(f"/api/v1/runs/{run}/samples?limit=1000")["samples"]
    for row in listed:
        whole = fresh.json(f"/api/v1/runs/{run}/samples/{row['sample']}")
        shown = {name: whole[name] for name in row}
        assert {**shown, "text": (shown["text"] or "")[:400] or shown["text"]} == row
    assert lists(fresh) == []
    assert fresh.problem(f"/api/v1/runs/{run}/samples/{len(listed)}") == (404, f"there is no sample {len(listed)}")


def test_a_table_in_another_order_is_read_whole(fresh: Api) -> None:
    found = fresh.app.services.run("a")
    expected = fresh.json("/api/v1/runs/a/samples")
    table = pl.read_parquet(found.record.samples)
    table.reverse().write_parquet(found.record.samples)
    fresh.app.services.kept.drop(("samples in order", found.name))
    assert fresh.json("/api/v1/runs/a/samples") == expected
    assert len(lists(fresh)) == 1


# ── items that are read when they are asked for ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": "a", "prompt": "1"}\n{"id": "b", "prompt": "2"}\n',
        b'\xef\xbb\xbf{"id": "a", "prompt": "1"}\r\n\r\n  \n{"id": "b", "question": "2"}',
        b'\n\n{"id": "a", "prompt": "\\u00e9"}\n',
    ],
    ids=["plain", "byte-order mark, blank lines, another name, no end", "blank lines first"],
)
def test_items_are_those_of_the_set_that_is_read_whole(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(data)
    with open_evalset(path, is_recorded=True) as whole, recorded_lines(path) as found:
        assert list(found) == list(whole)
        assert (found.sha256, len(found)) == (whole.sha256, len(whole))
        assert [found.line_of(n) for n in range(len(found))] == [whole.line_of(n) for n in range(len(whole))]


def test_a_line_that_is_no_item_is_an_error_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(b'{"id": "a", "prompt": "1"}\n{"id": \n')
    with recorded_lines(path) as found:
        assert found[0].id == "a"
        with pytest.raises(InputError, match=r"items\.jsonl:2: "):
            found[1]
    with pytest.raises(InputError, match="can't be read"):
        recorded_lines(tmp_path / "none")


def test_a_records_items_are_held_against_its_hash(records: Path, tmp_path: Path) -> None:
    record = Record(copied(records, tmp_path) / "a")
    started = record.started()
    with recorded_evalset(record, started) as whole, recorded_items(record, started) as found:
        assert list(found) == list(whole)
    record.input(started.inputs["evalset"]).write_bytes(b'{"id": "x", "prompt": "1"}\n')
    with pytest.raises(RecordError):
        recorded_items(record, started)
