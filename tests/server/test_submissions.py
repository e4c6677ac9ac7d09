"""Chunks that were acknowledged are kept: whatever is asked for at the same time, and wherever it is killed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from benchbook.server import submissions
from benchbook.server.submission_store import Submissions
from scored import ITEMS, PREDICTIONS
from server.making import Api, api_over, copied
from server.test_audit import failing
from server.test_writing import NDJSON, V1, begun, lines, put, runs_of, send

CHUNKS = f"{V1}/runs/sent/predictions/chunks"
FINISH = f"{V1}/runs/sent/predictions/finish"
NOBODY = "http://127.0.0.1:1/v1"  # nobody answers there
Monkey = pytest.MonkeyPatch


@pytest.fixture
def api(records: Path, tmp_path: Path) -> Iterator[Api]:
    """A server of the test's own; the catalog does not matter here."""
    more: dict[str, Any] = {"inputs": tmp_path, "endpoints": (NOBODY,)}
    opened = api_over(copied(records, tmp_path), str(tmp_path / "c.sqlite"), **more)
    yield opened
    opened.app.stop()


def folder_of(api: Api, name: str = "sent") -> Path:
    return runs_of(api) / ".server" / "submissions" / name


def reopened(api: Api) -> None:
    """The submissions as a server that is started now finds them."""
    api.app.services.submissions = Submissions(api.app.services.settings)


def recorded(api: Api, run_id: str = "sent") -> list[str]:
    """The ids of the items that a record's predictions are about, in their order."""
    record = Record(runs_of(api) / run_id)
    data = record.input(record.started().inputs["predictions"]).read_bytes()
    return [json.loads(line)["item_id"] for line in data.splitlines()]


