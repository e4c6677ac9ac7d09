"""What is written over HTTP: tags, labels, predictions in chunks, runs that are started and cancelled."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.verify import verify
from benchbook.library.records import load
from benchbook.record.folder import Record
from benchbook.server.running import make_app
from running import write_items
from scored import ITEMS, PREDICTIONS
from scripted_server import always_good
from scripted_server import running as scripted
from server.making import Api, settings

V1 = "/api/v1"
NDJSON = {"content-type": "application/x-ndjson"}


def send(api: Api, method: str, url: str, status: int = 200, **more: Any) -> Any:
    answer = api.ask(method, f"{V1}{url}", **more)
    assert answer.status_code == status, answer.text
    return answer.json()


def runs_of(api: Api) -> Path:
    return api.app.services.settings.runs


# ── tags ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_tags_stay_and_filter(writing: Api) -> None:
    assert send(writing, "PUT", "/runs/a/tags", json={"tags": ["new", "best", "new"]}) == {
        "run_id": "a", "tags": ["best", "new"],
    }  # fmt: skip
    send(writing, "PUT", "/runs/rubric/tags", json={"tags": ["new", "</b>"]})
    send(writing, "PUT", "/runs/b/tags", json={"tags": ["gone"]})
    send(writing, "PUT", "/runs/b/tags", json={"tags": []})
    tagged = writing.pages(f"{V1}/runs?tag=new&sort=run&order=asc", "runs", 1)
    assert [run["run_id"] for run in tagged] == ["a", "rubric"]
    assert writing.json(f"{V1}/runs?tag=gone")["runs"] == []
    again = make_app(settings(runs_of(writing), str(runs_of(writing) / "other.sqlite")))
    assert Api(again).json(f"{V1}/runs/a")["tags"] == ["best", "new"]
    again.stop()
    assert verify(Record(runs_of(writing) / "a")).holds  # the record knows nothing of it


def test_verify(writing: Api) -> None:
    assert send(writing, "POST", "/runs/a/verify")["holds"] is True
    broken = send(writing, "POST", "/runs/broken/verify")
    assert broken["holds"] is False
    assert broken["findings"][0]["file"] == "samples.parquet"
    journal = runs_of(writing) / "b" / "journal" / "000001.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"Lyon", b"Nice"))
    found = send(writing, "POST", "/runs/b/verify")["findings"][0]
    assert (found["file"], found["line"] > 1) == ("journal/000001.jsonl", True)


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_people_label_and_settle(writing: Api) -> None:
    book = send(writing, "POST", "/labels", 201, json={"run": "rubric", "book": "people", "n": 1, "seed": 3})
    assert (book["n_samples"], book["n_labels_a_person"]) == (1, 2)
    (listed,) = writing.json(f"{V1}/labels")["books"]
    assert listed == book == writing.json(f"{V1}/labels/people")
    step = writing.json(f"{V1}/labels/people/next?labeller=ann")
    question = step["question"]
    assert (question["field"], question["answer"], question["opinions"]) == ("accuracy_score", "Seven.", [])
    assert "fully correct" in question["meaning"]
    given = {"sample": question["sample"], "field": "accuracy_score", "score": 2, "note": "so"}
    after = send(writing, "POST", "/labels/people/labels", 201, json={**given, "labeller": "ann"})
    assert (after["question"]["field"], after["n_given"]) == ("faithfulness_score", 1)
    again = writing.problem(f"{V1}/labels/people/labels", "POST", json={**given, "labeller": "ann"})
    assert again[0] == 422
    assert "undo it first" in again[1]
    assert send(writing, "POST", "/labels/people/undo", json={"labeller": "ann"})["n_given"] == 0
    assert writing.problem(f"{V1}/labels/people/undo", "POST", json={"labeller": "ann"})[0] == 409
    send(writing, "POST", "/labels/people/labels", 201, json={**given, "labeller": "ann"})
    send(writing, "POST", "/labels/people/labels", 201, json={**given, "labeller": "bob", "score": 0})
    assert writing.json(f"{V1}/labels/people")["by_field"]["accuracy_score"]["disputed"] == 1
    open_question = writing.json(f"{V1}/labels/people/next?labeller=eve&adjudicate=true")["question"]
    assert open_question["opinions"] == [
        {"score": 2, "words": "2", "note": "so"}, {"score": 0, "words": "0", "note": "so"},
    ]  # fmt: skip
    settled = {**given, "labeller": "eve", "score": 1, "adjudicate": True}
    assert send(writing, "POST", "/labels/people/labels", 201, json=settled)["question"] is None
    assert writing.problem(f"{V1}/labels/people/next")[0] == 422  # nobody said who
    assert "people" not in [run["run_id"] for run in writing.json(f"{V1}/runs?limit=100")["runs"]]


# ── predictions in chunks ────────────────────────────────────────────────────────────────────────────────────


def lines(rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def begun(api: Api, run_id: str = "sent") -> Any:
    sha256 = api.json(f"{V1}/runs/a")["dataset_sha256"]
    return send(
        api, "POST", "/submissions", 201, json={"run_id": run_id, "evalset": f"sha256:{sha256}", "model": "org/m@2"}
    )


def put(api: Api, key: str, content: bytes, run_id: str = "sent") -> Any:
    return send(api, "PUT", f"/runs/{run_id}/predictions/chunks/{key}", content=content, headers=NDJSON)


def test_chunks_become_a_record_that_verifies(writing: Api) -> None:
    assert begun(writing)["n_items"] == len(ITEMS)
    first = put(writing, "0001", lines(PREDICTIONS[:2]))
    assert first["added"] == 2
    assert put(writing, "0001", lines(PREDICTIONS[:2])) == {**first, "added": 0}
    assert put(writing, "0002", lines(PREDICTIONS[2:]).rstrip())["added"] == 2
    other = writing.problem(
        f"{V1}/runs/sent/predictions/chunks/0001", "PUT", content=lines(PREDICTIONS[:1]), headers=NDJSON
    )
    assert other == (409, "another chunk is there under the key '0001'; take it back first, by DELETE")
    assert writing.json(f"{V1}/runs/sent/predictions/chunks")["chunks"] == ["0001", "0002"]
    assert writing.json(f"{V1}/runs/sent/predictions/chunks")["n_predictions"] == 4
    run = send(writing, "POST", "/runs/sent/predictions/finish", 201)
    assert (run["primary"], run["dataset_id"], run["model_id"]) == (0.4, "items", "org/m@2")
    served, known = (writing.json(f"/api/tunix/runs/{run_id}/predictions")["predictions"] for run_id in ("sent", "a"))
    assert served == known
    assert verify(Record(runs_of(writing) / "sent")).holds
    assert load(runs_of(writing) / "sent").aggregates.primary_score == 0.4
    assert writing.problem(f"{V1}/runs/sent/predictions/chunks")[0] == 404
    assert (
        writing.problem(f"{V1}/submissions", "POST", json={"run_id": "sent", "evalset": "@golden_v1", "model": "o/m"})[
            0
        ]
        == 409
    )


def test_chunks_are_scored_by_checks_that_are_shipped(writing: Api) -> None:
    sha256 = writing.json(f"{V1}/runs/a")["dataset_sha256"]
    body = {"run_id": "checked", "evalset": f"sha256:{sha256}", "model": "org/m@2", "spec": "contains@v1"}
    send(writing, "POST", "/submissions", 201, json=body)
    put(writing, "1", lines(PREDICTIONS), run_id="checked")
    assert send(writing, "POST", "/runs/checked/predictions/finish", 201)["spec"] == "contains@v1"
    record = Record(runs_of(writing) / "checked")
    assert (verify(record).holds, load(record.path).aggregates.primary_score) == (True, 0.6)  # a, b and c
    for spec in ("contians@v1", "rubric@v1", "./mine@v1", "/etc"):
        status, _ = writing.problem(f"{V1}/submissions", "POST", json=body | {"run_id": "no", "spec": spec})
        assert status == 422


def test_chunks_that_are_none(writing: Api) -> None:
    begun(writing)
    url = f"{V1}/runs/sent/predictions/chunks/"
    for content, says in (
        (b"", "a chunk without a prediction"),
        (b"{}\n", "line 1: Object missing required field `item_id`"),
        (b'{"item_id": "a", "predicted": 1}', "line 1: Expected `str | null`"),
        (b'{"item_id": "a", "predicted": "x"}\n\n[1]', "line 3: Expected `object`"),
        (b'{"item_id": "a", "predicted": "x', "line 1: "),
        (b"\xff", "line 1: "),
        (
            lines([{"item_id": "nobody", "predicted": "x"}]),
            "line 1: item_id: found 'nobody'; expected the id of one of",
        ),
        (lines([PREDICTIONS[0], PREDICTIONS[1], PREDICTIONS[0]]), "line 3: item_id: found 'b' again (first on line 1)"),
        (lines([{**PREDICTIONS[0], "expected": "no"}, {"item_id": "x", "predicted": None}]), "line 1: expected: found"),
        (lines([{"item_id": "a", "predicted": "x", "output": "y"}]), "line 1: predicted: found predicted and output"),
    ):
        status, detail = writing.problem(f"{url}1", "PUT", content=content, headers=NDJSON)
        assert (status, says in detail) == (422, True), detail
    for key in ("..%2f1", ".hidden", "a%20b"):
        assert writing.problem(url + key, "PUT", content=b"{}", headers=NDJSON)[0] == 422
    assert writing.json(url.rstrip("/"))["chunks"] == []


def test_what_can_not_be_scored_leaves_no_record(writing: Api) -> None:
    begun(writing)
    put(writing, "1", lines(PREDICTIONS[:1]))
    put(writing, "2", lines(PREDICTIONS[:2]))
    status, detail = writing.problem(f"{V1}/runs/sent/predictions/finish", "POST")
    assert status == 422
    assert detail.startswith("chunk '2', line 1: item_id: 'b' is in chunk '1' already; take one of the two back")
    assert writing.problem(f"{V1}/runs/sent")[0] == 404
    assert send(writing, "DELETE", "/runs/sent/predictions/chunks")["chunks"] == ["1", "2"]
    assert writing.problem(f"{V1}/runs/sent/predictions/chunks")[0] == 404


def test_hostile_chunks_come_back_as_they_are(writing: Api) -> None:
    begun(writing)
    texts = ["\u0000\u001a", "half \ud83d", "</script>"]
    rows = [{"item_id": item, "predicted": text, "own\u202e": text} for item, text in zip("abc", texts, strict=True)]
    put(writing, "1", lines(rows))
    send(writing, "POST", "/runs/sent/predictions/finish", 201)
    served = writing.json("/api/tunix/runs/sent/predictions")["predictions"]
    assert [row["predicted"] for row in served[:3]] == ["\u0000\u001a", "half \\ud83d", "</script>"]
    assert served[0]["own\u202e"] == "\u0000\u001a"


def test_many_senders_at_once_add_a_chunk_once(writing: Api) -> None:
    begun(writing)
    found: list[int] = []
    content = lines(PREDICTIONS)
    threads = [threading.Thread(target=lambda: found.append(put(writing, "same", content)["added"])) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 0, 0, 0, 0, 4]


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def config(**more: Any) -> dict[str, Any]:
    return {
        "config": {"evalset": "items.jsonl", "model": "openai/m@2026-01-01", "judge": "openai/j@2026-01-01", **more}
    }


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"evalset": "../runs/a/inputs"}, "a file in the server's folder of inputs"),
        ({"evalset": "/etc/passwd"}, "a file in the server's folder of inputs"),
        ({"evalset": "link.jsonl"}, "a file in the server's folder of inputs"),
        ({"evalset": "items.jsonl\x00"}, "a file in the server's folder of inputs"),
        ({"evalset": f"sha256:{'0' * 64}"}, "no run here has an eval set of this hash"),
        ({"prompt_template": "/etc/passwd"}, "prompt_template"),
        ({"ids": "/etc/passwd"}, "ids"),
        ({"model_path": "../secret.gguf"}, "model_path"),
        ({"runs": "/tmp"}, "the server says where things lie"),
        ({"reports": "x"}, "the server says where things lie"),
        ({"cache": "x"}, "the server says where things lie"),
        ({"run_id": "../x"}, "letters, digits"),
        ({"model_base_url": "http://169.254.169.254/latest"}, "an address that was not allowed"),
        ({"judge_base_url": "http://localhost:1/v1"}, "an address that was not allowed"),
        ({"against": "../runs/a"}, "the id of a run"),
        ({"modle": 1}, "a setting that is not known; expected model"),
        ({"repeats": 0}, "a whole number, 1 or more"),
        ({"model": None}, "config: model: found nothing"),
    ],
)
def test_a_config_may_not_reach_out(api: Api, more: dict[str, Any], says: str) -> None:
    status, detail = api.problem(f"{V1}/runs", "POST", json=config(**more))
    assert (status, says in detail) == (422, True), detail
    assert api.app.services.children.n_running == 0


def test_without_a_folder_of_inputs_no_file_is_read(tmp_path: Path) -> None:
    api = Api(make_app(settings(tmp_path / "runs", str(tmp_path / "c.sqlite"))))
    status, detail = api.problem(f"{V1}/runs", "POST", json=config(evalset="items.jsonl"))
    assert (status, "`benchbook serve --inputs FOLDER`" in detail) == (422, True)
    api.app.stop()


def test_a_run_is_started_and_comes_to_its_end(records: Path, tmp_path: Path) -> None:
    with scripted(always_good) as server:
        made = settings(tmp_path / "runs", str(tmp_path / "c.sqlite"), inputs=tmp_path, endpoints=(server.base_url,))
        write_items(tmp_path / "items.jsonl", 3)
        api = Api(make_app(made))
        urls = {"model_base_url": server.base_url, "judge_base_url": server.base_url}
        answer = api.ask("POST", f"{V1}/runs", json=config(run_id="mine", confidence="none", **urls))
        assert (answer.status_code, answer.json(), answer.headers["location"]) == (
            202, {"run_id": "mine", "state": "begun", "detail": None}, "/api/v1/runs/mine",
        )  # fmt: skip
        assert api.get(f"{V1}/runs/mine").status_code == 200
        child = api.app.services.children._running["mine"]
        log = tmp_path / "runs" / ".server" / "started" / "mine.log"
        assert child.wait(60) == 0, log.read_text(encoding="utf-8")
        api.app.services.watcher.look()
        run = api.json(f"{V1}/runs/mine")
        assert (run["state"], run["decision"], run["dataset_id"]) == ("complete", "READY", "items")  # three samples
        assert api.problem(f"{V1}/runs", "POST", json=config(run_id="mine", **urls))[0] == 409
        assert verify(Record(tmp_path / "runs" / "mine")).holds
        api.app.stop()


def test_a_run_is_cancelled_and_resumes(tmp_path: Path) -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def slow(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if n == 2:
            asked.set()
            goes_on.wait(60)
        return always_good(role, n, request)

    with scripted(slow) as server:
        made = settings(tmp_path / "runs", str(tmp_path / "c.sqlite"), inputs=tmp_path, endpoints=(server.base_url,))
        write_items(tmp_path / "items.jsonl", 400)
        api = Api(make_app(made))
        urls = {"model_base_url": server.base_url, "judge_base_url": server.base_url}
        send(api, "POST", "/runs", 202, json=config(run_id="mine", max_connections=1, **urls))
        child = api.app.services.children._running["mine"]
        assert asked.wait(60)
        assert send(api, "POST", "/runs/mine/cancel", 202) == {"run_id": "mine", "state": "stopping"}
        goes_on.set()
        assert child.wait(60) == 3
        api.app.services.watcher.look()
        run = api.json(f"{V1}/runs/mine")
        assert (run["state"], run["n_attempted"] < run["n_planned"]) == ("interrupted", True)
        assert api.problem(f"{V1}/runs/mine/cancel", "POST")[0] == 409
        api.app.stop()
