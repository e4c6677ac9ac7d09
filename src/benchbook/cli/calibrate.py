"""`benchbook calibrate`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbook.cli.output import confidence_option, find_record, json_option, print_json, runs_option
from benchbook.text import visible

__all__ = ["calibrate"]


@click.command()
@click.argument("run")
@click.option("--labels", required=True, metavar="DIR", help="The folder with people's labels of RUN.")
@confidence_option
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals by resampling.")
@click.option("--html", metavar="FILE", help="Write the judge's card as one HTML page.")
@click.option("--markdown", is_flag=True, help="Print the whole card as Markdown.")
@runs_option
@json_option
def calibrate(
    run: str, labels: str, confidence: float, seed: int, html: str | None, markdown: bool, runs: str, as_json: bool
) -> None:
    """Hold RUN's judge against people's labels: agreement, bias, and the numbers and decision corrected for its errors.

    Everything is derived again from the two journals. A judge's card says all of it: `--html`, `--markdown`, `--json`.
    """
    from benchbook.labels.judge_card import judge_card
    from benchbook.labels.labels import open_labels
    from benchbook.record.folder import write_file
    from benchbook.views.judge_card import card_html, card_lines, card_markdown

    if markdown and as_json:
        raise click.UsageError("--json and --markdown: one of them")
    card = judge_card(find_record(run, runs), open_labels(labels), confidence=confidence, seed=seed)
    if html is not None:
        write_file(Path(html), "".join(card_html(card)).encode("utf-8"))
    if as_json:
        print_json(card)
    elif markdown:
        click.echo("".join(card_markdown(card)), nl=False)
    else:
        for line in card_lines(card):
            click.echo(visible(line))
