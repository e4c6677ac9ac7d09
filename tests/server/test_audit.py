"""The audit log: no write without an entry, no success that is not noted, and no line that is lost."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.record.lines import LineFile
from benchbook.record.marks import MarkFile
from benchbook.server.access import TokenFile, default_token_file
from benchbook.server.audit import Audit, Noted
from server.making import Api, api_over, copied
from server.test_access import RUNS, TAGS, bearer, new_token

Monkey = pytest.MonkeyPatch


@pytest.fixture
def guarded(records: Path, tmp_path: Path) -> Iterator[Api]:
    runs = copied(records, tmp_path)
    TokenFile(default_token_file(runs)).create("admin", ["read", "label", "write"])
    opened = api_over(runs, str(tmp_path / "c.sqlite"), host="0.0.0.0")
    yield opened
    opened.app.stop()


@pytest.fixture
def writing(records: Path, tmp_path: Path) -> Iterator[Api]:
    """A server of the test's own; the catalog does not matter here."""
    opened = api_over(copied(records, tmp_path), str(tmp_path / "c.sqlite"))
    yield opened
    opened.app.stop()


def state_of(api: Api) -> Path:
    return api.app.services.settings.runs / ".server"


def entries(api: Api) -> list[Any]:
    path = state_of(api) / "audit.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


@contextmanager
def failing(monkeypatch: Monkey, name: str, number: int = errno.ENOSPC, after: int = 0) -> Iterator[None]:
    """Within the block, this function of `os` fails, once it was called so often."""
    real, left = getattr(os, name), [after]

    def fails(*values: Any, **more: Any) -> Any:
        if left[0] == 0:
            raise OSError(number, os.strerror(number))
        left[0] -= 1
        return real(*values, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, name, fails)
        yield


# ── what is noted ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "url", "status", "operation"),
    [
        ("PUT", TAGS, 401, "putTags"),
        ("GET", RUNS, 401, "listRuns"),
        ("GET", "/metrics", 401, "getMetrics"),
        ("DELETE", RUNS, 405, None),
        ("POST", "/", 405, None),
        ("POST", "/api/v1/none", 404, None),
        ("POST", "/api/v1/login", 415, "login"),
    ],
)
def test_what_nobody_is_refused_is_noted(guarded: Api, method: str, url: str, status: int, operation: str) -> None:
    assert guarded.problem(url, method)[0] == status
    (entry,) = entries(guarded)
    assert (entry["status"], entry["operation"], entry["who"]) == (status, operation, "nobody")
    if operation is None:
        assert entry["target"] == {"method": method, "path": url}


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_another_host_is_noted(guarded: Api, method: str) -> None:
    assert guarded.problem(TAGS, method, headers={"host": "evil.example"})[0] == 421
    assert [one["status"] for one in entries(guarded)] == [421]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"json": {"tags": ["a"]}, "headers": {"origin": "https://evil.example"}}, 403),
        ({"content": b"x" * (2 << 20)}, 413),
        ({"content": b"x"}, 415),
    ],
)
def test_what_is_refused_before_it_begins_has_one_entry(guarded: Api, more: dict[str, Any], status: int) -> None:
    headers = bearer(new_token(guarded, "label")) | more.pop("headers", {})
    assert guarded.problem(TAGS, "PUT", headers=headers, **more)[0] == status
    assert [(one["who"], one["status"]) for one in entries(guarded)] == [("ann", status)]


@pytest.mark.parametrize(("content", "status"), [(b'{"tags": "a"}', 422), (b"{", 400)])
def test_a_body_that_is_refused_has_one_entry(writing: Api, content: bytes, status: int) -> None:
    headers = {"content-type": "application/json"}
    assert writing.problem(TAGS, "PUT", content=content, headers=headers)[0] == status
    assert [one["status"] for one in entries(writing)] == [status]


def test_what_is_read_and_what_is_not_there_are_not_noted(guarded: Api) -> None:
    headers = bearer(new_token(guarded, "read"))
    guarded.json(RUNS, headers=headers)
    guarded.problem(f"{RUNS}/none", headers=headers)
    guarded.problem("/none.js")
    assert entries(guarded) == []


def test_what_never_became_a_request_is_noted(writing: Api) -> None:
    """Its method and its sender are not known: the head was too large to be read."""
    writing.app.services.connections.on_refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    writing.app.services.audit.close()  # once it is written
    (entry,) = entries(writing)
    assert (entry["status"], entry["operation"], entry["who"]) == (431, None, "nobody")


