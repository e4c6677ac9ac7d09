"""How long a server asks to wait (SPEC R3.6; RFC 9110, section 10.2.3)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.providers.faults import retry_after_s

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("0", 0, id="at-once"),
        pytest.param("120", 120, id="seconds"),
        pytest.param(" 7 ", 7, id="white-space"),
        pytest.param("1.5", 1.5, id="fraction"),
        pytest.param("+5", 5, id="plus"),
        pytest.param("-3", 0, id="negative"),
        pytest.param("9" * 5000, 1e12, id="longer-than-anyone-waits"),
        pytest.param("Fri, 02 Jan 2026 03:05:05 GMT", 60, id="date"),
        pytest.param("Fri, 02 Jan 2026 04:05:05 +0100", 60, id="date-in-another-zone"),
        pytest.param("Fri, 02 Jan 2026 03:05:05 -0000", 60, id="date-without-a-zone"),
        pytest.param("Friday, 02-Jan-26 03:05:05 GMT", 60, id="date-of-rfc-850"),
        pytest.param("Fri Jan  2 03:05:05 2026", 60, id="date-of-asctime"),
        pytest.param("Fri, 02 Jan 2026 03:04:04 GMT", 0, id="a-second-ago"),
        pytest.param("Thu, 01 Jan 1970 00:00:00 GMT", 0, id="long-ago"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 GMT", 251_634_977_754, id="far-off"),
    ],
)
def test_both_forms(value: str, seconds: float) -> None:
    assert retry_after_s({"retry-after": value}, NOW) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "soon", "inf", "-inf", "nan", "1e3", "0x10", "1_000", "٣", "1,5", "5 seconds", "1 2", "None",
        "Fri, 99 Jan 2026 03:05:05 GMT", "Fri, 02 Jan 2026", "Fri, 02 Jan 2026 03:05:05 +99999999999999999999",
        "Fri, 02 Jan 99999999999 03:05:05 GMT", "Fri, 31 Dec 9999 23:59:59 -9999", ",", ":", "\0",
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_not_told(value: str) -> None:
    assert retry_after_s({"retry-after": value}, NOW) is None


def test_nothing_is_told() -> None:
    assert retry_after_s({}, NOW) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "-1"}, 0),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after-ms": "inf", "retry-after": "9"}, 9),
        ({"retry-after-ms": "", "retry-after": ""}, None),
    ],
    ids=["alone", "goes-first", "negative", "unreadable", "infinite", "both-empty"],
)
def test_milliseconds_are_finer(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


_dates = st.from_regex(
    r"[A-Z][a-z]{2}, [0-9]{1,3} (Jan|Feb|x) [0-9]{1,30} [0-9:]{0,12} ([+-][0-9]{1,30}|GMT)?", fullmatch=True
)


@given(st.text() | _dates)
def test_any_header_is_a_wait_or_none(value: str) -> None:
    wait = retry_after_s({"retry-after": value}, NOW)
    assert wait is None or 0 <= wait <= 1e12
