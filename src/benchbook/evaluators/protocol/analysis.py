"""The analysis of an experiment's evaluations: a pure function of its rows (SPEC P4.2, P6).

Primary statistics use `cross_judge` alone; invalid evaluations enter no statistic of scores, they are counted. The
results are the types of `rows`; `analysis_measures` makes means with intervals, targets under variants, and drift.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.exact import as_float, ratio
from benchbook.evaluators.protocol.analysis_measures import (
    Measuring,
    drifts,
    exact_mean,
    mean_of,
    score_of,
    target_variants,
)
from benchbook.evaluators.protocol.evaluation_rows import CellId, CoverageGap, EvaluationRow, sorted_rows
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.rows import (
    Analysis,
    EvaluationValidity,
    JudgePair,
    JudgeResults,
    LeagueEntry,
    LeagueRules,
    Measured,
    MethodCounts,
    Minimums,
    RuleOutcome,
    SelfMinusCross,
)
from benchbook.evaluators.protocol.spec import OVERALL, Protocol, form

if TYPE_CHECKING:
    from benchbook.statistics import Agreement, Weights

LOCATED_KINDS = ("exact", "normalised", "fragments", "not_found", "empty", "no_quote")
_FOUND = frozenset({"exact", "normalised", "fragments"})
_FROM_WORST = ("FAIL", "PARTIAL", "PASS")


def _method_counts(rows: Sequence[EvaluationRow]) -> list[MethodCounts]:
    """The counts of each method of the protocol, in its order; none is left out, so that a zero is seen."""
    found = []
    for method in sorted(form().methods):
        of_method = [row for row in rows if row.method == method]
        n_valid = sum(row.valid for row in of_method)
        found.append(MethodCounts(method=method, n=len(of_method), n_valid=n_valid, flags=_flags(of_method)))
    return found


def _judge_cards(
    rows: Sequence[EvaluationRow],
    pairs: Sequence[JudgePair],
    probes: Sequence[ProbeResult],
    measuring: Measuring,
    minimums: Minimums,
) -> list[JudgeResults]:
    """One card for each judge that evaluated anything or was probed. `rows` are all of them, valid and invalid."""
    by_judge: defaultdict[str, list[EvaluationRow]] = defaultdict(list)
    for row in rows:
        by_judge[row.judge_model].append(row)
    scores = _mean_scores((row for row in rows if row.valid and row.method == "cross_judge"), OVERALL)
    outcomes: defaultdict[str, Counter[bool | None]] = defaultdict(Counter)
    for probe in probes:
        outcomes[probe.judge_model][probe.passed] += 1
    cards = []
    for judge in sorted(by_judge.keys() | outcomes.keys()):
        coefficients = [
            pair.verdict_ac.value
            for pair in pairs
            if judge in (pair.judge_a, pair.judge_b) and not pair.verdict_ac.too_few
        ]
        known = [Fraction(value) for value in coefficients if value is not None]
        own = by_judge[judge]
        cards.append(
            JudgeResults(
                judge_model=judge,
                cross_judge=_validity([row for row in own if row.method == "cross_judge"], measuring, minimums),
                self_judge=_validity([row for row in own if row.method == "self_judge"], measuring, minimums),
                severity=_severity(judge, scores, measuring, minimums),
                agreement=exact_mean(known),
                n_agreement_judges=len(known),
                n_probes_passed=outcomes[judge][True],
                n_probes_failed=outcomes[judge][False],
                n_probes_open=outcomes[judge][None],
            )
        )
    return cards


def _validity(rows: Sequence[EvaluationRow], measuring: Measuring, minimums: Minimums) -> EvaluationValidity:
    flags = _flags(rows)
    items = [(row.cell, item.located or "no_quote") for row in rows for item in row.evidence]
    kinds = Counter(kind for _, kind in items)
    cells = [row.cell for row in rows]
    return EvaluationValidity(
        n=len(rows),
        n_valid=sum(row.valid for row in rows),
        valid_share=measuring.share([row.valid for row in rows], cells, minimums.outputs),
        flags=flags,
        flag_shares={flag: as_float(ratio(count, len(rows))) for flag, count in flags.items()},
        evidence={kind: kinds[kind] for kind in LOCATED_KINDS},
        found_share=measuring.share(
            [kind in _FOUND for _, kind in items], [cell for cell, _ in items], minimums.outputs
        ),
    )


def _flags(rows: Sequence[EvaluationRow]) -> dict[str, int]:
    counts = Counter(flag for row in rows for flag in row.flags)
    return {flag: counts[flag] for flag in form().flags}


_Scores = Mapping[CellId, Mapping[str, Fraction]]  # by output, then judge: the mean over repeats


def _mean_scores(rows: Iterable[EvaluationRow], name: str) -> _Scores:
    values: defaultdict[CellId, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values[row.cell][row.judge_model].append(score_of(row, name))
    return {cell: {judge: mean_of(scores) for judge, scores in by_judge.items()} for cell, by_judge in values.items()}


def _severity(judge: str, scores: _Scores, measuring: Measuring, minimums: Minimums) -> Measured:
    """The judge's score minus the mean of the others', over the outputs that another judge scored too."""
    differences = {
        cell: by_judge[judge] - mean_of([score for other, score in by_judge.items() if other != judge])
        for cell, by_judge in scores.items()
        if judge in by_judge and len(by_judge) > 1
    }
    return measuring.mean(list(differences.values()), list(differences), minimums.outputs)


def _judge_pairs(
    rows: Iterable[EvaluationRow], protocol: Protocol, measuring: Measuring, minimums: Minimums
) -> list[JudgePair]:
    """Every two judges that scored an output in common. `rows` are the valid cross-judging ones.

    A repeat is compared with the same repeat; the repeats of one output are a cluster.
    """
    by_judge: defaultdict[str, dict[tuple[CellId, int], EvaluationRow]] = defaultdict(dict)
    for row in rows:
        by_judge[row.judge_model][row.cell, row.repeat] = row
    found = []
    for a, b in combinations(sorted(by_judge), 2):
        common = [(one, by_judge[b][key]) for key, one in by_judge[a].items() if key in by_judge[b]]
        if common:
            found.append(_judge_pair(a, b, common, protocol, measuring, minimums))
    return found


def _judge_pair(
    a: str,
    b: str,
    common: Sequence[tuple[EvaluationRow, EvaluationRow]],
    protocol: Protocol,
    measuring: Measuring,
    minimums: Minimums,
) -> JudgePair:
    from benchbook.statistics import cohens_kappa, gwet_ac

    cells = [one.cell for one, _ in common]
    verdicts = [str(one.verdict) for one, _ in common], [str(other.verdict) for _, other in common]
    overalls = [score_of(one, OVERALL) for one, _ in common], [score_of(other, OVERALL) for _, other in common]
    points = range(protocol.lowest, protocol.highest + 1)

    def coefficient(find: Callable[..., Agreement], *ratings: Sequence[Hashable], weights: Weights) -> Measured:
        found = find(
            *ratings,
            weights=weights,
            clusters=measuring.clusters(cells),
            method=measuring.agreement_method,
            confidence=measuring.confidence,
            seed=measuring.seed,
            n_resamples=measuring.n_resamples,
        )
        value = None if found.estimate is None else round(found.estimate, 9)
        return measuring.estimated(found, value, cells, minimums.outputs)

    return JudgePair(
        judge_a=a,
        judge_b=b,
        n_outputs=len(set(cells)),
        same_verdict=as_float(ratio(sum(map(str.__eq__, *verdicts)), len(common))),
        verdict_kappa=coefficient(cohens_kappa, *verdicts, _FROM_WORST, weights="linear"),
        verdict_ac=coefficient(gwet_ac, *verdicts, _FROM_WORST, weights="linear"),
        overall_kappa=coefficient(cohens_kappa, *overalls, points, weights="quadratic"),
    )


def self_minus_cross(
    rows: Sequence[EvaluationRow], protocol: Protocol, measuring: Measuring, minimums: Minimums
) -> list[SelfMinusCross]:
    """The difference for each target that judged its own outputs, on those others judged too, by valid `rows`."""
    names = (*protocol.names, OVERALL)
    own = {name: _mean_scores((row for row in rows if row.method == "self_judge"), name) for name in names}
    others = {name: _mean_scores((row for row in rows if row.method == "cross_judge"), name) for name in names}
    targets = sorted({cell.target_model for cell in own[OVERALL]})
    return [_self_minus_cross(target, protocol.names, own, others, measuring, minimums) for target in targets]


def _self_minus_cross(
    target: str,
    dimensions: Sequence[str],
    own: Mapping[str, _Scores],
    others: Mapping[str, _Scores],
    measuring: Measuring,
    minimums: Minimums,
) -> SelfMinusCross:
    cells = [cell for cell in own[OVERALL] if cell.target_model == target and cell in others[OVERALL]]

    def difference(name: str) -> Measured:
        differences = [
            mean_of(list(own[name][cell].values())) - mean_of(list(others[name][cell].values())) for cell in cells
        ]
        return measuring.mean(differences, cells, minimums.outputs)

    return SelfMinusCross(
        model=target,
        n_outputs=len(cells),
        overall=difference(OVERALL),
        dimensions={name: difference(name) for name in dimensions},
    )


# ── who may be in the league ─────────────────────────────────────────────────────────────────────────────────

STANDINGS = ("usable", "not_usable", "too_few")


def league_rules(protocol: Protocol) -> LeagueRules:
    """When a judge can be used, by default. An eighth of all points is one point of `judge_protocol@v1`."""
    return LeagueRules(severity_at_most=protocol.span / 8)


def league(cards: Sequence[JudgeResults], rules: LeagueRules, minimums: Minimums) -> list[LeagueEntry]:
    """The judges, usable ones first, then by how many of their evaluations count.

    A rule that is broken bars a judge. One whose value is not known (a judge without others to agree with, without
    probes) does not, and is listed as not known. With fewer than `minimums.evaluations` nothing is said.
    """
    entries = [_entry(card, rules, minimums) for card in cards]
    shares = {card.judge_model: card.cross_judge.valid_share.value or 0.0 for card in cards}
    return sorted(
        entries,
        key=lambda entry: (STANDINGS.index(entry.standing), -shares[entry.judge_model], entry.judge_model),
    )


def _entry(card: JudgeResults, rules: LeagueRules, minimums: Minimums) -> LeagueEntry:
    outcomes = _outcomes(card, rules)
    barred = any(outcome.holds is False for outcome in outcomes)
    n = card.cross_judge.n
    standing = "too_few" if n < minimums.evaluations else "not_usable" if barred else "usable"
    return LeagueEntry(judge_model=card.judge_model, standing=standing, n=n, outcomes=outcomes)


def _outcomes(card: JudgeResults, rules: LeagueRules) -> list[RuleOutcome]:
    severity = None if card.severity.too_few else card.severity.value
    return [
        outcome
        for outcome in (
            _at_least("valid_share_at_least", card.cross_judge.valid_share.value, rules.valid_share_at_least),
            _at_least("found_share_at_least", card.cross_judge.found_share.value, rules.found_share_at_least),
            _at_most("severity_at_most", severity, rules.severity_at_most),
            _at_least("agreement_at_least", card.agreement, rules.agreement_at_least),
            _at_most("failed_probe_share_at_most", _failed_probe_share(card), rules.failed_probe_share_at_most),
        )
        if outcome is not None
    ]


def _failed_probe_share(card: JudgeResults) -> float | None:
    told = card.n_probes_passed + card.n_probes_failed
    return round(card.n_probes_failed / told, 9) if told else None


def _at_least(rule: str, found: float | None, limit: float | None) -> RuleOutcome | None:
    if limit is None:
        return None
    return RuleOutcome(rule=rule, holds=None if found is None else found >= limit, found=found, limit=limit)


def _at_most(rule: str, found: float | None, limit: float | None) -> RuleOutcome | None:
    """A rule on the size of `found`, which may be below zero."""
    if limit is None:
        return None
    return RuleOutcome(rule=rule, holds=None if found is None else abs(found) <= limit, found=found, limit=limit)


# ── all of it ────────────────────────────────────────────────────────────────────────────────────────────────

N_RESAMPLES = 2_000


def analyse(
    rows: Iterable[EvaluationRow],
    protocol: Protocol,
    *,
    gaps: Iterable[CoverageGap] = (),
    probes: Iterable[ProbeResult] = (),
    minimums: Minimums | None = None,
    rules: LeagueRules | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    derivation: int = DERIVATION,
) -> Analysis:
    """All that the rows say about targets and judges; `seed` is of the bootstrap intervals of agreement.

    Raises: UsageError where two rows answer the same question to the same judge.
    """
    minimums, rules = minimums or Minimums(), rules or league_rules(protocol)
    measuring = Measuring(confidence, seed, N_RESAMPLES, derivation)
    ordered = sorted_rows(rows)
    valid = [row for row in ordered if row.valid]
    cross = [row for row in ordered if row.method == "cross_judge"]
    valid_cross = [row for row in cross if row.valid]
    shown_probes = sorted(
        probes, key=lambda one: (one.judge_model, one.probe, one.question_id, one.prompt_variant, one.output_id)
    )
    pairs = _judge_pairs(valid_cross, protocol, measuring, minimums)
    cards = _judge_cards(ordered, pairs, shown_probes, measuring, minimums)
    return Analysis(
        confidence=confidence,
        minimums=minimums,
        rules=rules,
        methods=_method_counts(ordered),
        n_gaps=sum(gap.flag is not None for gap in gaps),
        targets=target_variants(cross, protocol, measuring, minimums),
        drifts=drifts(valid_cross, measuring, minimums),
        judges=cards,
        pairs=pairs,
        self_minus_cross=self_minus_cross(valid, protocol, measuring, minimums),
        league=league(cards, rules, minimums),
        probes=shown_probes,
    )