def test_nobody_can_not_fill_the_disk(tmp_path: Path) -> None:
    """60 a minute are noted, and the others counted; whoever has a token is noted each time."""
    times = [0.0]
    audit = Audit(tmp_path, lambda: times[0])

    async def refused(n: int, who: str = "nobody", via: str = "nobody") -> None:
        for _ in range(n):
            await audit.end(Noted("PUT", who, via, "putTags", {"run_id": "x" * 10_000}), 401, None)

    asyncio.run(refused(100))
    asyncio.run(refused(1, "ann", "token"))
    times[0] = 61.0
    asyncio.run(refused(1))
    audit.close()
    lines = (tmp_path / "audit.jsonl").read_bytes().splitlines()
    found = [json.loads(line) for line in lines]
    assert [one["who"] for one in found] == ["nobody"] * 60 + ["ann", "nobody"]
    assert [one.get("not_noted") for one in found[59:]] == [None, 40, None]
    assert max(map(len, lines)) < 600


# ── where it can't be written ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["write", "fsync"])
@pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 507), (errno.EIO, 503), (errno.EDQUOT, 507)])
def test_what_can_not_be_noted_is_not_done(
    writing: Api, monkeypatch: Monkey, name: str, number: int, status: int
) -> None:
    with failing(monkeypatch, name, number):
        answer = writing.ask("PUT", TAGS, json={"tags": ["x"]})
        deleted = writing.ask("POST", f"{RUNS}/a/verify")
    assert (answer.status_code, deleted.status_code) == (status, status)
    assert ("make room" if status == 507 else "mend that") in answer.json()["detail"]
    assert writing.json(f"{RUNS}/a")["tags"] == []
    assert not (state_of(writing) / "tags.jsonl").exists()
    assert entries(writing) == []
    assert writing.ask("PUT", TAGS, json={"tags": ["x"]}).status_code == 200
    assert [one["status"] for one in entries(writing)] == [None, 200]


def test_an_audit_file_that_is_none_refuses_writes_and_nothing_else(writing: Api) -> None:
    (state_of(writing) / "audit.jsonl").mkdir(parents=True)
    assert writing.ask("PUT", TAGS, json={"tags": ["x"]}).status_code in (500, 503)
    assert writing.json(f"{RUNS}/a")["tags"] == []


def test_a_success_that_can_not_be_noted_is_not_told(writing: Api, monkeypatch: Monkey) -> None:
    with failing(monkeypatch, "fsync", after=3):  # of the first entry's file, its folder, and the folder around that
        answer = writing.ask("POST", f"{RUNS}/a/verify")
    assert (answer.status_code, "it was done" in answer.json()["detail"]) == (507, True)
    assert [one["status"] for one in entries(writing)] == [None]


def test_a_refusal_that_can_not_be_noted_is_still_one(guarded: Api, monkeypatch: Monkey) -> None:
    with failing(monkeypatch, "write"):
        assert guarded.problem(TAGS, "PUT")[0] == 401


