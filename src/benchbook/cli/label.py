"""`benchbook label`: sample, next, export, import, status, adjudicate."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbook.cli.completion import complete_file, complete_folder, complete_run
from benchbook.cli.output import find_record, json_option, print_json, runs_option
from benchbook.errors import BenchbookError, UsageError
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.labels.labels import LabelBook
    from benchbook.labels.session import Question
    from benchbook.record.facts import Label

_folder_argument = click.argument("folder", metavar="DIR", shell_complete=complete_folder)
_labeller_option = click.option("--labeller", required=True, help="Who labels: the same name every time.")


@click.group()
def label() -> None:
    """People's labels of a run's answers: draw, label, settle, and bring them back.

    DIR is a folder that `benchbook label sample` made. It holds all that people need to see, and nothing of what the
    evaluator said.
    """


@label.command()
@click.argument("run", shell_complete=complete_run)
@click.option("--n", type=int, help="How many samples to draw; by default 100, for the decision as many as settle it.")
@click.option(
    "--for",
    "drawn_for",
    type=click.Choice(["decision"]),
    help="Draw more of those verdicts of the judge on which the run's decision hangs.",
)
@click.option("--labels", metavar="DIR", help="With --for: go on from these labels, whose folder stays as it is.")
@click.option(
    "--stratify",
    multiple=True,
    metavar="FIELD",
    help="Draw in proportion by this: a criterion (accuracy_score, ...), section, category, difficulty or passed.",
)
@click.option(
    "--items-of",
    metavar="DIR",
    help="Draw the answers to the items that these labels of another run were drawn of, to compare the two.",
    shell_complete=complete_folder,
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed draws the same samples.")
@click.option("--out", default="labels", show_default=True, help="The folder to make.")
@runs_option
@json_option
def sample(
    run: str,
    n: int | None,
    drawn_for: str | None,
    labels: str | None,
    stratify: tuple[str, ...],
    items_of: str | None,
    seed: int,
    out: str,
    runs: str,
    as_json: bool,
) -> None:
    """Draw answers of RUN that people are to label, the scores that they got hidden.

    What is asked is the evaluator's to say: a rubric's criteria, or whether an answer passes.
    """
    if items_of is not None:
        if stratify or n is not None or drawn_for is not None or labels is not None:
            raise click.UsageError(
                "--items-of: these labels say which items, and how many; leave the other options out"
            )
        _sample_items_of(run, items_of, seed, out, runs, as_json)
        return
    if drawn_for is not None:
        if stratify:
            raise click.UsageError(
                "--for, --stratify: one of them; for the decision the judge's verdicts are the strata"
            )
        _sample_for_decision(run, n, labels, seed, out, runs, as_json)
        return
    if labels is not None:
        raise click.UsageError("--labels: is gone on from with --for decision alone")
    from benchbook.labels.sheet import sample_labels

    n = 100 if n is None else n
    book = sample_labels(find_record(run, runs), out, n=n, stratify=stratify, seed=seed)
    if as_json:
        print_json({"path": str(book.path), "sha256": book.sha256, "started": book.started})
        return
    of = sum(one.n_eligible for one in book.started.strata.values())
    click.echo(visible(f"{book.path}: {n} of {of} scored answers, drawn by seed {seed}"))
    if stratify:
        for name, one in book.started.strata.items():
            click.echo(visible(f"  {' / '.join(stratify)} {name}: {one.n_drawn} of {one.n_eligible}"))
    click.echo(visible(f"Label them: benchbook label next {book.path} --labeller YOUR-NAME"))


def _sample_items_of(run: str, items_of: str, seed: int, out: str, runs: str, as_json: bool) -> None:
    from benchbook.labels.items_of import n_not_drawn, sample_items_of
    from benchbook.labels.labels import open_labels
    from benchbook.views.label_plan import items_of_lines

    other = open_labels(items_of)
    book = sample_items_of(find_record(run, runs), out, items_of=other, runs=runs, seed=seed)
    if as_json:
        n = n_not_drawn(book.started)
        print_json({"path": str(book.path), "sha256": book.sha256, "started": book.started, "n_not_drawn": n})
        return
    for line in items_of_lines(str(book.path), book.started, str(other.path)):
        click.echo(visible(line))
    click.echo(visible(f"Label them: benchbook label next {book.path} --labeller YOUR-NAME"))


def _sample_for_decision(
    run: str, n: int | None, labels: str | None, seed: int, out: str, runs: str, as_json: bool
) -> None:
    from benchbook.labels.decision_sheet import sample_for_decision
    from benchbook.labels.labels import open_labels
    from benchbook.views.label_plan import draw_lines

    before = None if labels is None else open_labels(labels)
    book, plan = sample_for_decision(find_record(run, runs), out, n=n, seed=seed, labels=before)
    if as_json:
        print_json({"path": str(book.path), "sha256": book.sha256, "started": book.started, "plan": plan})
        return
    for line in draw_lines(str(book.path), book.started, plan):
        click.echo(visible(line))
    click.echo(visible(f"Label them: benchbook label next {book.path} --labeller YOUR-NAME"))


@label.command(name="next")
@_folder_argument
@_labeller_option
def next_sample(folder: str, labeller: str) -> None:
    """Label in the terminal, one key a score, from where you left off. Every key is on the disk before the next."""
    _by_keys(folder, labeller, adjudicates=False)


@label.command()
@_folder_argument
@_labeller_option
def adjudicate(folder: str, labeller: str) -> None:
    """Settle in the terminal what two people scored differently; your score holds."""
    _by_keys(folder, labeller, adjudicates=True)


@label.command()
@_folder_argument
@click.option("--labeller", help="Fill in what this person labelled so far.")
@click.option("--disputed", is_flag=True, help="Only samples on which two people differ, with both scores.")
@json_option
def export(folder: str, labeller: str | None, disputed: bool, as_json: bool) -> None:
    """Print the sheet as CSV, to be filled in with a spreadsheet; with --json, its rows."""
    from benchbook.labels.labels import open_labels
    from benchbook.views.csv_files import labels_csv

    lines = labels_csv(open_labels(folder), labeller=labeller, disputed=disputed)
    if as_json:
        print_json(list(csv.DictReader(io.StringIO("".join(lines)))))
        return
    for line in lines:
        click.echo(line, nl=False)


@label.command(name="import")
@_folder_argument
@click.argument("file", shell_complete=complete_file)
@click.option("--labeller", help="Who labelled; by default the file's column of that name says.")
@click.option("--adjudicate", "adjudicates", is_flag=True, help="The scores settle what two people scored differently.")
@json_option
@click.pass_context
def import_file(
    ctx: click.Context, folder: str, file: str, labeller: str | None, adjudicates: bool, as_json: bool
) -> None:
    """Take in a sheet that was filled in. Every line is checked first: where one is wrong, nothing is recorded."""
    from benchbook.labels.labels import give_labels, labeller_name, open_labels
    from benchbook.views.csv_files import read_labels_csv

    book = open_labels(folder)
    name = None if labeller is None else labeller_name(labeller)
    found = read_labels_csv(file, book, labeller=name, adjudicates=adjudicates)
    if not found.problems:
        give_labels(book, found.given)
    recorded = 0 if found.problems else len(found.given)
    if as_json:
        problems = [str(one) for one in found.problems]
        print_json({"recorded": recorded, "there_already": found.n_there_already, "problems": problems})
    else:
        for problem in found.problems:
            click.echo(visible(str(problem)), err=True)
        click.echo(f"{recorded} labels recorded, {found.n_there_already} there already, {found.n_empty} rows empty")
    if found.problems:
        ctx.exit(UsageError.exit_code)


@label.command()
@_folder_argument
@click.option("--expect", metavar="HASH", help="End with 1 unless this is the record's hash.")
@json_option
@click.pass_context
def status(ctx: click.Context, folder: str, expect: str | None, as_json: bool) -> None:
    """Show how far people are, and on what they differ; the record's chain and sheet are checked on the way."""
    from benchbook.labels.labels import open_labels
    from benchbook.labels.session import progress_of

    book = open_labels(folder)
    found = progress_of(book)
    differs = expect is not None and expect.removeprefix("sha256:") != book.sha256
    if as_json:
        print_json({"path": str(book.path), "sha256": book.sha256, "progress": found})
        ctx.exit(int(differs))
    click.echo(visible(f"{book.path}: {found.n_samples} samples of run {book.started.run_id}"))
    for name, n in found.by_labeller.items():
        click.echo(visible(f"  {name}: {n} of {found.n_labels_a_person} labels"))
    for field, counts in found.by_field.items():
        said = ", ".join(f"{n} {origin}" for origin, n in counts.items() if n)
        click.echo(visible(f"  {field}: {said}"))
    click.echo(f"record hash: {book.sha256}" + (f", not the expected {visible(expect)}" if expect and differs else ""))
    ctx.exit(int(differs))


