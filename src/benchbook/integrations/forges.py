"""A comment on a change, put on GitHub or GitLab: one a change, found again by its marker and written anew.

Only the standard library asks here, and follows no redirect: a token goes to the forge's own address and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from benchbook.ask.providers.access import checked_base_url
from benchbook.ask.providers.error_body import read_error_body, told_detail
from benchbook.ask.providers.faults import reset_s, retry_after_s
from benchbook.ask.providers.keys import Keys, Secret, redact
from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError, ConfigError, UsageError
from benchbook.text import one_line, shorten

_A_PAGE, _MOST_PAGES = 100, 50
_TIMEOUT_S = 30.0
_MOST_BYTES = 16 << 20
_TRIES, _LONGEST_WAIT_S = 3, 60.0
_NOT_ALLOWED = (401, 403, 404)
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_OF_PULL = re.compile(r"refs/pull/([0-9]{1,10})/")

Put = Literal["created", "updated", "not_allowed"]
Wait = Callable[[float], None]


class ForgeError(BenchbookError):
    """A forge did not take the comment, for a reason that asking again later may mend."""


@dataclass(frozen=True, slots=True)
class Posted:
    """The end of a comment; `why` says why it was not allowed."""

    how: Put
    url: str | None = None
    why: str = ""


class _RefusedError(Exception):
    """A status that is an error, in the forge's own words."""

    def __init__(self, status: int, words: str, wait_s: float | None) -> None:
        super().__init__(status, words)
        self.status, self.words, self.wait_s = status, words, wait_s