@pytest.mark.parametrize("name", ["write", "fsync"])
def test_tags_on_a_full_disk_stay_as_they_were(writing: Api, monkeypatch: Monkey, name: str) -> None:
    writing.ask("PUT", TAGS, json={"tags": ["before"]})
    before = (state_of(writing) / "tags.jsonl").read_bytes()
    with failing(monkeypatch, name, after=1):  # the entry's own
        answer = writing.ask("PUT", TAGS, json={"tags": ["after"]})
    assert (answer.status_code, "make room" in answer.json()["detail"]) == (507, True)
    assert (state_of(writing) / "tags.jsonl").read_bytes() == before
    assert writing.json(f"{RUNS}/a")["tags"] == ["before"]


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("/api/v1/labels/people/labels", {"labeller": "ann", "field": "accuracy_score", "score": 1}),
        ("/api/v1/labels/people/undo", {"labeller": "bob"}),
        ("/api/v1/labels", {"run": "rubric", "book": "more", "n": 1}),
    ],
)
@pytest.mark.parametrize("name", ["write", "fsync"])
def test_labels_on_a_full_disk_stay_as_they_were(
    writing: Api, monkeypatch: Monkey, name: str, url: str, body: dict[str, Any]
) -> None:
    assert writing.ask("POST", "/api/v1/labels", json={"run": "rubric", "book": "people", "n": 1}).status_code == 201
    sample = writing.json("/api/v1/labels/people/next?labeller=bob")["question"]["sample"]
    given = {"sample": sample, "labeller": "bob", "field": "accuracy_score", "score": 2}
    assert writing.ask("POST", "/api/v1/labels/people/labels", json=given).status_code == 201
    before = writing.json("/api/v1/labels")
    with failing(monkeypatch, name, after=1):  # the entry's own
        answer = writing.ask("POST", url, json=body | ({"sample": sample} if "field" in body else {}))
    assert (answer.status_code, "make room" in answer.json()["detail"]) == (507, True)
    assert writing.json("/api/v1/labels") == before
    runs = writing.app.services.settings.runs
    assert [path.name for path in runs.iterdir() if path.name.startswith(".new-")] == []


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("torn", [b"{", b'{"at":"2026-11-29T00:00:00.000Z","run_id":"a","ta', b"x" * 200_000])
def test_a_torn_line_takes_no_other_with_it(writing: Api, torn: bytes) -> None:
    writing.ask("PUT", TAGS, json={"tags": ["first"]})
    for name in ("tags.jsonl", "audit.jsonl"):
        path = state_of(writing) / name
        path.write_bytes(path.read_bytes() + torn)
    writing.ask("PUT", f"{RUNS}/b/tags", json={"tags": ["next"]})
    again = MarkFile(state_of(writing).parent)
    assert (again.of("a").tags, again.of("b").tags) == (("first",), ("next",))
    assert [one["status"] for one in entries(writing)] == [None, 200, None, 200]


def test_two_servers_over_one_folder_lose_no_tag(records: Path, tmp_path: Path) -> None:
    runs = copied(records, tmp_path)
    apis = [api_over(runs, str(tmp_path / f"{n}.sqlite")) for n in range(2)]

    def tag(n: int, run_id: str) -> None:
        for place in range(3):
            assert apis[n].ask("PUT", f"{RUNS}/{run_id}/tags", json={"tags": [f"{n}-{place}"]}).status_code == 200

    threads = [Thread(target=tag, args=one) for one in ((0, "a"), (0, "c"), (1, "b"), (1, "other"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for api in apis:
        tags = {run["run_id"]: run["tags"] for run in api.json(f"{RUNS}?limit=100")["runs"] if run["tags"]}
        assert tags == {"a": ["0-2"], "c": ["0-2"], "b": ["1-2"], "other": ["1-2"]}
        api.app.stop()
    lines = (runs / ".server" / "tags.jsonl").read_bytes().splitlines()
    assert len([json.loads(line) for line in lines]) == 12


class _Torn(BaseException):
    """The end of the process."""


@hypothesis.settings(max_examples=50)
@given(st.lists(st.tuples(st.text(max_size=20), st.integers(0, 40)), max_size=8))
def test_what_was_appended_is_there_whatever_is_torn(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """Each line is written whole, or cut after so many bytes by a kill; those that were whole are there, in order."""
    file = LineFile(tmp_path_factory.mktemp("lines") / "x.jsonl")
    kept: list[str] = []
    real = os.write
    for text, cut in steps:

        def write(descriptor: int, data: bytes, cut: int = cut) -> int:
            if cut >= 20:
                return real(descriptor, data)
            real(descriptor, data[: min(cut, len(data) - 1)])
            raise _Torn

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(os, "write", write)
            try:
                file.append({"text": text})
                kept.append(text)
            except _Torn:
                pass
    assert [json.loads(line)["text"] for line in file.lines()[0]] == kept


@pytest.mark.parametrize("short", [0, 1, 5])
def test_a_short_write_is_taken_back(tmp_path: Path, monkeypatch: Monkey, short: int) -> None:
    file = LineFile(tmp_path / "x.jsonl")
    file.append({"n": 1})
    real, calls = os.write, [0]

    def write(descriptor: int, data: bytes) -> int:
        calls[0] += 1
        if calls[0] == 2:
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, data[:short])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        with pytest.raises(OSError, match="full"):
            file.append({"n": 2})
    file.append({"n": 3})
    assert (tmp_path / "x.jsonl").read_bytes() == b'{"n":1}\n{"n":3}\n'
