"""The samples of a run under a rubric in full, each with what is known of it and what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchbook.evalsets import Item
from benchbook.evalsets.conversations import turn_text, with_answer
from benchbook.evaluators.document import (
    HTML,
    MARKDOWN,
    Block,
    Cell,
    Columns,
    ItemBlock,
    Paragraph,
    Quote,
    Said,
    Section,
    Table,
    Tone,
    Value,
    table,
)
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.reading import rubric_of
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA
from benchbook.evaluators.rubric.row import MetRow, QuoteRow, scores_of
from benchbook.evaluators.rubric.rows import JudgeReply, PanelRow, PanelVote, RubricRow
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.labels.state import NOT_APPLYING
from benchbook.record.folder import Record
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.rubric.digest import RunReport, SampleQuestion
from benchbook.views.rubric.words import does_not_apply, fail_reason, given_words, scores_words, unscored_because
from benchbook.views.views import CriterionWords, JudgedWords, MarkedSpan, MetWords, QuoteWords, table_json, text_spans
from benchbook.views.words import criterion_word


def shown_samples(report: RunReport) -> Iterator[Block]:
    """The failed samples with a list of them on top, then the passed ones."""
    digest = report.digest
    for place, title, what, rows, n in (
        ("failed", "Samples that did not pass", "did not pass", digest.failed, digest.n_failed),
        ("passed", "Samples that passed", "passed", digest.passed, digest.n_passed),
    ):
        run_id = report.manifest.run_id
        said = [
            Paragraph(_left_out(run_id, what, len(rows), n, key), "quiet", only=only)
            for key, only in ((_key(report.spec), HTML), ("", MARKDOWN))
        ]
        yield Section(place, title, tuple(said))
        for row in rows:
            yield _sample(row, digest.asked.get(row.sample), report)


def _letters(spec: RubricSpec) -> dict[str, str]:
    """The label of each score in a line: the criterion's first letter, or its name where two share a letter."""
    letters = {one.name: one.name[0].upper() for one in spec.criteria}
    return letters if len(set(letters.values())) == len(letters) else {name: name for name in letters}


def _key(spec: RubricSpec) -> str:
    """`A is accuracy, F faithfulness; then comes the sample score.`"""
    (name, letter), *others = _letters(spec).items()
    if name == letter:
        return "The sample score comes last."
    return ", ".join([f"{letter} is {name}", *(f"{one} {of}" for of, one in others)]) + "; then comes the sample score."


def _left_out(run_id: str, what: str, shown: int, n: int, key: str) -> str:
    if not n:
        return f"None {what}."
    if shown == n:
        return f"{plural(n, 'sample')} {what}; all are here. {key}".rstrip()
    more = f"Here are the first {shown:,}, {n - shown:,} are left out."
    where = f"samples.csv has them all, and `benchbook show {run_id} --sample N` shows one."
    return " ".join(part for part in (f"{plural(n, 'sample')} {what}.", key, more, where) if part)


def _sample(row: RubricRow, asked: SampleQuestion | None, report: RunReport) -> ItemBlock:
    manifest = report.manifest
    repeat = f", repeat {row.repeat + 1}" if manifest.repeats > 1 else ""
    scores = zip(_letters(report.spec).values(), report.spec.criteria, scores_of(row, report.spec), strict=True)
    short = "  ".join(f"{letter} {given_words(one, score, row)}" for letter, one, score in scores)
    unscored = row.evaluator_error
    return ItemBlock(
        f"{shorten(row.item_id, 80)}{repeat}",
        "passed" if row.passed else _why_failed(row),
        "outcome",
        "unscored" if unscored else "passed" if row.passed else "failed",
        f"sample-{row.sample}",
        f"Sample {row.sample}",
        f"#{row.sample}",
        f"{short}  {numbers.score(row.sample_score)}",
        _sample_facts(row, report.spec),
        tuple(_quotes(row, asked)),
        tuple(_reply(reply, row) for reply in row.judge_replies),
        f"`benchbook show {manifest.run_id} --sample {row.sample}` shows all of it",
    )


def _why_failed(row: RubricRow) -> str:
    reasons = [fail_reason(name) for name in row.fail_reasons]
    if (why := unscored_because(row)) is not None:
        return why[1]
    if row.score_origin:
        reasons.insert(0, "not answered")
    return ", ".join(reasons)


