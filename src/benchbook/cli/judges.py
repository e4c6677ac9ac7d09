"""`benchbook parse`, `panel`, `position` and `calibrate`: judges' replies, and how far judges can be trusted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from benchbook.cli.completion import complete_file, complete_run
from benchbook.cli.output import (
    confidence_option,
    find_record,
    json_option,
    json_text,
    print_json,
    run_argument,
    runs_option,
)
from benchbook.errors import UsageError
from benchbook.text import visible


@click.command()
@click.argument("spec", metavar="SPEC")
@click.argument("file", metavar="FILE.jsonl", shell_complete=complete_file)
@click.option("--json", "as_json", is_flag=True, help="Accepted as by every command: the output is JSON lines anyway.")
def parse(spec: str, file: str, as_json: bool) -> None:
    """Read judges' replies under SPEC (rubric@v1, judge_protocol@v1, or a folder) and say what each is worth.

    FILE holds a JSON object a line: {"id", "reply", "options"?}, and under a judge protocol also {"output_text",
    "asked"?, "evaluation_set"?}. A line comes out for each, in order. Under rubric@v1:
    {"id", "ok": true, "accuracy_score", "faithfulness_score", "rationale"}, or
    {"id", "ok": false, "parse_error_reason", "detail"}. Under judge_protocol@v1:
    {"id", "valid", "flags", "verdict", "located", "details"}; the details say of each flag what was found, and where. A
    line that is no such object is reported with a detail that names it, and does not stop the rest; the command then
    ends with 2.
    """
    from benchbook.evaluators.registry import evaluator_asked_for

    del as_json
    evaluator = evaluator_asked_for(spec)
    unreadable = 0
    for number, line in _lines(file):
        case: dict[str, Any] = {}
        try:
            case = _object_on(line)
            result = evaluator.parse_line(case)
        except UsageError as fault:
            unreadable += 1
            result = evaluator.unparsed_line(case.get("id"), f"{file}:{number}: {fault}")
        click.echo(json_text(result))
    if unreadable:
        what = "1 line is" if unreadable == 1 else f"{unreadable} lines are"
        raise UsageError(f"{file}: {what} not what {spec} reads; the output says why")


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, by number. They end at LF alone: U+2028 and its kin may stand inside a JSON string."""
    try:
        with Path(file).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise UsageError(f"{file}: can't be read ({error.strerror})") from None


def _object_on(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises: UsageError for anything else."""
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        case = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise UsageError(f"no UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON ({error})") from None
    if not isinstance(case, dict):
        raise UsageError("no JSON object")
    return case


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    """A number, refused as it comes in where it would go out as Infinity."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large a number")
    return value


_WIDTH = 160


@click.command()
@run_argument
@click.option("--all", "everything", is_flag=True, help="Every sample that the judges split on, not the first 20.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals by resampling.")
@runs_option
@json_option
def panel(run: str | None, everything: bool, seed: int, runs: str, as_json: bool) -> None:
    """Show RUN's panel of judges: each judge alone, how they agree, and the samples that they split on.

    Those come in the order in which a person should look at them: first where pass or fail depends on the judge.
    """
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.rubric.panel import (
        SPLITS_SHOWN,
        judges_agreement_table,
        judges_table,
        panel_lines,
        panel_notices,
        splits_table,
    )
    from benchbook.views.terminal import table_lines

    record = find_record(run, runs)
    evaluator = evaluator_of(record)
    derived = evaluator.read(record)
    if (found := evaluator.panel(derived, rows_of(record)(), seed=seed)) is None:
        if not hasattr(derived.manifest, "panel"):
            raise UsageError(f"{record.path}: was made under {evaluator.id}; panels are of rubrics")
        raise UsageError(f"{record.run_id}: one judge judged it; `benchbook run --judge A --judge B` makes a panel")
    if as_json:
        print_json(found)
        return
    shown = None if everything else SPLITS_SHOWN
    lines = [*panel_lines(found), ""]
    for table in (judges_table(found, derived.aggregates), judges_agreement_table(found)):
        lines += table_lines(table, _WIDTH)
    lines += [*panel_notices(found), ""]
    lines += table_lines(splits_table(found, shown), _WIDTH)
    if not everything and len(found.splits) > SPLITS_SHOWN:
        lines.append(f"and {len(found.splits) - SPLITS_SHOWN:,} more: --all")
    click.echo("\n".join(visible(line) for line in lines).rstrip("\n"))


@click.command()
@click.argument("file", shell_complete=complete_file)
@click.option("--by", multiple=True, metavar="COLUMN", help="Tell verdicts apart by this column too; repeat.")
@confidence_option
@json_option
def position(file: str, by: tuple[str, ...], confidence: float, as_json: bool) -> None:
    """Say of each judge in FILE whether the answer wins, or the place in which it was shown.

    FILE (JSONL, CSV, Parquet) has a row for each pair of answers that a judge compared in both orders: judge, item,
    winner_ab and winner_ba (1 or 2, or A or B: the answer, whatever its place, with answer 1 or answer 2 shown first;
    tie where neither is better; empty for no verdict), and gold where people said which is better.
    """
    from benchbook.labels.position import position_trials, read_pair_verdicts
    from benchbook.views.judges import position_table
    from benchbook.views.terminal import table_lines

    found = position_trials(read_pair_verdicts(file, by), confidence=confidence)
    if as_json:
        print_json(found)
        return
    lines = list(table_lines(position_table(found, by), _WIDTH)) or ["No verdict in it."]
    click.echo("\n".join(visible(line) for line in lines).rstrip("\n"))


@click.command()
@click.argument("run", shell_complete=complete_run)
@click.option("--labels", required=True, metavar="DIR", help="The folder with people's labels.")
@click.option("--judge", metavar="NAME", help="Of a judged experiment: whose scores; by default its only judge's.")
@confidence_option
@click.option("--seed", type=int, default=0, show_default=True, help="Of the intervals by resampling.")
@click.option("--html", metavar="FILE", help="Write the judge's card as one HTML page.")
@click.option("--markdown", is_flag=True, help="Print the whole card as Markdown.")
@runs_option
@json_option
def calibrate(
    run: str,
    labels: str,
    judge: str | None,
    confidence: float,
    seed: int,
    html: str | None,
    markdown: bool,
    runs: str,
    as_json: bool,
) -> None:
    """Hold RUN's scores against people's labels: agreement, bias, and the numbers corrected for its errors.

    Everything is derived again from the two journals. Labels belong to answers: they may be drawn from another run, and
    those of answers that RUN gave too are used. Of a rubric's run the decision is corrected, too; of a judged
    experiment each judge has a card of its own (`--judge`). The card says all of it: `--html`, `--markdown`, `--json`.
    """
    from benchbook.labels.labels import open_labels
    from benchbook.library.labelling import calibration_of
    from benchbook.writing import write_file

    if markdown and as_json:
        raise click.UsageError("--json and --markdown: one of them")
    found = calibration_of(find_record(run, runs), open_labels(labels), judge=judge, confidence=confidence, seed=seed)
    if html is not None:
        write_file(Path(html), found.to_html().encode("utf-8"))
    if as_json:
        print_json(found.card)
    elif markdown:
        click.echo(found.to_markdown(), nl=False)
    else:
        click.echo(visible(str(found)))
