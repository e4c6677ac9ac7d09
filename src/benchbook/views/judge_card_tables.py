"""The notices and tables of a judge's card."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from benchbook.evaluators.document import Cell, Column, Columns, Kind, Section, Table, Value, table
from benchbook.labels.calibration_results import AgreementName, Corrected, CorrectedGate, FieldTrial
from benchbook.labels.carried import CarriedFrom
from benchbook.statistics.ground import REASONS, WARNINGS, Agreement, Estimate
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.gates import rule_words
from benchbook.views.methods import method_words
from benchbook.views.words import aggregate_word, code_words, criterion_word

if TYPE_CHECKING:
    from benchbook.labels.judge_card import BetweenPeople, JudgeCard

_Scale = tuple[int, int]  # its lowest and its highest number

COEFFICIENTS: Mapping[AgreementName, str] = {
    "cohens_kappa": "Cohen's kappa",
    "cohens_kappa_linear": "Cohen's kappa, linear weights",
    "cohens_kappa_quadratic": "Cohen's kappa, quadratic weights",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2_quadratic": "Gwet's AC2, quadratic weights",
    "krippendorff_alpha_ordinal": "Krippendorff's alpha, ordinal",
}


def card_sections(card: JudgeCard) -> Iterator[Section]:
    """The card's sections in reading order; tables without rows are not shown."""
    yield _section("Gates", _gates(card))
    yield _section("Corrected values", _corrected(card))
    yield _section("Agreement", _agreement(card))
    for one in card.calibration.fields:
        differ = confusion_table(one.confusion, "judge", "judge"), _bias(one)
        yield _section(f"{criterion_word(one.field)}: where judge and people differ", *differ)
    yield _section("Validity", _validity(card))
    yield _section("Evidence and test-retest", _retest(card))
    yield _section("Labels", _labels(card))
    yield _section("Cost", _cost(card))


def _section(title: str, *tables: Table) -> Section:
    """A section whose anchor is its title in letters and hyphens."""
    return Section(title.lower().replace(":", "").replace(" ", "-"), title, tables)


def card_notices(card: JudgeCard) -> list[str]:
    """The notices that come before the numbers: warnings, labels, disputes, weak agreement, clusters."""
    found = [_of_field(one) for one in card.calibration.warnings]
    carried = card.labels.carried
    found += label_notices(carried if isinstance(carried, CarriedFrom) else None, as_drawn=card.labels.as_drawn)
    for field, n in card.labels.n_disputed.items():
        if n:
            differ = f"on {plural(n, 'sample')} two people differ and nobody has settled it"
            found.append(f"{criterion_word(field)}: {differ}; left out")
    for trial in card.calibration.fields:
        found += [f"{criterion_word(trial.field)}, agreement: {one}" for one in caveats(trial.agreement.values())]
    if card.calibration.n_clusters is not None:
        found.append(f"Samples share {card.calibration.n_clusters:,} groups or items: intervals are by whole clusters")
    return found


def label_notices(carried: CarriedFrom | None, *, as_drawn: bool) -> Iterator[str]:
    """Notices on labels that were drawn from another run, or that somebody chose."""
    if carried is not None:
        drawn = f"{carried.n_used:,} of {plural(carried.n_labelled, 'labelled answer')} are among this run's"
        holds = "What is corrected by them holds as far as these answers are like its others"
        yield f"The labels were drawn from run {carried.run_id}: {drawn}. {holds}"
    elif not as_drawn:
        yield "The labelled samples are not those that their seed draws: nothing here holds for the others"


def caveats(coefficients: Collection[Agreement]) -> list[str]:
    """The caveats of coefficients of agreement, once each."""
    said = {WARNINGS.get(warning, warning) for one in coefficients for warning in one.warnings}
    return sorted(said | {f"no interval: {why_nothing(one.reason)}" for one in coefficients if one.reason})


def _of_field(warning: str) -> str:
    """A warning about a field begins with its name, which has a word."""
    field, _, words = warning.partition(":")
    return f"{criterion_word(field)}:{words}"


# ── decision and corrected values ────────────────────────────────────────────────────────────────────────────


def _gates(card: JudgeCard) -> Table:
    decision = card.calibration.corrected_decision
    columns: Columns = {
        "Gate": "text", "Rule": "text", "As judged": "number", "As people would judge": "number",
        "At worst and at best": "number", "Outcome": "text",
    }  # fmt: skip
    if decision is None:
        return table("The gates", columns, ())
    return table("The gates under corrected values", columns, map(_gate, decision.gates))


def _gate(gate: CorrectedGate) -> tuple[Cell, ...]:
    word = aggregate_word(gate.aggregate)
    frozen, value, worst, best = (
        numbers.show(word.kind, value, apart_from=gate.limit, unknown=why_nothing(gate.reason))
        for value in (gate.frozen, gate.value, gate.worst, gate.best)
    )
    span = worst if gate.worst == gate.best else f"{worst} and {best}"
    by = " (by labels alone)" if gate.source == "labels_alone" and gate.value is not None else ""
    outcome = f"{gate_outcome(gate)}{by}"
    return word.label, rule_words(gate.direction, word.kind, gate.limit), frozen, value, span, outcome


