"""Properties of audits: no order matters, nothing breaks them, and true numbers follow."""

from __future__ import annotations

import statistics
from math import sqrt
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from benchbook.exchange.log import Claim, Formula, LogFailure, LogSample, LogScore
from exchange.audit.made_logs import audit, claim, judged, sample
from hostile import texts
from support import examples

values = st.floats(-1e6, 1e6).map(lambda one: round(one, 6))
formulas = st.sampled_from(get_args(Formula))
reducers = st.sampled_from(
    (None, "mean", "median", "max", "min", "majority", "at_least_2", "pass_at_2", "pass_k_1", "own")
)


@given(st.lists(values, min_size=2, max_size=30))
@examples(60)
def test_true_numbers_follow(found: list[float]) -> None:
    held = [sample(str(at), one) for at, one in enumerate(found)]
    spread = statistics.stdev(found)
    for said in (
        claim(statistics.fmean(found)),
        claim(spread, "std"),
        claim(spread / sqrt(len(found)), "stderr"),
        claim(statistics.median(found), "median"),
    ):
        assert judged(held, said).verdict == "follows"


def scores() -> st.SearchStrategy[dict[str, LogScore]]:
    numbers = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from((0.0, 1.0, 0.5))
    parts = st.none() | st.tuples(numbers, numbers) | st.just(())
    one = st.builds(
        LogScore, value=st.none() | numbers, parts=parts, passed=st.none() | st.booleans(), explanation=texts
    )
    return st.dictionaries(st.sampled_from(("match", "other")), one, max_size=2)


samples_of_any_kind = st.builds(
    LogSample,
    id=st.sampled_from(("a", "b", "c", "1", "")) | texts,
    repeat=st.integers(-1, 3),
    prompt=texts,
    answer=st.none() | texts,
    scores=scores(),
    failure=st.none() | st.builds(LogFailure, message=texts),
    limit=st.none() | st.just("token"),
    group=st.none() | texts,
    input_tokens=st.none() | st.integers(0, 10**30),
    metadata=st.dictionaries(st.sampled_from(("doc", "cost")), st.none() | st.integers() | texts, max_size=2),
)
claims = st.builds(
    Claim,
    scorer=st.sampled_from(("match", "other", "", "absent")),
    metric=texts,
    value=st.none() | st.floats() | st.sampled_from((0.0, 1.0, 0.5)),
    where=texts,
    formula=st.none() | formulas,
    of_file=st.none() | formulas,
    field=st.none() | st.just("cost"),
    reducer=reducers,
    of_repeats=st.booleans(),
    clusters=st.none() | st.just("doc"),
    only=st.none() | st.tuples(st.just("doc"), texts),
    decimals=st.none() | st.integers(0, 6),
)


@given(st.lists(samples_of_any_kind, max_size=8), st.lists(claims, max_size=4), st.none() | st.integers(0, 12))
@examples(150)
def test_nothing_breaks_an_audit(held: list[LogSample], said: list[Claim], n_claimed: int | None) -> None:
    found = audit(held, *said, n_claimed=n_claimed)
    assert len(found.claims) == len(said)
    assert found.n_held + found.ledger.n_doubled == len(held)
    assert {one.verdict for one in found.claims} <= {"follows", "does_not_follow", "can_not_be_told"}
    assert all(one.reason for one in found.claims if one.verdict != "follows")


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from((0.0, 0.5, 1.0, None))), max_size=12),
    formulas,
    reducers,
)
@examples(60)
def test_no_order_matters(found: list[tuple[str, float | None]], formula: Formula, reducer: str | None) -> None:
    counts: dict[str, int] = {}
    held = []
    for name, value in found:
        held.append(sample(name, value, counts.setdefault(name, 0)))
        counts[name] += 1
    said = claim(0.5, formula, reducer=reducer)
    forth, back = judged(held, said), judged(held[::-1], said)
    assert (forth.verdict, forth.computed, forth.n) == (back.verdict, back.computed, back.n)
