"""The report of a run of answers, whatever scores them: its document and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import msgspec

from benchbook.comparison.records import training_loss
from benchbook.evaluators.answers.scorecard import GROUPINGS, UNANSWERED
from benchbook.evaluators.answers.tokens import TokensUsed, tokens_used
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.document import (
    HTML,
    TERMINAL,
    WRITTEN,
    Block,
    Cell,
    Columns,
    Curves,
    Document,
    Lines,
    Opening,
    Paragraph,
    Reach,
    Section,
    Table,
    Tone,
    Value,
    table,
)
from benchbook.evaluators.gates import Verdict
from benchbook.evaluators.intervals import Interval
from benchbook.record.folder import Record
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.curves import CURVES_CSS
from benchbook.views.names import set_name
from benchbook.views.views import (
    FOOT,
    Rows,
    View,
    end_sections,
    named_model,
    notices_around,
    opening_of,
    run_facts,
    write_document,
)
from benchbook.views.words import DecisionWord, asked_items

if TYPE_CHECKING:
    from benchbook.training.curves import Curve

MAX_MISSED = 200  # missed items that are shown; samples.jsonl and samples.parquet have them all
_MAX_CHARS = 2_000  # of one text

ERRORS: Mapping[str, str] = {
    "provider_error": "the call failed",
    "timeout": "timed out",
    "cancelled": "cancelled",
    "crashed": "the run crashed",
    "timed_out": "the run timed out",
    UNANSWERED: "unanswered when the run was ended",
}
_TIME_OUTS = ("timeout",)
_FAILED: Mapping[str, str] = {"crashed": "The run crashed", "timed_out": "The run timed out"}


def misses_by_run_or_item(row: Any) -> list[str]:
    """Why an item that did not pass has no whole score, or none yet, by the spec's names.

    A run that crashed is the one reason for all of its items.
    """
    if row.error is not None and row.error in _FAILED:
        return [row.error]
    return [name for name in (row.error, row.miss_reason, getattr(row, "candidate_error", None)) if name is not None]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The parts of a report that an evaluator brings for its own runs.

    `passed` is what an item is that has its whole score, as `column` of its row says; `score_of` and `passed_of` name
    the two rows of the scorecard.
    """

    passed: str
    score_of: str
    passed_of: str
    reasons: Mapping[str, str]  # in words
    column: str = "passed"
    n_passed: Callable[[Any], int] = lambda file: int(file.n_passed)
    interval: Callable[[Any], Interval] = lambda file: file.intervals["primary_score"]
    misses: Callable[[Any], list[str]] = misses_by_run_or_item  # of a row that did not pass
    warning: Callable[[Any], str | None] = lambda _: None  # that stands before all others
    tables: Callable[[Any], Iterable[Table]] = lambda _: ()  # after the scorecard, of the whole report
    decided: Callable[[Any], tuple[str, Tone] | None] = lambda _: None  # what a decision by gates comes to

    def why_missed(self, row: Any) -> list[str]:
        """Why an item did not pass, or has no score yet."""
        return [] if getattr(row, self.column) else self.misses(row)

    def is_missed(self, row: Any) -> bool:
        """True if an item was scored and did not pass."""
        passed = getattr(row, self.column)
        return passed is not None and not passed


@dataclass(frozen=True)
class AnswersReport:
    """One run, ready to be shown. `rows` starts a new pass over the items; a report never holds them all.

    `loss` reads what the run's trainer logged; None where it logged none. `tokens` counts what the answers took, of
    which so many are right.
    """

    terms: Terms
    manifest: Any
    aggregates: Any
    decision: Any
    rows: Callable[[], Iterator[Any]]
    loss: Callable[[], Curve | None]
    tokens: Callable[[int], TokensUsed] = lambda _: TokensUsed()


