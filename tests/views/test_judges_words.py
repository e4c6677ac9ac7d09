"""The judges of an experiment in sentences, rules and pictures: cases worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from benchbook.evaluators.protocol.analysis import analyse
from benchbook.evaluators.protocol.rows import Analysis, LeagueEntry, Measured, RuleOutcome, TargetVariant
from benchbook.evaluators.protocol.spec import Dimension, protocol_v1
from benchbook.views.methods import METHODS, method_words
from benchbook.views.protocol import tables
from benchbook.views.protocol.pictures import judges_sentences, judges_words
from benchbook.views.spans import Spans, axis_end
from evaluators.protocol.made_evaluations import made_row


@pytest.mark.parametrize(
    ("rule", "found", "limit", "points", "said"),
    [
        ("found_share_at_least", 0.203, 0.9, 8, "quotes that were found, at least 90 %: 20.3 %"),
        ("valid_share_at_least", 0.89996, 0.9, 8, "evaluations that count, at least 90 %: 89.996 %"),
        ("severity_at_most", -2.306, 1, 8, "2.306 points (of 8) harsher than the other judges, at most 1"),
        ("severity_at_most", 1.0001, 1, 8, "1.0001 points (of 8) kinder than the other judges, at most 1"),
        ("severity_at_most", 0.5, 0.625, 5, "0.500 points (of 5) kinder than the other judges, at most 0.625"),
        ("severity_at_most", 0.0, 1, 8, "points (of 8) away from the other judges, at most 1: 0.000"),
        ("severity_at_most", None, 1, 8, "points (of 8) away from the other judges, at most 1: – (not known)"),
        ("agreement_at_least", None, 0.4, 5, "agreement with the other judges, at least 0.4: – (not known)"),
        ("unheard_of", 0.5, 0.25, 8, "unheard_of 0.25: 0.500"),
    ],
)
def test_a_rule_reads_as_it_came_out(rule: str, found: float | None, limit: float, points: int, said: str) -> None:
    outcome = RuleOutcome(rule=rule, holds=None, found=found, limit=limit)
    one = Dimension("all", "Is it good?", 0, points)
    assert tables.rule_outcome(outcome, replace(protocol_v1(), dimensions=(one,))) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("0.500 (0.100 to 0.900)", "+0.500 (0.100 to 0.900)"),
        ("-0.500 (-0.900 to -0.100)", "-0.500 (-0.900 to -0.100)"),
        ("0.000", "0.000"),
        ("– (no data)", "– (no data)"),
    ],
)
def test_a_difference_has_its_sign(words: str, said: str) -> None:
    assert tables.signed(words) == said


def analysed(**changes: Any) -> Analysis:
    return msgspec.structs.replace(analyse([], protocol_v1()), **changes)


def entry(judge: str, standing: str, *outcomes: RuleOutcome) -> LeagueEntry:
    return LeagueEntry(judge_model=judge, standing=standing, n=40, outcomes=list(outcomes))


HARSH = RuleOutcome(rule="severity_at_most", holds=False, found=-2.306, limit=1)
LOST = RuleOutcome(rule="found_share_at_least", holds=False, found=0.203, limit=0.9)
FINE = RuleOutcome(rule="valid_share_at_least", holds=True, found=1.0, limit=0.9)


@pytest.mark.parametrize(
    ("league", "said"),
    [
        ([], []),
        ([entry("a", "usable", FINE)], ["a can be used."]),
        ([entry("a", "too_few"), entry("b", "too_few")], ["Of a and b there are too few evaluations to say."]),
        (
            [entry("a", "usable"), entry("b", "not_usable", FINE, HARSH, LOST), entry("c", "too_few")],
            [
                "a can be used; b can't be used; of c there are too few evaluations to say.",
                (
                    "What bars b: 2.306 points (of 8) harsher than the other judges, at most 1; "
                    "quotes that were found, at least 90 %: 20.3 %."
                ),
            ],
        ),
        ([entry(name, "usable") for name in "abcd"], ["4 judges can be used."]),
    ],
    ids=["nobody", "one", "too few", "each", "many"],
)
def test_who_can_be_used_is_said_first(league: list[LeagueEntry], said: list[str]) -> None:
    assert list(judges_sentences(analysed(league=league), protocol_v1())) == said


def target(name: str, value: float, low: float | None, high: float | None) -> TargetVariant:
    overall = Measured(
        value=value, low=low, high=high, n=9, n_units=9, at_least=5, method="jeffreys", reason=None, warnings=[]
    )
    return TargetVariant(
        target_model=name, prompt_variant="short", n=9, n_valid=9, n_outputs=9, valid_share=overall, dimensions={},
        overall=overall, verdicts={}, verdict_shares={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ([target("a", 6.0, None, None)], []),
        ([target("a", 6.0, 5.0, 7.0)], ["The mean overall score is 6.000 of 8 (5.000 to 7.000), of a under short."]),
        (
            [target("a", 6.0, 5.0, 7.0), target("b", 7.0, 6.5, 7.5), target("c", 6.9, 6.0, 7.2)],
            [
                (
                    "The highest mean overall score is 7.000 of 8 (6.500 to 7.500), of b under short; 2 of 2 others "
                    "can't be told from it by their intervals."
                )
            ],
        ),
        (
            [target("a", 6.0, 5.0, 6.4), target("b", 7.0, 6.5, 7.5)],
            [
                (
                    "The highest mean overall score is 7.000 of 8 (6.500 to 7.500), of b under short; no other "
                    "interval reaches into its own."
                )
            ],
        ),
    ],
    ids=["no interval", "one", "not told apart", "alone"],
)
def test_the_best_target_is_named_with_what_can_not_be_told_from_it(
    targets: list[TargetVariant], said: list[str]
) -> None:
    assert list(judges_sentences(analysed(targets=targets), protocol_v1())) == said


def test_judges_stand_beside_each_other_with_what_is_asked_of_them() -> None:
    """Ten outputs: `a` gives 2 in each dimension, `b` 1 in each, so that a is 4 points of 8 kinder."""
    given = (("a", (2, 2, 2, 2)), ("b", (1, 1, 1, 1)))
    rows = [made_row(scores, question=f"q{n}", judge=judge) for n in range(10) for judge, scores in given]
    found = judges_words(analyse(rows, protocol_v1()), protocol_v1())
    pictures: dict[str, Spans] = {one.title: one for one in found.pictures}
    severity = pictures["Severity: minus the other judges"]
    assert [(line.name, line.value) for line in severity.lines] == [("a", 4.0), ("b", -4.0)]
    assert (severity.mark, severity.good_from, severity.good_to) == (0.0, -1.0, 1.0)
    assert (severity.lowest, severity.highest) == (-4.0, 4.0)
    assert {(line.tone, line.state) for line in severity.lines} == {("bad", "not as asked")}
    count = pictures["Evaluations that count"]
    assert [(line.value, line.state) for line in count.lines] == [(1.0, "as asked")] * 2
    assert "Judging itself: minus the others" not in pictures  # nobody did
    assert [(place.judge, place.standing, place.n) for place in found.league] == [
        ("a", "too few evaluations to say", 10),
        ("b", "too few evaluations to say", 10),
    ]


@pytest.mark.parametrize(
    ("values", "most", "end"),
    [
        ([0.12, None], 2, 0.15),
        ([-0.173], 2, 0.2),
        ([0.29], 2, 0.3),
        ([1.0], 2, 1.0),
        ([5.1], 8, 6.0),
        ([9.9, 3], 8, 8),
        ([], 8, 8),
        ([0.0], 2, 2),
        ([0.07, 0.1], 1, 0.1),
    ],
)
def test_an_axis_ends_at_the_next_round_number(values: list[float | None], most: float, end: float) -> None:
    assert axis_end(values, most) == end


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *METHODS.items(),
        ("ppi++_bounded_clustered", f"{METHODS['ppi++_bounded']}, by whole clusters"),
        ("clustered_jeffreys", f"{METHODS['jeffreys']}, by whole clusters"),
        ("jeffreys_by_correlation", f"{METHODS['jeffreys']}, by whole clusters"),
        ("of_tomorrow", "of tomorrow"),
    ],
)
def test_a_method_has_words(name: str, words: str) -> None:
    assert method_words(name) == words
    assert "_" not in words