def _quotes(row: RubricRow, asked: SampleQuestion | None) -> Iterator[Quote]:
    if asked is not None:
        yield Quote("Prompt", asked.prompt)
        if asked.context is not None:
            yield Quote("Context", asked.context)
    yield Quote("Answer", row.candidate_answer, "no answer")
    if asked is not None:
        yield Quote("Reference", asked.reference, "the eval set has none")
    if row.reasoning:
        yield Quote("Reasoning before the answer", row.reasoning)
    if row.error_detail:
        yield Quote("What the failed call said", row.error_detail)
    yield Quote("Judge's rationale", row.rationale, "none")
    for one in _quotes_of(row):
        yield Quote(f"Judge's quote for {one.criterion}: {_where(one)}", shorten(one.quote, 600))


def _quotes_of(row: RubricRow) -> Sequence[QuoteRow]:
    found: Sequence[QuoteRow] = getattr(row, "quotes", ())
    return found


_FOUND = {
    "exact": "stands",
    "normalised": "stands, but for its form,",
    "fragments": "its parts stand",
}


def _where(quote: QuoteRow) -> str:
    """Where a quote stands, by its characters."""
    place = "the answer" if quote.turn is None else f"turn {quote.turn}"
    if not quote.spans:
        return f"it does not stand in {place}"
    spans = " and ".join(f"{one.start + 1:,} to {one.end:,}" for one in quote.spans)
    return f"{_FOUND[quote.found]} in {place}, characters {spans}"


def _reply(reply: JudgeReply, row: RubricRow) -> Said:
    judge, rejected = row.judge_of(reply), reply.parse_error_reason
    return Said(judge, reply.attempt, reply.seq, rejected, reply.detail, reply.text)


def _sample_facts(row: RubricRow, spec: RubricSpec) -> Table:
    """The facts about one sample, apart from its texts."""
    rows = [*_score_facts(row, spec), *_met_facts(row), *_other_facts(row, spec)]
    return table(f"Sample {row.sample}", _FACTS, rows, titled=True)


_FACTS: Columns = {"What": "text", "Value": "text"}


def _score_facts(row: RubricRow, spec: RubricSpec) -> Iterator[tuple[Cell, ...]]:
    """A row for each criterion: its name, and its score or why there is none."""
    unscored = row.evaluator_error or "not scored"
    no_claim = "made no claim" if row.score_origin else unscored
    for one, score in zip(spec.criteria, scores_of(row, spec), strict=True):
        unknown = no_claim if one.no_answer is None else unscored
        given = _not_given(one, row, unknown) if score is None else given_words(one, score, row)
        yield criterion_word(one.name), given


def _other_facts(row: RubricRow, spec: RubricSpec) -> list[tuple[Cell, ...]]:
    unscored = row.evaluator_error or "not scored"
    latency = numbers.show("ms", row.latency_e2e_ms, unknown="not measured")
    rows: list[tuple[Cell, ...]] = [
        ("Sample score", Value("score", row.sample_score, unknown=unscored)),
        ("Latency end to end", _with(latency, "timed out", row.timed_out)),
        ("Tokens in + out", _tokens(row)),
        *([("Cost", Value("usd", row.cost_usd, unknown="its tokens are not known"))] if spec.measures_cost else ()),
        ("Waited in queue", Value("ms", row.queue_ms, unknown="not measured")),
        ("Retries", _retries(row)),
        ("Finish reason", _with(one_line(row.finish_reason or numbers.DASH), "cut", row.truncated)),
        ("Answered by", row.model_reported or numbers.nothing("the provider did not say")),
        ("Journal", numbers.nothing("no answer") if row.answer_seq is None else f"fact {row.answer_seq}"),
    ]
    if isinstance(row, PanelRow):
        rows += [(f"Judge {vote.name}", _vote(vote, spec)) for vote in row.votes]
    if row.cached:
        rows.append(("From the cache", "yes"))
    tags = [(name, getattr(row, name)) for name in ("section", "category", "difficulty", "group")]
    if shown := ", ".join(f"{name} {one_line(value)}" for name, value in tags if value is not None):
        rows.append(("Slices", shown))
    return rows


def _met_facts(row: RubricRow) -> Iterator[tuple[Cell, ...]]:
    """`met, weight 5, adds 5 of 8: …` of each of the item's own criteria."""
    for one in _met_words(row):
        why = f": {shorten(one.rationale, 400)}" if one.rationale else ""
        met = "met" if one.met else "not met"
        yield f"{one.number}. {shorten(one.text, 200)}", f"{met}, weight {one.weight}, {one.adds}{why}"