def _headline(report: AnswersReport) -> DecisionWord:
    """The score, and apart from it how the run itself went: no word of the verdict can be taken for the score's (A3).

    Where the run did not hold, that comes first.
    """
    file, terms, reason = report.aggregates, report.terms, report.decision.reason
    verdict: Verdict = report.decision.verdict
    counted = f"{terms.n_passed(file):,} of {plural(file.n_items, 'item')} {terms.passed}"
    by = getattr(report.manifest, "scored_by", report.manifest.spec)
    score = f"{numbers.score(file.primary_score, unknown='no item is answered')} by {by}"
    match verdict:
        case "unavailable":
            return DecisionWord("Nothing was scored", f"Unavailable: {reason}.", "none")
        case "fail":
            words = _FAILED.get(report.manifest.run_status, "The run failed")
            return DecisionWord(words, f"{reason}. Score {score}: {counted}.", "bad")
        case "incomplete":
            return DecisionWord("The run is not complete", f"{reason}. Score so far {score}: {counted}.", "doubt")
        case "pass":
            span = numbers.interval("score", terms.interval(file))
            tone: Tone = "doubt" if terms.warning(file) else "none"
            words, tone = terms.decided(report.decision) or ("", tone)
            return DecisionWord(
                f"Score {score}; the run itself completed", f"{counted}; the score is {span}.{words}", tone
            )
        case _:
            assert_never(verdict)


def _notices(report: AnswersReport) -> list[str]:
    """The notices that come before any number (A7 first)."""
    file = report.aggregates
    first = report.terms.warning(file)
    found = [*([first] if first else []), *file.warnings]
    if report.decision.verdict == "incomplete" and report.manifest.state != "complete":
        found.append(f"The run can be resumed: benchbook score --resume {report.manifest.run_id}")
    return found


def _misses_of(report: AnswersReport) -> list[tuple[str, str, int]]:
    """Why items missed: in words, by the spec's name, and how many. Of a run that crashed that alone.

    The reasons of A7, and of the items that they count, those whose call failed.
    """
    file, terms = report.aggregates, report.terms
    if of_run := [(reason_words(terms.reasons, name), name, n) for name, n in file.errors.items() if name in _FAILED]:
        return of_run
    # Since items can be unanswered, a call that failed for another reason than the time limit is no miss of its own.
    shown = file.errors if UNANSWERED in file.misses or not isinstance(file.n_unanswered, int) else _TIME_OUTS
    errors = [
        (f"of these: {reason_words(terms.reasons, name)}", name, n) for name, n in file.errors.items() if name in shown
    ]
    return [*((reason_words(terms.reasons, name), name, n) for name, n in file.misses.items()), *errors]


def _n_missed(report: AnswersReport) -> int:
    """How many items did not pass. One that is not answered yet is no miss."""
    file = report.aggregates
    unanswered = file.n_unanswered if isinstance(file.n_unanswered, int) else 0
    n_passed: int = report.terms.n_passed(file)
    n_waiting: int = unanswered - file.misses.get(UNANSWERED, 0)
    n_unscored: int = file.n_unscored if isinstance(file.n_unscored, int) else 0
    return int(file.n_items) - n_passed - n_waiting - n_unscored


def _n_predicted(counts: Any) -> int:
    """Items with a prediction, of a scorecard or a slice: those that were scored, and those that could not be."""
    return int(counts.n_scored) + (counts.n_unscored if isinstance(counts.n_unscored, int) else 0)


def reason_words(reasons: Mapping[str, str], name: str) -> str:
    """A reason of the metric's, an error, or what left an item unanswered, in words."""
    return reasons.get(name) or ERRORS.get(name) or (name if " " in name else name.replace("_", " "))


def _missed_rows(report: AnswersReport) -> Iterator[Any]:
    """The first missed items of the plan, their texts cut to what a page can hold."""
    for row in islice(filter(report.terms.is_missed, report.rows()), MAX_MISSED):
        predicted = None if row.predicted is None else row.predicted[:_MAX_CHARS]
        yield msgspec.structs.replace(row, predicted=predicted, expected=(row.expected or "")[:_MAX_CHARS], own=None)


# ── its tables ───────────────────────────────────────────────────────────────────────────────────────────────

_TEXT = 300  # characters of a text in a cell


