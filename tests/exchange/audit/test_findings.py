"""Beside the numbers: ledgers, intervals, guessed replies, quotes, values outside, prompts that occur again."""

from __future__ import annotations

from math import isclose, nan
from typing import Any

import pytest

from benchbook.exchange.audit import kept as kept_module
from benchbook.exchange.audit import prompts as prompts_module
from benchbook.exchange.audit.kept import Grouped, numbered
from benchbook.exchange.audit.watching import answer_quotes
from benchbook.exchange.log import LogNote, LogSample, LogScore, LogScorer
from benchbook.statistics.binomial import wilson
from exchange.audit.made_logs import MATCH, audit, claim, epochs, sample, samples, scored

JUDGE = LogScorer(name="match", lowest=0, highest=1, judge="openai/j")


def findings(held: list[LogSample], **fields: Any) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {one.code: (one.n, one.examples) for one in audit(held, **fields).findings}


def test_the_ledger_counts_each_sample_once() -> None:
    held = [
        *samples(1.0, 0.0, None),
        sample("f", "failed"),
        sample("l", 1.0, limit="token"),
        sample("d", 0.0),
        sample("d", 1.0),
        sample("e", "absent"),
    ]
    ledger = audit(held, n_claimed=9).ledger
    assert (ledger.n_claimed, ledger.n_held, ledger.n_absent, ledger.n_doubled) == (9, 7, 2, 1)
    assert (ledger.n_items, ledger.repeats, ledger.failures, ledger.limits) == (7, 1, {"error": 1}, {"token": 1})
    (scorer,) = audit(held).scorers
    assert (scorer.n_scored, scorer.n_unscored, scorer.n_without, scorer.unscored) == (4, 1, 2, {"NaN": 1})


def test_of_a_doubled_sample_the_last_counts() -> None:
    (scorer,) = audit([sample("d", 0.0), sample("d", 1.0)]).scorers
    assert (scorer.n_scored, scorer.mean) == (1, 1.0)


def test_repeats_are_not_doubled() -> None:
    ledger = audit(epochs([1, 0], [1, 0])).ledger
    assert (ledger.n_held, ledger.n_items, ledger.repeats, ledger.n_doubled) == (4, 2, 2, 0)


def test_a_share_has_the_interval_of_wilson() -> None:
    (scorer,) = audit(samples(1.0, 1.0, 1.0, 0.0)).scorers
    expected = wilson(3, 4)
    assert scorer.interval is not None
    assert scorer.clusters is None
    assert (scorer.interval.low, scorer.interval.high) == (round(expected.low or 0, 9), round(expected.high or 0, 9))


@pytest.mark.parametrize(
    ("held", "clusters"),
    [
        pytest.param(epochs([1, 0], [1, 1], [0, 0]), "items", id="by-item-where-there-are-repeats"),
        pytest.param([sample(str(at), at % 2, group=f"doc {at // 2}") for at in range(6)], "groups", id="by-group"),
        pytest.param(
            [sample(str(at), at % 2, group=f"doc {at}") for at in range(6)], None, id="groups-of-one-are-none"
        ),
    ],
)
def test_intervals_are_clustered(held: list[LogSample], clusters: str | None) -> None:
    (scorer,) = audit(held).scorers
    assert scorer.clusters == clusters
    assert scorer.interval is not None
    assert (scorer.interval.low or 0) < (scorer.mean or 0) < (scorer.interval.high or 1)


def test_graded_values_keep_their_scale() -> None:
    ten = LogScorer(name="match", lowest=0, highest=10)
    (scorer,) = audit(samples(9.0, 8.0, 10.0, 7.0), scorers=(ten,)).scorers
    assert scorer.mean == 8.5
    assert scorer.interval is not None
    assert 0 < (scorer.interval.low or 0) < 8.5 < (scorer.interval.high or 0) <= 10


def test_without_a_scale_the_interval_is_student_s() -> None:
    (scorer,) = audit(samples(1.0, 2.0, 3.0), scorers=()).scorers
    assert scorer.interval is not None  # 2 -+ 4.302652730 / sqrt(3)
    assert isclose(scorer.interval.low or 0, 2 - 2.4841377, rel_tol=1e-6)


def test_values_that_are_no_finite_numbers_are_unscored() -> None:
    held = [sample("a", 1.0), sample("b", scores={"match": LogScore(value=nan)}), sample("c", float("inf"))]
    (scorer,) = audit(held).scorers
    assert (scorer.n_scored, scorer.n_unscored) == (1, 2)


def test_replies_that_are_read_by_guess_are_counted() -> None:
    held = [sample("a", scores={"match": scored(1.0, guessed="two grades: C, I")}), sample("b", 1.0)]
    assert findings(held, scorers=(JUDGE,)) == {"guessed": (1, ("a: two grades: C, I",))}


def test_values_outside_of_the_scale_are_counted() -> None:
    assert findings(samples(1.0, 1.5, -1.0)) == {"outside_of_scale": (2, ("s1: 1.5", "s2: -1"))}