def gate_outcome(gate: CorrectedGate) -> str:
    """The outcome of a gate as people would judge."""
    if gate.holds_for_sure:
        return "holds"
    if not gate.can_hold:
        return "does not hold"
    if gate.value is None:
        return "nothing can be said"
    return "holds, but not at worst" if gate.holds else "does not hold, but might at best"


def _corrected(card: JudgeCard) -> Table:
    columns: Columns = {
        "Aggregate": "text", "As judged": "number", "Corrected": "number", "Interval": "number",
        "By labels alone": "number", "Labelled of judged": "number", "How it was made": "text",
    }  # fmt: skip
    percent = numbers.limit("rate", card.calibration.confidence)
    scales = scales_of(card)
    rows = [_corrected_row(one, scales.get(one.aggregate, (0, 1))) for one in card.calibration.corrected]
    return table(f"Over the judged samples, with {percent} intervals", columns, rows)


def scales_of(card: JudgeCard) -> dict[str, _Scale]:
    """The scales of the means of criteria, by their aggregates; that of every other aggregate is 0 to 1."""
    scores = {one.field: [*map(int, one.confusion)] for one in card.calibration.fields}
    return {f"{field.removesuffix('_score')}_mean": (min(found), max(found)) for field, found in scores.items()}


def _corrected_row(one: Corrected, scale: _Scale) -> tuple[Cell, ...]:
    word, found = aggregate_word(one.aggregate), one.corrected
    return (
        word.label,
        Value(word.kind, one.as_judged, unknown="nothing was judged"),
        Value(word.kind, inside(scale, found.estimate), unknown=why_nothing(found.reason)),
        _interval(found, word.kind, scale),
        _alone(one, scale),
        f"{one.n_labelled:,} of {one.n_judged:,}",
        made_how(found),
    )


def _alone(one: Corrected, scale: _Scale) -> str:
    kind, found = aggregate_word(one.aggregate).kind, one.by_labels_alone
    shown = numbers.show(kind, inside(scale, found.estimate), unknown=why_nothing(found.reason))
    return shown if found.low is None else f"{shown} ({_interval(found, kind, scale)})"


def inside(scale: _Scale, value: float | None) -> float | None:
    """`value`, moved to the nearer end of its scale where an approximation lies outside."""
    return None if value is None else min(float(scale[1]), max(float(scale[0]), value))


# ── agreement and bias ───────────────────────────────────────────────────────────────────────────────────────


def confusion_table(confusion: Mapping[str, Mapping[str, int]], who: str, head: str) -> Table:
    """How often people gave a score, by what `who` gave; `head` stands before each of these."""
    columns: Columns = {"People": "text", **{f"{head} {score}": "count" for score in confusion}}
    rows: list[Sequence[Cell]] = [[f"people {people}", *row.values()] for people, row in confusion.items()]
    return table(f"How often people gave a score and the {who} gave one", columns, rows)


def _agreement(card: JudgeCard) -> Table:
    from benchbook.labels.judge_card import BetweenPeople  # loads NumPy, of which runs that are shown have no need

    sides: list[_Side] = [
        (f"{criterion_word(one.field)}, judge and people (n = {one.n:,})", one.agreement)
        for one in card.calibration.fields
    ]
    people = BetweenPeople(n_twice=card.labels.n_twice, agreement=card.labels.between_people)
    return agreement_table([*sides, *_people(people)])


def people_table(people: BetweenPeople) -> Table:
    """How far two people agree, in the words of the card; without rows where nothing was labelled twice."""
    return agreement_table(_people(people))


_Side: TypeAlias = tuple[str, Mapping[AgreementName, Agreement]]


def _people(people: BetweenPeople) -> list[_Side]:
    return [
        (f"{criterion_word(field)}, two people (n = {n:,})", people.agreement[field])
        for field, n in people.n_twice.items()
        if n
    ]


def agreement_table(sides: Sequence[_Side], names: Iterable[AgreementName] = COEFFICIENTS) -> Table:
    """Agreement by several coefficients, a column for each of `sides`; without rows where there are none."""
    rows: list[tuple[Cell, ...]] = []
    if sides:
        observed = [next(iter(found.values())).observed_agreement for _, found in sides]
        rows.append(("The same score", *(Value("rate", value) for value in observed)))
        rows += [(COEFFICIENTS[name], *(bounded(found[name]) for _, found in sides)) for name in names]
    columns = (Column("Coefficient"), *(Column(name, "number") for name, _ in sides))
    return Table("Agreement beyond chance, 1 at most", columns, tuple(rows))


