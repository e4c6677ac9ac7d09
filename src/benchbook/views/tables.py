"""What a report says, as tables of plain text. HTML and Markdown show the same ones, each in its own way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.release import Decision
from benchbook.evaluators.rubric.rows import (
    AggregatesFile,
    Cases,
    EarlyStop,
    Ledger,
    PairedStop,
    PanelRow,
    PanelVote,
    RubricRow,
    VarianceSplit,
)
from benchbook.statistics.results import REASONS, WARNINGS
from benchbook.text import one_line
from benchbook.views import numbers
from benchbook.views.digest import Digest
from benchbook.views.gates import bound_words, extremes, gate_rule, gate_state, gate_value
from benchbook.views.model import AnyReport, RunReport
from benchbook.views.words import AGGREGATES, Base, aggregate_word, fail_reason, plural

__all__ = [
    "Column",
    "Table",
    "aggregates_table",
    "agreement_table",
    "costs_table",
    "counted_over",
    "early_stop_table",
    "fail_reasons_table",
    "gates_table",
    "ledger_table",
    "notices",
    "repeats_table",
    "reproducibility",
    "sample_facts",
    "scores_table",
    "slices_table",
    "variance_table",
]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    number: bool = False  # set to the right, in figures of one width


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` are as wide as `columns`; the first cell of a row is its heading. Cells are text, not markup."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def __bool__(self) -> bool:
        return bool(self.rows)


def notices(report: RunReport) -> list[str]:
    """What a reader must know before any number: how the run ended, then the record's own warnings."""
    manifest, ledger = report.manifest, report.aggregates.ledger
    found = []
    if manifest.state != "complete":
        detail = f" ({manifest.state_detail})" if manifest.state_detail else ""
        found.append(
            f"This run is not complete: it is {manifest.state}{detail}, with {ledger.n_attempted:,} of "
            f"{ledger.n_planned:,} samples. It can be resumed."
        )
    if isinstance(early := report.aggregates.early_stop, EarlyStop) and early.after_items is not None:
        what, error = "decided", "of another decision than all of them would give"
        if isinstance(early.against, PairedStop):
            what = f"shown {early.against.verdict} than {one_line(early.against.run_id)}"
            error = "of saying so where there is no difference"
        found.append(
            f"This run ended once it was {what}, after {early.after_items:,} of {early.n_items:,} items: the chance "
            f"{error} is at most {numbers.limit('rate', early.error)}. Intervals here take the number of samples as "
            "fixed before, which it was not: they are too sure."
        )
    return [*found, *report.aggregates.warnings]


def counted_over(base: Base, file: AggregatesFile, digest: Digest) -> int | None:
    """The n of an aggregate."""
    match base:
        case "samples":
            return file.aggregates.n_samples
        case "scored":
            return file.aggregates.n_scored
        case "accuracy":
            return sum(file.accuracy_counts.values())
        case "faithfulness":
            return sum(file.faithfulness_counts.values())
        case "latency":
            return digest.latency_e2e_ms.n
        case "model_latency":
            return digest.latency_model_ms.n
        case "none":
            return None


def gates_table(decision: Decision) -> Table:
    """The gates of R6.1, each with its worst and best case, its interval, and the bound that decides where one does."""
    rows = []
    with_bounds = not isinstance(decision.decided_by, msgspec.UnsetType) and decision.decided_by.rule == "bounds"
    for gate in decision.gates:
        word, state = aggregate_word(gate.aggregate), gate_state(gate)
        rows.append(
            (
                word.label,
                gate_rule(gate),
                gate_value(gate, gate.value),
                extremes(gate),
                numbers.interval(word.kind, gate.interval),
                *((bound_words(gate) or numbers.nothing(),) if with_bounds else ()),
                f"{state.text}, {state.detail}" if state.detail else state.text,
            )
        )
    columns = (
        Column("Gate"),
        Column("Rule"),
        Column("Value", number=True),
        Column("Worst to best case", number=True),
        Column("Interval", number=True),
        *((Column("Bound in the worst case", number=True),) if with_bounds else ()),
        Column("Outcome"),
    )
    return Table("The gates", columns, tuple(rows))


