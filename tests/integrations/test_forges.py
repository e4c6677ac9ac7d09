"""A comment is put on a change once, found again over pages, and written anew; a token goes nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import ConfigError, UsageError
from benchbook.integrations.forges import ForgeError, Posted, forge_of
from forge import ForgeServer, forge

MARKER = "<!-- benchbook-comment x -->"
TOKEN = "ghs_0123456789abcdefghij"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
CHATTER = [{"id": number, "body": "hello", "user": {"login": "somebody", "type": "User"}} for number in range(250)]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_EVENT_PATH", "GITLAB_TOKEN", "CI_JOB_TOKEN", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    values = {
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_REF": "refs/pull/7/merge",
        "CI_PROJECT_ID": "group/name",
        "CI_MERGE_REQUEST_IID": "7",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def posted(server: ForgeServer, monkeypatch: pytest.MonkeyPatch, words: str = "new", name: Any = "github") -> Posted:
    """Post a comment; the waits that it asks for are kept in `WAITS`."""
    monkeypatch.setenv("GITHUB_API_URL", server.url)
    monkeypatch.setenv("CI_API_V4_URL", server.url)
    WAITS.clear()
    return forge_of(name, wait=WAITS.append).posted(f"{MARKER}\n\n{words}", MARKER)


WAITS: list[float] = []


def test_the_first_time_a_comment_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    with forge(comments=CHATTER[:3].copy()) as server:
        found = posted(server, monkeypatch)
    assert (found.how, found.url) == ("created", f"{server.url}/c")
    assert server.comments[-1]["body"] == f"{MARKER}\n\nnew"
    assert server.asked == [
        ("GET", "/repos/owner/name/issues/7/comments?per_page=100&page=1"),
        ("POST", "/repos/owner/name/issues/7/comments"),
    ]
    assert {one["authorization"] for one in server.headers} == {f"Bearer {TOKEN}"}


def test_it_is_found_again_over_pages_and_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {"id": 999, "body": f"{MARKER}\n\nold", "user": BOT}
    with forge(comments=[*CHATTER, ours.copy()]) as server:
        assert posted(server, monkeypatch).how == "updated"
        assert posted(server, monkeypatch, "newer").how == "updated"
    assert [one["body"] for one in server.comments if one["id"] == 999] == [f"{MARKER}\n\nnewer"]
    assert len(server.comments) == 251
    assert server.asked[-1] == ("PATCH", "/repos/owner/name/issues/comments/999")


@pytest.mark.parametrize(
    "theirs",
    [
        {"id": 5, "body": f"{MARKER}\n\nall is well", "user": {"login": "mallory", "type": "User"}},
        {"id": 5, "body": f"> {MARKER}", "user": BOT},
        {"id": 5, "body": None, "user": None},
    ],
)
def test_the_marker_of_somebody_else_is_left_alone(theirs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wrote a comment can write it anew: in theirs our words would be theirs to change."""
    with forge(comments=[theirs.copy()]) as server:
        assert posted(server, monkeypatch).how == "created"
    assert server.comments[0] == theirs


def test_a_person_s_own_token_finds_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = (
        {"id": n, "body": MARKER, "user": {"login": who, "type": "User"}} for n, who in ((1, "a"), (2, "b"))
    )
    with forge(comments=[theirs, ours], me={"login": "b", "id": 4}) as server:
        assert posted(server, monkeypatch).how == "updated"
    assert [one["body"] for one in server.comments] == [MARKER, f"{MARKER}\n\nnew"]
    assert [path for _, path in server.asked].count("/user") == 1


def test_gitlab_has_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLAB_TOKEN", "glpat-0123456789abcdefghij")
    theirs, ours = ({"id": n, "body": MARKER, "author": {"id": n}} for n in (1, 2))
    with forge(comments=[theirs, ours], me={"id": 2}) as server:
        assert posted(server, monkeypatch, name="gitlab").how == "updated"
    place = "/projects/group%2Fname/merge_requests/7/notes"
    assert server.asked[0] == ("GET", f"{place}?per_page=100&page=1&sort=asc")
    assert server.asked[-1] == ("PUT", f"{place}/2")
    assert {one["private-token"] for one in server.headers} == {"glpat-0123456789abcdefghij"}
    assert server.comments[0]["body"] == MARKER