def _scorecard(report: AnswersReport) -> Table:
    """A4's numbers over all items."""
    file, terms = report.aggregates, report.terms
    interval = terms.interval(file)
    named = f"{numbers.limit('rate', interval.confidence)} interval, {interval.method.replace('_', ' ')}"
    rows: list[tuple[Cell, ...]] = [
        (terms.score_of, Value("score", file.primary_score, unknown="no items")),
        (f"Its {named}", Reach("score", interval, bare=True)),
        ("Standard deviation", Value("score", file.stddev, unknown="fewer than two items")),
        ("Items", file.n_items),
        ("Items with a prediction", _n_predicted(file)),
        ("Items without, each counted 0.0", file.n_skipped),
    ]
    if isinstance(file.n_unanswered, int):
        counted = "each counted 0.0" if UNANSWERED in file.misses else "left out until they are answered"
        rows.append((f"Items unanswered{f', {counted}' if file.n_unanswered else ''}", file.n_unanswered))
    if isinstance(file.n_unscored, int):
        rows.append(("Items with a prediction and no score, left out", file.n_unscored))
    rows.append((terms.passed_of, terms.n_passed(file)))
    return table("Scorecard", {"What": "text", "Value": "number"}, rows, titled=True, only=WRITTEN)


def _slice_tables(file: Any) -> Iterator[Table]:
    """A4 by section, category and difficulty; a grouping that no item has is left out."""
    for name in GROUPINGS:
        slices = getattr(file, name)
        if all(one.value is None for one in slices):
            continue
        unanswered = isinstance(slices[0].n_unanswered, int)
        columns: Columns = {
            name.capitalize(): "text", "Mean": "score", "Items": "count", "With a prediction": "count",
            **({"Unanswered": "count"} if unanswered else {}),
        }  # fmt: skip
        rows = (
            (
                numbers.nothing("none named") if one.value is None else one.value,
                one.mean,
                one.n_items,
                _n_predicted(one),
                *((one.n_unanswered,) if unanswered else ()),
            )
            for one in slices
        )
        yield table(f"By {name}", columns, rows)


def _misses(report: AnswersReport) -> Iterator[Table]:
    """How many items missed for which reason (A7); a terminal is narrow and gets the spec's names alone."""
    n_items = report.aggregates.n_items
    found = [
        (words, name, n, Value("rate", n / n_items, n_items)) for words, name, n in _misses_of(report) if n and n_items
    ]
    columns: Columns = {"Name": "text", "Items": "count", "Share": "rate"}
    yield table("Why items missed", {"Why": "text", **columns}, found, titled=True, only=WRITTEN)
    yield table("Why items missed", columns, (row[1:] for row in found), only=TERMINAL)


def _missed(terms: Terms, rows: Sequence[Any]) -> Table:
    """Missed items, each with what was expected and what came."""
    cells = (
        (
            shorten(row.item_id, 80),
            shorten(row.expected, _TEXT),
            None if row.predicted is None else shorten(row.predicted, _TEXT),
            ", ".join(reason_words(terms.reasons, name) for name in terms.why_missed(row)),
            ", ".join(one_line(value) for value in (row.section, row.category, row.difficulty) if value is not None),
        )
        for row in rows
    )
    columns: Columns = dict.fromkeys(("Item", "Expected", "Predicted", "Why", "Where"), "text")
    return table("Missed items", columns, cells, titled=True)


# ── the document ─────────────────────────────────────────────────────────────────────────────────────────────

_CONTENTS = (
    ("scorecard", "Scorecard"),
    ("misses", "Why items missed"),
    ("missed", "Missed items"),
    ("training", "Training"),
    ("reproducibility", "Reproducibility"),
    ("verify", "Check it"),
)


