"""The numbers of a run under a rubric, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from benchbook.evaluators.document import Cell, Column, Columns, Kind, Reach, Share, Span, Table, Value, table
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.rows import AggregatesFile, Cases, EarlyStop, Ledger, PairedStop, VarianceSplit
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.statistics.ground import REASONS, WARNINGS
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.rubric.digest import RunReport
from benchbook.views.rubric.words import fail_reason
from benchbook.views.words import AGGREGATES, AggregateWord, aggregate_word, criterion_word, listed


def counted_over(base: str, report: RunReport) -> int | None:
    """The n of an aggregate."""
    file = report.aggregates
    if (of_criterion := getattr(file, f"{base}_counts", None)) is not None:
        return sum(int(n) for n in of_criterion.values())
    counts: dict[str, int] = {
        "samples": file.aggregates.n_samples,
        "scored": file.aggregates.n_scored,
        "latency": report.digest.latency_e2e_ms.n,
        "model_latency": report.digest.latency_model_ms.n,
    }
    return counts.get(base)


def ledger_table(ledger: Ledger) -> Table:
    """Where every planned sample went."""
    # Empty before derivation 3.
    causes = {} if isinstance(ledger.unanswered_by_cause, msgspec.UnsetType) else ledger.unanswered_by_cause
    rows = [
        ("Planned", ledger.n_planned),
        ("Attempted", ledger.n_attempted),
        ("Scored", ledger.n_scored),
        ("of these, not answered (zero by rule)", ledger.n_no_answer),
        *((f"not answered: {why}", n) for why, n in ledger.no_answer_by_reason.items()),
        ("Unscored", ledger.n_unscored),
        *((f"unscored: {why}", n) for why, n in ledger.unscored_by_reason.items()),
        *((f"unanswered: {why}", n) for why, n in causes.items()),
    ]
    return table("Where every planned sample went", {"Samples": "text", "Count": "count"}, rows)


def aggregates_table(report: RunReport) -> Table:
    """The aggregates of R4, with n and interval."""
    file = report.aggregates
    cases = file.cases if isinstance(file.cases, dict) else {}
    rows = [
        (
            word.label,
            _value(word, getattr(file.aggregates, name)),
            counted_over(word.base, report),
            _cases(word.kind, cases.get(name)),
            None if (found := file.intervals.get(name)) is None else Reach(word.kind, found, bare=True),
            None if found is None else _method(found),
        )
        for name, word in _shown_aggregates(report.spec)
    ]
    return table(
        "Aggregates",
        {
            "Aggregate": "text", "Value": "number", "n": "count", "Worst to best case": "number", "Interval": "number",
            "How it was made": "text",
        },
        rows,
        titled=True,
    )  # fmt: skip


def _value(word: AggregateWord, value: float | None) -> Value:
    unknown = "not reported" if word.kind == "tokens" else "nothing was counted"
    return Value(word.kind, numbers.reported(word.kind, value), unknown=unknown)


def _shown_aggregates(spec: RubricSpec) -> Iterator[tuple[str, AggregateWord]]:
    """A rubric's aggregates with their words, known names first: its criteria's come where `rubric@v1` has its own."""
    known = table_of(spec)
    names = [name for name in AGGREGATES if name in known]
    own = [name for name in known if name not in AGGREGATES and not name.startswith("n_")]
    at = names.index("latency_e2e_p50_ms")
    for name in (*names[:at], *own, *names[at:]):
        yield name, aggregate_word(name)


def _cases(kind: Kind, found: Cases | None) -> Cell:
    """The worst case to the best; a single value where no unscored sample separates them."""
    return None if found is None else Span(Value(kind, found.worst), Value(kind, found.best))


def _method(interval: Interval) -> str:
    """The method of an interval, and its warnings."""
    warnings = (WARNINGS.get(one, one) for one in interval.warnings)
    return "; ".join((f"{numbers.limit('rate', interval.confidence)} confidence", interval.method, *warnings))


def scores_table(file: AggregatesFile, spec: RubricSpec) -> Table:
    """How often each score was given; blank beside one that is not of a criterion's scale."""
    counts = [getattr(file, f"{one.name}_counts") for one in spec.asked]
    scores = sorted({score for one in spec.asked for score in one.scores}, reverse=True)
    rows = [(str(score), *(_given(one, str(score)) for one in counts)) for score in scores]
    columns: Columns = {"Score": "text", **{_with_grades(one): "number" for one in spec.asked}}
    return table("How often each score was given", columns, rows)