def ledger_table(ledger: Ledger) -> Table:
    """Where every planned sample went."""
    rows = [
        ("Planned", numbers.count(ledger.n_planned)),
        ("Attempted", numbers.count(ledger.n_attempted)),
        ("Scored", numbers.count(ledger.n_scored)),
        ("of these, not answered (zero by rule)", numbers.count(ledger.n_no_answer)),
        *((f"not answered: {one_line(why)}", numbers.count(n)) for why, n in ledger.no_answer_by_reason.items()),
        ("Unscored", numbers.count(ledger.n_unscored)),
        *((f"unscored: {one_line(why)}", numbers.count(n)) for why, n in ledger.unscored_by_reason.items()),
        *((f"unanswered: {one_line(why)}", numbers.count(n)) for why, n in _causes(ledger).items()),
    ]
    return Table("Where every planned sample went", (Column("Samples"), Column("Count", number=True)), tuple(rows))


def _causes(ledger: Ledger) -> dict[str, int]:
    """Empty before derivation 3."""
    return {} if isinstance(ledger.unanswered_by_cause, msgspec.UnsetType) else ledger.unanswered_by_cause


def aggregates_table(file: AggregatesFile, digest: Digest) -> Table:
    """The aggregates of R4, with n and interval."""
    rows = []
    for name, word in AGGREGATES.items():
        value = getattr(file.aggregates, name)
        n = counted_over(word.base, file, digest)
        interval = file.intervals.get(name)
        rows.append(
            (
                word.label,
                numbers.show(word.kind, value, unknown="nothing was counted"),
                numbers.nothing() if n is None else numbers.count(n),
                _cases(word.kind, file.cases.get(name) if isinstance(file.cases, dict) else None),
                numbers.nothing() if interval is None else numbers.interval(word.kind, interval, bare=True),
                numbers.nothing() if interval is None else _method(interval),
            )
        )
    columns = (
        Column("Aggregate"),
        Column("Value", number=True),
        Column("n", number=True),
        Column("Worst to best case", number=True),
        Column("Interval", number=True),
        Column("How it was made"),
    )
    return Table("Aggregates", columns, tuple(rows))


def _cases(kind: numbers.Kind, found: Cases | None) -> str:
    """From the worst case to the best; a single value where no unscored sample parts them."""
    if found is None:
        return numbers.nothing()
    if found.worst == found.best:
        return numbers.show(kind, found.worst)
    return f"{numbers.show(kind, found.worst)} to {numbers.show(kind, found.best)}"


def _method(interval: Interval) -> str:
    """How the interval was made, and what is to be said against it."""
    warnings = (WARNINGS.get(one, one) for one in interval.warnings)
    parts = (f"{numbers.limit('rate', interval.confidence)} confidence", interval.method, *warnings)
    return "; ".join(one_line(part) for part in parts)


def scores_table(file: AggregatesFile) -> Table:
    """How often each score was given."""
    n_accuracy, n_faithfulness = sum(file.accuracy_counts.values()), sum(file.faithfulness_counts.values())
    rows = tuple(
        (
            score,
            _part(file.accuracy_counts.get(score, 0), n_accuracy),
            _part(file.faithfulness_counts.get(score, 0), n_faithfulness),
        )
        for score in ("2", "1", "0")
    )
    columns = (Column("Score"), Column("Accuracy", number=True), Column("Faithfulness", number=True))
    return Table("How often each score was given", columns, rows)


