"""Formulas that few logs name, by values worked out by hand."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest

from benchbook.exchange.audit import auditing
from benchbook.exchange.log import Claim, LogSample, LogScore
from exchange.audit.made_logs import MadeLog, claim, epochs, header, judged, sample, samples

# Two trials: 1, 0, 1 and 1, 1, 1; their means are 2/3 and 1.
TRIALS = epochs([1, 1], [0, 1], [1, 1])
GROUPED = [
    sample(f"{group}{at}", value, metadata={"task": group})
    for group, values in (("x", (1, 0)), ("y", (1, 1, 1, 1)))
    for at, value in enumerate(values)
]


def in_parts(*parts: tuple[float, float]) -> list[LogSample]:
    return [sample(f"s{at}", scores={"match": LogScore(value=None, parts=one)}) for at, one in enumerate(parts)]


LABELS = in_parts((1, 1), (1, 0), (0, 1), (0, 0), (1, 1))


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param(samples(1.0, 2.0, 3.0, 9.0), claim(3.0, "upper_median"), id="upper-median"),
        pytest.param(samples(1.0, 3.0), claim(1.0, "population_std"), id="population-std"),
        pytest.param(samples(1.0, 3.0), claim(1.0, "population_var"), id="population-var"),
        pytest.param(samples(4.0), claim(0.0, "population_std"), id="a-population-of-one"),
        pytest.param(samples(-1.0, -3.0), claim(exp(2), "perplexity"), id="perplexity"),
        pytest.param(in_parts((-4, 2), (-2, 1)), claim(exp(2), "weighted_perplexity"), id="weighted-perplexity"),
        pytest.param(in_parts((-4, 2), (-2, 1)), claim(2 / log(2), "bits_per_unit"), id="bits-per-unit"),
        pytest.param(LABELS, claim(4 / 6, "f1"), id="f1"),  # 2 hits, 3 right and 3 given
        # 5 of 5 samples: agreed 3 * 5 - (3 * 3 + 2 * 2) = 2; spreads 25 - 13 = 12 each.
        pytest.param(LABELS, claim(2 / 12, "matthews"), id="matthews"),
        pytest.param(LABELS, claim(5, "n_scored"), id="parts-are-scored"),
        pytest.param(GROUPED, claim(0.75, "mean_of_means", clusters="task"), id="mean-of-means"),  # 0.5 and 1
        # Squared distances 0.5 and 0; over 6 - 2, over 6.
        pytest.param(GROUPED, claim(sqrt(0.5 / 4 / 6), "pooled_stderr", clusters="task"), id="pooled"),
        # Squared errors 0.5 / 2 and 0.
        pytest.param(GROUPED, claim(0.25, "stderr_of_means", clusters="task"), id="error-of-the-mean-of-means"),
        pytest.param(TRIALS, claim(5 / 6, of_repeats=True), id="mean-of-trials"),
        pytest.param(TRIALS, claim(5 / 3, "sum", of_repeats=True), id="sum-of-trials"),
        pytest.param(TRIALS, claim(1 / 6, "population_std", of_repeats=True), id="spread-of-trials"),
        pytest.param(
            [sample("a", 1.0, metadata={"cost": 0.5}), sample("b", 1.0), sample("c", 1.0, metadata={"cost": "much"})],
            claim(0.5, "sum", scorer="", field="cost"),
            id="a-field-of-the-metadata",
        ),
        pytest.param(
            [sample("a", 1.0, input_tokens=3, output_tokens=4), sample("b", 1.0, input_tokens=1, output_tokens=0)],
            claim(8, "sum_of_tokens"),
            id="tokens",
        ),
    ],
)
def test_these_follow(held: list[LogSample], said: Claim) -> None:
    found = judged(held, said)
    assert found.verdict == "follows", found


@pytest.mark.parametrize(
    ("held", "said", "code"),
    [
        pytest.param(LABELS, claim(0.9, "f1"), "no_simple_reason", id="f1"),
        pytest.param(
            samples(1.0, 3.0), claim(2 / sqrt(2), "population_std"), "another_formula", id="sample-for-population"
        ),
        pytest.param(
            [sample("a", 1.0, input_tokens=3), sample("b", 1.0)],
            claim(2, "sum_of_input_tokens"),
            "outside_of_what_is_possible",
            id="fewer-tokens-than-are-held",
        ),
    ],
)
def test_these_do_not_follow(held: list[LogSample], said: Claim, code: str) -> None:
    found = judged(held, said)
    assert (found.verdict, found.reason_code) == ("does_not_follow", code), found


def test_parts_that_are_not_in_the_file_leave_it_open() -> None:
    assert judged(samples(1.0, 0.0), claim(0.5, "f1")).verdict == "can_not_be_told"


def test_a_number_of_a_whole_file_follows_from_all_its_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes of both logs: 2 of the first and 1 of the second; ids are those of each log."""
    claims = [
        claim(value, None, scorer="", metric=name, why_not="of all columns", of_file=formula)
        for name, value, formula in (
            ("successes", 3, "n_passed"), ("wrong", 9, "n_passed"), ("tokens", 12, "sum_of_input_tokens"),
        )
    ]  # fmt: skip
    halves = [
        [sample("0", 1.0, input_tokens=2), sample("1", 1.0, input_tokens=2)],
        [sample("0", 1.0, input_tokens=4), sample("1", 0.0, input_tokens=4)],
    ]
    logs = [MadeLog(header(*claims, n_claimed=2), held) for held in halves]
    monkeypatch.setattr(auditing, "opened_logs", lambda path, tool, on_broken: iter(logs))
    found = list(auditing.audits_of("made.json"))
    assert [one.n_held for one in found] == [2, 2]
    for one in found:
        told = {number.metric: (number.verdict, number.computed) for number in one.numbers}
        assert told == {
            "successes": ("follows", 3.0), "wrong": ("does_not_follow", 3.0), "tokens": ("follows", 12.0)
        }  # fmt: skip
    assert auditing.together(found).n_do_not_follow == 2


def test_alone_a_number_of_a_whole_file_can_not_be_told() -> None:
    said = claim(3, None, why_not="of all columns", of_file="n_passed")
    assert judged(samples(1.0), said).reason == "of all columns"
