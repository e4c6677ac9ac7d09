"""An API key is sent in one header, and stands nowhere else: no file, no message, no command line (issue: providers).

The server echoes it in every place it can, in every form it can.
"""

from __future__ import annotations

import base64
import json
import urllib.parse
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest

import scripted_server
from echoes import forms_looked_for, gives_away
from running import benchbook, benchbook_here, options, write_items
from scripted_server import GOOD_VERDICT, OK_JUDGE, ScriptedServer, running

KEY = "sk-live-0123456789abcdef"
ODD_KEY = "aB0/cD1+eF2/gH3=iJ4"  # no vendor's prefix, and slashes, which some servers escape


def forms_of(key: str) -> list[bytes]:
    """The key, and what anyone reads it from at a glance."""
    plain = key.encode("ascii")
    return [
        plain,
        base64.b64encode(plain),
        plain.replace(b"/", b"\\/"),
        urllib.parse.quote(key, safe="").encode("ascii"),
    ]


def files_with(key: str, folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [str(path) for path in files if any(form in path.read_bytes() for form in forms_of(key))]


def asked_with(folder: Path, server: ScriptedServer, key: str, *more: str, items: int = 4) -> Any:
    """A run of both roles with that key, whose reports, record and cache lie in `folder`."""
    write_items(folder / "items.jsonl", items)
    words = options(folder, server, reports=folder / "reports", cache=folder / "cache.sqlite")
    words += ["--model-api-key-env", "THE_KEY", "--judge-api-key-env", "THE_KEY", "--max-retries", "1", *more]
    done = benchbook_here("run", *words, env={"THE_KEY": key}, cwd=folder)
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {key}"}
    return done


def completion(content: str, **fields: Any) -> dict[str, Any]:
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    return {
        "model": "m-2026-01-01",
        "choices": [choice],
        "usage": {"prompt_tokens": 2, "completion_tokens": 2},
    } | fields


def verdict(rationale: str) -> str:
    return json.dumps(GOOD_VERDICT | {"rationale": rationale})


def _error(status: int) -> Any:
    return lambda role, key: {"status": status, "body": {"error": {"message": f"no such key: {key}", "code": key}}}


ECHOES = {
    "in-an-answer": lambda role, key: {"status": 200, "content": verdict(key) if role == "judge" else f"It is {key}."},
    "in-a-rejected-reply": lambda role, key: {"status": 200, "content": f"no JSON {key}"},
    "as-the-models-name": lambda role, key: {"status": 200, "body": completion(verdict("So."), model=key)},
    "as-the-fingerprint": lambda role, key: {
        "status": 200, "body": completion(verdict("So."), system_fingerprint=key)
    },
    "in-an-error-that-ends-the-sample": _error(400),
    "in-an-error-that-ends-the-run": _error(401),
    "in-an-error-that-is-retried": lambda role, key: _error(500)(role, key) | {"headers": {"Retry-After": "0"}},
    "in-an-error-inside-a-200": lambda role, key: {"status": 200, "body": {"error": f"bad {key}"}},
    "in-an-error-that-is-no-json": lambda role, key: {"status": 400, "raw": f"<h1>Bearer {key}</h1>"},
    "in-a-header": lambda role, key: {"status": 400, "headers": {"X-Key": key, "Retry-After": key}},
    "with-its-slashes-escaped": lambda role, key: {
        "status": 200, "raw": json.dumps(completion(verdict(f"{key}, {key}"))).replace("/", "\\/")
    },
}  # fmt: skip


@pytest.mark.parametrize("key", [KEY, ODD_KEY], ids=["a-vendors-key", "any-key"])
@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_that_a_server_echoes_is_kept_nowhere(
    tmp_path: Path, echo: str, key: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(lambda role, n, request: ECHOES[echo](role, key)) as server:
        done = asked_with(tmp_path, server, key)
    assert b"Traceback" not in done.stderr
    assert not any(form in done.stdout + done.stderr for form in forms_of(key))
    assert files_with(key, tmp_path) == []
    for words in (["show", "run"], ["show", "run", "--failed"], ["show", "run", "--sample", "0", "--json"]):
        shown = benchbook_here(*words, cwd=tmp_path)
        assert not any(form in shown.stdout + shown.stderr for form in forms_of(key))
    assert capfd.readouterr() == ("", "")  # nor does anything go past Python's streams


class Echo:
    """A server that puts the key into every text of each reply, in turn in every form; some replies are errors."""

    def __init__(self, key: str) -> None:
        self._told = cycle(forms_looked_for(key))

    def __call__(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        told, message = self._told, {"message": f"bad key: {next(self._told)}", "code": next(self._told)}
        if role == "candidate" and n % 5 == 3:
            return {"status": 400, "body": {"error": message}, "headers": {"X-Key": quote(next(told))}}
        if role == "candidate" and n % 5 == 4:
            return {"status": 400, "raw": f"<h1>Bearer {next(told)}</h1>{'x' * 480}{next(told)}"}
        content = verdict(f"It says {next(told)}") if role == "judge" else f"It is {next(told)}."
        if n % 7 == 6:
            content = f"no JSON {next(told)}"
        call = {"function": {"name": next(told), "arguments": json.dumps({"a": next(told)})}}
        choice = {"message": {"content": content, "tool_calls": [call]}, "finish_reason": next(told)}
        more = {"choices": [choice], "system_fingerprint": next(told)} | ({"error": message} if n % 11 == 10 else {})
        return {"status": 200, "body": completion("") | more | {"model": next(told) if n % 2 else "m-2026-01-01"}}


@pytest.mark.parametrize("key", ["k\"e\\y'1/<2>&3 =x", ODD_KEY, "hunter2"], ids=["signs", "slashes", "short"])
def test_a_key_in_any_form_in_any_place_is_kept_nowhere(tmp_path: Path, key: str) -> None:
    with running(Echo(key)) as server:
        done = asked_with(tmp_path, server, key, "--accept-unanswered", items=30)
    assert done.returncode in (0, 1), done.stderr
    told = [done.stdout, done.stderr]
    for words in (["show", "run"], ["show", "run", "--failed"], ["show", "run", "--json"], ["rescore", "run"]):
        shown = benchbook_here(*words, cwd=tmp_path)
        told += [shown.stdout, shown.stderr]
    assert [one for one in told if gives_away(one, key)] == []
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert not gives_away(path.read_bytes(), key), path
        if path.suffix == ".parquet":  # whose columns are packed
            assert not gives_away(pl.read_parquet(path).write_json(), key), path
    journal = b"".join(path.read_bytes() for path in tmp_path.glob("runs/run/journal/*"))
    assert journal.count(b"[key removed]") > 100
    assert journal.count(b'"role":"judge"') > 15


def test_a_key_in_pieces_of_a_stream_is_kept_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that says the key says it in tokens: no piece of the stream holds it whole."""
    whole_event = scripted_server._event

    def in_pieces(value: dict[str, Any]) -> bytes:
        text = "".join(choice.get("delta", {}).get("content") or "" for choice in value.get("choices", []))
        if not text:
            return whole_event(value)
        return b"".join(
            whole_event({"choices": [{"delta": {"content": text[at : at + 5]}}]}) for at in range(0, len(text), 5)
        )

    monkeypatch.setattr(scripted_server, "_event", in_pieces)
    with running(
        lambda role, n, request: OK_JUDGE if role == "judge" else {"status": 200, "content": f"It is {KEY}!"}
    ) as server:
        asked_with(tmp_path, server, KEY, "--stream")
    assert files_with(KEY, tmp_path) == []


def test_a_key_in_unicode_escapes_is_kept_nowhere(tmp_path: Path) -> None:
    """JSON may write any character as an escape; it is the key again once the JSON is read."""
    escaped = "".join(f"\\u{ord(character):04x}" for character in KEY)
    raw = json.dumps(completion("It is HERE.")).replace("HERE", escaped)
    with running(lambda role, n, request: OK_JUDGE if role == "judge" else {"status": 200, "raw": raw}) as server:
        asked_with(tmp_path, server, KEY)
    assert files_with(KEY, tmp_path) == []


def test_doctor_does_not_show_a_key_that_a_server_echoes(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    with running(lambda role, n, request: _error(401)(role, KEY)) as server:
        words = options(tmp_path, server)[:-2]  # doctor has no --reports of its own to leave out
        words += ["--model-api-key-env", "THE_KEY", "--judge-api-key-env", "THE_KEY"]
        for more in ([], ["--json"]):
            found = benchbook_here("doctor", *words, *more, env={"THE_KEY": KEY}, cwd=tmp_path)
            assert found.returncode == 1
            assert KEY.encode() not in found.stdout + found.stderr
            assert b"401" in found.stdout


def test_a_key_in_what_a_cache_holds_is_not_recorded(tmp_path: Path) -> None:
    """As an older version may have kept it: here the first run has no key, and so takes none out."""
    with running(lambda role, n, request: OK_JUDGE if role == "judge" else {"status": 200, "content": KEY}) as server:
        write_items(tmp_path / "items.jsonl", 4)
        words = options(tmp_path, server, cache=tmp_path / "cache.sqlite")
        assert benchbook_here("run", *words, cwd=tmp_path).returncode in (0, 1)
        words[words.index("run")] = "second"
        words += ["--model-api-key-env", "THE_KEY"]
        done = benchbook_here("run", *words, env={"THE_KEY": KEY}, cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        assert len(server.asked["candidate"]) == 4
    assert files_with(KEY, tmp_path / "runs" / "run") != []
    assert files_with(KEY, tmp_path / "runs" / "second") == []


def test_a_proxys_password_is_kept_nowhere(tmp_path: Path) -> None:
    password = "aB0/cD1+eF2"
    told = cycle([password, quote(password, safe=""), base64.b64encode(f"me:{password}".encode()).decode()])
    with running(
        lambda role, n, request: {"status": 200, "content": verdict(next(told)) if role == "judge" else next(told)}
    ) as server:
        write_items(tmp_path / "items.jsonl", 4)
        words = options(tmp_path, server, reports=tmp_path / "reports")
        words = ["http://models.example/v1" if word == server.base_url else word for word in words]
        proxy = f"http://me:{quote(password, safe='')}@127.0.0.1:{server.port}"
        done = benchbook_here("run", *words, env={"http_proxy": proxy, "no_proxy": ""}, cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        assert server.headers[0]["proxy-authorization"].startswith("Basic ")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and gives_away(path.read_bytes(), password)] == []


@pytest.mark.parametrize(("key", "is_a_word"), [("EMPTY", True), ("hunter2", False)])
def test_doctor_says_that_a_key_is_a_word(tmp_path: Path, key: str, is_a_word: bool) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    with running(lambda role, n, request: OK_JUDGE) as server:
        words = ["doctor", *options(tmp_path, server)[:-2], "--model-api-key-env", "THE_KEY"]
        told = benchbook_here(*words, "--json", env={"THE_KEY": key}, cwd=tmp_path)
        said = benchbook_here(*words, env={"THE_KEY": key}, cwd=tmp_path)
    answers = json.loads(told.stdout)["answers"]
    assert (answers["model"]["key_is_a_word"], answers["judge"]["key_is_a_word"]) == (is_a_word, False)
    assert (b"its key is a short word" in said.stdout) == is_a_word


@pytest.mark.parametrize("setting", ["model-api-key-env", "judge-api-key-env"])
def test_a_key_given_in_place_of_its_variables_name_is_not_shown(tmp_path: Path, setting: str) -> None:
    """A mistake that many make; what they get to see ends in logs."""
    write_items(tmp_path / "items.jsonl", 2)
    with running(lambda role, n, request: OK_JUDGE) as server:
        found = benchbook("run", *options(tmp_path, server), f"--{setting}", KEY, cwd=tmp_path)
    assert found.returncode == 2
    assert setting.replace("-", "_").encode() in found.stderr
    assert KEY.encode() not in found.stdout + found.stderr


@pytest.mark.parametrize("command", ["run", "doctor", "demo", "gate", "show", "verify", "rescore", "init", "parse"])
def test_no_option_takes_a_key(command: str) -> None:
    """What stands on a command line stands in the list of processes."""
    shown = benchbook_here(command, "--help").stdout.decode("utf-8")
    assert shown.startswith(f"Usage: benchbook {command} ")
    options_of_keys = {word.rstrip(",") for word in shown.split() if word.startswith("--") and "key" in word}
    assert options_of_keys <= {"--model-api-key-env", "--judge-api-key-env"}


def test_the_record_names_the_variable_and_not_its_value(tmp_path: Path) -> None:
    with running(lambda role, n, request: OK_JUDGE) as server:
        asked_with(tmp_path, server, KEY)
    first = (tmp_path / "runs" / "run" / "journal" / "000001.jsonl").read_bytes().split(b"\n")[0]
    assert json.loads(first)["config"]["model_api_key_env"] == "THE_KEY"


def test_a_key_from_elsewhere_in_the_environment_is_not_recorded(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 2)
    with running(lambda role, n, request: OK_JUDGE) as server:
        words = options(tmp_path, server, reports=tmp_path / "reports")
        assert benchbook("run", *words, env={"OPENAI_API_KEY": KEY, "OTHER_TOKEN": KEY}).returncode == 0
        assert all("authorization" not in headers for headers in server.headers)  # a server of one's own wants none
    assert files_with(KEY, tmp_path) == []
