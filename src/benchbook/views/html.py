"""The HTML report: one page that needs nothing but itself, without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.evaluators.rubric.rows import JudgeReply, RubricRow, judge_of_reply
from benchbook.text import shorten
from benchbook.views import numbers
from benchbook.views.digest import MAX_CHARS, Asked, Digest, digest_of
from benchbook.views.markup import Html, el, join, text
from benchbook.views.model import AnyReport, RunReport
from benchbook.views.page_frame import page_head
from benchbook.views.page_parts import (
    costs_part,
    decision_part,
    distributions_part,
    gates_part,
    ledger_part,
    numbers_part,
    panel_part,
    render_table,
    repeats_part,
    reproducibility_part,
    section,
    slices_part,
    verify_part,
)
from benchbook.views.svg import hatching
from benchbook.views.tables import sample_facts
from benchbook.views.words import decision_word, fail_reason, plural, unscored_because

__all__ = ["html_report", "masthead", "page_foot", "samples_part"]


def samples_part(run_id: str, digest: Digest, repeats: int) -> Iterator[Html]:
    """The failed samples with a list of them on top, then the passed ones."""
    failed = digest.failed
    yield section(
        "failed",
        "Samples that did not pass",
        el("p", text(_left_out(run_id, "did not pass", len(failed), digest.n_failed)), class_="quiet"),
    )
    for row in failed:
        yield _sample(row, digest.asked.get(row.sample), run_id, repeats)
    yield section(
        "passed",
        "Samples that passed",
        el("p", text(_left_out(run_id, "passed", len(digest.passed), digest.n_passed)), class_="quiet"),
    )
    for row in digest.passed:
        yield _sample(row, digest.asked.get(row.sample), run_id, repeats)


def _left_out(run_id: str, what: str, shown: int, n: int) -> str:
    if not n:
        return f"None {what}."
    key = "A is accuracy, F faithfulness; then comes the sample score."
    if shown == n:
        return f"{plural(n, 'sample')} {what}; all are here. {key}"
    return (
        f"{plural(n, 'sample')} {what}. {key} Here are the first {shown:,}, {n - shown:,} are left out. "
        f"samples.csv has them all, and `benchbook show {run_id} --sample N` shows one."
    )


def _scores(row: RubricRow) -> str:
    accuracy, faithfulness = (numbers.show("count", one) for one in (row.accuracy_score, row.faithfulness_score))
    return f"A {accuracy}  F {faithfulness}  {numbers.score(row.sample_score)}"


def _why(row: RubricRow) -> str:
    reasons = [fail_reason(name) for name in row.fail_reasons]
    if (why := unscored_because(row)) is not None:
        return why[1]
    if row.score_origin:
        reasons.insert(0, "not answered")
    return ", ".join(reasons)


def _sample(row: RubricRow, asked: Asked | None, run_id: str, repeats: int) -> Html:
    """`#sample-12` is inside of the details: a link to it opens them."""
    name = f"{shorten(row.item_id, 80)}{f', repeat {row.repeat + 1}' if repeats > 1 else ''}"
    state = "unscored" if row.evaluator_error else "passed" if row.passed else "failed"
    summary = el(
        "summary",
        el("span", text(f"#{row.sample}"), class_="place"),
        el("bdi", text(name), dir="auto", class_="item"),
        el("span", text(_scores(row)), class_="scores"),
        el("span", text("passed" if row.passed else _why(row)), class_=f"outcome {state}"),
    )
    body = el(
        "div",
        el("h3", text(f"Sample {row.sample}: "), el("bdi", text(name), dir="auto"), class_="unseen"),
        el(
            "div",
            el("div", *_texts(row, asked, run_id), class_="texts"),
            render_table(sample_facts(row), hide_caption=True),
            class_="inside",
        ),
        id=f"sample-{row.sample}",
        class_="anchor",
    )
    return el("div", el("details", summary, body, class_="sample"), _to_replies(row), class_="sample-line")


def _to_replies(row: RubricRow) -> Html:
    """The link to the judge's raw replies. It stands beside the summary, which is a button of its own."""
    if not row.judge_replies:
        return el("span", text("not judged"), class_="to-replies quiet")
    words = plural(len(row.judge_replies), "raw reply", "raw replies")
    return el(
        "a",
        text(words),
        href=f"#sample-{row.sample}-replies",
        aria_label=f"{words} about sample {row.sample}",
        class_="to-replies",
    )


