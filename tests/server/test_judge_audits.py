"""The API's answers about audits of judges."""

from __future__ import annotations

import json
from http import HTTPStatus

import pytest

from server.making import Api


def test_the_list_has_those_that_are_complete_and_names_the_others(api: Api) -> None:
    found = api.json("/api/v1/audits")
    (one,) = found["audits"]
    assert (one["audit"], one["judge"], one["run_id"], one["n_answers"]) == (
        "tried",
        "openai/j@2026-01-01",
        "rubric",
        4,
    )
    assert set(one["uses"]) == {"retest", "length", "reference"}
    assert found["not_complete"] == ["begun"]


def test_a_card_is_that_of_the_folder_with_the_words_that_the_command_prints(api: Api) -> None:
    found = api.json("/api/v1/audits/tried")
    folder = api.app.services.settings.runs.parent / "audits" / "tried"
    assert found["card"] == json.loads((folder / "card.json").read_text("utf-8"))
    assert found["words"]["headline"] == "It does not notice bad answers"  # it gives all answers full marks
    changes, noticed = found["words"]["pictures"]
    assert [line["name"] for line in changes["lines"]] == ["asked again", "padded"]
    assert [line["state"] for line in noticed["lines"]] == ["not noticed"]
    assert found["words"]["sections"][0]["title"] == "What it may be used for"


def test_a_card_that_a_client_has_is_not_sent_again(api: Api) -> None:
    first = api.ask("GET", "/api/v1/audits/tried")
    again = api.ask("GET", "/api/v1/audits/tried", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code) == (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("begun", HTTPStatus.CONFLICT, "audit 'begun' is not complete: again is not"),
        ("nothing", HTTPStatus.NOT_FOUND, "there is no audit 'nothing'"),
        ("..", HTTPStatus.NOT_FOUND, ""),
        ("..%2Fruns", HTTPStatus.NOT_FOUND, ""),
        ("a%00b", HTTPStatus.NOT_FOUND, "there is no audit"),
    ],
)
def test_what_is_no_audit(api: Api, name: str, status: HTTPStatus, words: str) -> None:
    found = api.ask("GET", f"/api/v1/audits/{name}")
    assert found.status_code == status
    assert words in found.text
    assert str(api.app.services.settings.runs.parent) not in found.text


def test_a_run_says_if_its_judge_has_a_card(api: Api) -> None:
    found = api.json("/api/v1/runs/rubric/judge-card")
    assert found["found"]["holds"]
    assert found["found"]["path"] == "audits/tried"
    assert found["words"].startswith("Judge's card: audits/tried holds; ")
    assert api.json("/api/v1/runs/a/judge-card") == {"found": None, "words": None}
