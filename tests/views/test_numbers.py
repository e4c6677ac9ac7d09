"""Numbers as text: a rate has its n, a null its reason, and nothing is rounded onto a limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.intervals import Interval
from benchbook.views import numbers


@pytest.mark.parametrize(
    ("value", "n", "shown"),
    [
        pytest.param(0.87, 100, "87.0 % (n = 100)", id="plain"),
        pytest.param(None, 0, "– (no data)", id="no data"),
        pytest.param(0.0, 12_345, "0.0 % (n = 12,345)", id="none of them"),
        pytest.param(1.0, 3, "100.0 % (n = 3)", id="all of them"),
        pytest.param(0.9996, 2500, "99.96 % (n = 2,500)", id="not all of them"),
        pytest.param(0.000001, 10**6, "0.0001 % (n = 1,000,000)", id="not none of them"),
        pytest.param(0.8705, 2000, "87.0 % (n = 2,000)", id="half to even, from the decimal"),
        pytest.param(0.333333333, 3, "33.3 % (n = 3)", id="a third"),
    ],
)
def test_a_rate_has_its_n(value: float | None, n: int, shown: str) -> None:
    assert numbers.show("rate", value, n=n) == shown


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (numbers.show("ms", 1234.0), "1,234 ms"),
        (numbers.show("ms", 1234.5), "1,234 ms"),
        (numbers.show("ms", None, unknown="not measured"), "– (not measured)"),
        (numbers.show("tokens", 1_234_567), "1,234,567"),
        (numbers.score(0.653585214), "0.6536"),
        (numbers.score(0.99999), "0.99999"),
        (numbers.score(None, "parse_error"), "– (parse_error)"),
        (numbers.show("grade", 1.5), "1.500"),
        (numbers.show("score", 0.799996, apart_from=0.8), "0.799996"),
        (numbers.show("rate", 0.849999999, apart_from=0.85), "84.9999999 %"),
        (numbers.show("ms", 10000.4, apart_from=10000.0), "10,000.4 ms"),
        (numbers.show("ms", 10000.0, apart_from=10000.0), "10,000 ms"),
        (numbers.limit("score", 0.8), "0.80"),
        (numbers.limit("score", 0.825), "0.825"),
        (numbers.limit("rate", 0.85), "85 %"),
        (numbers.limit("rate", 0.975), "97.5 %"),
        (numbers.limit("ms", 10000.0), "10,000 ms"),
        (numbers.money("0.042118"), "$0.042118"),
        (numbers.money("1234.500000"), "$1,234.50"),
        (numbers.money("0E-6"), "$0.00"),
        (numbers.money("1E+3"), "$1,000.00"),
        (numbers.money(None), "– (no price given)"),
        (numbers.money("free"), "– (not an amount: free)"),
        (numbers.seconds(1234), "1.234"),
        (numbers.seconds(None), "0"),
        (numbers.short_hash("sha256:" + "0123456789abcdef" * 4), "0123456789ab…"),
        (numbers.short_hash("0.1.0"), "0.1.0"),
        (numbers.short_hash(None), "– (not known)"),
        (numbers.short_model("local/small@sha256:" + "0123456789abcdef" * 4), "local/small@sha256:0123456789ab…"),
        (numbers.short_model("openai/gpt-4.1@2025-04-14"), "openai/gpt-4.1@2025-04-14"),
        (numbers.nothing(), "–"),
    ],
)
def test_each_kind_of_number(shown: str, text: str) -> None:
    assert shown == text


def interval(**given: Any) -> Interval:
    return Interval(**{"low": 0.791, "high": 0.874, "confidence": 0.95, "method": "wilson", "n": 40, **given})


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (interval(), "79.1 % to 87.4 % (95 % confidence)"),
        (interval(low=None), "up to 87.4 % (95 % confidence)"),
        (interval(high=None, confidence=0.999), "from 79.1 % (99.9 % confidence)"),
        (interval(low=None, high=None, reason="fewer than two samples"), "– (fewer than two samples)"),
        (interval(low=None, high=None), "– (can't be computed)"),
        (None, "– (not computed)"),
    ],
)
def test_an_interval_says_how_sure_it_is(found: Interval | None, text: str) -> None:
    assert numbers.interval("rate", found) == text


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_what_is_shown_is_never_the_limit_unless_the_value_is(value_nano: int, limit_nano: int) -> None:
    value, limit = value_nano / 1e9, limit_nano / 1e9
    for kind, scale in (("score", 1), ("rate", 100), ("ms", 1)):
        shown = numbers.show(kind, value, apart_from=limit)  # type: ignore[arg-type]
        number = Decimal(shown.removesuffix(" %").removesuffix(" ms").replace(",", ""))
        at_limit = number == Decimal(repr(limit)) * scale
        assert not at_limit or value_nano == limit_nano
