"""The examples in the API's document: of every operation, as the types say, and as the server answers."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from benchbook.server.examples import examples
from benchbook.server.openapi import openapi_document
from benchbook.server.operations import JSON
from benchbook.server.operations_list import OPERATIONS
from server.examples import ASKS, BY_NAME, OF_RUBRIC, Ask, Cutter, address_of
from server.making import Api
from server.test_openapi import DescribedAnswers

DOCUMENT: dict[str, Any] = json.loads(json.dumps(openapi_document(OPERATIONS)))
AGAIN = "again: PYTHONPATH=src:tests python tests/server/examples.py"
# What needs something that was written before, or a run of its own.
LATER = {
    "getPanel", "listSplits", "getSubmission", "getNextLabel", "getBook", "listDisputes", "getCalibration", "getStart",
    "getProgress", "getForecast", "getVerification",
}  # fmt: skip


def described(name: str) -> dict[str, Any]:
    one = BY_NAME[name]
    found: dict[str, Any] = DOCUMENT["paths"][one.path][one.method.lower()]
    return found


def faults(value: Any, schema: dict[str, Any]) -> list[str]:
    validator = jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    return [f"{one.message[:300]} at {one.instance_path}" for one in validator.iter_errors(value)]


def test_every_operation_has_one() -> None:
    answered = {name for name, one in examples().items() if one.answers}
    tables = {"downloadSampleTable", "downloadComparedItemsParquet", "downloadRunsParquet"}
    assert BY_NAME.keys() - answered == {"getOpenApi", *tables}
    for one in OPERATIONS:
        parts = described(one.name)
        assert all("example" in found for found in parts["parameters"] if found["required"]), one.name
        if one.body is not None:
            ((_, content),) = parts["requestBody"]["content"].items()
            assert "example" in content, one.name


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_they_are_as_the_types_say(name: str) -> None:
    parts = described(name)
    for found in parts["parameters"]:
        if "example" in found:
            assert faults(found["example"], found["schema"]) == [], AGAIN
    (answer, *_) = parts["responses"].values()
    for media, content in [*answer["content"].items(), *parts.get("requestBody", {}).get("content", {}).items()]:
        given = [one["value"] for one in content.get("examples", {}).values()]
        given += [content["example"]] if "example" in content else []
        assert media != JSON or [faults(one, content["schema"]) for one in given] == [[]] * len(given), AGAIN
        assert media == JSON or all(isinstance(one, str) for one in given)


def test_they_are_of_what_is_asked_today() -> None:
    first = {ask.operation: ask for ask in reversed(ASKS) if ask.of}
    for name, ask in first.items():
        found = examples()[name]
        asked = {one: found.asked.get(one) if value == OF_RUBRIC else value for one, value in ask.asked.items()}
        assert (found.asked, found.body) == (asked, ask.body), AGAIN
        assert [one.of for one in found.answers] == [one.of for one in ASKS if one.operation == name and one.of] or (
            BY_NAME[name].is_file
        ), AGAIN


@pytest.mark.parametrize(
    "ask", [one for one in ASKS if BY_NAME[one.operation].method == "GET" and one.operation not in LATER],
    ids=lambda one: f"{one.operation}-{one.of}",
)  # fmt: skip
def test_the_server_answers_so(api: Api, ask: Ask) -> None:
    """It may have more or fewer rows; the fields are those of the example."""
    operation = BY_NAME[ask.operation]
    sha256 = api.json("/api/v1/runs/rubric")["dataset_sha256"]
    asked = {name: sha256 if value == OF_RUBRIC else value for name, value in ask.asked.items()}
    api.app.services.watcher.look()
    answer = api.get(address_of(operation, asked))
    assert DescribedAnswers(DOCUMENT, operation.path, "get").faults(answer) == []
    if operation.media == JSON:
        (example,) = (one.answer for one in examples()[ask.operation].answers if one.of == ask.of)
        schema = described(ask.operation)["responses"]["200"]["content"][JSON]["schema"]
        assert Cutter(DOCUMENT).small(answer.json(), schema).keys() == example.keys(), AGAIN


def test_they_name_nothing_of_the_machine_they_were_made_on() -> None:
    text = json.dumps(DOCUMENT)
    assert not any(word in text for word in ("/tmp", "/home", "/root", "/work"))


def test_a_text_is_cut_and_a_list_has_its_first() -> None:
    cutter = Cutter(DOCUMENT)
    schema = {"$ref": "#/components/schemas/Tags"}
    cut = cutter.small({"run_id": "x" * 500, "tags": ["a", "b"]}, schema)
    assert (len(cut["run_id"]), cut["tags"]) == (161, ["a"])
