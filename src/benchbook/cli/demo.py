"""`benchbook demo`: a story of four parts that ends with the page. No key, no network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.text import shorten, visible
from benchbook.views.progress import shown_progress

if TYPE_CHECKING:
    from benchbook.cli.demo_parts import ByteChanged, Cast, QuotedAnswer, TwoPrompts

_SHOWN = 88  # characters of an answer
_CLASSES = {"regressed": "worse", "improved": "better"}


@click.command()
@click.option("--runs", default="runs", show_default=True, help="The folder with the records.")
@click.option("--reports", default="reports", show_default=True, help="The folder with the reports.")
@click.option(
    "--repeats", type=click.IntRange(min=1, max=1000), default=1, show_default=True, help="How often the set is asked."
)
@click.option("--scripted", is_flag=True, help="Let scripts play, though the small model is installed: seconds.")
@json_option
def demo(runs: str, reports: str, repeats: int, scripted: bool, as_json: bool) -> None:
    """Show what Benchbook does, in two minutes: no key, no network.

    A model answers 16 questions of a shop's customers and is judged; the record is verified, and a copy with one
    changed byte is not; two prompts are compared item by item; a judge's quote is not in the text that it judged.
    The model is real and small where it is installed, and else a script, which is said.
    """
    from benchbook.cli.demo_parts import Cast, judged_quotes, played, run_config, two_prompts, verified, whole
    from benchbook.cli.summary import print_run, run_json

    cast = Cast.here(scripted=scripted)
    config = run_config(cast, runs=runs, reports=reports, repeats=repeats)
    if not as_json:
        _say(_opening(cast, repeats))
    with shown_progress(quiet=as_json) as on_progress:
        result = played(config, on_progress)
    if not as_json:
        print_run(result.record, result.derived, reports=reports, as_json=False)
    record = whole(result)
    found = verified(record)
    if not as_json:
        _say(_of_the_decision(cast), _of_a_byte(record.path, found))
    _refuse_unverified(found)
    prompts = two_prompts(runs)
    if not as_json:
        _say(_of_two_prompts(prompts))
    judging, quotes = judged_quotes(prompts.items, runs)
    if as_json:
        print_json(
            run_json(record, result.derived) | {"verification": _verification_json(found)}
            | _more_json(cast, prompts, judging.run_id, quotes)
        )  # fmt: skip
        return
    _say(_of_quotes(judging.run_id, quotes), _ending(record.run_id, runs, reports))


def _say(*parts: Iterator[str]) -> None:
    for part in parts:
        click.echo("\n".join(map(visible, part)))


def _headed(number: int, words: str) -> Iterator[str]:
    yield from ("", f"── {number}. {words} " + "─" * max(3, 90 - len(words)), "")


def _opening(cast: Cast, repeats: int) -> Iterator[str]:
    from benchbook.ask.installed import providers
    from benchbook.ask.providers.local import SMALL_MODEL
    from benchbook.views.numbers import short_model

    yield from _headed(1, "A decision, and its grounds")
    asked = "16 questions of a shop's customers" + (f", {repeats} times" if repeats > 1 else "")
    if cast.is_real:
        yield f"A small real model, {short_model(cast.model)}, answers {asked}, and judges its own answers."
        yield "It runs on this machine: about a minute."
    else:
        yield f"No model is asked, scripts play: {cast.model} answers {asked}, and"
        yield f"{cast.judge} judges. What they say was written beforehand; all that is made of it is real."
        if (needed := providers()[f"local/{SMALL_MODEL}"]) != "ready":
            yield f"(A small real model {needed}.)"


def _of_the_decision(cast: Cast) -> Iterator[str]:
    if cast.is_real:
        yield "\nSo small a model can't judge: it gives nearly every answer the same scores, whatever the answer says."
        yield "The numbers above are real and the decision follows from them; the warnings say what they are worth."
    else:
        yield "\nMost gates hold by their values, and yet it isn't ready: 16 questions can't show it, and it says so."


def _of_a_byte(path: object, found: ByteChanged) -> Iterator[str]:
    yield from _headed(2, "One changed byte")
    yield f"$ benchbook verify {path}"
    yield f"verified: every number follows from {found.n_facts} facts" if found.holds else "does not hold"
    yield f"$ # one byte of a copy was changed: {found.changed}"
    yield "$ benchbook verify a-copy"
    yield from found.findings


def _of_two_prompts(found: TwoPrompts) -> Iterator[str]:
    from benchbook.views.comparison_tables import verdict

    yield from _headed(3, "Two prompts, item by item")
    yield "Scripts play from here on, so that it is the same each time: a shop's assistant under two prompts,"
    yield f'the second friendlier ("{found.prompt}").'
    yield ""
    yield f"$ benchbook compare {found.before.run_id} {found.after.run_id}"
    yield verdict(found.report.found.pairs[0])
    for item in found.items:
        yield f"  {_CLASSES.get(item['change'], item['change']):7} {item['prompt']}"
        yield f"            A  {shorten(item['text_a'] or '', _SHOWN)}"
        yield f"            B  {shorten(item['text_b'] or '', _SHOWN)}"
    yield "The friendly prompt answers more, and makes up what the shop never said. A mean alone would not tell."


def _of_quotes(run_id: str, found: list[QuotedAnswer]) -> Iterator[str]:
    yield from _headed(4, "A quote that isn't in the text")
    yield "A judge has to quote what it judged, and each quote is looked up. This judge is a script, and makes one up."
    yield ""
    yield f"$ benchbook show {run_id}"
    for one in found:
        yield f"  {shorten(one.answer, _SHOWN)}"
        for quote in one.quotes:
            mark = "NOT FOUND" if quote["located"] == "not_found" else "found"
            yield f'    {mark:10} "{quote["quote"]}"'
        yield "    counts" if one.valid else f"    does not count: {'; '.join(one.details)}"


def _ending(run_id: str, runs: str, reports: str) -> Iterator[str]:
    from benchbook.ask.installed import server_is_here

    yield from _headed(5, "See it")
    at = "" if runs == "runs" else f" --runs {runs}"
    if server_is_here():
        yield f"The page, with all of these runs:  benchbook serve{at}"
    else:
        yield f"The page:  pip install 'benchbook[server]' && benchbook serve{at}"
    yield f"The report of the first:           {reports}/{run_id}/report.html"
    yield "Your own:                          benchbook init"


def _verification_json(found: ByteChanged) -> dict[str, Any]:
    changed = {"changed": found.changed, "findings": found.findings}
    return {"holds": found.holds, "sha256": found.sha256, "changed_copy": changed}


def _more_json(cast: Cast, prompts: TwoPrompts, judging: str, quotes: list[QuotedAnswer]) -> dict[str, Any]:
    from benchbook.ask.installed import server_is_here
    from benchbook.views.comparison_data import comparison_json

    return {
        "real_model": cast.is_real,
        "comparison": comparison_json(prompts.report),
        "judging": {"run_id": judging, "evaluations": quotes},
        "page": "benchbook serve" if server_is_here() else None,
    }


def _refuse_unverified(found: ByteChanged) -> None:
    if not found.holds:
        raise click.ClickException("the record does not verify; this is a fault of Benchbook")