def _met_words(row: RubricRow) -> tuple[MetWords, ...]:
    """The item's own criteria, and what each adds: its weight, of the sum of all that are positive."""
    found: Sequence[MetRow] = getattr(row, ITEM_CRITERIA, ())
    best = _weight(sum(one.weight for one in found if one.weight > 0))
    return tuple(
        MetWords(one.number, one.text, one.met, _met_tone(one), _weight(one.weight), _adds(one, best), one.rationale)
        for one in found
    )


def _met_tone(one: MetRow) -> Tone:
    return "none" if not one.met else "good" if one.weight > 0 else "bad"


def _adds(one: MetRow, best: str) -> str:
    if not one.met:
        return f"adds 0 of {best}"
    return f"{'adds' if one.weight > 0 else 'takes away'} {_weight(abs(one.weight))} of {best}"


def _weight(found: float) -> str:
    return f"{found:.9g}"


def _vote(vote: PanelVote, spec: RubricSpec) -> str:
    if vote.evaluator_error is not None:
        return vote.parse_error_reason or vote.evaluator_error
    return f"{scores_words(vote, spec)}: {'passes' if vote.passed else 'does not pass'}"


def _tokens(row: RubricRow) -> str:
    total = numbers.show("tokens", row.total_tokens, unknown="not reported")
    if row.input_tokens is None or row.output_tokens is None:
        return total
    return f"{row.input_tokens:,} + {row.output_tokens:,} = {total}"


def _retries(row: RubricRow) -> str:
    lost = f", {row.retry_ms:,} ms lost" if row.retry_ms else ""
    return f"{row.transport_retries:,} of transport{lost}; {row.parse_retries:,} of parsing"


def _with(text: str, remark: str, applies: bool) -> str:
    return f"{text} ({remark})" if applies else text


def _not_given(one: Criterion, row: RubricRow, unknown: str) -> str:
    return NOT_APPLYING if does_not_apply(one, row) else numbers.nothing(unknown)


# ── one sample by itself ─────────────────────────────────────────────────────────────────────────────────────


def judged_words(record: Record, row: RubricRow, item: Item) -> JudgedWords:
    """The judge's verdict on a sample, in words. Raises: RecordError, SpecError for a rubric not in the record."""
    spec = rubric_of(record)
    given = numbers.cells(table("", _FACTS, _score_facts(row, spec)))
    quotes = {one.criterion: _quote_words(one, row, item) for one in _quotes_of(row)}
    criteria = tuple(
        CriterionWords(title, one.question, _scale(one), words, _tone(one, score), quotes.get(one.name))
        for one, (title, words), score in zip(spec.criteria, given, scores_of(row, spec), strict=True)
    )
    facts = table("What was measured, and how it went", _FACTS, _other_facts(row, spec))
    return JudgedWords(criteria, _met_words(row), table_json(facts))


def _scale(one: Criterion) -> str:
    """`0 to 2; at least 1 passes; weight 2`."""
    if one.by_item:
        scale, least = "0 to 1", None if one.at_least is None else f"{one.at_least / NANO:.9g}"
    else:
        scale = ", ".join(one.grades) or f"{one.lowest} to {one.highest}"
        least = None if one.at_least is None else str(one.given[one.at_least - one.lowest])
    return f"{scale}; {'any' if least is None else f'at least {least}'} passes; weight {one.weight}"


def _tone(one: Criterion, score: float | None) -> Tone:
    if score is None or one.at_least is None:
        return "none"
    return "good" if (round(score * NANO) if one.by_item else score) >= one.at_least else "bad"


def _quote_words(one: QuoteRow, row: RubricRow, item: Item) -> QuoteWords:
    text = row.candidate_answer or ""
    if one.turn is not None:
        text = turn_text(with_answer(item.messages, item.prompt, text)[one.turn - 1])
    return QuoteWords(one.quote, bool(one.spans), _where(one), one.turn, _marks(one, text))


# Half of a surrogate pair is one character of an answer, and the six of its escape in the table.
_ESCAPED_HALF = re.compile(r"\\ud[89a-f][0-9a-f]{2}")


def _marks(one: QuoteRow, text: str) -> tuple[MarkedSpan, ...]:
    """The spans of a quote to mark; none in a text in which its places can no longer be found."""
    if _ESCAPED_HALF.search(text) is None:
        return text_spans(text, [(span.start, span.end) for span in one.spans])
    start = text.find(one.quote) if one.found == "exact" else -1
    return () if start < 0 else text_spans(text, [(start, start + len(one.quote))])
