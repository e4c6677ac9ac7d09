"""SPEC P4.2, P6: what evaluations say about targets and judges, worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.evaluators.protocol.analysis import analyse as analyse_under
from benchbook.evaluators.protocol.evaluation_rows import CellId, EvaluationRow, coverage_gaps
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.rows import Analysis, LeagueRules, Minimums
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.validity import Options
from benchbook.statistics import bounded_mean, cohens_kappa
from evaluators.protocol.drift_lab import drift_lab_rows
from evaluators.protocol.made_evaluations import made_row
from support import examples

analyse = partial(analyse_under, protocol=protocol_v1())

FEW = Minimums(outputs=2, questions=2, evaluations=2)


def grid(scores: dict[tuple[str, str], Sequence[int]], **more: Any) -> list[EvaluationRow]:
    """`scores` by variant and judge, over questions Q0, Q1, ..."""
    return [
        made_row(total, question=f"Q{at}", variant=variant, judge=judge, **more)
        for (variant, judge), totals in scores.items()
        for at, total in enumerate(totals)
    ]


def test_a_target_under_a_variant() -> None:
    rows = [*grid({("A", "j"): [8, 6, 5, 3, 2]}), made_row(8, question="Q5", reply="no")]
    (found,) = analyse(rows).targets
    assert (found.target_model, found.prompt_variant) == ("t", "A")
    assert (found.n, found.n_valid, found.n_outputs) == (6, 5, 5)
    assert found.valid_share.value == round(5 / 6, 9)
    assert found.overall.value == 4.8
    expected = bounded_mean([8, 6, 5, 3, 2], highest=8)
    assert (found.overall.method, found.overall.low) == ("jeffreys", pytest.approx(expected.low, abs=1e-9))
    assert {name: one.value for name, one in found.dimensions.items()} == {
        "FORMAT_COMPLIANCE": 2.0,
        "INSTRUCTION_COMPLIANCE": 1.4,  # 2 2 2 1 0
        "SEMANTIC_FIDELITY": 1.0,  # 2 2 1 0 0
        "COMPLETENESS": 0.4,  # 2 0 0 0 0
    }
    assert found.verdicts == {"PASS": 1, "PARTIAL": 2, "FAIL": 2}
    assert found.verdict_shares == {"PASS": 0.2, "PARTIAL": 0.4, "FAIL": 0.4}


def test_too_few_outputs_for_a_statement_say_so() -> None:
    (found,) = analyse(grid({("A", "j"): [8, 6, 5, 3]})).targets
    assert found.overall.too_few
    assert (found.overall.value, found.overall.low, found.overall.high) == (5.5, None, None)
    assert (found.overall.n_units, found.overall.at_least) == (4, 5)


def test_several_judgements_of_one_output_are_a_cluster_not_more_outputs() -> None:
    rows = [*grid({("A", "j"): [8, 2], ("A", "k"): [8, 2]}), *grid({("A", "j"): [8, 2]}, repeat=1)]
    (found,) = analyse(rows, minimums=FEW).targets
    assert (found.overall.n, found.overall.n_units, found.overall.method) == (6, 2, "clustered_jeffreys")
    assert analyse(rows).targets[0].overall.too_few


def test_a_record_of_before_keeps_its_intervals() -> None:
    (found,) = analyse(grid({("A", "j"): [8, 6, 5, 3, 2]}), derivation=1).targets
    # sd of 8 6 5 3 2 is sqrt(22.8 / 4); t with 4 degrees of freedom is 2.776445
    assert found.overall.method == "t"
    assert found.overall.low == pytest.approx(4.8 - 2.776445 * (22.8 / 4 / 5) ** 0.5, abs=1e-5)
    rows = grid({("A", "j"): [8, 6, 5, 3, 2, 8], ("A", "k"): [8, 6, 5, 5, 2, 8]})
    (of_before,), (now,) = analyse(rows, derivation=1).pairs, analyse(rows).pairs
    expected = cohens_kappa([8, 6, 5, 3, 2, 8], [8, 6, 5, 5, 2, 8], range(9), weights="quadratic", method="bca",
                            n_resamples=2000)  # fmt: skip
    assert of_before.overall_kappa.low == pytest.approx(expected.low, abs=1e-9)
    assert now.overall_kappa.low != of_before.overall_kappa.low


def test_drift_is_paired_by_question() -> None:
    rows = grid({("A", "j"): [8, 8, 6, 4, 2], ("B", "j"): [6, 6, 6, 2, 2]})
    (found,) = analyse(rows).drifts
    assert (found.target_model, found.variant_a, found.variant_b) == ("t", "A", "B")
    difference = found.difference
    assert (difference.value, difference.n, difference.method) == (-1.2, 5, "paired_t")
    # differences -2 -2 0 -2 0: sd sqrt(1.2), so half the interval is 2.776445 * sqrt(1.2 / 5)
    assert difference.low == pytest.approx(-1.2 - 2.776445 * 0.24**0.5, abs=1e-5)
    assert difference.high == pytest.approx(-1.2 + 2.776445 * 0.24**0.5, abs=1e-5)
    assert [(one.question_id, one.difference, one.n_pairs) for one in found.questions] == [
        ("Q0", -2.0, 1), ("Q1", -2.0, 1), ("Q2", 0.0, 1), ("Q3", -2.0, 1), ("Q4", 0.0, 1),
    ]  # fmt: skip


def test_drift_compares_a_judge_with_itself_alone() -> None:
    rows = [*grid({("A", "j"): [8], ("B", "j"): [6], ("A", "k"): [7], ("B", "k"): [4], ("B", "l"): [0]})]
    (found,) = analyse(rows).drifts
    assert found.difference.value == -2.5
    assert (found.difference.n, found.difference.n_units, found.difference.reason) == (2, 1, "too_few")
    assert [(one.question_id, one.difference, one.n_pairs) for one in found.questions] == [("Q0", -2.5, 2)]


def test_drift_without_a_question_in_common_is_not_known() -> None:
    rows = [made_row(8, question="Q1", variant="A"), made_row(8, question="Q2", variant="B")]
    (found,) = analyse(rows).drifts
    assert (found.difference.value, found.difference.reason, found.questions) == (None, "no_data", [])


def test_severity_is_against_the_others_on_the_same_outputs() -> None:
    # j minus the mean of k and l: 8 - 6.5, 5 - 6.5, 6 - 4; k alone judged Q3, and says nothing about severity.
    rows = [
        *grid({("A", "j"): [8, 5, 6], ("A", "k"): [6, 6, 4], ("A", "l"): [7, 7]}),
        made_row(0, question="Q3", judge="k"),
    ]
    cards = {card.judge_model: card.severity for card in analyse(rows, minimums=FEW).judges}
    assert cards["j"].value == round(2 / 3, 9)
    assert (cards["j"].n, cards["k"].n, cards["l"].n) == (3, 3, 2)
    assert cards["l"].value == 0.75  # 7 - 7 and 7 - 5.5


def test_agreement_with_each_other_judge() -> None:
    rows = grid({("A", "j"): [8, 8, 5, 2], ("A", "k"): [8, 5, 5, 2], ("A", "l"): []})
    (pair,) = analyse(rows, minimums=FEW).pairs
    assert (pair.judge_a, pair.judge_b, pair.n_outputs, pair.same_verdict) == ("j", "k", 4, 0.75)
    # Linear weights: observed disagreement 1/4 of a step; by chance (j 2 1 1, k 1 2 1, of 4 each) 14/16 of a step.
    assert pair.verdict_kappa.value == pytest.approx(1 - 0.25 / (14 / 16), abs=1e-9)
    # Quadratic: one pair is 3 apart; by chance, the mean of (x - y)^2 over all 16 pairs.
    chance = sum((x - y) ** 2 for x, y in product([8, 8, 5, 2], [8, 5, 5, 2])) / 16
    assert pair.overall_kappa.value == pytest.approx(1 - (9 / 4) / chance, abs=1e-9)
    assert analyse(rows).pairs[0].verdict_ac.too_few
    assert [card.agreement for card in analyse(rows).judges] == [None, None]


def test_self_minus_cross_is_on_the_same_outputs() -> None:
    rows = [
        *grid({("A", "t"): [8, 7, 8], ("A", "j"): [6, 7], ("A", "k"): [7, 3]}),
        made_row(8, target="u", judge="t", question="Q0"),
    ]
    (found,) = analyse(rows, minimums=FEW).self_minus_cross
    assert (found.model, found.n_outputs) == ("t", 2)
    assert found.overall.value == 1.75  # 8 - 6.5 and 7 - 5
    assert found.dimensions["COMPLETENESS"].value == 1.0  # 2 - (0 + 1) / 2 and 1 - (1 + 0) / 2


def test_validity_and_evidence_of_a_judge_are_counted_over_all_its_evaluations() -> None:
    rows = [
        made_row(8, question="Q0"),
        made_row(8, question="Q1", verdict="FAIL", quotes=("# Plan", "nowhere", "", "each total")),
        made_row(8, question="Q2", reply="I cannot evaluate this text."),
        made_row(8, question="Q3", target="j"),
    ]
    (card,) = analyse(rows, minimums=FEW).judges
    cross, own = card.cross_judge, card.self_judge
    assert (cross.n, cross.n_valid, own.n, own.n_valid) == (3, 1, 1, 1)
    assert cross.flags == {
        "INCOMPLETE_COVERAGE": 0, "INTERNAL_INCONSISTENCY": 1, "JUDGE_REFUSAL_OR_EVASION": 1, "PROTOCOL_VIOLATION": 1,
        "UNPARSABLE_OUTPUT": 1,
    }  # fmt: skip
    assert cross.flag_shares["PROTOCOL_VIOLATION"] == round(1 / 3, 9)
    assert cross.evidence == {"exact": 4, "normalised": 1, "fragments": 1, "not_found": 1, "empty": 1, "no_quote": 0}
    assert (cross.found_share.value, cross.found_share.n, cross.found_share.n_units) == (0.75, 8, 2)
    assert [(one.method, one.n, one.n_valid) for one in analyse(rows).methods] == [
        ("cross_judge", 3, 1),
        ("self_judge", 1, 1),
    ]


def probe(judge: str, passed: bool | None) -> ProbeResult:
    return ProbeResult(
        judge_model=judge, probe="empty", question_id="Q0", prompt_variant="A", target_model="t", output_id="o",
        passed=passed, expected="", found="", text_sha256="", raw_reply="",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "probes", "standing", "barring"),
    [
        pytest.param({}, [], "usable", []),
        pytest.param({}, [True, None, None], "usable", []),
        pytest.param({}, [True, False], "not_usable", ["failed_probe_share_at_most"]),
        pytest.param({"failed_probe_share_at_most": 0.5}, [True, False], "usable", []),
        pytest.param({"failed_probe_share_at_most": None}, [False], "usable", []),
        pytest.param({"valid_share_at_least": 0.95}, [], "not_usable", ["valid_share_at_least"]),
        pytest.param({"found_share_at_least": 0.99}, [], "not_usable", ["found_share_at_least"]),
        pytest.param({"severity_at_most": 0.3}, [], "not_usable", ["severity_at_most"]),
        pytest.param({"agreement_at_least": 1.0}, [], "not_usable", ["agreement_at_least"]),
    ],
)
def test_the_league_bars_by_stated_rules(
    rules: dict[str, float], probes: list[bool | None], standing: str, barring: list[str]
) -> None:
    # j: 12 outputs of which 1 is invalid, with 1 quote of 48 not found, 5 / 11 of a point below k where both count.
    rows = grid({("A", "j"): [*[8] * 10, 7, 4], ("A", "k"): [8] * 12})
    rows[0] = made_row(8, question="Q0", judge="j", quotes=("# Plan", "nowhere", "each total", "each total"))
    found = analyse(
        rows,
        rules=LeagueRules(**rules),  # type: ignore[arg-type]
        probes=[probe("j", passed) for passed in probes],
        minimums=Minimums(evaluations=12),
    )
    (entry,) = (one for one in found.league if one.judge_model == "j")
    assert [one.rule for one in entry.outcomes if one.holds is False] == barring
    assert entry.standing == standing


def test_with_too_few_evaluations_the_league_says_nothing() -> None:
    (entry,) = analyse(grid({("A", "j"): [8] * 19})).league
    assert (entry.standing, entry.n) == ("too_few", 19)
    (entry,) = analyse(grid({("A", "j"): [8] * 20})).league
    assert entry.standing == "usable"
    assert [(one.rule, one.holds) for one in entry.outcomes] == [
        ("valid_share_at_least", True),
        ("found_share_at_least", True),
        ("severity_at_most", None),  # nobody to compare with
        ("agreement_at_least", None),
        ("failed_probe_share_at_most", None),
    ]


def test_usable_judges_come_first_then_those_whose_evaluations_count_more_often() -> None:
    rows = grid({("A", "a"): [8] * 4, ("A", "b"): [8] * 4, ("A", "c"): [8] * 4, ("A", "d"): [8]})
    rows[0] = made_row(8, question="Q0", judge="a", reply="{}")
    rows[4] = made_row(8, question="Q0", judge="b", reply="{}")
    rows[5] = made_row(8, question="Q1", judge="b", reply="{}")
    found = analyse(rows, minimums=FEW, rules=LeagueRules(valid_share_at_least=0.7)).league
    assert [(one.judge_model, one.standing) for one in found] == [
        ("c", "usable"), ("a", "usable"), ("b", "not_usable"), ("d", "too_few"),
    ]  # fmt: skip


def test_gaps_are_counted_and_nothing_is_an_analysis_too() -> None:
    gaps = coverage_gaps([CellId("Q1", "A", "t", "o")], [], ["j"])
    found = analyse([], gaps=gaps)
    assert (found.n_gaps, found.targets, found.judges, found.pairs) == (1, [], [], [])
    with pytest.raises(UsageError):
        analyse([made_row(8), made_row(7)])


made_rows = st.lists(
    st.tuples(
        st.sampled_from(["Q1", "Q2", "Q3"]),
        st.sampled_from(["A", "B"]),
        st.sampled_from(["t", "u"]),
        st.sampled_from(["j", "k", "t"]),
        st.integers(0, 1),
    ),
    unique=True,
    max_size=12,
).flatmap(
    lambda keys: st.tuples(
        *(
            st.builds(
                _row,
                st.just(key),
                st.integers(0, 8),
                st.sampled_from(["valid", "valid", "invalid", "unparsable"]),
            )
            for key in keys
        )
    )
)


def _row(key: tuple[str, str, str, str, int], total: int, kind: str) -> EvaluationRow:
    question, variant, target, judge, repeat = key
    other: dict[str, Any] = {"flags": ["PROTOCOL_VIOLATION"]} if kind == "invalid" else {}
    return made_row(
        total, question=question, variant=variant, target=target, judge=judge, repeat=repeat,
        reply="no" if kind == "unparsable" else None, **other,
    )  # fmt: skip


SCORE_PARTS: tuple[Callable[[Analysis], object], ...] = (
    lambda found: [(one.target_model, one.prompt_variant, one.dimensions, one.overall, one.verdicts)
                   for one in found.targets if one.n_valid],
    lambda found: found.drifts,
    lambda found: found.pairs,
    lambda found: found.self_minus_cross,
    lambda found: {one.judge_model: one.severity for one in found.judges if one.severity.n},
)  # fmt: skip


@examples(30)
@given(made_rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_byte(rows: tuple[EvaluationRow, ...], rng: random.Random) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)
    assert canonical_json(analyse(shuffled, minimums=FEW)) == canonical_json(analyse(rows, minimums=FEW))


@examples(30)
@given(made_rows)
def test_invalid_evaluations_enter_no_statistic_of_scores(rows: tuple[EvaluationRow, ...]) -> None:
    everything = analyse(rows, minimums=FEW)
    valid = analyse([row for row in rows if row.valid], minimums=FEW)
    for part in SCORE_PARTS:
        assert part(everything) == part(valid)
    assert sum(one.n for one in everything.methods) == len(rows)


@examples(30)
@given(made_rows)
def test_self_judging_changes_no_primary_statistic(rows: tuple[EvaluationRow, ...]) -> None:
    everything = analyse(rows, minimums=FEW)
    cross = analyse([row for row in rows if row.method == "cross_judge"], minimums=FEW)
    for name in ("targets", "drifts", "pairs"):
        assert getattr(everything, name) == getattr(cross, name)


@pytest.mark.slow
def test_real_judges_quote_what_is_not_there() -> None:
    rows, _ = drift_lab_rows(Options(evidence="report"))
    found = analyse(rows)
    assert [(one.method, one.n) for one in found.methods] == [("cross_judge", 48), ("self_judge", 32)]
    claude, chatgpt, gemini = found.judges
    # Of the five quotes that the shared data's README counts, this test's table leaves out those of C_actionability.
    assert claude.cross_judge.evidence == {
        "exact": 2, "normalised": 4, "fragments": 7, "not_found": 51, "empty": 0, "no_quote": 0,
    }  # fmt: skip
    assert chatgpt.cross_judge.found_share.value == 0.125
    assert gemini.cross_judge.evidence["not_found"] > 30
    assert {entry.standing for entry in found.league} == {"too_few"}  # 16 outputs each, and 20 are asked for
    barred = analyse(rows, minimums=Minimums(evaluations=16)).league
    assert {entry.standing for entry in barred} == {"not_usable"}


def test_under_the_rule_that_quotes_must_be_found_hardly_a_real_judgement_counts() -> None:
    rows, _ = drift_lab_rows()
    assert sum(row.valid for row in rows) < len(rows) / 10
    assert msgspec.json.encode(analyse(rows))
