"""What an analysis of evaluations says, as tables of plain text: the page and `results_analysis.md` show the same."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.evaluators.protocol.analysis_results import (
    Analysis,
    Drift,
    JudgeCard,
    JudgePair,
    LeagueEntry,
    SelfMinusCross,
    TargetVariant,
    Validity,
)
from benchbook.evaluators.protocol.scores import VERDICTS
from benchbook.evaluators.protocol.spec import protocol
from benchbook.text import shorten
from benchbook.views import numbers
from benchbook.views.protocol_words import FLAGS, LOCATED, STANDINGS, measured, rule_outcome, rule_words, signed
from benchbook.views.tables import Column, Table

__all__ = [
    "NAME_WIDTH",
    "dimensions_table",
    "drift_table",
    "evidence_table",
    "flags_table",
    "judges_table",
    "league_notes",
    "league_table",
    "methods_table",
    "pairs_table",
    "probes_table",
    "self_table",
    "targets_table",
]


NAME_WIDTH = 80  # characters of an id in a table
MAX_DRIFTS = 200  # rows of the table
MAX_PROBES = 500


def methods_table(found: Analysis) -> Table:
    """How many evaluations there are, and how many count."""
    columns = (Column("Method"), Column("Evaluations", True), Column("Valid", True), Column("Invalid", True))
    rows = [(one.method, f"{one.n:,}", f"{one.n_valid:,}", f"{one.n - one.n_valid:,}") for one in found.methods]
    return Table("Evaluations by method", columns, tuple(rows))


def flags_table(found: Analysis) -> Table:
    """Why evaluations do not count; several flags may apply to one."""
    columns = (Column("Flag"), Column("Meaning"), *(Column(one.method, True) for one in found.methods))
    rows = [(flag, FLAGS[flag], *(f"{one.flags.get(flag, 0):,}" for one in found.methods)) for flag in protocol().flags]
    return Table("Why evaluations do not count", columns, tuple(rows))


def targets_table(found: Analysis) -> Table:
    """Each target under each variant."""
    columns = (
        Column("Target"),
        Column("Variant"),
        Column("Overall, mean of 0 to 8"),
        *(Column(verdict, True) for verdict in VERDICTS),
        Column("Valid"),
    )
    return Table("Targets under each variant", columns, tuple(_target_row(one, found) for one in found.targets))


def _target_row(one: TargetVariant, found: Analysis) -> tuple[str, ...]:
    shares = [_count_and_share(one.verdicts[verdict], one.verdict_shares[verdict]) for verdict in VERDICTS]
    return (
        _name(one.target_model),
        _name(one.prompt_variant),
        measured("grade", one.overall, found.confidence),
        *shares,
        numbers.rate(one.valid_share.value, one.n),
    )


def _count_and_share(count: int, share: float | None) -> str:
    return f"{count:,} ({numbers.show('rate', share)})" if count else "0"


def dimensions_table(found: Analysis) -> Table:
    """The four dimensions' means."""
    columns = (Column("Target"), Column("Variant"), *(Column(name) for name in protocol().dimensions))
    rows = [
        (
            _name(one.target_model),
            _name(one.prompt_variant),
            *(measured("grade", one.dimensions[name], found.confidence) for name in protocol().dimensions),
        )
        for one in found.targets
    ]
    return Table("Means of the dimensions, 0 to 2", columns, tuple(rows))


def drift_table(found: Analysis) -> Table:
    """Every two variants with a question in common: those with enough questions first, then the widest drift."""
    known = [one for one in found.drifts if one.difference.value is not None]
    widest = sorted(known, key=lambda one: (one.difference.too_few, -abs(one.difference.value or 0.0)))
    left_out = f" (the first {MAX_DRIFTS:,} of {len(known):,})" if len(known) > MAX_DRIFTS else ""
    columns = (
        Column("Target"),
        Column("From variant"),
        Column("To variant"),
        Column("Change of overall score"),
        Column("Pairs", True),
        Column("By question"),
    )
    rows = [_drift_row(one, found) for one in widest[:MAX_DRIFTS]]
    return Table(f"Drift between variants of one question{left_out}", columns, tuple(rows))


def _drift_row(one: Drift, found: Analysis) -> tuple[str, ...]:
    by_question = [
        f"{shorten(question.question_id, 20)} {signed(numbers.show('grade', question.difference))}"
        for question in one.questions[:8]
    ]
    more = [f"and {len(one.questions) - 8:,} more"] if len(one.questions) > 8 else []
    return (
        _name(one.target_model),
        _name(one.variant_a),
        _name(one.variant_b),
        signed(measured("grade", one.difference, found.confidence, "questions")),
        f"{one.difference.n:,}",
        ", ".join([*by_question, *more]),
    )


def judges_table(found: Analysis) -> Table:
    """Each judge's card: cross-judging, but for the last column."""
    columns = (
        Column("Judge"),
        Column("Evaluations", True),
        Column("Valid"),
        Column("Quotes found"),
        Column("Severity"),
        Column("Agreement"),
        Column("Probes"),
        Column("Self-judging"),
    )
    return Table("Cards of the judges", columns, tuple(_judge_row(card, found) for card in found.judges))