def test_gitlab_s_job_token_is_taken_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_JOB_TOKEN", "a-job-s-own-token")
    with forge(refusals=[(401, {}, {"message": "401 Unauthorized"})]) as server:
        found = posted(server, monkeypatch, name="gitlab")
    assert (found.how, found.why) == ("not_allowed", "status 401: 401 Unauthorized")
    assert server.headers[0]["job-token"] == "a-job-s-own-token"


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_fork_s_change_may_not_be_commented_on(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with forge(refusals=[(200, {}, []), (status, {}, {"message": f"Resource not accessible by {TOKEN}"})]) as server:
        found = posted(server, monkeypatch)
    assert found.how == "not_allowed"
    assert found.why.startswith(f"status {status}: Resource not accessible by ")
    assert TOKEN not in found.why
    assert WAITS == []


@pytest.mark.parametrize(
    ("refusal", "waits"),
    [
        ((429, {"Retry-After": "7"}, {}), [7.0]),
        ((403, {"Retry-After": "30"}, {"message": "You have exceeded a secondary rate limit"}), [30.0]),
        ((403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "12"}, {}), [12.0]),
        ((502, {}, {}), [1.0]),
    ],
)
def test_a_limit_is_waited_for(refusal: Any, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    with forge(refusals=[refusal]) as server:
        assert posted(server, monkeypatch).how == "created"
    assert waits == WAITS


@pytest.mark.parametrize(
    "refusals",
    [
        [(429, {"Retry-After": "3600"}, {"message": "later"})],
        [(429, {"Retry-After": "1"}, {"message": "later"})] * 3,
        [(403, {"X-RateLimit-Remaining": "0"}, {"message": "later"})],
        [(422, {}, {"message": "later: body is too long"})],
    ],
)
def test_one_that_ends_too_late_is_an_error(refusals: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with forge(refusals=list(refusals)) as server, pytest.raises(ForgeError, match=r"status 4\d\d: later"):
        posted(server, monkeypatch)


def test_no_redirect_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        forge() as other,
        forge(refusals=[(302, {"Location": other.url}, {})]) as server,
        pytest.raises(ForgeError, match="status 302"),
    ):
        posted(server, monkeypatch)
    assert other.asked == []


def test_a_forge_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with forge() as server:
        pass
    with pytest.raises(ForgeError, match="refused"):
        posted(server, monkeypatch)


@pytest.mark.parametrize("page", [{"message": "no list"}, [None, 3], []])
def test_pages_may_be_anything(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with forge(refusals=[(200, {}, page)]) as server:
        assert posted(server, monkeypatch).how == "created"


# ── which change ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("event", "ref", "number"),
    [
        ({"pull_request": {"number": 12}}, "refs/pull/7/merge", 12),
        ({"issue": {"number": 13}}, "refs/heads/main", 13),
        ({"pull_request": {"number": "14"}}, "refs/pull/7/merge", 7),
        ([], "refs/pull/7/merge", 7),
    ],
)
def test_the_event_says_which_pull_request(
    event: Any, ref: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "event.json").write_text(json.dumps(event), encoding="utf-8")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_REF", ref)
    with forge() as server:
        posted(server, monkeypatch)
    assert server.asked[-1] == ("POST", f"/repos/owner/name/issues/{number}/comments")


@pytest.mark.parametrize(
    ("name", "variable", "value", "error"),
    [
        ("github", "GITHUB_REF", "refs/heads/main", UsageError),
        ("github", "GITHUB_TOKEN", "", ConfigError),
        ("github", "GITHUB_REPOSITORY", "../../user", ConfigError),
        ("github", "GITHUB_API_URL", "https://user:secret@host/api", ConfigError),
        ("github", "GITHUB_API_URL", "file:///etc/passwd", ConfigError),
        ("gitlab", "CI_MERGE_REQUEST_IID", "7/../8", UsageError),
        ("gitlab", "CI_API_V4_URL", "", ConfigError),
        ("gitlab", "CI_JOB_TOKEN", "", ConfigError),
    ],
)
def test_what_a_job_lacks_is_named(
    name: Any, variable: str, value: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_API_V4_URL", "http://127.0.0.1:1/api")
    monkeypatch.setenv(variable, value)
    with pytest.raises(error) as found:
        forge_of(name)
    assert "secret" not in str(found.value)
