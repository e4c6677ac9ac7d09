"""The API's answers about runs that a judge compared in pairs."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import msgspec
import pytest

import benchbook as bb
from server.making import Api


def test_the_list_has_all_and_says_what_lacks(api: Api) -> None:
    found = {one["pairs"]: one for one in api.json("/api/v1/pairs")["pairs"]}
    assert set(found) == {"compared", "begun"}
    assert (found["compared"]["lacks"], found["begun"]["lacks"]) == (None, "1-2")
    assert sorted(found["compared"]["runs"].values()) == ["rubric", "rubric2"]


@pytest.mark.parametrize("swap", ["tie", "half"])
def test_a_ranking_is_that_of_the_command(api: Api, swap: Any) -> None:
    found = api.json(f"/api/v1/pairs/compared?swap={swap}")
    folder = api.app.services.settings.runs.parent / "pairs" / "compared"
    expected = bb.rank_pairs(folder, swap=swap)
    assert found["rankings"] == json.loads(msgspec.json.encode(expected.found))
    (words,) = found["words"]
    lines = str(expected)
    assert all(note in lines for note in words["notes"])
    assert words["tables"][0]["caption"] in lines
    assert [line["value"] for line in words["pictures"][0]["lines"]] == [0.5, 0.5]


def test_what_a_client_has_is_not_sent_again(api: Api) -> None:
    first = api.ask("GET", "/api/v1/pairs/compared")
    again = api.ask("GET", "/api/v1/pairs/compared", headers={"if-none-match": first.headers["etag"]})
    other = api.ask("GET", "/api/v1/pairs/compared?swap=half", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, other.status_code) == (200, HTTPStatus.NOT_MODIFIED, 200)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("begun", HTTPStatus.CONFLICT, "pairs 'begun' are not complete: 1-2 is not"),
        ("nothing", HTTPStatus.NOT_FOUND, "there are no runs in pairs 'nothing'"),
        ("..", HTTPStatus.NOT_FOUND, ""),
        ("..%2Fruns", HTTPStatus.NOT_FOUND, ""),
        ("a%00b", HTTPStatus.NOT_FOUND, "there are no runs in pairs"),
        ("compared?swap=never", HTTPStatus.BAD_REQUEST, "swap"),
    ],
)
def test_what_are_no_pairs(api: Api, name: str, status: HTTPStatus, words: str) -> None:
    found = api.ask("GET", f"/api/v1/pairs/{name}")
    assert found.status_code == status
    assert words in found.text
    assert str(api.app.services.settings.runs.parent) not in found.text