def side_by_side(*work: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


# ── at the same time ─────────────────────────────────────────────────────────────────────────────────────────


def test_no_chunk_is_taken_while_its_submission_ends(api: Api, monkeypatch: Monkey) -> None:
    begun(api)
    put(api, "1", lines(PREDICTIONS[:2]))
    real, answers = submissions.score_predictions, []

    def score(config: Any) -> Any:
        for method, url in (
            ("PUT", f"{CHUNKS}/2"), ("DELETE", f"{CHUNKS}/1"), ("GET", CHUNKS), ("DELETE", CHUNKS), ("POST", FINISH),
        ):  # fmt: skip
            more = {"content": lines(PREDICTIONS[2:]), "headers": NDJSON} if method == "PUT" else {}
            answers.append(api.problem(url, method, **more))
        return real(config)

    monkeypatch.setattr(submissions, "score_predictions", score)
    send(api, "POST", "/runs/sent/predictions/finish", 201)
    assert answers == [(409, "the predictions of 'sent' are being scored, or dropped, just now")] * 5
    assert recorded(api) == ["b", "a"]


def test_a_chunk_that_is_under_way_when_its_submission_ends_is_in_it(api: Api, monkeypatch: Monkey) -> None:
    """The end waits for it; one that comes after that is refused."""
    begun(api)
    checking, closed, goes_on = threading.Event(), threading.Event(), threading.Event()
    real = submissions._check_items

    class Told(set[str]):
        def add(self, run_id: str) -> None:
            super().add(run_id)
            closed.set()

    def check(path: Path, submitted: Any) -> None:
        checking.set()
        assert goes_on.wait(60)
        real(path, submitted)

    monkeypatch.setattr(submissions, "_check_items", check)
    api.app.services.submissions._ending = Told()
    found = {}

    def finish() -> None:
        assert checking.wait(60)
        found["finish"] = api.ask("POST", FINISH).status_code

    def late() -> None:
        assert closed.wait(60)
        found["late"] = api.problem(f"{CHUNKS}/2", "PUT", content=lines(PREDICTIONS[2:]), headers=NDJSON)[0]
        goes_on.set()

    side_by_side(lambda: put(api, "1", lines(PREDICTIONS[:2])), finish, late)
    assert found == {"late": 409, "finish": 201}
    assert recorded(api) == ["b", "a"]


def test_of_many_that_begin_at_once_one_does(api: Api) -> None:
    sha256 = api.json(f"{V1}/runs/a")["dataset_sha256"]
    body = {"run_id": "sent", "evalset": f"sha256:{sha256}", "model": "org/m@2"}
    found: list[int] = []
    side_by_side(*[lambda: found.append(api.ask("POST", f"{V1}/submissions", json=body).status_code)] * 12)
    assert sorted(found) == [201] + [409] * 11


def test_an_id_is_one_runs_alone(api: Api, tmp_path: Path) -> None:
    begun(api)
    shutil.copy(tmp_path / "runs" / "a" / "inputs" / api.json(f"{V1}/runs/a")["dataset_sha256"], tmp_path / "x.jsonl")
    config = {"evalset": "x.jsonl", "model": "openai/m@1", "model_base_url": NOBODY, "spec": "answer_correctness@v1"}
    assert api.problem(f"{V1}/runs", "POST", json={"config": config | {"run_id": "sent"}}) == (
        409,
        "there is a run 'sent' already",
    )
    begin = {"run_id": "sent", "evalset": "x.jsonl", "model": "org/m@1"}
    problem = api.problem(f"{V1}/submissions", "POST", json=begin)
    assert problem == (409, "predictions are being sent for 'sent' already")
    assert api.problem(f"{V1}/submissions", "POST", json=begin | {"run_id": "a"})[0] == 409
    assert api.problem(f"{V1}/labels", "POST", json={"run": "rubric", "book": "sent"})[0] == 409


# ── what is wrong ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chunk_is_taken_back_alone_and_another_comes_in_its_place(api: Api) -> None:
    begun(api)
    put(api, "1", lines(PREDICTIONS[:2]))
    put(api, "2", lines(PREDICTIONS[1:3]))
    assert api.problem(FINISH, "POST")[0] == 422
    assert send(api, "DELETE", "/runs/sent/predictions/chunks/2")["chunks"] == ["1"]
    assert api.problem(f"{CHUNKS}/2", "DELETE") == (404, "there is no chunk under the key '2'")
    put(api, "2", lines(PREDICTIONS[2:]))
    send(api, "POST", "/runs/sent/predictions/finish", 201)
    assert recorded(api) == ["b", "a", "c", "d"]
    assert verify(Record(runs_of(api) / "sent")).holds


def test_an_eval_set_that_changed_meanwhile_is_refused(api: Api, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(lines(ITEMS))
    send(api, "POST", "/submissions", 201, json={"run_id": "sent", "evalset": "items.jsonl", "model": "org/m@2"})
    put(api, "1", lines(PREDICTIONS))
    path.write_bytes(lines(reversed(ITEMS)))
    problem = api.problem(FINISH, "POST")
    assert problem == (409, "the eval set is another one than when this began; begin anew")
    path.write_bytes(lines(ITEMS))
    send(api, "POST", "/runs/sent/predictions/finish", 201)


def test_a_submission_of_a_version_before_is_checked_at_its_end(api: Api) -> None:
    begun(api)
    (folder_of(api) / "items.parquet").unlink()
    put(api, "1", lines([{"item_id": "nobody", "predicted": "x"}]))
    status, detail = api.problem(FINISH, "POST")
    assert (status, "nobody" in detail) == (422, True)
    send(api, "DELETE", "/runs/sent/predictions/chunks/1")


# ── full disks ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["fsync", "rename", "mkdir"])
def test_a_submission_that_can_not_be_begun_leaves_nothing(api: Api, monkeypatch: Monkey, name: str) -> None:
    begun(api, "there")
    sha256 = api.json(f"{V1}/runs/a")["dataset_sha256"]
    body = {"run_id": "sent", "evalset": f"sha256:{sha256}", "model": "org/m@2"}
    with failing(monkeypatch, name, after=1 if name == "fsync" else 0):  # after the audit log's
        answer = api.ask("POST", f"{V1}/submissions", json=body)
    assert (answer.status_code, "make room" in answer.json()["detail"]) == (507, True)
    assert [path.name for path in folder_of(api).parent.iterdir()] == ["there"]
    begun(api)


@pytest.mark.parametrize(
    ("number", "status"), [(errno.EROFS, 503), (errno.EACCES, 503), (errno.EDQUOT, 507), (errno.EFBIG, 507)]
)
def test_what_is_in_the_way_is_told(api: Api, monkeypatch: Monkey, number: int, status: int) -> None:
    """By a sentence, in which no folder is named."""
    sha256 = api.json(f"{V1}/runs/a")["dataset_sha256"]
    body = {"run_id": "sent", "evalset": f"sha256:{sha256}", "model": "org/m@2"}
    for name, after in (("mkdir", 0), ("fsync", 1), ("rename", 0)):
        with failing(monkeypatch, name, number, after):
            answer = api.ask("POST", f"{V1}/submissions", json=body)
        assert (answer.status_code, "send it again" in answer.json()["detail"]) == (status, True), name
        assert not folder_of(api).exists()


@pytest.mark.parametrize("name", ["fsync", "link"])
def test_a_chunk_that_can_not_be_written_is_not_there(api: Api, monkeypatch: Monkey, name: str) -> None:
    begun(api)
    with failing(monkeypatch, name, after=1 if name == "fsync" else 0):
        answer = api.ask("PUT", f"{CHUNKS}/1", content=lines(PREDICTIONS), headers=NDJSON)
    assert answer.status_code == 507
    assert list((folder_of(api) / "chunks").iterdir()) == []
    assert put(api, "1", lines(PREDICTIONS))["added"] == 4


def test_a_record_that_can_not_be_written_keeps_the_chunks(api: Api, monkeypatch: Monkey) -> None:
    begun(api)
    put(api, "1", lines(PREDICTIONS))
    with failing(monkeypatch, "rename"):
        assert api.ask("POST", FINISH).status_code == 507
    assert api.json(CHUNKS)["chunks"] == ["1"]
    assert not (folder_of(api) / "predictions.jsonl").exists()
    send(api, "POST", "/runs/sent/predictions/finish", 201)


# ── kills ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("left", [(), ("chunks",), ("chunks", "chunks/1.jsonl")])
def test_a_folder_that_is_half_made_counts_as_none(api: Api, left: Sequence[str]) -> None:
    """As versions before left it where they were killed."""
    folder_of(api).mkdir(parents=True)
    for name in left:
        path = folder_of(api) / name
        path.write_bytes(b"") if path.suffix else path.mkdir()
    assert api.problem(CHUNKS)[0] == 404
    begun(api)
    put(api, "1", lines(PREDICTIONS))
    (folder_of(api, "half") / "chunks").mkdir(parents=True)
    folder_of(api, ".new-0").mkdir()
    (folder_of(api) / "chunks" / ".2.jsonl.0").write_bytes(b"{")
    reopened(api)
    assert [path.name for path in folder_of(api).parent.iterdir()] == ["sent"]
    assert [path.name for path in (folder_of(api) / "chunks").iterdir()] == ["1.jsonl"]


def test_an_end_of_which_nobody_knows_may_be_asked_for_again(api: Api, monkeypatch: Monkey) -> None:
    """The record is there, the folder is too: killed in between, or the catalog was full."""
    begun(api)
    put(api, "1", lines(PREDICTIONS))
    with monkeypatch.context() as patched:
        patched.setattr(Submissions, "remove", failed)
        assert api.ask("POST", FINISH).status_code == 503
    assert send(api, "POST", "/runs/sent/predictions/finish", 201)["run_id"] == "sent"
    assert api.problem(CHUNKS)[0] == 404


def failed(*_: Any) -> None:
    raise OSError(errno.EIO, "broken")


def test_an_ended_submission_is_swept_and_one_beside_another_record_is_not(api: Api, monkeypatch: Monkey) -> None:
    begun(api)
    put(api, "1", lines(PREDICTIONS))
    begun(api, "mine")
    put(api, "1", lines(PREDICTIONS), run_id="mine")
    shutil.copytree(runs_of(api) / "other", runs_of(api) / "mine")
    with monkeypatch.context() as patched:
        patched.setattr(Submissions, "remove", failed)
        assert api.ask("POST", FINISH).status_code == 503
    reopened(api)
    assert [path.name for path in folder_of(api).parent.iterdir()] == ["mine"]
    assert api.problem(f"{V1}/runs/mine/predictions/finish", "POST") == (409, "there is a run 'mine' already")
    assert api.json(f"{V1}/runs/mine/predictions/chunks")["n_predictions"] == 4


# ── any order of it all ──────────────────────────────────────────────────────────────────────────────────────


class _Killed(BaseException):
    """The end of the process: nothing that it does after this comes to the disk."""


@contextmanager
def killed_at(left: int | None) -> Iterator[None]:
    """Within the block, the operation on files that so many came before does not come about, and none after it."""
    if left is None:
        yield
        return
    remaining = [left]
    with pytest.MonkeyPatch.context() as patched:
        for name in ("link", "mkdir", "rename", "replace", "rmdir", "unlink"):
            real = getattr(os, name)

            def operation(*values: Any, real: Any = real, **more: Any) -> Any:
                if remaining[0] == 0:
                    raise _Killed
                remaining[0] -= 1
                return real(*values, **more)

            patched.setattr(os, name, operation)
        yield


MOMENTS = st.none() | st.integers(0, 12)
PARTS = st.lists(st.sampled_from(range(len(PREDICTIONS))), min_size=1, max_size=3, unique=True)


class Sending(RuleBasedStateMachine):
    """One submission at a time, of a server that is killed now and then; `chunks` are those that were acknowledged."""

    api: Api
    ids = count()

    def __init__(self) -> None:
        super().__init__()
        self.name = ""
        self.chunks: dict[str, tuple[str, ...]] | None = None

    def ask(self, method: str, url: str, moment: int | None, **more: Any) -> int | None:
        """The status of an answer; None where the process was killed before it could give one."""
        try:
            with killed_at(moment):
                return self.api.ask(method, f"{V1}{url}", **more).status_code
        except _Killed:
            reopened(self.api)
            return None

    def there(self) -> dict[str, tuple[str, ...]] | None:
        """The chunks that are on the disk; None for no submission."""
        answer = self.api.get(f"{V1}/runs/{self.name}/predictions/chunks")
        if answer.status_code == 404:
            return None
        folder = folder_of(self.api, self.name) / "chunks"
        found = {key: (folder / f"{key}.jsonl").read_bytes().splitlines() for key in answer.json()["chunks"]}
        return {key: tuple(json.loads(line)["item_id"] for line in rows) for key, rows in found.items()}

    @precondition(lambda self: self.chunks is None)
    @rule(moment=MOMENTS)
    def begin(self, moment: int | None) -> None:
        self.name = f"sent-{next(self.ids)}"
        sha256 = self.api.json(f"{V1}/runs/a")["dataset_sha256"]
        body = {"run_id": self.name, "evalset": f"sha256:{sha256}", "model": "org/m@2"}
        if self.ask("POST", "/submissions", moment, json=body) is None:
            assert self.there() in (None, {})
            if self.there() is None:
                assert self.ask("POST", "/submissions", None, json=body) == 201
        self.chunks = {}

    @precondition(lambda self: self.chunks is not None)
    @rule(key=st.sampled_from("123"), rows=PARTS, moment=MOMENTS)
    def put(self, key: str, rows: list[int], moment: int | None) -> None:
        assert self.chunks is not None
        ids = tuple(PREDICTIONS[row]["item_id"] for row in rows)
        content = lines([PREDICTIONS[row] for row in rows])
        url = f"/runs/{self.name}/predictions/chunks/{key}"
        status = self.ask("PUT", url, moment, content=content, headers=NDJSON)
        other = self.chunks.get(key, ids) != ids
        assert status == (409 if other else 200) or (status is None and not other)
        if status == 200 or (status is None and key in (self.there() or {})):
            self.chunks[key] = ids

    @precondition(lambda self: self.chunks is not None)
    @rule(key=st.sampled_from("123"), moment=MOMENTS)
    def take_back(self, key: str, moment: int | None) -> None:
        assert self.chunks is not None
        status = self.ask("DELETE", f"/runs/{self.name}/predictions/chunks/{key}", moment)
        assert status in (None, 200 if key in self.chunks else 404)
        if status == 200 or key not in (self.there() or {}):
            self.chunks.pop(key, None)

    @precondition(lambda self: self.chunks)
    @rule(moment=MOMENTS)
    def drop(self, moment: int | None) -> None:
        status = self.ask("DELETE", f"/runs/{self.name}/predictions/chunks", moment)
        assert status in (None, 200)
        if status == 200 or self.there() is None:
            self.chunks = None

    @precondition(lambda self: self.chunks)
    @rule(moment=MOMENTS)
    def finish(self, moment: int | None) -> None:
        assert self.chunks is not None
        ids = [one for key in sorted(self.chunks) for one in self.chunks[key]]
        status = self.ask("POST", f"/runs/{self.name}/predictions/finish", moment)
        if len(set(ids)) != len(ids):
            assert status in (None, 422)
        elif status == 201 or self.there() is None:
            assert recorded(self.api, self.name) == ids
            self.chunks = None

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        if self.name:
            assert self.there() == self.chunks


def test_what_was_acknowledged_is_there_after_any_steps(api: Api) -> None:
    class Here(Sending):
        pass

    Here.api = api
    for process in ("live", "experiment"):  # the fewer records, the quicker each look at them
        with suppress(OSError):
            shutil.rmtree(runs_of(api) / process)
    phases = (Phase.explicit, Phase.reuse, Phase.generate)  # a shorter failure is not worth minutes
    quick = examples(max_examples=15, stateful_step_count=10, deadline=None, phases=phases)
    run_state_machine_as_test(Here, settings=quick)
