"""The document, and whether the server keeps to it: asked everything that the document allows."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogFailure
from benchbook.server.access import TokenFile
from benchbook.server.openapi import openapi_document
from benchbook.server.operations_list import OPERATIONS
from catalog.conftest import empty_schema
from scored_logs import MadeLog, sample
from server.making import Api, api_over, copied
from support import CITED

EXAMPLES = {
    "run_id": ["a", "b", "dry", "rubric", "live", "broken", "none"], "metric": ["loss"], "sample": [0, 1],
    "position": [0], "book": ["none"], "key": ["1"],
}  # fmt: skip


def test_the_document_is_whole() -> None:
    document = openapi_document(OPERATIONS)
    names = [one.name for one in OPERATIONS]
    assert len(set(names)) == len(names)
    refs = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert refs == set(document["components"]["schemas"])
    for one in OPERATIONS:
        found = document["paths"][one.path][one.method.lower()]
        assert found["x-scope"] == one.scope
        assert one.scope is not None or one.name in {
            "getMe", "login", "logout", "getOpenApi", "getHealth", "getReadiness",
        }  # fmt: skip
        assert (
            one.method == "GET"
            or one.name in {"login", "logout", "verifyRun", "beginVerification"}
            or one.scope in ("label", "write")
        )


def test_it_cites_no_clause() -> None:
    assert CITED.findall(json.dumps(openapi_document(OPERATIONS))) == []


def test_what_is_answered_may_lack_only_what_is_unset() -> None:
    """A field with a default is in every answer; in what is asked it may be left out."""
    schemas = openapi_document(OPERATIONS)["components"]["schemas"]
    gate = schemas["Gate"]
    assert gate["properties"].keys() - set(gate["required"]) == {
        "n_to_settle", "bound", "best_bound", "bound_reason", "claim",
    }  # fmt: skip
    assert "default" not in json.dumps(gate)
    asked = schemas["LabelGiven"]
    assert asked["properties"].keys() - set(asked["required"]) == {"labeller", "note", "adjudicate"}


def test_the_server_gives_it(api: Api) -> None:
    assert api.json("/api/v1/openapi.json") == json.loads(json.dumps(openapi_document(OPERATIONS)))


def asked_everything(apis: Sequence[Api], most: int, scopes: Sequence[Sequence[str]] | None = None) -> list[str]:
    """Ask each operation `most` questions that Schemathesis makes up, all servers the same; what was wrong with the
    answers. `scopes`: those that each server's caller has a token for; None where none is asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis

        schemathesis.serializer.alias("application/x-ndjson", "text/plain")
    document = with_known_ids(json.loads(json.dumps(openapi_document(OPERATIONS))))
    wrong: list[str] = []
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = found.ok()
        if operation.label != "GET /api/v1/events":  # it never ends
            for api in apis:
                api.app.services.watcher.look()  # nothing else does here, and `readyz` wants it done within a minute
            described = DescribedAnswers(document, operation.path, operation.method)
            scope = document["paths"][operation.path][operation.method]["x-scope"]
            allowed = [scopes is None or scope is None or scope in one for one in scopes or [()] * len(apis)]
            ask_operation(list(zip(apis, allowed, strict=True)), operation, described, most, wrong)
    return wrong


def ask_operation(
    asked: Sequence[tuple[Api, bool]], operation: Any, described: DescribedAnswers, most: int, wrong: list[str]
) -> None:
    """Each server is asked, and whether its caller may."""
    import hypothesis
    from schemathesis.generation import GenerationMode

    right, off = (
        operation.as_strategy(generation_mode=mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    )

    @hypothesis.settings(
        max_examples=most, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate],
    )  # fmt: skip
    @hypothesis.given(case=right | off)
    def ask(case: Any) -> None:
        words = case.as_transport_kwargs(base_url="http://127.0.0.1:8400")
        url = re.sub(r"^https?://[^/]+", "", str(words.pop("url")))
        sent = {name: words[name] for name in ("params", "json") if words.get(name)}
        if words.get("data") is not None:
            sent["content"] = words["data"]
        given = dict(words.get("headers") or {}).items()
        sent["headers"] = {name: value for name, value in given if name.lower() == "content-type"}
        for api, is_allowed in asked:
            answer = api.ask(operation.method.upper(), url, **sent)
            wrong.extend(f"{operation.label} {url} {sent}: {fault}" for fault in described.faults(answer))
            if (answer.status_code in (401, 403)) == is_allowed and operation.label not in _LOGGED_IN_BY_TOKEN:
                wrong.append(f"{operation.label} {url} {api.headers}: {answer.status_code}")

    ask()


