"""Parts of files (RFC 9110, 14), and Polars, which reads a table through them."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import polars as pl
import pytest

from benchbook.server.problems import ProblemError
from benchbook.server.ranges import ByteRange, part_asked
from server.making import Api
from server.test_live import serving

TAG = '"1"'
TABLE = "/api/v1/runs/a/samples.parquet"
ITEMS = "/api/v1/comparisons/items.parquet?run=a&run=b"


@pytest.mark.parametrize(
    ("header", "part"),
    [
        # The examples of RFC 9110, 14.1.2, for 10,000 bytes.
        ("bytes=0-499", (0, 500)), ("bytes=500-999", (500, 1_000)), ("bytes=-500", (9_500, 10_000)),
        ("bytes=9500-", (9_500, 10_000)), ("bytes=0-0", (0, 1)), ("bytes=-1", (9_999, 10_000)),
        # Beyond the end: what there is.
        ("bytes=9990-99999", (9_990, 10_000)), ("bytes=-99999", (0, 10_000)), ("bytes=0-", (0, 10_000)),
        # Forms that the grammar allows.
        ("Bytes=1-2", (1, 3)), ("bytes= 1-2 ", (1, 3)), ("bytes=,1-2,", (1, 3)),
        # Another unit is passed over.
        ("", None), ("items=0-4", None), ("0-4", None), ("bytes", None),
    ],
)  # fmt: skip
def test_the_part_that_is_asked_for(header: str, part: tuple[int, int] | None) -> None:
    found = part_asked({"range": header}, TAG, 10_000)
    assert found == (None if part is None else ByteRange(*part, 10_000))


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("bytes=10000-", "behind the end: there are 10000 bytes"), ("bytes=10000-10001", "behind the end"),
        ("bytes=-0", "behind the end"), ("bytes=0-0,-1", "2 ranges: expected one"), ("bytes=500-499", "ends before"),
        ("bytes=", "0 ranges"), ("bytes=a-b", "no range"), ("bytes=-", "no range"), ("bytes=1", "no range"),
        ("bytes=--1", "no range"), ("bytes=+1-2", "no range"), ("bytes=1-2-3", "no range"),
        ("bytes=\u0661-\u0662", "no range"), (f"bytes=0-{'9' * 21}", "no range"),
    ],
)  # fmt: skip
def test_a_part_that_there_is_not(header: str, says: str) -> None:
    with pytest.raises(ProblemError, match=says) as found:
        part_asked({"range": header}, TAG, 10_000)
    assert (found.value.status, found.value.headers) == (416, {"content-range": "bytes */10000"})


def test_an_empty_file_has_no_part() -> None:
    with pytest.raises(ProblemError, match="behind the end"):
        part_asked({"range": "bytes=0-"}, TAG, 0)


@pytest.mark.parametrize(
    ("if_range", "is_part"),
    [(TAG, True), ('"2"', False), (f"W/{TAG}", False), ("Mon, 30 Nov 2026 00:00:00 GMT", False), ("", False)],
)
def test_a_part_of_another_state_is_all_of_it(if_range: str, is_part: bool) -> None:
    found = part_asked({"range": "bytes=0-1", "if-range": if_range}, TAG, 10_000)
    assert (found is not None) is is_part


@pytest.mark.parametrize("url", [TABLE, ITEMS])
def test_parts_make_the_whole(api: Api, url: str) -> None:
    whole = api.get(url)
    assert (whole.status_code, whole.headers["accept-ranges"]) == (200, "bytes")
    n = len(whole.content)
    tag = whole.headers["etag"]
    parts = []
    for first in range(0, n, 1_500):
        asked = {"range": f"bytes={first}-{first + 1_499}", "if-range": tag}
        part = api.get(url, headers=asked)
        last = min(first + 1_500, n) - 1
        assert (part.status_code, part.headers["content-range"]) == (206, f"bytes {first}-{last}/{n}")
        assert (part.headers["content-length"], part.headers["etag"]) == (str(last + 1 - first), tag)
        parts.append(part.content)
    assert b"".join(parts) == whole.content
    assert pl.read_parquet(io.BytesIO(whole.content)).height == 5


def test_a_head_tells_the_length_and_takes_no_range(api: Api) -> None:
    head = api.ask("HEAD", TABLE, headers={"range": "bytes=0-1"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(api.get(TABLE).content))
    assert head.headers["accept-ranges"] == "bytes"


def test_what_has_not_changed_is_not_sent_in_parts_either(api: Api) -> None:
    known = {"if-none-match": api.get(TABLE).headers["etag"], "range": "bytes=0-1"}
    assert api.get(TABLE, headers=known).status_code == 304


def test_answers_that_are_made_anew_have_no_parts(api: Api) -> None:
    for url in ("/api/v1/runs/a", "/api/v1/runs/a/samples.ndjson", "/api/v1/runs/a/samples.csv"):
        answer = api.get(url, headers={"range": "bytes=0-1"})
        assert answer.status_code == 200
        assert "accept-ranges" not in answer.headers


def test_a_refused_part_says_how_long_the_file_is(api: Api) -> None:
    n = len(api.get(TABLE).content)
    answer = api.get(TABLE, headers={"range": f"bytes={n}-"})
    assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{n}")


def test_another_table_in_its_place_has_another_tag(writing: Api) -> None:
    table = writing.app.services.run("a").record.samples
    before = writing.get(TABLE).headers["etag"]
    table.write_bytes(table.read_bytes() + b"x")
    after = writing.get(TABLE, headers={"range": "bytes=0-1", "if-range": before})
    assert (after.status_code, after.headers["etag"] != before) == (200, True)


def test_polars_reads_a_table_by_its_parts(records: Path, tmp_path: Path) -> None:
    with serving(records, "--catalog", str(tmp_path / "catalog.sqlite")) as (address, _):
        scanned = pl.scan_parquet(f"{address}{TABLE}")
        wanted = ["item_id", "correctness"]
        there = pl.read_parquet(records / "a" / "samples.parquet")
        assert scanned.select(wanted).collect().equals(there.select(wanted))
        assert scanned.collect().equals(there)
        assert scanned.filter(pl.col("sample") == 1).select("item_id").collect().item() == there["item_id"][1]
        asked = httpx.get(f"{address}/metrics").text
    assert 'benchbook_requests_total{operation="downloadSampleTable",status="206"}' in asked