def _bias(trial: FieldTrial) -> Table:
    columns: Columns = {
        "Samples": "text", "n": "count", "Judge minus people": "number", "Interval": "number", "p, Holm": "number",
    }  # fmt: skip
    bias, found = trial.bias, trial.bias.with_length
    rows: list[tuple[Cell, ...]] = [("all", *_difference(bias.overall), None)]
    for one in bias.slices:
        p = None if one.p_holm is None else f"{one.p_holm:.3f}"
        rows.append((f"{one.slice}: {one.value}", *_difference(one.difference), p))
    rows.append(("rank correlation with length", found.n, _number(found), _span(found), None))
    scores = list(trial.confusion)
    scale = f"{scores[0]} to {scores[-1]}"
    return table(f"Bias, in points of the scale {scale}: above 0 the judge is kinder than people", columns, rows)


def _difference(found: Estimate) -> tuple[Cell, ...]:
    signed = _number(found) if found.estimate is None else f"{found.estimate:+.3f}"
    return found.n, signed, _span(found, sign="+")


def bounded(found: Estimate) -> str:
    """`0.812 (0.741 to 0.873)`."""
    if found.estimate is None:
        return _number(found)
    return f"{_number(found)} ({_span(found) if found.low is not None else 'no interval'})"


def _number(found: Estimate) -> str:
    return numbers.nothing(why_nothing(found.reason)) if found.estimate is None else f"{found.estimate:.3f}"


def _span(found: Estimate, *, sign: str = "") -> str:
    if found.low is None or found.high is None:
        return numbers.nothing(why_nothing(found.reason))
    return f"{found.low:{sign}.3f} to {found.high:{sign}.3f}"


# ── what else is known ───────────────────────────────────────────────────────────────────────────────────────


def _validity(card: JudgeCard) -> Table:
    found = card.validity
    rows: list[tuple[Cell, ...]] = [
        ("Judged", found.n_asked),
        ("Read at last", f"{found.n_valid:,}, {_share(found.share)}"),
        ("Asked again because a reply could not be read", found.parse_retries),
        *((f"Unscored: {code_words(why)}", n) for why, n in found.invalid_by_reason.items()),
    ]
    return table("Whether the judge's replies could be read", {"What": "text", "Samples": "count"}, rows)


def _retest(card: JudgeCard) -> Table:
    found = card.retest
    rows = [("Evidence", card.evidence or numbers.nothing(f"{one_line(card.spec)} asks for none"))]
    if not found.n_items:
        rows.append(("Test-retest", numbers.nothing("no answer was judged twice; a run with repeats may have some")))
    else:
        both = "Both scores" if len(found.kappa) == 2 else "All scores" if len(found.kappa) > 2 else "The score"
        rows.append((f"{both} the same again ({plural(found.n_items, 'answer')})", _share(found.same_scores)))
        rows += [(f"{criterion_word(name)}: quadratic kappa", bounded(one)) for name, one in found.kappa.items()]
    return table("Whether the judge repeats itself on the same answer", {"What": "text", "Found": "text"}, rows)


def _labels(card: JudgeCard) -> Table:
    found = card.labels
    drawn = f"{found.n_drawn:,} samples, by seed {found.seed}"
    if found.stratify:
        drawn += f", in proportion by {one_line(' / '.join(found.stratify))}"
    people = plural(found.n_labellers, "person", "people")
    rows = [("Drawn", drawn), ("Labelled", f"{card.calibration.n_labelled:,} samples by {people}")]
    for field, n in found.n_twice.items():
        settled = f"{n:,}; {found.n_adjudicated[field]:,} adjudicated, {found.n_disputed[field]:,} open"
        rows.append((f"{criterion_word(field)}: by two people", settled))
    rows.append(("Record of the labels", found.sha256))
    return table("Where the labels come from", {"What": "text", "Found": "text"}, rows)


def _cost(card: JudgeCard) -> Table:
    found = card.cost
    rows: list[tuple[Cell, ...]] = [
        ("Cost", Value("usd", found.usd)),
        ("Input tokens", Value("tokens", numbers.reported("tokens", found.input_tokens), unknown="not reported")),
        ("Output tokens", Value("tokens", numbers.reported("tokens", found.output_tokens), unknown="not reported")),
        ("Median latency", Value("ms", found.latency_p50_ms, unknown="not measured")),
    ]
    return table("What the judge took", {"What": "text", "Found": "number"}, rows)


# ── numbers in words ─────────────────────────────────────────────────────────────────────────────────────────


def _share(found: Estimate) -> str:
    if found.estimate is None:
        return numbers.nothing(why_nothing(found.reason))
    return f"{numbers.show('rate', found.estimate, n=found.n)}, {_interval(found, 'rate', (0, 1))}"


def _interval(found: Estimate, kind: Kind, scale: _Scale) -> str:
    if found.estimate is None:
        return numbers.nothing()  # why stands beside it
    if found.low is None or found.high is None:
        return numbers.nothing(why_nothing(found.reason))
    low, high = (numbers.show(kind, inside(scale, bound)) for bound in (found.low, found.high))
    return f"{low} to {high}"


def made_how(found: Estimate) -> str:
    """The method of an estimate and its warnings, in words."""
    return "; ".join((method_words(found.method), *(WARNINGS.get(warning, warning) for warning in found.warnings)))


def why_nothing(reason: str | None) -> str | None:
    """Why there is no number, in words."""
    return None if reason is None else REASONS.get(reason, reason)
