"""The meaning of a server's refusal: its cause, and whether to ask again or to stop the run (SPEC R3.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from benchbook.ask.providers.calls import CallFailed
from benchbook.ask.providers.error_body import (
    Told,
    codes_of,
    read_error,
    read_error_body,
    refused_parameter,
    told_detail,
)
from benchbook.record.facts import FailureCause

_DECIMAL = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?)")
_LONGEST = 1e12
_MAX_DEPTH = 8
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Fields that name a wait, without case and punctuation, and the seconds in the unit of a bare number.
_UNIT_OF_FIELD = {
    "retryafter": 1.0, "retryafterseconds": 1.0, "retrydelay": 1.0,
    "retryafterms": 0.001, "retryaftermilliseconds": 0.001,
}  # fmt: skip
_UNIT = (
    r"(?:(?P<ms>ms|msecs?|milliseconds?)|(?P<s>s|secs?|seconds?)|(?P<m>m|mins?|minutes?)|(?P<h>h|hrs?|hours?)"
    r"|(?P<d>d|days?))"
)
_ONE = re.compile(rf"([0-9]{{1,15}}(?:\.[0-9]{{1,12}})?)\s*{_UNIT}(?![a-z])", re.IGNORECASE)
_SOME = r"[0-9]{1,15}(?:\.[0-9]{1,12})?\s*(?:[a-z]+)"
# `try again in 1.5s`, `retry after 26 seconds`, `wait 2 minutes`, `resets in 1h2m3s`
_IN_WORDS = re.compile(
    r"\b(?:again|retry(?:ing)?|wait(?:ing)?|resets?|available|back(?: off)?|try|retried)\b(?:\s+[a-z'-]+){0,6}?[\s:]+"
    r"(?:(?:in|after|for|within|about|another|approximately|around|at least)\s+)*"
    rf"(?P<time>{_SOME}(?:[\s,]*(?:and\s+)?{_SOME}){{0,3}})",
    re.IGNORECASE,
)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, 0 or more; None if the server does not say, or its value can't be read.

    The names in `headers` are in lower case. A date in the past means 0: no negative wait, and no error.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def reset_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until a limit is reset, by `x-ratelimit-reset…`: the last of the spent limits, else the first of all."""
    waits: list[float] = []
    spent: list[float] = []
    for kind in ("-requests", "-tokens", ""):
        wait_s = _moment_s(headers.get(f"x-ratelimit-reset{kind}", ""), now)
        if wait_s is not None:
            waits.append(wait_s)
            if _number(headers.get(f"x-ratelimit-remaining{kind}")) == 0:
                spent.append(wait_s)
    return max(spent) if spent else min(waits, default=None)


def told_wait_s(told: Told) -> float | None:
    """Seconds to wait by an error's body: by a field of it, else by its words."""
    for name, value in _fields(told.parts[-1] if told.parts else None, 0):
        if name in _UNIT_OF_FIELD:
            wait_s = _plain(value)
            if wait_s is not None:
                return round(wait_s * _UNIT_OF_FIELD[name], 6)
            if isinstance(value, str) and (wait_s := _duration_s(value)) is not None:
                return wait_s
    waits = (_duration_s(found["time"]) for found in _IN_WORDS.finditer(told.message))
    return next((wait_s for wait_s in waits if wait_s is not None), None)