def fail_reasons_table(file: AggregatesFile) -> Table:
    """Why samples did not pass. A sample may have several reasons."""
    rows = tuple(
        (fail_reason(name), _part(n, file.aggregates.n_samples))
        for name, n in sorted(file.fail_reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        if n
    )
    columns = (Column("Reason"), Column("Samples", number=True))
    return Table("Why samples did not pass (one may have several reasons)", columns, rows)


def costs_table(file: AggregatesFile) -> Table:
    """Tokens, money and retries, the candidate's and the judge's apart (R1.1)."""
    totals = file.aggregates
    rows = (
        ("Input tokens", numbers.tokens(totals.total_input_tokens), numbers.tokens(file.evaluator_input_tokens)),
        ("Output tokens", numbers.tokens(totals.total_output_tokens), numbers.tokens(file.evaluator_output_tokens)),
        (
            "Median latency",
            numbers.milliseconds(totals.latency_e2e_p50_ms),
            numbers.milliseconds(file.evaluator_latency_p50_ms),
        ),
        ("Cost", numbers.money(file.candidate_cost_usd), numbers.money(file.evaluator_cost_usd)),
        ("Replies read again (parse retries)", numbers.DASH, numbers.count(file.parse_retries)),
    )
    columns = (Column("What"), Column("Model", number=True), Column("Judge", number=True))
    return Table("What it took", columns, rows)


def repeats_table(file: AggregatesFile) -> Table:
    """R7.3: each repeat, and mean and standard deviation over them."""
    n = max((len(summary.per_repeat) for summary in file.repeats), default=0)
    if n < 2:
        return Table("Repeats", (), ())
    rows = []
    for summary in file.repeats:
        kind = aggregate_word(summary.aggregate).kind
        values = [*summary.per_repeat, *[None] * (n - len(summary.per_repeat))]
        rows.append(
            (
                aggregate_word(summary.aggregate).label,
                *(numbers.show(kind, value) for value in values),
                numbers.show(kind, summary.mean),
                numbers.show(kind, summary.sd),
            )
        )
    repeats = tuple(Column(f"Repeat {index + 1}", number=True) for index in range(n))
    columns = (Column("Aggregate"), *repeats, Column("Mean", number=True), Column("SD", number=True))
    return Table("The repeats", columns, tuple(rows))


def agreement_table(file: AggregatesFile) -> Table:
    """R7.3: how often the repeats of an item agree."""
    agreement = file.item_agreement
    columns = (Column("All repeats of an item gave"), Column("Items", number=True))
    if agreement is None:
        return Table("Agreement of the repeats", columns, ())
    n = agreement.n_items
    rows = (
        ("the same answer, to the letter", _part(agreement.same_answer, n)),
        ("the same accuracy and faithfulness", _part(agreement.same_scores, n)),
        ("the same pass or fail", _part(agreement.same_passed, n)),
    )
    return Table(f"Agreement of the repeats, over {n:,} items with at least two scored", columns, rows)


def variance_table(file: AggregatesFile) -> Table:
    """What samples vary by, items or an item's repeats, and which of the two it helps more to have more of."""
    columns = (
        Column("Variance of"),
        Column("Between items", number=True),
        Column("Within an item", number=True),
        Column("Share within", number=True),
        Column("Standard error", number=True),
        Column("With twice the items", number=True),
        Column("With twice the repeats", number=True),
        Column("Note"),
    )
    splits = file.variance if isinstance(file.variance, list) else []
    return Table(
        "What samples vary by: items, or an item's repeats", columns, tuple(_variance_row(one) for one in splits)
    )


def _variance_row(one: VarianceSplit) -> tuple[str, ...]:
    notes = [REASONS.get(one.reason, one.reason)] if one.reason else []
    notes += [WARNINGS.get(warning, warning) for warning in one.warnings]
    return (
        aggregate_word(one.aggregate).label,
        numbers.show("score", one.between_items),
        numbers.show("score", one.within_item),
        numbers.show("rate", one.share_within_item, n=one.n),
        numbers.show("score", one.standard_error),
        numbers.show("score", one.with_twice_the_items),
        numbers.show("score", one.with_twice_the_repeats),
        "; ".join(notes) or numbers.DASH,
    )


def early_stop_table(file: AggregatesFile) -> Table:
    """How a run that may stop once it is decided went, and what that saved."""
    columns = (Column("What"), Column("Value"))
    early = file.early_stop
    if not isinstance(early, EarlyStop):
        return Table("Until decided", columns, ())
    after = "no part of the items: all of them had to be asked"
    if early.after_items is not None:
        after = f"{early.after_items:,} of {plural(early.n_items, 'item')}"
    saved = f"{plural(early.n_samples_not_asked, 'sample')}: of each, the call of the model and those of its judge"
    rows = (
        ("Decided after", after),
        *_against_rows(early.against),
        ("Error, at most", numbers.limit("rate", early.error)),
        ("Samples that decided", numbers.count(early.n_samples_counted)),
        ("Under way then: recorded, not counted", numbers.count(early.n_samples_after)),
        ("Saved: never asked", saved),
        ("How", f"{one_line(early.method)}; seed {early.seed} drew the order of the items"),
        *(
            (
                aggregate_word(one.aggregate).label,
                "open" if one.after_items is None else f"{one.claim}, shown after {plural(one.after_items, 'item')}",
            )
            for one in early.gates
        ),
    )
    return Table("Until decided", columns, rows)


def _against_rows(against: PairedStop | msgspec.UnsetType) -> tuple[tuple[str, str], ...]:
    if not isinstance(against, PairedStop):
        return ()
    run = f"{one_line(against.run_id)} (record {numbers.short_hash(against.journal_sha256)})"
    if against.verdict is None or against.n_open is None:
        return (("Held against", run), ("Shown", "neither better nor worse; `benchbook compare` says what can be said"))
    unknown = f", {against.n_open:,} without a score in one of them" if against.n_open else ""
    counts = f"{against.n_lost:,} lost, {against.n_won:,} won, {against.n_same:,} alike{unknown}"
    return (("Held against", run), ("Shown", f"{against.verdict}: of these items' passes {counts}"))


def slices_table(file: AggregatesFile) -> Table:
    """The aggregates per section, category and difficulty."""
    rows = tuple(
        (
            f"{one.field}: {one_line(one.value)}",
            numbers.rate(one.pass_rate, one.n_samples),
            numbers.score(one.aggregate_score),
            numbers.show("grade", one.accuracy_mean),
            numbers.show("grade", one.faithfulness_mean),
            numbers.count(one.n_scored),
        )
        for one in file.slices
    )
    columns = (
        Column("Slice"),
        Column("Pass rate", number=True),
        Column("Mean score", number=True),
        Column("Accuracy", number=True),
        Column("Faithfulness", number=True),
        Column("Scored", number=True),
    )
    return Table("Slices", columns, rows)


def reproducibility(report: AnyReport) -> Table:
    """All metadata of R7.1, and what else is needed to do the run again."""
    manifest = report.manifest
    known = msgspec.to_builtins(manifest)
    rows = [row for name in known if name not in ("missing_metadata", "config") for row in _flat(name, known[name])]
    rows += [("missing_metadata", name) for name in getattr(manifest, "missing_metadata", ())]
    return Table("Reproducibility metadata (SPEC R7.1)", (Column("Name"), Column("Value")), tuple(rows))


def sample_facts(row: RubricRow) -> Table:
    """What is known of one sample, but for its texts."""
    rows = [
        ("Accuracy", numbers.show("count", row.accuracy_score, unknown=row.evaluator_error or "not scored")),
        ("Faithfulness", numbers.show("count", row.faithfulness_score, unknown=_no_faithfulness(row))),
        ("Sample score", numbers.score(row.sample_score, unknown=row.evaluator_error or "not scored")),
        ("Latency end to end", _with(numbers.milliseconds(row.latency_e2e_ms), "timed out", row.timed_out)),
        ("Tokens in + out", _tokens(row)),
        ("Waited in queue", numbers.milliseconds(row.queue_ms)),
        ("Retries", _retries(row)),
        ("Finish reason", _with(one_line(row.finish_reason or numbers.DASH), "cut", row.truncated)),
        ("Answered by", one_line(row.model_reported or numbers.nothing("the provider did not say"))),
        ("Journal", numbers.nothing("no answer") if row.answer_seq is None else f"fact {row.answer_seq}"),
    ]
    if isinstance(row, PanelRow):
        rows += [(f"Judge {one_line(vote.name)}", _vote(vote)) for vote in row.votes]
    if row.cached:
        rows.append(("From the cache", "yes"))
    tags = [f"{name} {one_line(value)}" for name, value in _tags(row)]
    if tags:
        rows.append(("Slices", ", ".join(tags)))
    return Table(f"Sample {row.sample}", (Column("What"), Column("Value")), tuple(rows))


def _vote(vote: PanelVote) -> str:
    if vote.evaluator_error is not None:
        return vote.parse_error_reason or vote.evaluator_error
    scores = f"accuracy {vote.accuracy_score}, faithfulness {vote.faithfulness_score}"
    return f"{scores}: {'passes' if vote.passed else 'does not pass'}"


def _tags(row: RubricRow) -> Iterator[tuple[str, str]]:
    for name in ("section", "category", "difficulty", "group"):
        value = getattr(row, name)
        if value is not None:
            yield name, value


def _no_faithfulness(row: RubricRow) -> str:
    return "made no claim" if row.score_origin else row.evaluator_error or "not scored"


def _tokens(row: RubricRow) -> str:
    total = numbers.tokens(row.total_tokens)
    if row.input_tokens is None or row.output_tokens is None:
        return total
    return f"{row.input_tokens:,} + {row.output_tokens:,} = {total}"


def _retries(row: RubricRow) -> str:
    lost = f", {row.retry_ms:,} ms lost" if row.retry_ms else ""
    return f"{row.transport_retries:,} of transport{lost}; {row.parse_retries:,} of parsing"


def _with(text: str, remark: str, applies: bool) -> str:
    return f"{text} ({remark})" if applies else text


def _part(k: int, n: int) -> str:
    return f"{k:,} of {n:,}, {numbers.show('rate', k / n)}" if n else numbers.nothing("no data")


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """One row per leaf; lists on one line. Names are dotted."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _flat(f"{name}.{one_line(str(key))}", value[key])
    elif isinstance(value, list):
        yield name, ", ".join(one_line(str(part)) for part in value) or numbers.nothing("none")
    elif value is None or value == {}:
        yield name, numbers.nothing()
    elif isinstance(value, str):
        yield name, one_line(value)
    else:
        yield name, json.dumps(value, ensure_ascii=False)