def _document(report: AnswersReport, missed: Sequence[Any] | None = None) -> Document:
    """The document of a run. `missed` are the missed items to show; None for a summary."""
    manifest, file, top = report.manifest, report.aggregates, _headline(report)
    model = named_model("Model", manifest.model_id, manifest.model_version)
    opening = Opening(
        top.headline, top.tone, meaning=(top.meaning,), facts=(model, *run_facts(report)), quotes_others=True
    )
    above, below = notices_around(report, _notices(report))
    asked_set = set_name(manifest.dataset_id, manifest.dataset_version_or_hash)
    asked = f"{asked_set}, {asked_items(manifest)}; run {manifest.run_id}"
    who = Lines((numbers.short_model(manifest.model_id), asked))
    written, summed = _misses(report)
    blocks: list[Block] = [*above, opening, who, *below, summed]
    tables = (_scorecard(report), *report.terms.tables(report), *_slice_tables(file))
    blocks.append(Section("scorecard", "Scorecard", tables))
    blocks.append(Lines((*_spread_lines(report), _counted_line(file))))
    if missed is not None:
        none = Paragraph("No item missed.", only=HTML)
        blocks.append(Section("misses", "Why items missed", (written or none,)))
        blocks += [_missed_section(report, missed), _training(report), *end_sections(report)]
    title = f"{top.headline}: {manifest.model_id} on {manifest.dataset_id}"
    return Document(title, manifest.spec, blocks, FOOT, manifest.journal_sha256, _CONTENTS)


def _spread_lines(report: AnswersReport) -> Iterator[str]:
    """The mean with its standard deviation over the items, and the tokens per right answer, where a model was asked."""
    file, terms = report.aggregates, report.terms
    if file.primary_score is not None:
        sd = numbers.score(file.stddev, "fewer than two items")
        yield f"{terms.score_of} {numbers.score(file.primary_score)}, SD over items {sd}"
    if report.manifest.prompt_template_id is not None:
        used = report.tokens(terms.n_passed(file))
        total = "" if used.total is None else f" ({numbers.show('tokens', used.total)} in all)"
        per = numbers.show("tokens", used.per_right, unknown="not reported")
        yield f"Tokens per {terms.passed} answer: {per}{total}"


def _counted_line(file: Any) -> str:
    """`34 items: 29 with a prediction, 5 without, 0 unanswered`."""
    unscored = f" ({file.n_unscored:,} unscored)" if isinstance(file.n_unscored, int) else ""
    parts = [
        f"{_n_predicted(file):,} with a prediction{unscored}",
        f"{file.n_skipped:,} without",
    ]
    if isinstance(file.n_unanswered, int):
        parts.append(f"{file.n_unanswered:,} unanswered")
    return f"{plural(file.n_items, 'item')}: {', '.join(parts)}"


def _missed_section(report: AnswersReport, missed: Sequence[Any]) -> Section:
    """How many missed items are not shown, if any, and those that are."""
    n_all = _n_missed(report)
    where = f"samples.jsonl in the record has them all, and `benchbook show {report.manifest.run_id} --sample N`"
    left_out = f"{plural(n_all, 'item')} missed; here are the first {len(missed):,}. {where} shows one."
    note = [Paragraph(left_out, "quiet")] if n_all > len(missed) else []
    return Section(
        "missed", "Missed items", (*note, _missed(report.terms, missed) if missed else Paragraph("None.", only=HTML))
    )


def _training(report: AnswersReport) -> Section:
    """The section with the loss curve that the run's trainer logged."""
    loss = report.loss()
    none = Paragraph("No training metrics.", only=HTML)
    return Section("training", "Training", (none if loss is None else Curves({report.manifest.run_id: loss}),))


def _report(terms: Terms, record: Record, derived: DerivedFiles, rows: Rows) -> AnswersReport:
    loss = partial(training_loss, record)
    known = (derived.manifest, derived.aggregates, derived.decision)
    return AnswersReport(terms, *known, rows, loss, partial(tokens_used, record))


def _write(report: AnswersReport, folder: Path) -> list[Path]:
    """Write report.html and report.md."""
    return write_document(_document(report, list(_missed_rows(report))), folder, CURVES_CSS)


def view_over(terms: Terms) -> View:
    """How runs of an evaluator with these terms are shown."""

    def opening(derived: DerivedFiles) -> Opening:
        found = (derived.manifest, derived.aggregates, derived.decision)
        return opening_of(_document(AnswersReport(terms, *found, rows=lambda: iter(()), loss=lambda: None)))

    return View(
        report=partial(_report, terms),
        summary=_document,
        write=_write,
        opening=opening,
        fail_reasons=terms.why_missed,
    )