def _texts(row: RubricRow, asked: Asked | None, run_id: str) -> Iterator[Html]:
    if asked is not None:
        yield _quoted("Prompt", asked.prompt, "", row, run_id)
        if asked.context is not None:
            yield _quoted("Context", asked.context, "", row, run_id)
    yield _quoted("Answer", row.candidate_answer, "no answer", row, run_id)
    if asked is not None:
        yield _quoted("Reference", asked.reference, "the eval set has none", row, run_id)
    if row.reasoning:
        yield _quoted("Reasoning before the answer", row.reasoning, "", row, run_id)
    if row.error_detail:
        yield _quoted("What the failed call said", row.error_detail, "", row, run_id)
    yield _quoted("Judge's rationale", row.rationale, "none", row, run_id)
    replies = [_reply(reply, row, run_id) for reply in row.judge_replies]
    if not replies:
        replies = [el("p", text("The judge was not asked."), class_="quiet")]
    yield el("div", el("h4", text("Judge's raw replies")), *replies, id=f"sample-{row.sample}-replies", class_="anchor")


def _reply(reply: JudgeReply, row: RubricRow, run_id: str) -> Html:
    outcome = f"rejected: {reply.parse_error_reason}" if reply.parse_error_reason else "read"
    detail = f" ({reply.detail})" if reply.detail else ""
    judge = judge_of_reply(row, reply)
    who = () if judge is None else (text("Judge "), el("bdi", text(judge)), text(": "))
    heading = el(
        "p",
        *who,
        text(f"Attempt {reply.attempt}, journal fact {reply.seq}: "),
        el("span", text(outcome), class_="outcome failed" if reply.parse_error_reason else "outcome passed"),
        text(detail),
        class_="attempt",
    )
    return join(heading, *_said(reply.text, "nothing came back", row, run_id))


def _quoted(name: str, words: str | None, unknown: str, row: RubricRow, run_id: str) -> Html:
    return el("div", el("h4", text(name)), *_said(words, unknown, row, run_id))


def _said(words: str | None, unknown: str, row: RubricRow, run_id: str) -> list[Html]:
    """A text of a model: text, whatever it holds."""
    if words is None:
        return [el("p", text(numbers.nothing(unknown)), class_="quiet")]
    if not words:
        return [el("p", text(numbers.nothing("an empty text")), class_="quiet")]
    pieces = [el("pre", text(words[:MAX_CHARS]), class_="said", dir="auto")]
    if len(words) > MAX_CHARS:
        cut = f"Cut after {MAX_CHARS:,} characters; `benchbook show {run_id} --sample {row.sample}` shows all of it."
        pieces.append(el("p", text(cut), class_="quiet"))
    return pieces


_CONTENTS = (
    ("gates", "Gates"),
    ("ledger", "Samples"),
    ("panel", "Panel"),
    ("distributions", "Distributions"),
    ("aggregates", "Aggregates"),
    ("repeats", "Repeats"),
    ("slices", "Slices"),
    ("costs", "What it took"),
    ("failed", "Did not pass"),
    ("reproducibility", "Reproducibility"),
    ("verify", "Check it"),
)


def html_report(report: RunReport, found: Digest | None = None) -> Iterator[str]:
    """The page, in pieces. `found` is the digest of `report`, where the caller has it already."""
    found = digest_of(report) if found is None else found
    manifest = report.manifest
    yield '<!doctype html>\n<html lang="en">\n'
    model = numbers.short_model(manifest.model_id)
    yield page_head(f"{decision_word(report.decision).headline}: {model} on {manifest.dataset_id}")
    yield '\n<body>\n<a class="skip" href="#decision">Skip to the report</a>\n'
    contents = [one for one in _CONTENTS if one[0] != "panel" or report.panel is not None]
    yield join(hatching(), masthead(report, contents), Html('\n<main id="main">\n'))
    yield decision_part(report)
    yield gates_part(report, found)
    yield ledger_part(report, found)
    yield panel_part(report)
    yield distributions_part(report, found)
    yield numbers_part(report, found)
    yield repeats_part(report)
    yield slices_part(report)
    yield costs_part(report)
    yield from samples_part(manifest.run_id, found, manifest.repeats)
    yield reproducibility_part(report)
    yield verify_part(report)
    yield "\n</main>\n" + page_foot(report) + "\n</body>\n</html>\n"


def masthead(report: AnyReport, contents: Sequence[tuple[str, str]]) -> Html:
    """The name of the page, and links to its parts: (place, words)."""
    name = el("p", el("strong", text("Benchbook")), text(f" {report.manifest.spec}"), class_="name")
    links = [el("li", el("a", text(words), href=f"#{place}")) for place, words in contents]
    return el("header", name, el("nav", el("ul", *links), aria_label="Contents"), class_="masthead")


def page_foot(report: AnyReport) -> Html:
    manifest = report.manifest
    words = "Rates, means and percentiles are rounded here for reading; aggregates.json has them to nine decimals."
    return el("footer", el("p", text(words)), el("p", text("Record "), el("code", text(manifest.journal_sha256))))
