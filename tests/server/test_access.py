"""Who may do what: hosts, other sites, tokens, sessions, and what is noted of it."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import ConfigError, UsageError
from benchbook.server.access import TokenFile, default_token_file, is_loopback
from benchbook.server.cookies import read_cookies
from benchbook.server.running import make_app
from server.making import HOST, Api, api_over, copied, settings

RUNS = "/api/v1/runs"
TAGS = f"{RUNS}/a/tags"


# ── the name that is asked ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("host", [HOST, "localhost", "LOCALHOST:8400", "[::1]:8400", "127.0.0.1", "10.1.2.3:80"])
def test_own_names(api: Api, host: str) -> None:
    assert api.get(RUNS, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:8400", "localhost.evil.example", "", "a@127.0.0.1", "127.0.0.1:x", "["],
)
def test_dns_rebinding(api: Api, host: str) -> None:
    for url in (RUNS, "/", "/healthz"):
        assert api.problem(url, headers={"host": host})[0] == 421


@pytest.mark.parametrize(
    ("host", "yes"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("10.0.0.1", False), ("example.org", False), ("", False)],
)  # fmt: skip
def test_loopback(host: str, yes: bool) -> None:
    assert is_loopback(host) is yes


# ── other sites ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://{HOST}.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_write_from_another_site_is_refused(api: Api, headers: dict[str, str]) -> None:
    assert api.problem(f"{RUNS}/a/verify", "POST", headers=headers) == (403, "a write from another site")


def test_the_page_and_programs_may_write(writing: Api) -> None:
    for headers in ({}, {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}):
        assert writing.ask("PUT", TAGS, json={"tags": ["x"]}, headers=headers).status_code == 200


def test_no_other_site_may_read(api: Api) -> None:
    answer = api.get(RUNS, headers={"origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def guarded(records: Path, tmp_path: Path) -> Iterator[Api]:
    """A server that others can reach."""
    runs = copied(records, tmp_path)
    TokenFile(default_token_file(runs)).create("admin", ["read", "label", "write"])
    opened = api_over(runs, str(tmp_path / "c.sqlite"), host="0.0.0.0", hosts=("bench.example",))
    yield opened
    opened.app.stop()


def new_token(api: Api, *scopes: str, name: str = "ann") -> str:
    return TokenFile(default_token_file(api.app.services.settings.runs)).create(name, scopes)[0]


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:
    def start(**more: Any) -> None:
        make_app(settings(tmp_path / "runs", str(tmp_path / "c.sqlite"), **more)).stop()

    with pytest.raises(ConfigError, match=r"token: found none, for 0\.0\.0\.0, which other machines may reach"):
        start(host="0.0.0.0")
    with pytest.raises(ConfigError, match="token: found none"):
        start(token_file=tmp_path / "tokens.json")
    file = TokenFile(default_token_file(tmp_path / "runs"))
    _, token = file.create("ann", ["read"])
    start(host="0.0.0.0")
    file.revoke(token.token_id)
    with pytest.raises(ConfigError, match="token: found none"):
        start(host="0.0.0.0")


def test_nobody_gets_anything_but_signs_of_life(guarded: Api) -> None:
    for url in (RUNS, f"{RUNS}/a", "/api/tunix/runs/a/predictions", "/metrics", "/api/v1/events"):
        answer = guarded.get(url)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="benchbook"')
    assert guarded.json("/healthz") == {"status": "ok"}
    assert guarded.json("/readyz")["status"] == "ready"
    assert guarded.json("/api/v1/me") == {"name": "nobody", "scopes": [], "login_needed": True, "via": "nobody"}
    assert guarded.get(RUNS, headers={"host": "bench.example", **bearer(new_token(guarded, "read"))}).status_code == 200


def test_scopes(guarded: Api) -> None:
    read, label, write = (bearer(new_token(guarded, scope)) for scope in ("read", "label", "write"))
    assert guarded.get(RUNS, headers=read).status_code == 200
    for headers in (label, write):
        assert guarded.problem(RUNS, headers=headers) == (403, "this needs the scope read, which the token lacks")
    assert guarded.problem(TAGS, "PUT", json={"tags": []}, headers=read)[0] == 403
    assert guarded.ask("PUT", TAGS, json={"tags": []}, headers=label).status_code == 200
    assert guarded.problem(RUNS, "POST", json={"config": {}}, headers=label)[0] == 403
    assert guarded.problem(RUNS, "POST", json={"config": {}}, headers=write)[0] == 422


@pytest.mark.parametrize("change", ["", "x", "bb_", "bb_00000000_x", "bb__", "Basic"])
def test_foreign_tokens(guarded: Api, change: str) -> None:
    assert guarded.problem(RUNS, headers={"authorization": f"Bearer {change}"})[0] == 401
    known = new_token(guarded, "read")
    for text in (known[:-1], known + "x", known.upper(), known.replace("bb_", "cc_")):
        assert guarded.problem(RUNS, headers=bearer(text))[0] == 401
    assert guarded.problem(RUNS, headers={"authorization": f"Basic {known}"})[0] == 401
    assert guarded.problem(f"{RUNS}?token={known}")[0] == 401


def test_a_revoked_token_ends_at_the_next_request(guarded: Api) -> None:
    text = new_token(guarded, "read")
    session = logged_in(guarded, text)
    assert guarded.get(RUNS, headers=bearer(text)).status_code == 200
    assert guarded.get(RUNS, headers=session).status_code == 200
    TokenFile(default_token_file(guarded.app.services.settings.runs)).revoke(text.split("_")[1])
    assert guarded.problem(RUNS, headers=bearer(text))[0] == 401
    assert guarded.problem(RUNS, headers=session)[0] == 401
    assert guarded.problem("/api/v1/login", "POST", json={"token": text})[0] == 401


def test_only_a_hash_is_kept_where_only_its_owner_reads(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "t" / "tokens.json")
    text, token = file.create("ann", ["write", "read", "read"])
    stored = file.path.read_text(encoding="utf-8")
    assert (text in stored, text.split("_", 2)[2] in stored, token.sha256 in stored) == (False, False, True)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert token.scopes == ("read", "write")
    assert file.find(text) == token
    assert file.create("ann", ["read"])[0] != text
    with pytest.raises(ConfigError, match="scope: found admin; expected one or more of read, label, write"):
        file.create("ann", ["admin"])
    with pytest.raises(UsageError, match="there is no token 'none'"):
        file.revoke("none")
    file.path.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="not a file of tokens"):
        file.tokens()


# ── the page's session ───────────────────────────────────────────────────────────────────────────────────────


def logged_in(api: Api, text: str) -> dict[str, str]:
    """Headers as a browser sends them after logging in: the cookies, and no token."""
    answer = api.ask("POST", "/api/v1/login", json={"token": text}, headers={"origin": f"http://{HOST}"})
    assert answer.status_code == 200, answer.text
    cookies = [value.partition(";") for name, value in answer.headers.multi_items() if name == "set-cookie"]
    (session, _, flags), (csrf, _, open_flags) = cookies
    assert "HttpOnly" in flags
    assert "HttpOnly" not in open_flags
    assert all("SameSite=Strict" in one and "Path=/" in one for one in (flags, open_flags))
    return {"cookie": f"{session}; {csrf}"}


@pytest.mark.parametrize(
    ("headers", "name", "ways"),
    [
        ({}, "benchbook_session", "Path=/"),
        ({"origin": f"http://{HOST}"}, "benchbook_session", "Path=/"),
        ({"origin": f"https://{HOST}"}, "__Host-benchbook_session", "Path=/; Secure"),
        ({"x-forwarded-proto": "https"}, "__Host-benchbook_session", "Path=/; Secure"),
        ({"x-forwarded-proto": "HTTPS, http"}, "__Host-benchbook_session", "Path=/; Secure"),
        ({"x-forwarded-proto": "http"}, "benchbook_session", "Path=/"),
        ({"x-forwarded-proto": "http", "origin": f"https://{HOST}"}, "__Host-benchbook_session", "Path=/; Secure"),
        ({"x-forwarded-prefix": "/user/ann"}, "benchbook_session", "Path=/user/ann/"),
        (
            {"x-forwarded-prefix": "/user/ann", "x-forwarded-proto": "https"},
            "__Secure-benchbook_session",
            "Path=/user/ann/; Secure",
        ),
        ({"x-forwarded-prefix": "/a;Domain=example"}, "benchbook_session", "Path=/"),
        ({"x-forwarded-prefix": "/a b"}, "benchbook_session", "Path=/"),
    ],
)
def test_cookies_are_as_strict_as_the_way_they_came(
    guarded: Api, headers: dict[str, str], name: str, ways: str
) -> None:
    text = new_token(guarded, "read", "label")
    answer = guarded.ask("POST", "/api/v1/login", json={"token": text}, headers=headers)
    session, csrf = (value for key, value in answer.headers.multi_items() if key == "set-cookie")
    value, _, rest = session.partition("; ")
    assert (value.partition("=")[0], rest) == (name, f"HttpOnly; SameSite=Strict; {ways}")
    assert csrf.partition("; ")[2] == f"SameSite=Strict; {ways}"
    cookie = f"{value}; {csrf.partition(';')[0]}"
    assert guarded.json("/api/v1/me", headers={"cookie": cookie})["via"] == "cookie"
    # Under any other name it is none: another host could have put it there.
    for other in {"benchbook_session", "__Secure-benchbook_session", "__Host-benchbook_session"} - {name}:
        tossed = {"cookie": f"{other}={value.partition('=')[2]}"}
        assert guarded.json("/api/v1/me", headers=tossed)["via"] == "nobody"
    written = {**headers, "cookie": cookie, "x-csrf-token": csrf_of({"cookie": cookie})}
    ended = guarded.ask("POST", "/api/v1/logout", headers=written)
    assert [one.partition("=")[0] for key, one in ended.headers.multi_items() if key == "set-cookie"] == [
        name, "benchbook_csrf",
    ]  # fmt: skip
    assert all(f"Max-Age=0; SameSite=Strict; {ways}" in one for one in ended.headers.get_list("set-cookie"))
    assert guarded.json("/api/v1/me", headers={"cookie": cookie})["via"] == "nobody"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", {}),
        ("a=1; b=2", {"a": "1", "b": "2"}),
        ("a=1;b=2", {"a": "1", "b": "2"}),
        ("a=1; a=2", {"a": "1"}),
        ('a="1"; b', {"a": "1"}),
        ('other={"json": [1,2]}; a=1', {"other": '{"json": [1,2]}', "a": "1"}),
        ("a=b=c; =x;;", {"a": "b=c", "": "x"}),
    ],
)
def test_cookies_of_others_do_not_hide_ours(header: str, found: dict[str, str]) -> None:
    assert read_cookies(header) == found


def csrf_of(headers: dict[str, str]) -> str:
    return headers["cookie"].partition("benchbook_csrf=")[2]


def test_login(guarded: Api) -> None:
    session = logged_in(guarded, new_token(guarded, "read", "label"))
    assert guarded.json("/api/v1/me", headers=session) == {
        "name": "ann", "scopes": ["read", "label"], "login_needed": False, "via": "cookie",
    }  # fmt: skip
    assert guarded.get(RUNS, headers=session).status_code == 200
    written = {**session, "x-csrf-token": csrf_of(session), "origin": f"http://{HOST}"}
    assert guarded.ask("PUT", TAGS, json={"tags": ["x"]}, headers=written).status_code == 200
    assert guarded.ask("POST", "/api/v1/logout", headers=written).status_code == 200
    assert guarded.problem(RUNS, headers=session)[0] == 401
    assert guarded.problem("/api/v1/login", "POST", json={"token": "bb_x_y"})[0] == 401


def test_csrf(guarded: Api) -> None:
    session = logged_in(guarded, new_token(guarded, "read", "label"))
    other = logged_in(guarded, new_token(guarded, "read", "label", name="bob"))
    for given in ({}, {"x-csrf-token": ""}, {"x-csrf-token": csrf_of(other)}, {"x-csrf-token": "x" * 100}):
        status, detail = guarded.problem(TAGS, "PUT", json={"tags": []}, headers={**session, **given})
        assert (status, detail.startswith("x-csrf-token: expected")) == (403, True)


def test_a_session_ends(guarded: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    session = logged_in(guarded, new_token(guarded, "read"))
    now = time.monotonic()
    monkeypatch.setattr("benchbook.server.access.time.monotonic", lambda: now + 13 * 3600)
    assert guarded.problem(RUNS, headers=session)[0] == 401


# ── what is noted ────────────────────────────────────────────────────────────────────────────────────────────


def test_writes_are_audited_and_no_secret_is_noted(records: Path, tmp_path: Path) -> None:
    runs = copied(records, tmp_path)
    logged: list[tuple[str, dict[str, Any]]] = []
    text, _ = TokenFile(default_token_file(runs)).create("ann", ["read", "label"])
    app = make_app(settings(runs, str(tmp_path / "c.sqlite"), host="0.0.0.0"), lambda *line: logged.append(line))
    api = Api(app)
    session = logged_in(api, text)
    api.get(RUNS, headers=bearer(text))
    api.ask("PUT", TAGS, json={"tags": ["secret-tag"]}, headers=bearer(text))
    api.problem(RUNS, "POST", json={"config": {}}, headers=bearer(text))
    api.problem(f"{RUNS}?text={text}")
    app.stop()
    audit = (runs / ".server" / "audit.jsonl").read_text(encoding="utf-8")
    entries = [json.loads(line) for line in audit.splitlines()]
    assert [(one["operation"], one["who"], one["status"]) for one in entries] == [
        ("login", "ann", 200), ("putTags", "ann", None), ("putTags", "ann", 200), ("startRun", "ann", 403),
        ("listRuns", "nobody", 401),
    ]  # fmt: skip
    assert entries[1]["target"] == {"run_id": "a"}
    assert entries[1]["request"] == entries[2]["request"] != entries[3]["request"]
    everything = audit + json.dumps(logged)
    for secret in (text, text.split("_", 2)[2], csrf_of(session), session["cookie"][20:50], "secret-tag"):
        assert secret not in everything
    assert logged[1][1]["operation"] == "listRuns"
    assert stat.S_IMODE((runs / ".server" / "audit.jsonl").stat().st_mode) == 0o600
