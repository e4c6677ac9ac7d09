"""Which numbers follow, which don't and why, and which can't be told: values worked out by hand."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import pytest

from benchbook.exchange.log import Claim, LogSample, LogScorer
from exchange.audit.made_logs import audit, claim, epochs, judged, sample, samples, scored

FOUR = samples(1.0, 1.0, 1.0, 0.0)
# Means of the items: 1, 0.5, 0; so mean 0.5, deviation 0.5.
REPEATED = epochs([1, 1], [1, 0], [0, 0])
GROUPED = [
    sample("a", 1.0, metadata={"doc": "x"}),
    sample("b", 1.0, metadata={"doc": "x"}),
    sample("c", 0.0, metadata={"doc": "y"}),
    sample("d", 1.0, metadata={"doc": "y"}),
]
WITH_FAILURES = samples(1.0, 1.0, 0.0, "failed", "failed")
MANY = samples(*[1.0] * 6, *[0.0] * 4)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param(FOUR, claim(0.75), id="mean"),
        pytest.param(FOUR, claim(0.25, "stderr"), id="stderr"),  # s = 0.5, n = 4
        pytest.param(FOUR, claim(0.5, "std"), id="std"),
        pytest.param(FOUR, claim(0.25, "var"), id="var"),
        pytest.param(FOUR, claim(0, "min"), id="min"),
        pytest.param(FOUR, claim(1, "max"), id="max"),
        pytest.param(FOUR, claim(1, "median"), id="median"),
        pytest.param(FOUR, claim(3, "sum"), id="sum"),
        pytest.param(FOUR, claim(0.75, "share_of_ones"), id="share-of-ones"),
        pytest.param(FOUR, claim(4, "n_samples"), id="n-samples"),
        pytest.param(WITH_FAILURES, claim(3, "n_scored"), id="n-scored"),
        pytest.param(WITH_FAILURES, claim(2, "n_passed"), id="n-passed"),
        pytest.param(WITH_FAILURES, claim(1, "n_failed"), id="n-failed"),
        pytest.param(WITH_FAILURES, claim(2, "n_errors"), id="n-errors"),
        pytest.param(WITH_FAILURES, claim(3, "n_completed"), id="n-completed"),
        pytest.param(
            [*WITH_FAILURES, sample("x", "failed", scores={"match": scored(1.0)})],
            claim(4, "n_completed"),
            id="a-failed-sample-that-was-scored-may-be-completed",
        ),
        pytest.param(WITH_FAILURES, claim(0, "n_unscored"), id="a-failure-without-an-entry-is-not-counted-as-unscored"),
        pytest.param(samples(1.0, None), claim(1, "n_unscored"), id="nan-is-unscored"),
        pytest.param(samples(True, False, True, True), claim(0.75), id="booleans"),
        pytest.param(samples(0.1, 0.2, 0.3), claim(0.19999999999999998), id="another-order-of-summation"),
        pytest.param(samples(0.3, 0.3, 0.3), claim(7.45e-9, "population_std"), id="no-spread-but-for-rounding"),
        pytest.param(samples(0.3, 0.3, 0.3), claim(-5.5e-17, "population_var"), id="a-variance-just-below-0"),
        pytest.param(samples(1.0, 0.0, 0.0), claim(0.333), id="rounded-by-hand"),
        pytest.param(samples(1.0, 0.0, 0.0), claim(0.33, decimals=2), id="as-the-tool-rounds"),
        pytest.param(samples(1.0, None), claim(1.0), id="unscored-ones-are-no-zeros"),
        pytest.param(samples(1.0), claim(0.0, "stderr"), id="one-value-written-as-0"),
        pytest.param(samples(1.0), claim(None, "stderr"), id="one-value-and-null"),
        pytest.param(samples(None, None), claim(nan), id="nothing-scored-and-nan"),
        pytest.param(REPEATED, claim(0.5, reducer="mean"), id="mean-of-means"),
        pytest.param(REPEATED, claim(0.5 / sqrt(3), "stderr", reducer="mean"), id="stderr-over-item-means"),
        pytest.param(REPEATED, claim(2 / 3, reducer="max"), id="max"),
        pytest.param(REPEATED, claim(1 / 3, reducer="min"), id="min-of-repeats"),
        pytest.param(REPEATED, claim(0.5, reducer="median"), id="median-of-repeats"),
        pytest.param(REPEATED, claim(2 / 3, reducer="mode"), id="mode-by-the-first-of-ties"),
        pytest.param(REPEATED, claim(2 / 3, reducer="at_least_1"), id="at-least-1"),
        pytest.param(REPEATED, claim(1 / 3, reducer="at_least_2"), id="at-least-2"),
        pytest.param(REPEATED, claim(0.5, reducer="pass_at_1"), id="pass-at-1"),
        pytest.param(REPEATED, claim(2 / 3, reducer="pass_at_2"), id="pass-at-2"),
        pytest.param(REPEATED, claim(1 / 3, reducer="pass_k_2"), id="pass-k-2"),
        pytest.param(epochs([1, 0, 0, 0], [0, 0, 0, 0]), claim(0.25, reducer="pass_at_2"), id="pass-at-2-of-4"),
        pytest.param(epochs([1, 1, 0], [1, None, 0]), claim(1.0, reducer="majority"), id="no-majority-is-no-value"),
        pytest.param(REPEATED, claim(3, "n_scored", reducer="mean"), id="scored-items-after-reduction"),
        pytest.param(
            epochs([1, 1], [None, None], ["failed", "failed"]),
            claim(1, "n_unscored", reducer="mean"),
            id="an-item-that-failed-each-time-has-no-entry",
        ),
        pytest.param(REPEATED, claim(6, "n_samples"), id="samples-of-all-repeats"),
        # Deviations from 0.75: x 0.5, y -0.5; squares 0.5; with 2 / 1 the root of 1, over 4.
        pytest.param(GROUPED, claim(0.25, "stderr_of_clusters", clusters="doc"), id="clustered-and-corrected"),
        pytest.param(GROUPED, claim(sqrt(0.5) / 4, "stderr_of_clusters", clusters="doc"), id="clustered-as-in-miller"),
        pytest.param(GROUPED, claim(0.5, only=("doc", "y")), id="of-a-group"),
        pytest.param([], claim(0, "n_samples"), id="an-empty-log"),
    ],
)
def test_these_follow(held: list[LogSample], said: Claim) -> None:
    found = judged(held, said)
    assert found.verdict == "follows", found


@pytest.mark.parametrize(
    ("held", "said", "computed", "code"),
    [
        pytest.param(FOUR, claim(0.8), 0.75, "no_simple_reason", id="by-hand"),
        pytest.param(WITH_FAILURES, claim(0.4), 2 / 3, "failures_as_zero", id="failures-as-zero"),
        pytest.param(samples(1.0, 1.0, 0.0, None), claim(0.5), 2 / 3, "failures_as_zero", id="nan-as-zero"),
        pytest.param(
            [*samples(1.0, 1.0, 0.0), sample("f", 0.0, limit="token")],
            claim(2 / 3),
            0.5,
            "failures_dropped",
            id="limits",
        ),
        pytest.param(
            [*samples(1.0, 1.0, 0.0), sample("f", 0.0, answer=None)], claim(2 / 3), 0.5, "failures_dropped", id="silent"
        ),
        pytest.param(REPEATED, claim(2 / 3, reducer="mean"), 0.5, "another_reducer", id="max-for-mean"),
        pytest.param(REPEATED, claim(1 / 3, reducer="max"), 2 / 3, "another_reducer", id="all-for-max"),
        pytest.param(
            epochs([1, 1, 0], [0]), claim(0.5, reducer="mean"), 1 / 3, "repeats_not_reduced", id="repeats-not-reduced"
        ),
        pytest.param(epochs([1, 1, 0], [0]), claim(1 / 3), 0.5, "repeats_reduced", id="reduced-without-a-word"),
        pytest.param(
            [sample("a", 1.0), sample("a", 0.0), sample("b", 0.0)], claim(1 / 3), 0.0, "doubled_counted", id="doubled"
        ),
        pytest.param(
            [*samples(1.0, 0.0), sample("long", 1.0, answer="x" * 2000)],
            claim(1 / 3),
            2 / 3,
            "truncated_summaries",
            id="cut-and-so-0",
        ),
        pytest.param(FOUR, claim(sqrt(3) / 4, "std"), 0.5, "whole_population", id="population"),
        pytest.param(FOUR, claim(0.5, "stderr"), 0.25, "another_formula", id="deviation-for-error"),
        # Deviations: x 2/3, y -2/3; the root of 16/9, over 3. Without clusters: s^2 = 1/3, and 1/3.
        pytest.param(
            GROUPED[:3], claim(1 / 3, "stderr_of_clusters", clusters="doc"), 4 / 9, "clusters_ignored", id="naive"
        ),
        pytest.param(FOUR, claim(75.0), 0.75, "percent", id="percent"),
        pytest.param(samples(1.0, 0.0, 0.0), claim(33.33), 1 / 3, "percent", id="percent-and-rounded"),
        pytest.param(samples(1.0, 0.0, 0.0), claim(0.33), 1 / 3, "rounding", id="rounded-too-far"),
        pytest.param(MANY, claim(6 / 7), 0.6, "fewer_samples", id="the-first-seven"),
        pytest.param(FOUR, claim(5, "n_samples"), 4.0, "fewer_samples", id="fewer-than-claimed"),
        pytest.param(WITH_FAILURES, claim(5, "n_scored"), 3.0, "failures_as_zero", id="failures-among-the-scored"),
        pytest.param(FOUR, claim(2, "n_passed"), 3.0, "no_simple_reason", id="passes-by-hand"),
        pytest.param(samples("failed", "failed"), claim(0.5), None, "nothing_scored", id="nothing-scored"),
    ],
)
def test_these_do_not_follow(held: list[LogSample], said: Claim, computed: float | None, code: str) -> None:
    found = judged(held, said)
    assert (found.verdict, found.reason_code) == ("does_not_follow", code), found
    assert computed is None or found.computed == pytest.approx(computed)
    assert found.reason


@pytest.mark.parametrize(
    ("held", "said", "fields", "code", "words"),
    [
        pytest.param(
            samples("failed"),
            claim(0.7051282051282052),
            {"n_claimed": 80},
            "samples_absent",
            "79 of 80 samples are not in the file",
            id="79-of-80",
        ),
        pytest.param(
            samples(0.0), claim(0.3544), {"n_claimed": 79}, "samples_absent", "78 of 79 samples are not", id="78-of-79"
        ),
        pytest.param(
            [sample("1", "absent")],
            claim(1.0),
            {"n_claimed": 4},
            "samples_absent",
            "3 of 4 samples are not",
            id="scores",
        ),
        pytest.param(
            samples("absent", "absent"), claim(1.0), {}, "scores_absent", "2 of 2 samples have no score", id="no-scores"
        ),
        pytest.param(
            FOUR,
            claim(0.75),
            {"n_claimed": 5},
            "samples_absent",
            "those that are held give the same",
            id="same-by-chance",
        ),
        pytest.param(FOUR, claim(None), {}, "no_number", "give 0.75", id="null"),
        pytest.param(
            FOUR, claim(0.3, None, why_not="drawn at random"), {}, "no_formula", "drawn at random", id="random"
        ),
        pytest.param(FOUR, claim(0.3, reducer="collect"), {}, "no_formula", "collect", id="a-reducer-of-its-own"),
        pytest.param(
            epochs([0.5, 0.5], [0, 0]),
            claim(0.5, reducer="pass_at_1"),
            {},
            "unknown_parameter",
            "from 0.5 on",
            id="threshold",
        ),
        pytest.param(epochs([1, 0], [1, 0], [0, 0]), claim(1 / 3, reducer="mode"), {}, "ties", "as common", id="ties"),
        pytest.param(FOUR, claim(9, "sum_of_input_tokens"), {}, "tokens_unknown", "4 of 4 samples", id="tokens"),
        pytest.param(GROUPED, claim(0.5, only=("doc", "z")), {}, "scores_absent", "'z' as its doc", id="no-such-group"),
        pytest.param(
            FOUR,
            claim(0.5, "stderr_of_clusters", clusters="doc"),
            {},
            "scores_absent",
            "the field doc",
            id="no-such-field",
        ),
        pytest.param([], claim(0.5), {}, "samples_absent", "holds no sample", id="a-header-alone"),
        pytest.param(
            samples(1e308, -1e308, 1e308), claim(1.0, "std"), {}, "can_not_be_computed", "too large", id="huge"
        ),
    ],
)
def test_these_can_not_be_told(
    held: list[LogSample], said: Claim, fields: dict[str, Any], code: str, words: str
) -> None:
    found = judged(held, said, **fields)
    assert (found.verdict, found.reason_code) == ("can_not_be_told", code), found
    assert words in found.reason


@pytest.mark.parametrize(
    ("held", "said", "n_claimed", "reach"),
    [
        # One of five is absent: at most 4 of 5, at least 3 of 5.
        pytest.param(FOUR, claim(0.9), 5, "from 0.6 to 0.8", id="more-than-can-be"),
        pytest.param(FOUR, claim(0.5), 5, "from 0.6 to 0.8", id="less-than-can-be"),
        pytest.param(FOUR, claim(3, "n_samples"), 5, "from 4 to 5", id="fewer-than-are-held"),
        pytest.param(FOUR, claim(0.5, "max"), 5, "1 at least", id="max-below-what-is-held"),
        pytest.param(FOUR, claim(-0.1, "stderr"), 5, "0 at least", id="an-error-below-0"),
        pytest.param(REPEATED, claim(1.5, reducer="max"), 7, "from 0 to 1", id="outside-of-the-scale"),
    ],
)
def test_a_number_that_no_absent_sample_could_give_does_not_follow(
    held: list[LogSample], said: Claim, n_claimed: int, reach: str
) -> None:
    found = judged(held, said, n_claimed=n_claimed)
    assert (found.verdict, found.reason_code) == ("does_not_follow", "outside_of_what_is_possible"), found
    assert reach in found.reason


def test_absent_samples_that_were_never_scored_had_no_part() -> None:
    """The log says that 4 were scored, and 4 are: the other is of no matter."""
    found = audit(FOUR, claim(0.75), claim(4, "n_scored"), n_claimed=5)
    assert [one.verdict for one in found.numbers] == ["follows", "follows"]


@pytest.mark.parametrize(
    ("claimed", "n_scored", "verdict", "reason"),
    [
        (0.75, 4, "follows", ""),
        (0.5, 4, "does_not_follow", "no simple reason reproduces it"),  # none of the absent ones was scored
        (5 / 7, 7, "can_not_be_told", "4 of 8 samples are not in the file"),
        (0.4, 7, "does_not_follow", "from 0.4285714286 to 0.8571428571"),  # 3 of 7 at least
        (0.4, 6, "does_not_follow", "from 0.5 to 0.8333333333"),
        (0.4, 3, "can_not_be_told", "4 of 8 samples are not in the file"),  # fewer than are held: no help
    ],
)
def test_how_many_were_scored_says_what_is_possible(claimed: float, n_scored: int, verdict: str, reason: str) -> None:
    found = audit(FOUR, claim(claimed), claim(n_scored, "n_scored"), n_claimed=8).numbers[0]
    assert found.verdict == verdict, found
    assert reason in found.reason


def test_without_a_scale_nothing_is_said_of_what_is_possible() -> None:
    found = judged(FOUR, claim(7.0), n_claimed=5, scorers=(LogScorer(name="match"),))
    assert found.verdict == "can_not_be_told"


def test_of_a_number_that_follows_it_is_said_how_many_had_no_score() -> None:
    found = judged(WITH_FAILURES, claim(2 / 3))
    assert found.reason == "of 3 samples that were scored; 2 have no score"