def _judge_row(card: JudgeCard, found: Analysis) -> tuple[str, ...]:
    cross, own = card.cross_judge, card.self_judge
    told = card.n_probes_passed + card.n_probes_failed
    probes = f"{card.n_probes_passed:,} of {told:,} passed" if told else numbers.nothing("not probed")
    return (
        _name(card.judge_model),
        f"{cross.n:,}",
        measured("rate", cross.valid_share, found.confidence),
        measured("rate", cross.found_share, found.confidence),
        signed(measured("grade", card.severity, found.confidence)),
        numbers.show("ratio", card.agreement, unknown="no other judge on enough of the same outputs"),
        probes,
        f"{own.n_valid:,} of {own.n:,} valid" if own.n else numbers.nothing("none"),
    )


def evidence_table(found: Analysis) -> Table:
    """Where the judges' quotes were found: of each judge, by method."""
    columns = (Column("Judge"), Column("Method"), *(Column(words, True) for words in LOCATED.values()))
    rows = [
        (_name(card.judge_model), method, *(f"{validity.evidence[kind]:,}" for kind in LOCATED))
        for card in found.judges
        for method, validity in _validities(card)
        if validity.n
    ]
    return Table("Quotes, by how they were found in the judged text", columns, tuple(rows))


def _validities(card: JudgeCard) -> Sequence[tuple[str, Validity]]:
    return (("cross_judge", card.cross_judge), ("self_judge", card.self_judge))


def pairs_table(found: Analysis) -> Table:
    """Every two judges on the outputs that both validly judged."""
    columns = (
        Column("Judge"),
        Column("Other judge"),
        Column("Outputs", True),
        Column("Same verdict", True),
        Column("Verdict, Cohen's kappa (linear)"),
        Column("Verdict, Gwet's AC2 (linear)"),
        Column("Overall, Cohen's kappa (quadratic)"),
    )
    return Table("Agreement of judges", columns, tuple(_pair_row(one, found) for one in found.pairs))


def _pair_row(one: JudgePair, found: Analysis) -> tuple[str, ...]:
    coefficients = (one.verdict_kappa, one.verdict_ac, one.overall_kappa)
    return (
        _name(one.judge_a),
        _name(one.judge_b),
        f"{one.n_outputs:,}",
        numbers.show("rate", one.same_verdict),
        *(measured("ratio", coefficient, found.confidence) for coefficient in coefficients),
    )


def self_table(found: Analysis) -> Table:
    """A diagnostic (P6): how models score their own outputs, minus how others do."""
    names = protocol().dimensions
    columns = (Column("Model"), Column("Outputs", True), Column("Overall"), *(Column(name) for name in names))
    return Table(
        "Self-judging minus cross-judging, on the same outputs",
        columns,
        tuple(_self_row(one, found) for one in found.self_minus_cross),
    )


def _self_row(one: SelfMinusCross, found: Analysis) -> tuple[str, ...]:
    differences = (one.overall, *(one.dimensions[name] for name in protocol().dimensions))
    return (
        _name(one.model),
        f"{one.n_outputs:,}",
        *(signed(measured("grade", difference, found.confidence)) for difference in differences),
    )


def league_table(found: Analysis) -> Table:
    """Which judges can be used, and why not."""
    columns = (Column("Judge"), Column("Standing"), Column("Evaluations", True), Column("Not met"), Column("Not known"))
    return Table("League of judges", columns, tuple(_league_row(entry) for entry in found.league))


def _league_row(entry: LeagueEntry) -> tuple[str, ...]:
    broken = [rule_outcome(one) for one in entry.outcomes if one.holds is False]
    open_ones = [rule_words(one.rule, one.limit) for one in entry.outcomes if one.holds is None]
    return (
        _name(entry.judge_model),
        STANDINGS[entry.standing],
        f"{entry.n:,}",
        "; ".join(broken) or numbers.DASH,
        "; ".join(open_ones) or numbers.DASH,
    )


def league_notes(found: Analysis) -> list[str]:
    """The rules that the league holds judges against."""
    limits = {name: getattr(found.rules, name) for name in found.rules.__struct_fields__}
    few = f"a judge with fewer than {found.minimums.evaluations:,} cross-judging evaluations has no place yet"
    return [*(rule_words(rule, limit) for rule, limit in limits.items() if limit is not None), few]


def probes_table(found: Analysis) -> Table:
    """Failed probes first."""
    order = {False: 0, None: 1, True: 2}
    shown = sorted(found.probes, key=lambda one: order[one.passed])[:MAX_PROBES]
    left_out = f" (the first {MAX_PROBES:,} of {len(found.probes):,})" if len(found.probes) > MAX_PROBES else ""
    columns = (
        Column("Judge"),
        Column("Probe"),
        Column("Output"),
        Column("Outcome"),
        Column("A sound judge says"),
        Column("It said"),
    )
    outcomes = {True: "passed", False: "failed", None: "tells nothing"}
    rows = [
        (
            _name(one.judge_model),
            one.probe,
            _name(f"{one.question_id} / {one.prompt_variant} / {one.target_model} / {one.output_id}"),
            outcomes[one.passed],
            one.expected,
            shorten(one.found, 200),
        )
        for one in shown
    ]
    return Table(f"Probes of judges{left_out}", columns, tuple(rows))


def _name(words: str) -> str:
    return shorten(words, NAME_WIDTH)
