"""The samples of a run under a rubric in full, each with what is known of it and what was said."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.evaluators.document import (
    HTML,
    MARKDOWN,
    Block,
    Cell,
    ItemBlock,
    Paragraph,
    Quote,
    Said,
    Section,
    Table,
    Value,
    table,
)
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA
from benchbook.evaluators.rubric.row import MetRow, QuoteRow, scores_of
from benchbook.evaluators.rubric.rows import JudgeReply, PanelRow, PanelVote, RubricRow, judge_of_reply
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.text import one_line, shorten
from benchbook.views import numbers
from benchbook.views.rubric.digest import Digest, RunReport, SampleQuestion
from benchbook.views.rubric.words import fail_reason, score_kind, scores_words, unscored_because
from benchbook.views.words import criterion_word, plural

__all__ = ["shown_samples"]


def shown_samples(report: RunReport, digest: Digest) -> Iterator[Block]:
    """The failed samples with a list of them on top, then the passed ones."""
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
    """What a line has before each score: a criterion's first letter, or its name where letters are not enough."""
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
    short = "  ".join(f"{letter} {numbers.show(score_kind(one), score)}" for letter, one, score in scores)
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
    for one in getattr(row, "quotes", ()):
        yield Quote(f"Judge's quote for {one.criterion}: {_where(one)}", shorten(one.quote, 600))


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
    judge, rejected = judge_of_reply(row, reply), reply.parse_error_reason
    return Said(judge, reply.attempt, reply.seq, rejected, reply.detail, reply.text)


def _sample_facts(row: RubricRow, spec: RubricSpec) -> Table:
    """What is known of one sample, but for its texts."""
    unscored = row.evaluator_error or "not scored"
    no_claim = "made no claim" if row.score_origin else unscored
    rows: list[tuple[Cell, ...]] = [
        *(
            (
                criterion_word(one.name),
                Value(score_kind(one), score, unknown=no_claim if one.no_answer is None else unscored),
            )
            for one, score in zip(spec.criteria, scores_of(row, spec), strict=True)
        ),
        ("Sample score", Value("score", row.sample_score, unknown=unscored)),
        ("Latency end to end", _with(numbers.milliseconds(row.latency_e2e_ms), "timed out", row.timed_out)),
        ("Tokens in + out", _tokens(row)),
        ("Waited in queue", Value("ms", row.queue_ms, unknown="not measured")),
        ("Retries", _retries(row)),
        ("Finish reason", _with(one_line(row.finish_reason or numbers.DASH), "cut", row.truncated)),
        ("Answered by", row.model_reported or numbers.nothing("the provider did not say")),
        ("Journal", numbers.nothing("no answer") if row.answer_seq is None else f"fact {row.answer_seq}"),
    ]
    if isinstance(row, PanelRow):
        rows += [(f"Judge {vote.name}", _vote(vote, spec)) for vote in row.votes]
    for one in getattr(row, ITEM_CRITERIA, ()):
        rows.append((f"{one.number}. {shorten(one.text, 200)}", _met(one)))
    if row.cached:
        rows.append(("From the cache", "yes"))
    tags = [(name, getattr(row, name)) for name in ("section", "category", "difficulty", "group")]
    if shown := ", ".join(f"{name} {one_line(value)}" for name, value in tags if value is not None):
        rows.append(("Slices", shown))
    return table(f"Sample {row.sample}", {"What": "text", "Value": "text"}, rows, titled=True)


def _met(one: MetRow) -> str:
    """`met, weight 5: …`"""
    why = f": {shorten(one.rationale, 400)}" if one.rationale else ""
    return f"{'met' if one.met else 'not met'}, weight {one.weight:g}{why}"


def _vote(vote: PanelVote, spec: RubricSpec) -> str:
    if vote.evaluator_error is not None:
        return vote.parse_error_reason or vote.evaluator_error
    return f"{scores_words(vote, spec)}: {'passes' if vote.passed else 'does not pass'}"


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