def _by_keys(folder: str, labeller: str, *, adjudicates: bool) -> None:
    """Ask, read a key and record, until there is no more to ask or the person quits."""
    from benchbook.labels.labels import labeller_name, open_labels
    from benchbook.labels.session import next_question, prompt_of, screen_of

    book, name = open_labels(folder), labeller_name(labeller)
    shown, note = None, ""
    while (question := next_question(book, name, adjudicates=adjudicates)) is not None:
        if shown != question.row.sample:
            click.echo(f"\n{screen_of(question)}\n")
            shown, note = question.row.sample, ""
        click.echo(f"{prompt_of(question)}\n{_keys(question)} ", nl=False)
        key = _key(folder)
        book, shown, note, goes_on = _act(book, key, question, name, note, shown, adjudicates)
        if not goes_on:
            click.echo("Everything so far is recorded.")
            return
    click.echo("Nothing is left to settle." if adjudicates else "Nothing is left to label.")


def _keys(question: Question) -> str:
    from benchbook.labels.session import keys_of
    from benchbook.labels.state import said_words

    keys = keys_of(question.criterion)
    named = [key if key == str(score) else f"{key}={said_words(score)}" for key, score in keys.items()]
    return f"[{'/'.join(named)} score, n note, u undo, q quit]"


def _act(
    book: LabelBook, key: str, question: Question, name: str, note: str, shown: int | None, adjudicates: bool
) -> tuple[LabelBook, int | None, str, bool]:
    """`(labels, sample on the screen, note for the next label, whether it goes on)` after a key."""
    from benchbook.labels.labels import give_labels, take_back
    from benchbook.labels.session import action_of
    from benchbook.labels.state import Given, said_words

    match action_of(key, question, name, note=note, adjudicates=adjudicates):
        case Given() as given:
            click.echo(said_words(given.score))
            return give_labels(book, [given]), shown, "", True
        case "undo":
            last = take_back(book, name, adjudicated=adjudicates)
            what = "nothing to undo" if last is None else _undone(last)
            click.echo(visible(what))
            return book.reload(), None if last is not None else shown, note, True
        case "note":
            return book, shown, click.prompt("note", default="", show_default=False), True
        case "quit":
            click.echo("q")
            return book, shown, note, False
        case _:
            click.echo("?")
            return book, shown, note, True


def _undone(last: Label) -> str:
    from benchbook.labels.state import said_words

    return f"undone: sample {last.sample} {last.field} {said_words(last.score)}"


def _key(folder: str) -> str:
    """One key, without waiting for Enter.

    Raises: UsageError where there is no terminal to read it from.
    """
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return "q"
    except (OSError, BenchbookError) as error:
        way = f"benchbook label export {Path(folder)}"
        raise UsageError(f"no terminal to read keys from ({error}); use a spreadsheet: {way}") from None
