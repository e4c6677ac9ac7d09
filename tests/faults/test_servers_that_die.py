"""A server that dies, refuses, or is not there: the run stops, says so first, and resumes; nothing counts against the
model (SPEC R1.3a, R1.3b, R3.6a)."""

from __future__ import annotations

import errno
import json
import re
import socket
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ask.test_outages import replies_of
from benchbook.ask.providers import http_client
from benchbook.evaluators.verify import verify
from outages import FAULTS, well
from running import benchbook_here
from scripted_server import running
from tried import WAYS, begin, breaking, resume

DEATHS: dict[str, dict[str, Any]] = {
    "refuses-connections": {"behaviour": "die"},
    "drops-connections": {"behaviour": "drop"},
    "cuts-bodies": {"behaviour": "cut_body"},
    "is-killed-behind-its-proxy": {"status": 502, "raw": "<html><title>502 Bad Gateway</title></html>"},
    "restarts": {"status": 503, "body": {"detail": "Loading model"}},
}
FEW = ("--max-retries", "1", "--max-connections", "4")


@pytest.mark.parametrize(
    ("way", "death"),
    [(way, "refuses-connections") for way in WAYS] + [("run-model", death) for death in list(DEATHS)[1:]]
    + [("run-judge", "drops-connections"), ("panel", "restarts"), ("judge-run", "cuts-bodies")],
)  # fmt: skip
def test_a_server_that_dies_in_the_middle_stops_the_run_and_the_rest_is_asked_on_resume(
    tmp_path: Path, way: str, death: str
) -> None:
    """01-server-dies-mid-run"""
    with running(breaking(way, lambda n, request: DEATHS[death] if n >= 6 else None)) as server:
        stopped = begin(way, tmp_path, server, *FEW, n_items=40)
    assert (stopped.code, stopped.state) == (3, "interrupted")
    assert stopped.n_unanswered > 0
    assert f"{WAYS[way].whose}'s server at http://127.0.0.1" in stopped.first
    assert "10 samples in a row are unanswered" in stopped.err
    for said in (stopped.first, stopped.err):
        assert not re.search(r"[.?!]\.(?![./\d])", said), said  # one mark ends a sentence
    assert "NOT_READY" not in stopped.out
    assert verify(stopped.record).holds
    with running(well) as mended:
        whole = resume(way, stopped, *WAYS[way].moved(mended))
    assert (whole.code, whole.state, whole.n_unanswered) == (0, "complete", 0), whole.said
    n_planned = {"score": 40, "panel": 160}.get(way, 80)
    answered = replies_of(whole.record)
    assert (len(answered), set(answered.values())) == (n_planned, {1})  # what was answered is not asked again
    assert verify(whole.record).holds


ONCE = {
    "401": ["refuses the key", "bad key"],
    "402": ["says that the quota is spent", "Top the account up"],
    "403": ["refuses the key"],
    "404": ["knows no such model or address", "no such model"],
    "429-quota": ["says that the quota is spent"],
}


@pytest.mark.parametrize(
    ("way", "fault", "n_items"),
    [(way, fault, 4) for way in WAYS for fault in ONCE] + [(way, "404", 40) for way in WAYS],
)
def test_what_a_person_must_mend_is_met_once_and_asked_again_when_it_is_mended(
    tmp_path: Path, way: str, fault: str, n_items: int
) -> None:
    """03-stopped-by-404-then-resumed"""
    is_mended = False
    with running(breaking(way, lambda n, request: None if is_mended else FAULTS[fault])) as server:
        stopped = begin(way, tmp_path, server, n_items=n_items)
        hit = [request for role in server.asked for request in server.asked[role] if WAYS[way].hits(role, request)]
        assert (stopped.code, stopped.state, len(hit)) == (3, "interrupted", 1)
        assert stopped.first.startswith("! ")
        assert f"{WAYS[way].whose}'s server" in stopped.first
        assert all(words in stopped.first for words in ONCE[fault])
        is_mended = True
        whole = resume(way, stopped)
    assert (whole.code, whole.state, whole.n_unanswered) == (0, "complete", 0)