# It says no to who gives it no token of a person, whoever asks.
_LOGGED_IN_BY_TOKEN = {"POST /api/v1/login"}


class DescribedAnswers:
    """What the document says of one operation's answers."""

    def __init__(self, document: dict[str, Any], path: str, method: str) -> None:
        self._components = document["components"]
        self._described = document["paths"][path][method]["responses"]
        self._validators: dict[tuple[str, str], Any] = {}  # by status and media type; slow to make

    def faults(self, answer: Any) -> list[str]:
        status = str(answer.status_code)
        said = status if status in self._described else f"{status[0]}XX"
        if answer.status_code >= 500 or said not in self._described:
            return [f"{status} {answer.text[:300]}"]
        media, known = answer.headers.get("content-type", ""), self._described[said].get("content", {})
        if answer.content and media not in known:
            return [f"{status} is {media}, not one of {list(known)}"]
        if media not in ("application/json", "application/problem+json") or not answer.content:
            return []
        found = self._validator(said, media).iter_errors(answer.json())
        return [f"{error.message[:300]} at {error.instance_path}" for error in found][:3]

    def _validator(self, said: str, media: str) -> Any:
        import jsonschema_rs

        if (said, media) not in self._validators:
            schema = {**self._described[said]["content"][media]["schema"], "components": self._components}
            self._validators[said, media] = jsonschema_rs.Draft202012Validator(schema)
        return self._validators[said, media]


def with_known_ids(document: dict[str, Any]) -> dict[str, Any]:
    """Ids that are there, for most questions to come past the door."""
    for methods in document["paths"].values():
        for one in methods.values():
            for parameter in one["parameters"]:
                name, schema = parameter["name"], parameter["schema"]
                if name == "run" and schema["type"] == "array":
                    schema["items"] = {"enum": EXAMPLES["run_id"]}
                elif known := EXAMPLES.get("run_id" if name == "run" else name):
                    parameter["schema"] = {"enum": known}
    return document


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_a_log_that_lacks_much_is_answered_as_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgresql: str
) -> None:
    """Items without a prompt or a right answer, samples without an answer or a score."""
    held = [
        sample("a", 1.0, references=()), sample("b", references=(), prompt=""), sample("c", 0.5),
        sample("d", answer=None, failure=LogFailure(message="HTTP 500")), sample("e", 0.0, answer=None, limit="token"),
    ]  # fmt: skip
    for name in ("a", "b"):
        import_log(MadeLog(tmp_path, held, model=None), Wanted(runs=str(tmp_path / "runs"), run_id=name))
    monkeypatch.setitem(EXAMPLES, "run_id", ["a", "b"])
    apis = [
        api_over(copied(tmp_path / "runs", tmp_path / "on-sqlite"), str(tmp_path / "catalog.sqlite")),
        api_over(copied(tmp_path / "runs", tmp_path / "on-postgresql"), empty_schema(postgresql)),
    ]
    for api in apis:
        assert api.json("/api/tunix/runs/a/predictions")["predictions"][0]["expected"] is None
    assert asked_everything(apis, 5) == []
    for api in apis:
        api.app.stop()


def test_only_who_has_a_token_for_it_is_answered(records: Path, tmp_path: Path) -> None:
    """A question to each operation by each kind of caller."""
    tokens = TokenFile(tmp_path / "tokens.json")
    scopes = [(), ("read",), ("read", "label"), ("read", "label", "write")]
    headers = [{"authorization": f"Bearer {tokens.create('x', given)[0]}"} if given else {} for given in scopes]
    app = api_over(copied(records, tmp_path), str(tmp_path / "catalog.sqlite"), token_file=tokens.path).app
    callers = [Api(app) for _ in scopes]
    for caller, given in zip(callers, headers, strict=True):
        caller.headers = given
    assert asked_everything(callers, 1, scopes) == []
    app.stop()


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_much_of_what_may_be_asked_is_answered_as_said(writing_on_both: list[Api]) -> None:
    """On both databases at once: to make a question up takes longer than to have it answered by two."""
    assert asked_everything(writing_on_both, 15) == []