def _fields(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every named value in an object, at any depth up to a limit."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, entry in value.items():
            yield re.sub(r"[\W_]", "", str(name)).lower(), entry
            yield from _fields(entry, depth + 1)
    elif isinstance(value, list):
        for entry in value:
            yield from _fields(entry, depth + 1)


def _plain(value: Any) -> float | None:
    if isinstance(value, str):
        return _number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return min(float(value), _LONGEST)


def _duration_s(text: str) -> float | None:
    """The seconds in `6m0s`, `1.5s`, `120ms` or `2 minutes`; None if the first piece is not a time."""
    total, at = 0.0, 0
    for piece in _ONE.finditer(text):
        if text[at : piece.start()].strip(" ,\tand"):
            break
        total += float(piece[1]) * _UNITS[str(piece.lastgroup)]
        at = piece.end()
    return round(min(total, _LONGEST), 6) if at else None


def _moment_s(value: str, now: datetime) -> float | None:
    """The seconds to a reset given as a duration, as seconds, or as a time in seconds or milliseconds since 1970."""
    number = _number(value)
    if number is None:
        return _duration_s(value)
    if number > 1e11:
        number /= 1000
    return max(0.0, number - now.timestamp()) if number > 1e9 else number


def _number(value: str | None) -> float | None:
    """A plain decimal, between 0 and `_LONGEST`, which is more than anyone can wait."""
    match = _DECIMAL.fullmatch(value.strip()) if value is not None else None
    if match is None:
        return None
    return 0.0 if match[1] == "-" else min(float(match[2]), _LONGEST)


# Causes that a person must mend: the next sample would be refused alike (R3.6a).
STOPS_RUN: frozenset[FailureCause] = frozenset({"authentication", "payment", "not_found", "parameter"})
_STATUS = re.compile("[45][0-9][0-9]")
# The status that a server's word or number for an error means, without case and punctuation.
_STATUS_OF_CODE = {
    "ratelimitexceeded": 429, "ratelimiterror": 429, "ratelimitreached": 429, "ratelimited": 429,
    "toomanyrequests": 429, "resourceexhausted": 429, "throttling": 429, "throttlingexception": 429,
    "throttlingratequota": 429, "requestlimitexceeded": 429,
    "1302": 429, "1303": 429, "1305": 429,  # z.AI: too many at once, too often
    "overloadederror": 503, "overloaded": 503, "engineoverloaderror": 503, "serviceunavailable": 503,
    "serviceunavailableerror": 503, "unavailable": 503, "modelnotready": 503,
    "servererror": 500, "internalservererror": 500, "internalerror": 500, "internal": 500, "apierror": 500,
    "badgateway": 502, "gatewaytimeout": 504, "deadlineexceeded": 504,
    "timeout": 408, "timeouterror": 408, "requesttimeout": 408,
    "invalidapikey": 401, "authenticationerror": 401, "unauthorized": 401, "unauthenticated": 401,
    "apikeyinvalid": 401, "incorrectapikey": 401, "invalidauthentication": 401,
    "1000": 401, "1001": 401, "1002": 401, "1003": 401, "1004": 401,  # z.AI
    "permissionerror": 403, "permissiondenied": 403, "forbidden": 403, "accessdenied": 403,
    "insufficientquota": 402, "billinghardlimitreached": 402, "billingnotactive": 402, "billingerror": 402,
    "insufficientbalance": 402, "insufficientcredits": 402, "paymentrequired": 402, "arrearage": 402,
    "exceededcurrentquotaerror": 402, "1113": 402,  # z.AI: in arrears
    "modelnotfound": 404, "modelnotfounderror": 404, "notfounderror": 404, "notfound": 404, "deploymentnotfound": 404,
    "unknownmodel": 404, "modelnotexist": 404, "1211": 404,
    "invalidrequesterror": 400, "invalidargument": 400, "badrequest": 400, "badrequesterror": 400,
    "contextlengthexceeded": 400, "unsupportedparameter": 400, "unsupportedvalue": 400, "invalidvalue": 400,
    "contentfilter": 400, "contentpolicyviolation": 400,
}  # fmt: skip
_MINIMAX = {"1001": 408, "1002": 429, "1004": 401, "1008": 402, "1039": 429, "2013": 400, "2049": 401}
_SPENT = re.compile(
    r"""insufficient[ _-]?(?:quota|balance|credit|fund)|exceeded\ your\ current\ quota|billing[ _-]hard[ _-]limit
    |credit\ balance\ is\ too\ low|(?:not\ enough|no\ more|out\ of|run\ out\ of|no\ remaining)\ (?:credit|balance|fund)
    |(?:quota|credits?|balance)\ (?:has\ been\ |have\ been\ |is\ |are\ )?(?:spent|exhausted|used\ up|depleted)
    |(?:monthly|spend(?:ing)?|billing|budget)\ (?:spend(?:ing)?\ |usage\ )?limits?\b
    |reached\ your\ (?:specified\ )?(?:api\ )?usage\ limits?|requires?\ (?:more\ credits|payment)
    |payment\ (?:is\ )?required|billing\ (?:is\ )?not\ active|in\ arrears|余额不足|欠费""",
    re.IGNORECASE | re.VERBOSE,
)
_BAD_KEY = re.compile(
    r"\b(?:api[ _-]?key|token)\b[^.]{0,30}\b(?:not valid|invalid|incorrect|expired|missing)"
    r"|\b(?:invalid|incorrect|missing|no|expired)\b[^.]{0,20}\bapi[ _-]?key\b",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\b(?:model|deployment|engine)\b[^.\n]{0,200}?\b(?:does not exist|doesn't exist|not found|not exist\b"
    r"|is not available|no longer available|is not supported by|has been (?:deprecated|decommissioned|shut down))"
    r"|\b(?:no such|unknown|invalid|nonexistent) (?:model|deployment)\b",
    re.IGNORECASE,
)
_TOO_OFTEN = re.compile(r"rate.?limit|too many requests|throttl", re.IGNORECASE)
_NO_ADDRESS = (404, 405, 410)


def _cause_of(status: int, told: Told, *, names_wait: bool) -> FailureCause:
    """The cause of a refusal, a refused parameter aside."""
    named = _named_status(told)
    if status == 407:
        return "proxy"
    if status < 400:
        return "broken_reply" if status < 300 else "not_found"  # a redirect: the address is wrong
    if status == 402 or _is_spent(status, named, told, names_wait=names_wait):
        return "payment"
    if status == 429 or (status in (400, 403) and (named == 429 or _TOO_OFTEN.search(told.text))):
        return "rate_limit"
    if status >= 500 or status in (408, 409):
        return "server_error"
    if status in _NO_ADDRESS or named in _NO_ADDRESS or _NO_MODEL.search(told.message):
        return "not_found"
    if status in (401, 403) or named == 401 or _BAD_KEY.search(told.message):
        return "authentication"
    return "request"


def _is_spent(status: int, named: int | None, told: Told, *, names_wait: bool) -> bool:
    """True if the account's money is spent. A limit that a wait lifts is a rate limit, whatever its words (R3.6a)."""
    if status not in (400, 403, 429) or (status == 429 and names_wait):
        return False
    return named == 402 or _SPENT.search(told.text) is not None


def refusal(status: int, headers: Mapping[str, str], body: bytes, request: bytes, latency_ms: int) -> CallFailed:
    """The failure for a reply whose status is not a success; a parameter of `request` may be what is refused."""
    told = read_error_body(body)
    detail = f"status {status}: {told_detail(told, status)}" if body.strip() else f"status {status}"
    if 300 <= status < 400 and "location" in headers:
        detail = f"status {status}: elsewhere, at {headers['location']}"[:300]
    return refused(status, told, detail, headers, request, latency_ms)


def error_in_200(error: Any, request: bytes, latency_ms: int) -> CallFailed:
    """The failure for an error within a 200: by the status that it names, else as the server's fault (R3.6)."""
    told = read_error(error)
    detail = f"status 200 with an error inside: {told_detail(told)}"
    return failed_without_status(told, detail, request, latency_ms)


def broken_off(reason: str | None, latency_ms: int) -> CallFailed:
    """The failure for an answer that the server broke off: half a text is not an answer (R3.6)."""
    return CallFailed(
        "provider_error",
        f"status 200, but the server broke the answer off (finish reason {reason})",
        status=200,
        retryable=True,
        latency_ms=latency_ms,
        cause="server_error",
    )


def broken_reply(detail: str, latency_ms: int) -> CallFailed:
    """The failure for a 200 that is not an answer."""
    return CallFailed("provider_error", detail, status=200, retryable=True, latency_ms=latency_ms, cause="broken_reply")


def failed_without_status(told: Told, detail: str, request: bytes, latency_ms: int) -> CallFailed:
    """The failure for an error without a status. If it names none, it is the server's fault: asking again may help."""
    if (status := _named_status(told)) is not None:
        return refused(status, told, detail, {}, request, latency_ms)
    failed = refused(_status_by_words(told, request) or 500, told, detail, {}, request, latency_ms)
    failed.status = 200
    return failed


def _status_by_words(told: Told, request: bytes) -> int | None:
    """A status for an error that comes in words alone; None if they fit none."""
    if _SPENT.search(told.text):
        return 402
    if _NO_MODEL.search(told.message):
        return 404
    if _BAD_KEY.search(told.message):
        return 401
    if told_wait_s(told) is not None or _TOO_OFTEN.search(told.text):
        return 429
    return 400 if refused_parameter(told, request) else None


def refused(
    status: int, told: Told, detail: str, headers: Mapping[str, str], request: bytes, latency_ms: int
) -> CallFailed:
    """The failure for an error with this status."""
    wait_s = retry_after_s(headers, datetime.now(UTC))
    if wait_s is None and (status == 429 or status >= 500):
        wait_s = told_wait_s(told)
    parameter = refused_parameter(told, request) if status in (400, 422) else None
    cause = _cause_of(status, told, names_wait=wait_s is not None)
    if parameter is not None and cause == "request":
        cause = "parameter"
    if wait_s is None and cause == "rate_limit":
        wait_s = reset_s(headers, datetime.now(UTC))
    return CallFailed(
        "provider_error",
        detail,
        status=status,
        retryable=cause in ("rate_limit", "server_error"),
        stops_run=cause in STOPS_RUN,
        retry_after_s=wait_s,
        latency_ms=latency_ms,
        cause=cause,
        parameter=parameter if cause == "parameter" else None,
    )


def _named_status(told: Told) -> int | None:
    """The first status that an error names, in a number or a word, the innermost part first."""
    for part in told.parts:
        minimax = "status_msg" in part
        for code in codes_of(part):
            if minimax and code in _MINIMAX:
                return _MINIMAX[code]
            if _STATUS.fullmatch(code):
                return int(code)
            if (status := _STATUS_OF_CODE.get(re.sub(r"[\W_]+", "", code).lower())) is not None:
                return status
    return None