ADDRESSES = {
    "": "/v1", "/": "/v1", "/?team=a": "/v1?team=a", "/api": "/api/v1", "/api/": "/api/v1",
    "/chat/completions": "/v1", "/v2": None, "/v1/models": None,
}  # fmt: skip


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize("way", ["run-model", "run-judge", "score"])
def test_an_address_without_v1_is_told_with_the_one_that_is_right(tmp_path: Path, path: str, way: str) -> None:
    """09-base-url-without-v1: under ten items, too. What is advised mends it."""
    advised = ADDRESSES[path]
    with running(well, only_at=f"{(advised or '/v1').partition('?')[0]}/chat/completions") as server:
        root = server.base_url.removesuffix("/v1")
        right = root + (advised or "/v1")
        words = [word for one in ("--model-base-url", "--judge-base-url") for word in (one, right)]
        given = [*words[: 2 if way == "score" else 4], WAYS[way].setting, root + path]
        stopped = begin(way, tmp_path, server, *given)
        wrong = [one for one in server.paths if one.partition("?")[0] != server.only_at]
        assert (stopped.code, stopped.state, len(wrong)) == (3, "interrupted", 1)  # one tells as much as all
        assert "knows no such model or address: status 404" in stopped.first
        if advised is None:
            assert f"Look at the model's name, and at the address ({WAYS[way].setting})." in stopped.first
            return
        mending = re.search(rf"\(({WAYS[way].setting}) (\S+)\)\.", stopped.first)
        assert mending is not None, stopped.first
        assert mending[2] == right
        whole = resume(way, stopped, *mending.groups())
    assert (whole.code, whole.n_unanswered) == (0, 0)


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/", "/v1?team=a"])
def test_other_words_for_a_right_address_are_right(tmp_path: Path, path: str) -> None:
    """09-base-url-without-v1: with `/chat/completions` in it."""
    with running(well, only_at="/v1/chat/completions") as server:
        address = server.base_url.removesuffix("/v1") + path
        tried = begin("run-model", tmp_path, server, "--model-base-url", address)
    assert (tried.code, tried.n_unanswered) == (0, 0)