def _with_grades(one: Criterion) -> str:
    """`Tone (0 rude, 1 kind)`: a criterion, and what its scores are called."""
    grades = ", ".join(f"{score} {grade}" for score, grade in zip(one.scores, one.grades, strict=False))
    return f"{criterion_word(one.name)} ({grades})" if grades else criterion_word(one.name)


def _given(counts: Mapping[str, int], score: str) -> Cell:
    return Share(counts[score], sum(counts.values())) if score in counts else None


def fail_reasons_table(file: AggregatesFile) -> Table:
    """Why samples did not pass. A sample may have several reasons."""
    found = sorted(file.fail_reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = [(fail_reason(name), Share(n, file.aggregates.n_samples)) for name, n in found if n]
    caption = "Why samples did not pass (one may have several reasons)"
    return table(caption, {"Reason": "text", "Samples": "number"}, rows)


def costs_table(file: AggregatesFile) -> Table:
    """Tokens, money and retries, the candidate's and the judge's apart (R1.1)."""
    totals = file.aggregates
    rows: list[tuple[Cell, ...]] = [
        ("Input tokens", _tokens(totals.total_input_tokens), _tokens(file.evaluator_input_tokens)),
        ("Output tokens", _tokens(totals.total_output_tokens), _tokens(file.evaluator_output_tokens)),
        ("Median latency", _latency(totals.latency_e2e_p50_ms), _latency(file.evaluator_latency_p50_ms)),
        ("Cost", Value("usd", file.candidate_cost_usd), Value("usd", file.evaluator_cost_usd)),
        ("Replies read again (parse retries)", None, Value("count", file.parse_retries)),
    ]
    return table("What it took", {"What": "text", "Model": "number", "Judge": "number"}, rows, titled=True)


def _tokens(n: int | None) -> Value:
    return Value("tokens", numbers.reported("tokens", n), unknown="not reported")


def _latency(ms: float | None) -> Value:
    return Value("ms", ms, unknown="not measured")


def repeats_table(file: AggregatesFile) -> Table:
    """Each repeat, and the mean and standard deviation over them (R7.3)."""
    n = max((len(summary.per_repeat) for summary in file.repeats), default=0)
    if n < 2:
        return table("Repeats", {}, ())
    rows: list[Sequence[Cell]] = []
    for summary in file.repeats:
        word = aggregate_word(summary.aggregate)
        values = [*summary.per_repeat, *[None] * (n - len(summary.per_repeat)), summary.mean, summary.sd]
        rows.append([word.label, *(Value(word.kind, value) for value in values)])
    names = (*(f"Repeat {index + 1}" for index in range(n)), "Mean", "SD")
    return Table("The repeats", (Column("Aggregate"), *(Column(name, "number") for name in names)), tuple(rows))


def agreement_table(file: AggregatesFile, spec: RubricSpec) -> Table:
    """How often the repeats of an item agree (R7.3)."""
    found = file.item_agreement
    if found is None:
        return table("Agreement of the repeats", {}, ())
    n = found.n_items
    rows = (
        ("the same answer, to the letter", Share(found.same_answer, n)),
        (f"the same {listed([one.name for one in spec.criteria])}", Share(found.same_scores, n)),
        ("the same pass or fail", Share(found.same_passed, n)),
    )
    caption = f"Agreement of the repeats, over {n:,} items with at least two scored"
    return table(caption, {"All repeats of an item gave": "text", "Items": "number"}, rows)


def variance_table(file: AggregatesFile) -> Table:
    """The variance of samples between items and within an item, and whether more items or more repeats help more."""
    splits = file.variance if isinstance(file.variance, list) else []
    columns: Columns = {
        "Variance of": "text", "Between items": "score", "Within an item": "score", "Share within": "rate",
        "Standard error": "score", "With twice the items": "score", "With twice the repeats": "score", "Note": "text",
    }  # fmt: skip
    return table("What samples vary by: items, or an item's repeats", columns, map(_variance_row, splits))


def _variance_row(one: VarianceSplit) -> tuple[Cell, ...]:
    notes = [REASONS.get(one.reason, one.reason)] if one.reason else []
    notes += [WARNINGS.get(warning, warning) for warning in one.warnings]
    return (
        aggregate_word(one.aggregate).label,
        one.between_items,
        one.within_item,
        Value("rate", one.share_within_item, n=one.n),
        one.standard_error,
        one.with_twice_the_items,
        one.with_twice_the_repeats,
        "; ".join(notes) or None,
    )


def early_stop_table(file: AggregatesFile) -> Table:
    """How a run that may stop once it is decided went, and what that saved."""
    early = file.early_stop
    if not isinstance(early, EarlyStop):
        return table("Until decided", {}, ())
    after = "no part of the items: all of them had to be asked"
    if early.after_items is not None:
        after = f"{early.after_items:,} of {plural(early.n_items, 'item')}"
    saved = f"{plural(early.n_samples_not_asked, 'sample')}: of each, the call of the model and those of its judge"
    rows: list[tuple[Cell, ...]] = [
        ("Decided after", after),
        *_against_rows(early.against),
        ("Error, at most", numbers.limit("rate", early.error)),
        ("Samples that decided", early.n_samples_counted),
        ("Under way then: recorded, not counted", early.n_samples_after),
        ("Saved: never asked", saved),
        ("How", f"{one_line(early.method)}; seed {early.seed} drew the order of the items"),
    ]
    for one in early.gates:
        shown = "open" if one.after_items is None else f"{one.claim}, shown after {plural(one.after_items, 'item')}"
        rows.append((aggregate_word(one.aggregate).label, shown))
    return table("Until decided", {"What": "text", "Value": "text"}, rows)


def _against_rows(against: PairedStop | msgspec.UnsetType) -> tuple[tuple[str, str], ...]:
    if not isinstance(against, PairedStop):
        return ()
    run = f"{one_line(against.run_id)} (record {numbers.short_hash(against.journal_sha256)})"
    if against.verdict is None or against.n_open is None:
        return (("Held against", run), ("Shown", "neither better nor worse; `benchbook compare` says what can be said"))
    unknown = f", {against.n_open:,} without a score in one of them" if against.n_open else ""
    counts = f"{against.n_lost:,} lost, {against.n_won:,} won, {against.n_same:,} alike{unknown}"
    return (("Held against", run), ("Shown", f"{against.verdict}: of these items' passes {counts}"))


def slices_table(file: AggregatesFile, spec: RubricSpec) -> Table:
    """The aggregates per section, category and difficulty."""
    rows = [
        (
            f"{one.field}: {one.value}",
            Value("rate", one.pass_rate, n=one.n_samples),
            one.aggregate_score,
            *(getattr(one, f"{criterion.name}_mean") for criterion in spec.criteria),
            one.n_scored,
        )
        for one in file.slices
    ]
    columns: Columns = {
        "Slice": "text", "Pass rate": "rate", "Mean score": "score",
        **{criterion_word(one.name): "grade" for one in spec.criteria}, "Scored": "count",
    }  # fmt: skip
    return table("Slices", columns, rows, titled=True)
