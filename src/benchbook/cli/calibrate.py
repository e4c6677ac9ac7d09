"""`benchbook calibrate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import confidence_option, find_record, json_option, print_json, runs_option
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.labels.labels import LabelBook
    from benchbook.record.folder import Record

__all__ = ["calibrate"]


@click.command()
@click.argument("run")
@click.option("--labels", required=True, metavar="DIR", help="The folder with people's labels.")
@confidence_option
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals by resampling.")
@click.option("--html", metavar="FILE", help="Write the judge's card as one HTML page.")
@click.option("--markdown", is_flag=True, help="Print the whole card as Markdown.")
@runs_option
@json_option
def calibrate(
    run: str, labels: str, confidence: float, seed: int, html: str | None, markdown: bool, runs: str, as_json: bool
) -> None:
    """Hold RUN's scores against people's labels: agreement, bias, and the numbers corrected for its errors.

    Everything is derived again from the two journals. Labels belong to answers: they may be drawn from another run, and
    those of answers that RUN gave too are used. Of a rubric's run the decision is corrected, too. The card says all of
    it: `--html`, `--markdown`, `--json`.
    """
    from benchbook.labels.labels import open_labels
    from benchbook.record.folder import write_file

    if markdown and as_json:
        raise click.UsageError("--json and --markdown: one of them")
    card, forms = _card(find_record(run, runs), open_labels(labels), confidence, seed)
    if html is not None:
        write_file(Path(html), "".join(forms.html(card)).encode("utf-8"))
    if as_json:
        print_json(card)
    elif markdown:
        click.echo("".join(forms.markdown(card)), nl=False)
    else:
        for line in forms.lines(card):
            click.echo(visible(line))


@dataclass(frozen=True, slots=True)
class _Forms:
    """How a card is written."""

    html: Callable[[Any], Iterator[str]]
    markdown: Callable[[Any], Iterator[str]]
    lines: Callable[[Any], Iterator[str]]


def _card(record: Record, book: LabelBook, confidence: float, seed: int) -> tuple[Any, _Forms]:
    """A judge's card where one is made of the run, else that of its evaluator's scores."""
    from benchbook.labels.answer_card import answer_card
    from benchbook.labels.judge_card import has_judge_card, judge_card
    from benchbook.views.answer_card import answer_card_html, answer_card_lines, answer_card_markdown
    from benchbook.views.judge_card import card_html, card_lines, card_markdown

    if has_judge_card(record):
        forms = _Forms(card_html, card_markdown, card_lines)
        return judge_card(record, book, confidence=confidence, seed=seed), forms
    forms = _Forms(answer_card_html, answer_card_markdown, answer_card_lines)
    return answer_card(record, book, confidence=confidence, seed=seed), forms