# As it stands in each provider's own documents or in reports; what of it a user must read.
SAID: dict[str, tuple[dict[str, Any], str]] = {
    "cloudflare": (
        {"status": 200, "body": {"result": None, "success": False, "errors": [
            {"code": 3040, "message": "Capacity temporarily exceeded, please try again."}]}},
        "3040: Capacity temporarily exceeded, please try again",
    ),
    "openai": (
        {"status": 500, "body": {"error": {"message": "The server had an error", "type": "server_error"}}},
        "server_error: The server had an error",
    ),
    "anthropic": (
        {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}},
        "overloaded_error: Overloaded",
    ),
    "google": (
        {"status": 503, "body": [{"error": {"code": 503, "message": "The model is overloaded.",
                                            "status": "UNAVAILABLE"}}]},
        "The model is overloaded",
    ),
    "fastapi": ({"status": 500, "body": {"detail": "CUDA out of memory"}}, "CUDA out of memory"),
    "fastapi-422": (
        {"status": 422, "body": {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}},
        "field required",
    ),
    "openrouter": (
        {"status": 200, "body": {"error": {"code": 502, "message": "Provider returned error",
                                           "metadata": {"raw": "upstream is down"}}}},
        "upstream is down",
    ),
    "minimax": (
        {"status": 200, "body": {"base_resp": {"status_code": 1000, "status_msg": "unknown error"}, "choices": None}},
        "unknown error",
    ),
    "ollama": ({"status": 500, "body": {"error": "llama runner process has terminated"}}, "llama runner process"),
    "a-page": ({"status": 502, "raw": "<html><head><title>502 Bad Gateway</title></head></html>"}, "502 Bad Gateway"),
    "plain": ({"status": 503, "raw": "upstream connect error"}, "upstream connect error"),
    "nothing": ({"status": 503}, "status 503"),
    "a-web-site": ({"status": 200, "raw": "<!doctype html><title>Welcome</title>"}, "the body is no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("way", ["run-model", "run-judge", "score"])
@pytest.mark.parametrize("case", SAID)
def test_the_summary_says_why_in_the_words_of_the_server(tmp_path: Path, case: str, way: str) -> None:
    """13-summary-never-says-why: on the terminal, in the reports, and in the record."""
    reply, words = SAID[case]
    with running(breaking(way, lambda n, request: reply)) as server:
        tried = begin(way, tmp_path, server, "--max-retries", "0", "--reports", "reports")
    assert tried.code == 3
    assert words in tried.first
    assert words in tried.err
    for name in ("report.html", "report.md", *(() if way == "score" else ("junit.xml",))):
        assert words in (tmp_path / "reports" / "run" / name).read_text("utf-8").replace("\\", ""), name
    assert words in tried.unanswered[0]["detail"]
    assert words in tried.failures()[0].detail


def test_too_many_open_files_are_no_fault_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """05-too-many-open-files: as with a hard limit that can't be raised, all is answered, by fewer at once."""
    only_so_many_files(monkeypatch, 5)
    with running(well) as server:
        tried = begin("run-model", tmp_path, server, "--max-connections", "200", "--max-retries", "2", n_items=60)
    assert (tried.code, tried.n_unanswered) == (0, 0)
    assert {(one.cause, one.ends) for one in tried.failures()} == {("local", "attempt")}


@pytest.mark.parametrize("way", ["run-model", "score"])
def test_a_machine_without_any_open_file_says_so_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """05-too-many-open-files: what mends it by name."""
    with running(well) as server:
        with monkeypatch.context() as patch:
            only_so_many_files(patch, 0)
            stopped = begin(way, tmp_path, server, "--max-retries", "1")
        assert (stopped.code, stopped.aggregates["unanswered"][0]["cause"]) == (3, "local")
        assert "by a fault of this machine: OSError: [Errno 24] Too many open files" in stopped.first
        assert "raise `ulimit -n` or lower --max-connections" in stopped.first
        assert resume(way, stopped).code == 0


def only_so_many_files(patch: pytest.MonkeyPatch, most: int) -> None:
    """No more sockets than that are opened by whoever asks; the server has its own."""
    opened: list[weakref.ref[socket.socket]] = []
    real = socket.socket

    def limited(*arguments: Any, **more: Any) -> socket.socket:
        if sum(1 for one in opened if (it := one()) is not None and it.fileno() >= 0) >= most:
            raise OSError(errno.EMFILE, "Too many open files")
        one = real(*arguments, **more)
        opened.append(weakref.ref(one))
        return one

    patch.setattr(http_client, "socket", SimpleNamespace(**vars(socket) | {"socket": limited}))


@pytest.mark.parametrize("accepted", [False, True], ids=["interrupted", "accepted"])
@pytest.mark.parametrize("way", ["run-model", "run-judge", "score"])
def test_an_outage_is_no_loss_where_runs_are_compared(tmp_path: Path, way: str, accepted: bool) -> None:
    """14-compare-calls-outage-regression: neither in `compare` nor in a leaderboard."""
    for name, fault in (("a", None), ("b", FAULTS["503"])):
        folder = tmp_path / name
        folder.mkdir()
        with running(breaking(way, lambda n, request, fault=fault: fault if n >= 20 else None)) as server:
            tried = begin(way, folder, server, *FEW, n_items=40)
        if accepted and name == "b":
            tried = resume(way, tried, "--accept-unanswered")
    runs = [str(tmp_path / name / "runs" / "run") for name in "ab"]
    said = " ".join(benchbook_here("compare", *runs).stdout.decode().split())
    assert re.search(r"\b0 lost, 0 won of 2\d\b|\b2\d items compared", said), said
    assert "28 lost" not in said
    told = json.loads(benchbook_here("compare", *runs, "--json").stdout)
    assert told["pair"]["n_unanswered_b"] >= 10 if "pair" in told else True
    board = benchbook_here("leaderboard", *runs).stdout.decode()
    ranks = [line.split()[0] for line in board.splitlines() if "openai/m@" in line]
    assert ranks == ["1", "1" if accepted else "–"], board  # one that is not complete has no rank, and says so