class Forge(ABC):
    """Comments on one change. `posted` is all that is asked of it."""

    def __init__(self, base_url: str, headers: Mapping[str, str], keys: Keys, wait: Wait = time.sleep) -> None:
        self._base_url, self._headers, self._keys, self._wait = base_url, headers, keys, wait
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._me: Any = None

    def posted(self, markdown: str, marker: str) -> Posted:
        """Write the comment anew that begins with `marker` and is our own; else add one.

        Where that is not allowed, as a fork's change is not, nothing is written, and no error raised.

        Raises: ForgeError where the forge can't be reached, or does not take it.
        """
        try:
            for one in self._comments():
                if str(one.get("body") or "").startswith(marker) and self._is_ours(one):
                    return Posted("updated", _url_in(self._update(one["id"], markdown)))
            return Posted("created", _url_in(self._create(markdown)))
        except _RefusedError as refused:
            if refused.status in _NOT_ALLOWED and refused.wait_s is None:
                return Posted("not_allowed", why=f"status {refused.status}: {refused.words}")
            raise ForgeError(f"{self._base_url}: status {refused.status}: {refused.words}") from None

    @abstractmethod
    def _page(self, number: int) -> Any:
        """A page of the change's comments."""

    @abstractmethod
    def _create(self, markdown: str) -> Any: ...

    @abstractmethod
    def _update(self, comment: int, markdown: str) -> Any: ...

    @abstractmethod
    def _is_ours(self, comment: Mapping[str, Any]) -> bool:
        """True for one that this token wrote: whoever wrote it could write it anew as well."""

    def _comments(self) -> Iterator[dict[str, Any]]:
        for number in range(1, _MOST_PAGES + 1):
            found = self._page(number)
            page = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            yield from page
            if len(page) < _A_PAGE:
                return

    def _who_am_i(self) -> Mapping[str, Any]:
        """The token's own user; nothing where it has none."""
        if self._me is None:
            try:
                found = self._ask("GET", "/user")
            except _RefusedError:
                found = {}
            self._me = found if isinstance(found, dict) else {}
        return dict(self._me)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON of an answer. A limit on the rate is waited for, where it ends soon. Raises: ForgeError."""
        for left in reversed(range(_TRIES)):
            try:
                return self._asked_once(method, path, body)
            except _RefusedError as refused:
                wait_s = refused.wait_s
                if wait_s is None or wait_s > _LONGEST_WAIT_S or not left:
                    raise
                self._wait(wait_s)
        raise AssertionError("the last try returns or raises")

    def _asked_once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        data = None if body is None else canonical_json(body)
        headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "benchbook"}
        request = urllib.request.Request(self._base_url + path, data, {**headers, **self._headers}, method=method)  # noqa: S310
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                return json.loads(answer.read(_MOST_BYTES) or b"null")
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (OSError, ValueError) as error:  # no connection, no HTTP, no JSON
            why = getattr(error, "reason", error)
            raise ForgeError(f"{self._base_url}: {self._clean(f'{type(error).__name__}: {why}')}") from None

    def _refused(self, error: urllib.error.HTTPError) -> _RefusedError:
        headers = {name.lower(): value for name, value in error.headers.items()}
        now = datetime.now(UTC)
        wait_s = retry_after_s(headers, now)
        is_spent = headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining")) == "0"
        if wait_s is None and (error.code == 429 or (error.code == 403 and is_spent)):
            found = reset_s(headers, now)
            wait_s = _LONGEST_WAIT_S + 1 if found is None else found
        if wait_s is None and error.code >= 500:
            wait_s = 1.0
        try:
            told = told_detail(read_error_body(error.read(1 << 16)), error.code)
        except OSError:
            told = ""
        return _RefusedError(error.code, self._clean(told) or "no words", wait_s)

    def _clean(self, words: str) -> str:
        return shorten(self._keys.removed_from_text(redact(one_line(words))), 300)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:
        """Follow none: the status is what is told."""
        del args, more


class _GitHub(Forge):
    def __init__(self, base_url: str, repository: str, number: int, token: Secret, wait: Wait = time.sleep) -> None:
        headers = {"Authorization": token.header(), "X-GitHub-Api-Version": "2022-11-28"}
        super().__init__(base_url, headers, Keys(token.reveal()), wait)
        self._repository, self._number = repository, number

    def _page(self, number: int) -> Any:
        place = f"/repos/{self._repository}/issues/{self._number}/comments"
        return self._ask("GET", f"{place}?per_page={_A_PAGE}&page={number}")

    def _create(self, markdown: str) -> Any:
        return self._ask("POST", f"/repos/{self._repository}/issues/{self._number}/comments", {"body": markdown})

    def _update(self, comment: int, markdown: str) -> Any:
        return self._ask("PATCH", f"/repos/{self._repository}/issues/comments/{int(comment)}", {"body": markdown})

    def _is_ours(self, comment: Mapping[str, Any]) -> bool:
        """An Action's token has no user that it could ask for, and comments as an app's."""
        user = comment["user"] if isinstance(comment.get("user"), dict) else {}
        if user.get("type") == "Bot":
            return True
        me = self._who_am_i().get("login")
        return me is not None and user.get("login") == me


class _GitLab(Forge):
    def __init__(
        self, base_url: str, project: str, number: int, header: tuple[str, Secret], wait: Wait = time.sleep
    ) -> None:
        name, token = header
        super().__init__(base_url, {name: token.reveal()}, Keys(token.reveal()), wait)
        self._place = f"/projects/{quote(project, safe='')}/merge_requests/{number}/notes"

    def _page(self, number: int) -> Any:
        return self._ask("GET", f"{self._place}?per_page={_A_PAGE}&page={number}&sort=asc")

    def _create(self, markdown: str) -> Any:
        return self._ask("POST", self._place, {"body": markdown})

    def _update(self, comment: int, markdown: str) -> Any:
        return self._ask("PUT", f"{self._place}/{int(comment)}", {"body": markdown})

    def _is_ours(self, comment: Mapping[str, Any]) -> bool:
        author = comment["author"] if isinstance(comment.get("author"), dict) else {}
        me = self._who_am_i().get("id")
        return me is not None and author.get("id") == me


def _url_in(comment: Any) -> str | None:
    found = comment.get("html_url") if isinstance(comment, dict) else None
    return found if isinstance(found, str) else None


# ── which change, as the environment of a job says it ────────────────────────────────────────────────────────


def forge_of(name: Literal["github", "gitlab"], number: int | None = None, *, wait: Wait = time.sleep) -> Forge:
    """The forge that a job runs on. `number` is the pull or merge request's; by default the one that the job is for.

    Raises: UsageError where the job is for none; ConfigError where a variable that says it is not there.
    """
    return _github(number, wait) if name == "github" else _gitlab(number, wait)


def _github(number: int | None, wait: Wait) -> Forge:
    repository = _variable("GITHUB_REPOSITORY", "owner/name")
    if not _REPOSITORY.fullmatch(repository):
        raise ConfigError("GITHUB_REPOSITORY", repr(shorten(repository, 80)), "owner/name")
    url = checked_base_url(os.environ.get("GITHUB_API_URL") or "https://api.github.com", "GITHUB_API_URL")
    if number is None:
        number = _number_of_event(os.environ.get("GITHUB_EVENT_PATH"), os.environ.get("GITHUB_REF", ""))
    if number is None:
        raise UsageError("the job is for no pull request: name one with --number, or leave --post out")
    return _GitHub(url, repository, number, _token("GITHUB_TOKEN"), wait)


def _number_of_event(path: str | None, ref: str) -> int | None:
    """The number of the pull request that a job is for, by its event's file, else by its ref."""
    try:
        event = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError, RecursionError):
        event = {}
    for holder in ("pull_request", "issue"):
        found = event.get(holder) if isinstance(event, dict) else None
        if isinstance(found, dict) and isinstance(found.get("number"), int):
            return int(found["number"])
    match = _OF_PULL.match(ref)
    return int(match[1]) if match else None


def _gitlab(number: int | None, wait: Wait) -> Forge:
    project = _variable("CI_PROJECT_ID", "the project's number")
    url = checked_base_url(_variable("CI_API_V4_URL", "the API's address"), "CI_API_V4_URL")
    named = os.environ.get("CI_MERGE_REQUEST_IID", "")
    if number is None and named.isascii() and named.isdigit():
        number = int(named)
    if number is None:
        raise UsageError("the job is for no merge request: name one with --number, or leave --post out")
    if os.environ.get("GITLAB_TOKEN", "").strip():
        return _GitLab(url, project, number, ("PRIVATE-TOKEN", _token("GITLAB_TOKEN")), wait)
    return _GitLab(url, project, number, ("JOB-TOKEN", _token("CI_JOB_TOKEN")), wait)


def _variable(name: str, expected: str) -> str:
    found = os.environ.get(name, "").strip()
    if not found:
        raise ConfigError(name, "nothing: the variable is not set", expected)
    return found


def _token(variable: str) -> Secret:
    found = Secret.from_environment(variable, variable)
    assert found is not None  # noqa: S101 - a variable is named
    return found
