"""Every write of the API takes or refuses any value in any field: never a 5xx, and what was taken can be read back.

The operations come from their list and the fields from their types, so that new ones are tried by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from benchbook.ask.identity import storable_config
from benchbook.canonical import canonical_json
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.server.operations import Operation
from benchbook.server.operations_list import OPERATIONS
from hostile import NO_TEXTS, TEXTS
from running import write_items
from server.making import Api, api_over, copied

V1 = "/api/v1"
PATHS = {"run_id": "a", "sample": "0", "key": "k", "book": "people", "position": "0", "metric": "loss"}
CONFIG = {"evalset": "items.jsonl", "model": "openai/m@1", "judge": "openai/j@1"}
BODIES: dict[str, dict[str, Any]] = {
    "startRun": {"config": CONFIG},
    "putTags": {"tags": ["a", "b"]},
    "changeMarks": {"add_tags": ["a", "b"], "remove_tags": ["c"], "archived": False},
    "changeManyMarks": {"runs": ["a", "b"], "add_tags": ["x"], "remove_tags": ["y"], "archived": False},
    "beginSubmission": {
        "run_id": "sent",
        "evalset": "items.jsonl",
        "model": "org/m@1",
        "spec": "answer_correctness@v1",
    },
    "createBook": {
        "run": "rubric",
        "book": "other",
        "drawn_for": "decision",
        "n": 2,
        "stratify": ["section"],
        "labels": "people",
        "seed": 1,
    },
    "giveLabel": {
        "labeller": "ann",
        "sample": 0,
        "field": "accuracy_score",
        "score": 1,
        "note": "so",
        "adjudicate": False,
    },
    "undoLabel": {"labeller": "ann", "adjudicate": False},
    "login": {"token": "t"},
}
WRITES = [one for one in OPERATIONS if one.writes]


@pytest.fixture(scope="module")
def api(records: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with a label book, whose runs are checked, handed over as JSON, and not begun."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "inputs").mkdir()
    write_items(folder / "inputs" / "items.jsonl", 2)
    opened = api_over(copied(records, folder), str(folder / "catalog.sqlite"), inputs=folder / "inputs")

    def started(config: RunConfig) -> None:
        config_from_mapping(msgspec.json.decode(canonical_json(storable_config(config))), "config")

    opened.app.services.children.start = started  # type: ignore[method-assign]
    assert opened.ask("POST", f"{V1}/labels", json={"run": "rubric", "book": "people", "n": 2}).status_code == 201
    yield opened
    opened.app.stop()


def asked(api: Api, operation: Operation, body: Any, **path: str) -> Any:
    """The answer to a write, as JSON; None where it is refused."""
    url = operation.path
    for name, value in (PATHS | path).items():
        url = url.replace("{" + name + "}", value)
    more: dict[str, Any] = {"headers": {"content-type": "application/json"}}
    if isinstance(operation.body, str):
        more["headers"] = {"content-type": operation.body}
    if operation.body is not None:
        more["content"] = body if isinstance(body, bytes) else json.dumps(body)
    answer = api.ask(operation.method, url, **more)
    assert answer.status_code < 500, (operation.name, body, answer.status_code, answer.text)
    msgspec.json.decode(answer.content)  # no half characters, whatever was sent
    return answer.json() if answer.status_code < 400 else None


def fields_of(operation: Operation) -> list[str]:
    kind = operation.body
    return list(kind.__struct_fields__) if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else []


def test_every_body_is_tried() -> None:
    assert {one.name for one in WRITES if fields_of(one)} == BODIES.keys()
    needs_if_match = {"name", "note"}  # a body with them would be refused for the lack of it, whatever else it has
    for one in WRITES:
        assert set(fields_of(one)) - BODIES.get(one.name, {}).keys() <= needs_if_match, one.name


VALUES = (*TEXTS, *NO_TEXTS)
STEP = 9  # of so many values one in each field


@pytest.mark.parametrize("operation", [one for one in WRITES if fields_of(one)], ids=lambda one: one.name)
def test_any_value_in_any_field_is_taken_or_refused(api: Api, operation: Operation) -> None:
    for place, name in enumerate(fields_of(operation)):
        for value in VALUES[place % STEP :: STEP]:
            asked(api, operation, BODIES[operation.name] | {name: value})
        for value in TEXTS[::STEP]:
            for sent in ([value], [{"a": value}], {value: value}):
                asked(api, operation, BODIES[operation.name] | {name: sent})
            asked(api, operation, BODIES[operation.name] | {value: value})
    everything_can_be_read(api)


@pytest.mark.parametrize("setting", RunConfig.__struct_fields__)
def test_any_value_in_any_setting_of_a_run_is_taken_or_refused(api: Api, setting: str) -> None:
    (start,) = (one for one in WRITES if one.name == "startRun")
    base = {name: value for name, value in CONFIG.items() if not setting.startswith("judges") or name != "judge"}
    values = cycle([*NO_TEXTS, *TEXTS[hash_of(setting) % len(TEXTS) :], *TEXTS])
    for _ in range(11):
        value = next(values)
        for sent in (value, [{"model": value, "params": {"a": value}}] * 2):
            asked(api, start, {"config": base | {setting: sent}})


def hash_of(word: str) -> int:
    """A number below the number of values, the same every time."""
    return sum(map(ord, word)) % len(VALUES)


TAKE_A_NAME = [one for one in OPERATIONS if one.name not in ("listen", "cancelRun", "logout")]


@pytest.mark.parametrize("operation", TAKE_A_NAME, ids=lambda one: one.name)
def test_any_text_in_a_path_or_a_query_is_answered_or_refused(api: Api, operation: Operation) -> None:
    body = BODIES.get(operation.name, {})
    for text in TEXTS[hash_of(operation.path) % 9 :: 9]:
        value = quote(text.encode("utf-8", "surrogatepass")[:3_000], safe="")
        in_path = {name: value for name in PATHS if "{" + name + "}" in operation.path}
        if in_path and operation.method != "GET":
            asked(api, operation, body, **in_path)
        elif operation.method == "GET":
            url = operation.path
            for name, known in PATHS.items():
                url = url.replace("{" + name + "}", in_path.get(name, known))
            for one in (operation.query.__struct_fields__ or ("x",))[:4]:
                assert api.get(f"{url}?{one}={value}").status_code < 500
            for name, known in PATHS.items():
                url = url.replace(in_path.get(name, known), known)
            assert api.get(url).status_code < 500


def test_predictions_with_any_text_are_kept_and_scored(api: Api) -> None:
    write_items(api.app.services.settings.inputs / "sent.jsonl", 2)  # type: ignore[operator]
    begin, put, finish = (one for one in WRITES if one.name in ("beginSubmission", "putChunk", "finishSubmission"))
    asked(api, begin, BODIES["beginSubmission"] | {"run_id": "any", "model": "org/\ud800@1"})
    lines = [
        {"item_id": f"i{n}", "predicted": text, text: text, "\ud800": {text: [text]}, "eval_time_ms": 1}
        for n, text in enumerate(("\ud800", "\0=1+1"))
    ]
    chunk = "".join(json.dumps(line) + "\n" for line in lines).encode()
    assert asked(api, put, chunk, run_id="any")["added"] == 2
    assert asked(api, finish, None, run_id="any")["run_id"] == "any"
    for below in ("", "/manifest", "/samples", "/samples/0", "/samples.ndjson", "/predictions.ndjson"):
        assert api.get(f"{V1}/runs/any{below}").status_code == 200
    assert api.json("/api/tunix/runs/any/predictions")["predictions"][0]["item_id"] == "i0"


def test_tags_and_notes_come_back_as_they_were_answered(api: Api) -> None:
    put, give = (one for one in WRITES if one.name in ("putTags", "giveLabel"))
    for text in TEXTS:
        if answer := asked(api, put, {"tags": [text]}):
            assert api.json(f"{V1}/runs/a")["tags"] == answer["tags"]
            assert len(answer["tags"]) == 1
            if "\0" not in text:
                found = api.get(f"{V1}/runs", params={"tag": answer["tags"][0]})
                assert [run["run_id"] for run in found.json()["runs"]] == ["a"]
        asked(api, give, BODIES["giveLabel"] | {"note": text, "labeller": f"L{text[:90]}"})
    assert api.json(f"{V1}/labels/people")["n_samples"] == 2
    everything_can_be_read(api)


def everything_can_be_read(api: Api) -> None:
    """The lists that hold what was written, and the label book's numbers."""
    for url in ("/runs", "/runs/a", "/labels", "/labels/people", "/labels/people/disputes", "/evalsets"):
        assert api.get(f"{V1}{url}").status_code == 200
    assert api.get(f"{V1}/labels/people/calibration").status_code in (200, 409, 422)