def test_a_mean_that_is_called_accuracy_is_of_shares() -> None:
    unknown = LogScorer(name="match")
    held = samples(1.0, 7.0)
    called = [audit(held, claim(4.0, metric=name), scorers=(unknown,)).findings for name in ("accuracy", "mean")]
    assert [[one.code for one in found] for found in called] == [["outside_of_scale"], []]


def test_letters_have_a_scale() -> None:
    held = [sample(str(at), scores={"match": scored(value, said=said)}) for at, (value, said) in enumerate(GRADES)]
    found = audit(held, claim(0.9), n_claimed=5, scorers=())
    assert found.numbers[0].reason_code == "outside_of_what_is_possible"  # 1.5 + 2 of 5 at most
    assert found.scorers[0].interval is not None
    assert found.scorers[0].interval.method == "jeffreys"


GRADES = ((1.0, "C"), (0.0, "I"), (0.5, "P"))


@pytest.mark.parametrize(
    ("explanation", "quotes"),
    [
        (
            'The submission states: "use prepared statements, always." So it is right.',
            ["use prepared statements, always"],
        ),
        ("The response says “use prepared statements always” at its end.", ["use prepared statements always"]),
        ('The expert answer states: "use prepared statements always".', []),
        ('The submission never says "use prepared statements always".', []),
        ('The submission should say "use prepared statements always".', []),
        ('It is about "prepared statements in general" here.', []),
        ('The submission says "yes".', []),
        ('The submission is long. The question asks "how do I use prepared statements".', []),
    ],
)
def test_passages_are_taken_for_quotes_where_the_sentence_says_so(explanation: str, quotes: list[str]) -> None:
    assert list(answer_quotes(explanation)) == quotes


def test_quotes_that_do_not_stand_in_the_answer_are_named() -> None:
    def told(name: str, quote: str) -> LogSample:
        said = scored(1.0, explanation=f'The submission states: "{quote}".')
        return sample(name, answer="Use Prepared  statements - always.", scores={"match": said})

    held = [told("a", "use prepared statements – always"), told("b", "never use prepared statements")]
    assert findings(held, scorers=(JUDGE,)) == {"quote_not_found": (1, ("b: never use prepared statements",))}
    assert findings(held, scorers=(MATCH,)) == {}  # nobody judged


def test_one_prompt_with_two_references() -> None:
    held = [
        sample("a", 1.0, prompt="2 + 2", references=("4",)),
        sample("b", 1.0, prompt="2 + 2", references=("5",)),
        sample("c", 1.0, prompt="3 + 3", references=("6",)),
        sample("d", 1.0, prompt="3 + 3", references=("6",)),
        sample("e", 1.0, prompt="which?", choices=("x", "y"), references=("A",)),
        sample("f", 1.0, prompt="which?", choices=("y", "x"), references=("B",)),
        *epochs([1, 1, 1]),
    ]
    assert findings(held) == {"different_references": (1, ("a = b",)), "identical_items": (1, ("c = d",))}


def test_of_very_many_prompts_a_part_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts_module, "_MOST", 64)
    held = [sample(f"{at}{side}", 1.0, prompt=f"ask {at}", references=(side,)) for at in range(400) for side in "ab"]
    (found,) = (one for one in audit(held).findings if one.code == "different_references")
    assert 8 <= found.n <= 32  # each prompt that is looked at is seen both times
    assert "1 in " in found.words
    assert not audit([sample(str(at), 1.0, prompt="the same") for at in range(400)]).findings  # all or nothing


def test_of_very_many_items_a_part_is_numbered_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = kept_module.array("q", [hash(str(at % 50)) for at in range(200)])
    whole, n = numbered(hashes)
    monkeypatch.setattr(kept_module, "_PART", 20)
    parts, n_parts = numbered(hashes)
    assert n == n_parts == 50
    groups = [{tuple(places) for places in Grouped(codes, 50)} for codes in (whole, parts)]
    assert groups[0] == groups[1] == {tuple(range(at, 200, 50)) for at in range(50)}


def test_the_state_of_a_log_and_its_reader_s_notes_are_told() -> None:
    found = audit(
        samples(1.0), status="failed", error="boom\x1b[2J", notes=[LogNote(code="cut_line", words="a line was cut")]
    )
    assert [(one.code, one.words) for one in found.findings] == [
        ("status_failed", "the eval failed before its end (boom\\u001b[2J)"),
        ("cut_line", "a line was cut"),
    ]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((0.75,), "follows"), ((0.75, 0.8), "does_not_follow"), ((None,), "can_not_be_told"), ((), "nothing_claimed")],
)
def test_the_verdict_on_a_log_is_the_worst_of_its_numbers(values: tuple[float | None, ...], verdict: str) -> None:
    assert audit(samples(1.0, 1.0, 1.0, 0.0), *map(claim, values)).verdict == verdict
