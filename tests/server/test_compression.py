"""Answers as gzip: who gets them, which ones, and that they are the same answers."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.server import compression
from benchbook.server.access import TokenFile
from server.making import Api, api_over, copied

TAKEN, LEFT = {"accept-encoding": "gzip"}, {"accept-encoding": "identity"}
LONG = [  # each is longer than a kilobyte
    "/api/v1/runs", "/api/v1/runs/rubric/aggregates", "/api/v1/openapi.json", "/api/v1/runs/rubric/samples.ndjson",
    "/api/v1/runs/rubric/samples.csv", "/api/v1/comparisons?run=a&run=b", "/metrics",
]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip", True), ("gzip, deflate, br, zstd", True), ("GZip;Q=0.5", True), ("x-gzip", True), ("*", True),
        ("*;q=0.1", True), ("deflate;q=1, gzip ; q=0.001", True), ("gzip;q=1.0", True),
        ("", False), ("identity", False), ("br", False), ("gzip;q=0", False), ("gzip;q=0.000", False),
        ("*;q=0", False), ("gzip;q=0, *", False), ("*, gzip;q=0", False), ("gzip;q=nan", False),
        ("gzip;q=1e400, *;q=0", False), ("gzip;q=-1", False), ("gzip;level=9", False), ("gzippy", False),
    ],
)  # fmt: skip
def test_who_takes_it(header: str, takes: bool) -> None:
    assert compression.takes_gzip(header) is takes


@pytest.mark.parametrize(
    ("media", "shrinks"),
    [
        ("application/json", True), ("application/problem+json", True), ("application/x-ndjson", True),
        ("text/csv; charset=utf-8", True), ("text/javascript; charset=utf-8", True), ("image/svg+xml", True),
        ("text/event-stream", False), ("application/vnd.apache.parquet", False), ("image/png", False), (None, False),
    ],
)  # fmt: skip
def test_what_shrinks(media: str | None, shrinks: bool) -> None:
    assert compression.shrinks(media) is shrinks


@pytest.mark.parametrize("url", LONG)
def test_the_same_answer_comes_either_way(api: Api, url: str) -> None:
    packed, whole = api.get(url, headers=TAKEN), api.get(url, headers=LEFT)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in whole.headers
    assert packed.headers["vary"] == whole.headers["vary"] == "accept-encoding"
    assert url == "/metrics" or packed.content == whole.content  # it counts the first of the two
    if "content-length" in whole.headers:
        assert int(packed.headers["content-length"]) < int(whole.headers["content-length"])


def test_both_forms_have_a_tag_of_their_own_and_either_is_known(api: Api) -> None:
    url = "/api/v1/runs/rubric/aggregates"
    packed, whole = (api.get(url, headers=headers).headers["etag"] for headers in (TAKEN, LEFT))
    assert packed == f'{whole[:-1]}-gzip"'
    for tag in (packed, whole):
        again = api.get(url, headers={"if-none-match": tag})
        assert (again.status_code, again.headers["etag"], again.headers["vary"]) == (304, tag, "accept-encoding")


@pytest.mark.parametrize("url", ["/api/v1/me", "/healthz", "/api/v1/runs/a/samples.parquet"])
def test_what_is_short_or_packed_already_is_left_alone(api: Api, url: str) -> None:
    answer = api.get(url, headers=TAKEN)
    assert not {"content-encoding", "vary"} & set(answer.headers)
    assert answer.headers["content-length"] == str(len(answer.content))


def test_head_says_the_length_of_what_a_get_sends(api: Api) -> None:
    head, got = (api.ask(method, LONG[1], headers=TAKEN) for method in ("HEAD", "GET"))
    assert head.headers["content-length"] == got.headers["content-length"]
    assert head.headers["content-encoding"] == "gzip"


def test_events_are_sent_as_they_come(api: Api) -> None:
    assert "content-encoding" not in api.ask("HEAD", "/api/v1/events", headers=TAKEN).headers


def test_an_answer_that_sets_cookies_is_left_alone(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbook.server.app.LEAST_BYTES", 1)
    tokens = TokenFile(tmp_path / "tokens.json")
    text, _ = tokens.create("ann", ["read"])
    api = api_over(copied(records, tmp_path), str(tmp_path / "catalog.sqlite"), token_file=tokens.path)
    answer = api.ask("POST", "/api/v1/login", json={"token": text}, headers=TAKEN)
    assert answer.headers["set-cookie"]
    assert "content-encoding" not in answer.headers
    assert api.get("/healthz", headers=TAKEN).headers["content-encoding"] == "gzip"
    api.app.stop()


def test_built_files_are_compressed_once(api: Api) -> None:
    index = api.get("/", headers=LEFT).text
    script = "/" + index.partition('src="./')[2].partition('"')[0]
    whole, packed = (api.get(script, headers=headers) for headers in (LEFT, TAKEN))
    assert packed.content == whole.content
    assert 3 * int(packed.headers["content-length"]) < len(whole.content)
    assert packed.headers["etag"] == f'{whole.headers["etag"][:-1]}-gzip"'
    assert packed.headers["cache-control"].endswith("immutable")
    file = api.app.file(script, script.encode(), "*/*")
    assert file.gzipped is file.gzipped
    again = api.get(script, headers={"if-none-match": packed.headers["etag"]})
    assert (again.status_code, again.headers["etag"]) == (304, packed.headers["etag"])


def test_pieces_make_one_member_and_what_they_come_from_is_closed() -> None:
    closed = []

    def pieces() -> Iterator[bytes]:
        try:
            yield from (json.dumps({"n": n}).encode() for n in range(50_000))
        finally:
            closed.append(True)

    packed = list(compression.gzipped_pieces(pieces()))
    assert all(packed)  # an empty one would end the answer
    assert gzip.decompress(b"".join(packed)) == b"".join(pieces())
    closed.clear()
    begun = compression.gzipped_pieces(pieces())
    next(begun)
    begun.close()  # type: ignore[attr-defined]
    assert closed == [True]


def test_the_same_bytes_give_the_same() -> None:
    data = b'{"item_id": "a"}' * 1_000
    assert compression.gzipped(data) == compression.gzipped(data)
    assert zlib.decompress(compression.gzipped(data), 31) == data
